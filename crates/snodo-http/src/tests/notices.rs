//! What nothing answers: notifications, replies, the notice of a request given up, the end.

use std::sync::Arc;
use std::time::Duration;

use snodo_transport::Transport as _;
use snodo_types::{Abandon, Envelope, Routing, TransportFault};
use tokio::sync::Notify;

use super::server::{Act, Server, chunk, events, json, plain, soon, write};
use super::{connect, http, notice, read, request, result, routing, told, transport};

const RESULT: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;

// HTTP-05, HTTPL-02
#[tokio::test]
async fn any_success_takes_a_notice_whatever_its_body_and_the_connection_lives() {
    for answer in [
        plain("202 Accepted", ""),
        plain("200 OK", ""),
        plain("204 No Content", ""),
        plain("202 Accepted\r\ncontent-type: text/plain; charset=utf-8", "Accepted"),
        plain("202 Accepted\r\ncontent-type: application/json", ""),
        json("null"),
        json(r#"{"jsonrpc":"2.0","id":null}"#),
        json(r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}"#),
        vec![
            write("HTTP/1.1 202 Accepted\r\ntransfer-encoding: chunked\r\n\r\n"),
            chunk("x"),
            write("0\r\n\r\n"),
        ],
    ] {
        let server = Server::scripted(vec![answer, json(RESULT)]).await;
        let transport = transport(&server).await;
        assert_eq!(told(&soon(read(transport.exchange(notice()))).await), ["Sent"]);
        result(&transport, 1).await;
        assert_eq!(server.accepted(), 1);
    }
}

#[tokio::test]
async fn a_body_without_end_holds_up_no_notice() {
    let never = Arc::new(Notify::new());
    for head in ["", "content-type: text/event-stream\r\n"] {
        let head = format!("HTTP/1.1 200 OK\r\n{head}content-length: 1000\r\n\r\nx");
        let server = Server::scripted(vec![vec![write(&head), Act::Hold(never.clone())]]).await;
        let transport = transport(&server).await;
        assert_eq!(told(&soon(read(transport.exchange(notice()))).await), ["Sent"]);
        soon(never.notified()).await;
    }
}

// HTTP-05, HTTPL-02
#[tokio::test]
async fn a_refused_notice_is_a_failure_with_its_status() {
    let error = r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"no session"}}"#;
    let server =
        Server::scripted(vec![plain("400 Bad Request\r\ncontent-type: application/json", error)])
            .await;
    let items = read(transport(&server).await.exchange(notice())).await;
    let [Err(error)] = &*items else { panic!("{items:?}") };
    assert_eq!((error.fault(), error.status()), (TransportFault::Status, Some(400)));
    assert!(error.message().contains("no session"), "{error}");
}

fn abandon() -> Arc<Abandon> {
    Arc::new(Abandon::new(
        r#"{"jsonrpc":"2.0","method":"gone","params":{"requestId":"#,
        "}}",
        routing(),
    ))
}

fn given_up(id: u64) -> Envelope {
    let mut envelope = request(id);
    envelope.abandon = Some(abandon());
    envelope
}

/// A server that never answers request 1, and tells when it or its abandonment has come.
async fn deaf(asked: Arc<Notify>, told: Arc<Notify>, hung_up: Arc<Notify>) -> Server {
    Server::start(move |seen| {
        if seen.body.contains("gone") {
            told.notify_one();
            return plain("202 Accepted", "");
        }
        asked.notify_one();
        vec![Act::Hold(hung_up.clone())]
    })
    .await
}

