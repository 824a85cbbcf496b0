//! Transcripts played against hand-written clients.

use std::time::Duration;

use snodo_transport::{Connect, Exchange, Incoming, Transport};
use snodo_types::{Abandon, Envelope, Routing};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use super::{Answers, Play};
use crate::{Step, Transcript, Wire};

fn play(text: &str, wire: Wire) -> Play {
    Play::new(Transcript::parse("t", text).expect("a transcript"), wire)
}

fn request(id: u64, method: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"}}"#)
}

async fn answer(exchange: &mut Exchange) -> String {
    match exchange.next().await {
        Some(Ok(Incoming::Message(message))) => message.text().to_owned(),
        other => format!("{other:?}"),
    }
}

/// Polls an exchange that has nothing to give yet.
async fn start(exchange: &mut Exchange) {
    assert!(tokio::time::timeout(Duration::ZERO, exchange.next()).await.is_err());
}

async fn nothing(_: &Step) -> Result<(), String> {
    Ok(())
}

const PING: &str = "> {\"id\":\"$ping\",\"method\":\"ping\"}\n< {\"jsonrpc\":\"2.0\",\"id\":\"$ping\",\"result\":{}}";

#[tokio::test]
async fn in_memory_an_answer_goes_to_the_request_whose_id_was_bound() {
    let mut play = play(PING, Wire::Pipe);
    let transport = play.memory().connect().await.expect("a connection");
    let mut exchange = transport.exchange(Envelope::request(41, request(41, "ping")));
    let (played, answer) = tokio::join!(play.run(nothing), answer(&mut exchange));
    played.expect("as written");
    assert_eq!(answer, r#"{"jsonrpc":"2.0","id":41,"result":{}}"#);
    drop(transport);
    play.nothing_more().await.expect("nothing more");
}

#[tokio::test]
async fn a_client_that_writes_something_else_is_told_where_and_what() {
    let mut play = play("# one\n> {\"method\":\"ping\"}", Wire::Pipe);
    let transport = play.memory().connect().await.expect("a connection");
    let mut exchange = transport.exchange(Envelope::request(1, request(1, "tools/list")));
    start(&mut exchange).await;
    let error = play.run(nothing).await.expect_err("another method");
    assert_eq!(
        error.to_string(),
        "t:2: at /method: expected \"ping\", found \"tools/list\"\n  the client wrote \
         {\"id\":1,\"jsonrpc\":\"2.0\",\"method\":\"tools/list\"}\n  at: > {\"method\":\"ping\"}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_client_that_writes_nothing_is_waited_for_in_vain() {
    let mut play = play(PING, Wire::Pipe).patience(Duration::from_secs(3));
    let _transport = play.memory().connect().await.expect("a connection");
    let error = play.run(nothing).await.expect_err("silence");
    assert_eq!((error.line(), error.reason()), (1, "nothing happened for 3s"));
}

#[tokio::test]
async fn what_is_written_after_the_last_line_is_a_fault() {
    let mut play = play("? nothing", Wire::Pipe);
    let transport = play.memory().connect().await.expect("a connection");
    play.run(nothing).await.expect("nothing to do");
    let mut more = transport.exchange(Envelope::notification(r#"{"method":"x"}"#.to_owned()));
    let _ = more.next().await;
    drop(transport);
    let error = play.nothing_more().await.expect_err("a message too many");
    assert_eq!(error.reason(), r#"the client wrote {"method":"x"}"#);
}

#[tokio::test]
async fn in_memory_an_exchange_that_is_dropped_sends_its_notice() {
    let text =
        "> {\"id\":\"$call\"}\n? drop\n> {\"method\":\"gone\",\"params\":{\"id\":\"$call\"}}";
    let mut play = play(text, Wire::Pipe);
    let transport = play.memory().connect().await.expect("a connection");
    let mut envelope = Envelope::request(5, request(5, "slow"));
    let abandon =
        Abandon::new(r#"{"jsonrpc":"2.0","method":"gone","params":{"id":"#, "}}", Routing::new());
    envelope.abandon = Some(abandon.into());
    let mut exchange = Some(transport.exchange(envelope));
    start(exchange.as_mut().expect("an exchange")).await;
    play.run(async |_| {
        exchange = None;
        Ok(())
    })
    .await
    .expect("as written");
}

#[tokio::test]
async fn a_second_pipe_is_a_new_connection() {
    let mut play = play("> {\"a\":1}\n> reopens\n> {\"a\":2}\n< bye\n@ closes", Wire::Pipe);
    let ends = play.pipe();
    let client = async {
        let mut first = ends.open();
        first.write_all(b"{\"a\":1}\n").await.expect("room");
        drop(first);
        let mut second = ends.open();
        second.write_all(b"{\"a\":2}\n").await.expect("room");
        let mut heard = String::new();
        second.read_to_string(&mut heard).await.expect("text");
        heard
    };
    let (played, heard) = tokio::join!(play.run(nothing), client);
    played.expect("as written");
    assert_eq!(heard, "bye\n");
}

#[tokio::test(start_paused = true)]
async fn time_passes_between_two_lines() {
    let mut play = play("< one\n@ +250ms\n< two", Wire::Pipe);
    let mut lines = BufReader::new(play.pipe().open()).lines();
    // The play learns of the connection when its task first runs.
    let client = async {
        let mut times = Vec::new();
        while let Ok(Some(_)) = lines.next_line().await {
            times.push(tokio::time::Instant::now());
            if times.len() == 2 {
                break;
            }
        }
        times[1] - times[0]
    };
    let (played, passed) = tokio::join!(play.run(nothing), client);
    played.expect("as written");
    assert_eq!(passed, Duration::from_millis(250));
}

async fn post(url: &str, body: &str, more: &str) -> TcpStream {
    let address = url.trim_start_matches("http://").trim_end_matches("/mcp");
    let mut socket = TcpStream::connect(address).await.expect("a connection");
    let text = format!(
        "POST /mcp HTTP/1.1\r\nHost: x\r\n{more}Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    socket.write_all(text.as_bytes()).await.expect("written");
    socket
}

/// Reads until `end` was seen.
async fn read_until(socket: &mut TcpStream, end: &str) -> String {
    let mut bytes = Vec::new();
    while !String::from_utf8_lossy(&bytes).contains(end) {
        if socket.read_buf(&mut bytes).await.expect("bytes") == 0 {
            break;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[tokio::test]
async fn over_http_an_answer_is_json_with_its_status_and_session() {
    let text = "> {\"id\":\"$a\"}\n^ {\"x-test\":\"yes\",\"mcp-session-id\":\"$absent\"}\n@ session s1\n\
                </404 {\"jsonrpc\":\"2.0\",\"id\":\"$a\",\"error\":{\"code\":-32601,\"message\":\"\"}}";
    let mut play = play(text, Wire::Http);
    let url = play.http(Answers::Json).await.expect("a port");
    let client = async {
        let mut socket = post(&url, &request(1, "x"), "X-Test: yes\r\n").await;
        read_until(&mut socket, "}}").await
    };
    let (played, heard) = tokio::join!(play.run(nothing), client);
    played.expect("as written");
    assert!(heard.starts_with("HTTP/1.1 404 Not Found\r\nMcp-Session-Id: s1\r\n"), "{heard}");
    assert!(heard.contains("application/json"), "{heard}");
}

#[tokio::test]
async fn over_http_what_precedes_an_answer_makes_it_a_stream() {
    let text = "> {\"id\":\"$a\"}\n\
        < {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":\"$a\"}}\n\
        < {\"jsonrpc\":\"2.0\",\"id\":\"$a\",\"result\":{}}";
    let mut play = play(text, Wire::Http);
    let url = play.http(Answers::Json).await.expect("a port");
    let client = async {
        let mut socket = post(&url, &request(1, "x"), "").await;
        read_until(&mut socket, "\r\n0\r\n\r\n").await
    };
    let (played, heard) = tokio::join!(play.run(nothing), client);
    played.expect("as written");
    assert!(heard.contains("text/event-stream"), "{heard}");
    assert_eq!(heard.matches("data: ").count(), 2, "{heard}");
}

#[tokio::test]
async fn over_http_a_closed_stream_is_noticed_before_and_after_its_first_event() {
    let notice = "< {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":\"$a\"}}\n";
    for said in ["", notice] {
        let text = format!("> {{\"id\":\"$a\"}}\n{said}? drop\n> closes \"$a\"");
        let mut play = play(&text, Wire::Http);
        let url = play.http(Answers::Json).await.expect("a port");
        let mut socket = Some(post(&url, &request(1, "x"), "").await);
        play.run(async |_| {
            socket = None;
            Ok(())
        })
        .await
        .expect("as written");
    }
}
