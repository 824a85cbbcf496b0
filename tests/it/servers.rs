//! Transcripts behind the wires of the protocol, and what a client makes of their faults.

use std::future::ready;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::json;
use snodo::{Client, Error, ProtocolVersion};
use snodo_http::Http;
use snodo_stdio::{Stdio, Streams};
use snodo_testkit::{Answers, Fault, Replay, Server, Transcript};
use snodo_transport::Connect;
use snodo_types::{Kind, TransportFault};

fn file() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures/served.txt")
}

/// A client with somebody at hand, and what it is answered.
async fn goes_through(target: impl Connect) {
    let client = Client::builder()
        .on_form(|form| async move { form.accept(json!({ "name": "Ada" })) })
        .connect(target)
        .await
        .expect("a client");
    assert_eq!(client.protocol(), ProtocolVersion::V2025_11_25);
    let told = Arc::new(AtomicU32::new(0));
    let telling = Arc::clone(&told);
    let slow = client.call_tool("slow", json!({})).progress(move |_| {
        telling.fetch_add(1, Ordering::Relaxed);
    });
    assert_eq!(slow.await.expect("an answer").text(), "done");
    assert_eq!(told.load(Ordering::Relaxed), 2);
    let booked = client.call_tool("book", json!({})).await.expect("an answer");
    assert_eq!(booked.text(), "booked");
    client.close().await;
}

#[tokio::test]
async fn a_transcript_is_served_in_memory() {
    let replay = Replay::load(file()).expect("a transcript");
    goes_through(replay.clone()).await;
    replay.finish().expect("every line");
}

#[tokio::test]
async fn a_transcript_is_served_over_a_pipe() {
    let server = Server::load(file()).expect("a transcript");
    let served = server.clone();
    goes_through(Streams::new(move || ready(Ok(server.open())))).await;
    served.served().finish().expect("every line");
}

#[tokio::test]
async fn a_transcript_is_served_over_http_as_json_and_as_event_streams() {
    for answers in [Answers::Json, Answers::Events] {
        let server = Server::load(file()).expect("a transcript");
        let listening = server.http(answers).await.expect("a port");
        goes_through(Http::new(listening.url()).expect("a URL")).await;
        server.served().finish().expect("every line");
    }
}

#[tokio::test]
async fn a_transcript_is_served_by_a_process_of_its_own() {
    // Each start plays from the beginning, so that the file may not begin anew in the middle.
    let text = std::fs::read_to_string(file()).expect("a text").replace("> reopens\n", "");
    let folder = std::env::temp_dir().join(format!("snodo-served-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join("served.txt");
    std::fs::write(&path, text).expect("written");
    goes_through(Stdio::new(env!("CARGO_BIN_EXE_scripted")).arg(&path)).await;
    std::fs::remove_dir_all(&folder).expect("removed");
}

const CALLS: usize = 3;

/// A server of the stateless version that answers `CALLS` calls.
fn calls() -> Server<Replay> {
    let call = r#"
        > {"id":"$a","method":"tools/call"}
        < {"jsonrpc":"2.0","id":"$a","result":{"content":[{"type":"text","text":"done"}]}}
    "#;
    let text = call.replace("        ", "").repeat(CALLS);
    Server::new(Replay::new(&Transcript::parse("calls", &text).expect("a transcript")))
}

/// What comes of each call over a wire.
async fn call(target: impl Connect) -> Vec<Result<String, Error>> {
    let client = Client::builder()
        .protocol([ProtocolVersion::V2026_07_28])
        .timeout(Duration::from_millis(500))
        .connect(target)
        .await
        .expect("a client");
    let mut outcomes = Vec::new();
    for _ in 0..CALLS {
        let reply = client.call_tool("x", json!({})).await;
        outcomes.push(reply.map(|reply| reply.text()));
    }
    outcomes
}

async fn over_http(fault: Fault, answers: Answers) -> Vec<Result<String, Error>> {
    let listening = calls().fault(fault).http(answers).await.expect("a port");
    call(Http::new(listening.url()).expect("a URL")).await
}

async fn over_a_pipe(fault: Fault) -> Vec<Result<String, Error>> {
    let server = calls().fault(fault);
    call(Streams::new(move || ready(Ok(server.open())))).await
}

/// Everything is answered.
fn is_fine(outcomes: &[Result<String, Error>]) -> bool {
    outcomes.iter().all(|outcome| outcome.as_ref().is_ok_and(|text| text == "done"))
}

/// The second alone fails, and for such a reason.
fn second_fails(outcomes: Vec<Result<String, Error>>) -> Error {
    let mut outcomes = outcomes.into_iter();
    assert!(outcomes.next().expect("three").is_ok());
    let error = outcomes.next().expect("three").expect_err("a fault");
    assert_eq!(outcomes.next().expect("three").expect("fine again"), "done");
    error
}

#[tokio::test]
async fn what_a_client_can_bear_harms_no_call() {
    for fault in [
        Fault::duplicate(),
        Fault::junk("Debugger listening on port 9229"),
        Fault::junk(r#"{"jsonrpc":"2.0","id":999,"result":{}}"#),
        Fault::slow(7, Duration::from_millis(1)),
        Fault::delay(Duration::from_millis(5)),
    ] {
        assert!(is_fine(&over_a_pipe(fault.clone()).await), "{fault:?} on a pipe");
        for answers in [Answers::Json, Answers::Events] {
            let outcomes = over_http(fault.clone(), answers).await;
            assert!(is_fine(&outcomes), "{fault:?} over HTTP, {answers:?}: {outcomes:?}");
        }
    }
}

#[tokio::test]
async fn what_a_client_cannot_bear_fails_its_own_call_and_says_how() {
    let late = Fault::delay(Duration::from_secs(5)).nth(2);
    assert!(second_fails(over_a_pipe(late.clone()).await).is_timeout());
    for answers in [Answers::Json, Answers::Events] {
        assert!(second_fails(over_http(late.clone(), answers).await).is_timeout());

        let cut = second_fails(over_http(Fault::cut_after(12).nth(2), answers).await);
        assert_eq!(cut.kind(), Kind::Transport);

        let gateway = Fault::status(502, "<h1>Bad Gateway</h1>").nth(2);
        let gateway = second_fails(over_http(gateway, answers).await);
        assert!(gateway.to_string().contains("502"), "{gateway}");
    }
}

#[tokio::test]
async fn a_wrong_content_type_is_borne_where_a_message_stands_behind_it() {
    let html = || Fault::content_type("text/html").nth(2);
    assert!(is_fine(&over_http(html(), Answers::Json).await));
    let error = second_fails(over_http(html(), Answers::Events).await);
    assert!(error.to_string().contains("text/html"), "{error}");
}

#[tokio::test]
async fn a_pipe_that_is_cut_is_told_to_everybody() {
    let outcomes = over_a_pipe(Fault::cut_after(12).nth(2)).await;
    assert!(outcomes[0].is_ok());
    let error = outcomes[1].as_ref().expect_err("it was cut");
    assert_eq!(error.kind(), Kind::Transport);
    let cause = error.cause().expect("a cause");
    assert!(format!("{cause:?}").contains(&format!("{:?}", TransportFault::Closed)), "{cause:?}");
}