// S-42
#[tokio::test]
async fn a_request_given_up_is_told_with_its_own_headers_even_when_the_client_is_gone() {
    let (asked, gone, hung_up) = <(Arc<Notify>, Arc<Notify>, Arc<Notify>)>::default();
    let server = deaf(asked.clone(), gone.clone(), hung_up.clone()).await;
    let transport = connect(http(&server).header("x-key", "k").expect("a header")).await;
    let mut exchange = transport.exchange(given_up(1));
    tokio::select! {
        _ = exchange.next() => panic!("there is no answer"),
        () = asked.notified() => {}
    }
    drop(exchange);
    drop(transport);
    soon(gone.notified()).await;
    soon(hung_up.notified()).await;
    let seen = server.seen().pop().expect("the notice");
    assert_eq!(seen.body, r#"{"jsonrpc":"2.0","method":"gone","params":{"requestId":1}}"#);
    assert_eq!((seen.header("mcp-session-id"), seen.header("x-key")), (Some("s-1"), Some("k")));
    soon(server.open_is(0)).await;
}

#[tokio::test]
async fn closing_waits_for_the_notices_and_then_ends_the_session() {
    let (asked, gone, hung_up) = <(Arc<Notify>, Arc<Notify>, Arc<Notify>)>::default();
    let server = deaf(asked.clone(), gone.clone(), hung_up).await;
    let transport = transport(&server).await;
    let mut exchange = transport.exchange(given_up(1));
    tokio::select! {
        _ = exchange.next() => panic!("there is no answer"),
        () = asked.notified() => {}
    }
    drop(exchange);
    transport.close(routing(), Duration::from_millis(500)).await;
    let lines: Vec<_> = server.seen().iter().map(|seen| seen.line.clone()).collect();
    assert_eq!(lines, ["POST /mcp HTTP/1.1", "POST /mcp HTTP/1.1", "DELETE /mcp HTTP/1.1"]);
}

// CAN-03, CAN-04
#[tokio::test]
async fn a_request_that_was_answered_failed_or_never_written_is_not_given_up() {
    let server = Server::start(|seen| match seen.body.contains("\"id\":1,") {
        true => json(RESULT),
        false => vec![Act::Close],
    })
    .await;
    let transport = transport(&server).await;
    // Never polled.
    drop(transport.exchange(given_up(1)));
    // Polled once: there is no connection yet.
    let mut early = transport.exchange(given_up(1));
    tokio::select! {
        biased;
        _ = early.next() => panic!("not that fast"),
        () = std::future::ready(()) => {}
    }
    drop(early);
    // Answered, and dropped before its end was read.
    let mut answered = transport.exchange(given_up(1));
    soon(answered.next()).await;
    drop(answered);
    // Failed.
    soon(read(transport.exchange(given_up(2)))).await;
    transport.close(Routing::new(), Duration::from_secs(1)).await;
    let bodies: Vec<_> = server.seen().into_iter().map(|seen| seen.body).collect();
    assert_eq!(bodies, [request(1).message, request(2).message]);
}

#[tokio::test]
async fn an_answer_read_off_a_stream_that_stays_open_is_not_given_up() {
    let hung_up = Arc::new(Notify::new());
    let mut answer = events(&[&format!("data: {RESULT}\n\n")]);
    answer.push(Act::Hold(hung_up.clone()));
    let server = Server::scripted(vec![answer]).await;
    let transport = transport(&server).await;
    let mut exchange = transport.exchange(given_up(1));
    soon(exchange.next()).await;
    drop(exchange);
    soon(hung_up.notified()).await;
    transport.close(Routing::new(), Duration::from_secs(1)).await;
    assert_eq!(server.seen().len(), 1);
}

// HTTPL-17, HTTPL-13, HTTPL-18, S-06, S-22, INIT-19
#[tokio::test]
async fn closing_ends_the_session_with_its_headers_and_no_session_sends_nothing() {
    for head in ["200 OK", "405 Method Not Allowed", "500 Internal Server Error"] {
        let server = Server::scripted(vec![plain(head, "")]).await;
        let transport = connect(http(&server).header("x-key", "k").expect("a header")).await;
        transport
            .close(Routing::new().with("mcp-protocol-version", "v"), Duration::from_secs(1))
            .await;
        assert_eq!(server.seen().len(), 0);
        soon(transport.close(routing(), Duration::from_secs(5))).await;
        let seen = server.seen().remove(0);
        assert_eq!(seen.line, "DELETE /mcp HTTP/1.1");
        let header = |name| seen.header(name);
        assert_eq!(
            (header("mcp-session-id"), header("mcp-protocol-version")),
            (Some("s-1"), Some("v"))
        );
        assert_eq!((header("x-key"), header("content-type")), (Some("k"), None));
    }
}

// S-06
#[tokio::test]
async fn closing_takes_no_longer_than_its_limit() {
    let hung_up = Arc::new(Notify::new());
    let server = Server::scripted(vec![vec![Act::Hold(hung_up.clone())]]).await;
    let transport = transport(&server).await;
    soon(transport.close(routing(), Duration::from_millis(50))).await;
    soon(hung_up.notified()).await;
}
