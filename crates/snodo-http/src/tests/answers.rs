//! What answers a request, and what does not.

use std::sync::Arc;
use std::time::Duration;

use snodo_transport::{Incoming, Transport as _};
use snodo_types::{Body, Processed, RequestId, Routing, TransportFault};
use tokio::sync::Notify;

use super::server::{Act, Server, events, json, plain, soon, write};
use super::{call, connect, failure, http, read, request, result, told, transport};

const RESULT: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"ok":true}}"#;

// HTTP-01, HTTP-02, HTTPL-01, HTTP-03
#[tokio::test]
async fn a_message_is_one_post_with_both_media_types_and_a_length() {
    let server = Server::start(|_| json(RESULT)).await;
    let transport = transport(&server).await;
    let mut envelope = request(1);
    envelope.routing = Routing::new().with("Mcp-Method", "x").with("Mcp-Name", "=?base64?w7w=?=");
    read(transport.exchange(envelope)).await;
    let seen = server.seen();
    assert_eq!(seen.len(), 1);
    assert_eq!(seen[0].line, "POST /mcp HTTP/1.1");
    assert_eq!(seen[0].body, r#"{"jsonrpc":"2.0","id":1,"method":"x"}"#);
    let header = |name| seen[0].header(name);
    assert_eq!(header("content-type"), Some("application/json"));
    assert_eq!(header("accept"), Some("application/json, text/event-stream"));
    assert_eq!(header("content-length"), Some("37"));
    assert_eq!(header("host"), Some(&*server.url()[7..].replace("/mcp", "")));
    assert_eq!((header("mcp-method"), header("mcp-name")), (Some("x"), Some("=?base64?w7w=?=")));
    for name in
        ["transfer-encoding", "accept-encoding", "authorization", "mcp-session-id", "user-agent"]
    {
        assert_eq!(header(name), None, "{name}");
    }
}

// HTTP-04
#[tokio::test]
async fn a_response_is_read_from_json_and_from_a_stream() {
    for (kind, body) in [
        ("application/json", RESULT.to_owned()),
        ("Application/JSON; charset=utf-8", format!(" {RESULT}\n")),
        ("application/json", format!("\u{feff}{RESULT}")),
        ("Text/Event-Stream;charset=utf-8", format!("event: message\ndata: {RESULT}\n\n")),
        ("text/plain", RESULT.to_owned()),
    ] {
        let answer = plain(&format!("200 OK\r\nContent-Type: {kind}"), &body);
        let server = Server::scripted(vec![answer]).await;
        let message = result(&transport(&server).await, 1).await;
        assert!(matches!(message.body(), Body::Result { result: r#"{"ok":true}"#, .. }), "{kind}");
        assert_eq!(message.outside(), None);
    }
    let server = Server::scripted(vec![plain("200 OK", RESULT)]).await;
    assert_eq!(result(&transport(&server).await, 1).await.text(), RESULT);
}

#[tokio::test]
async fn every_framing_of_a_body_is_read() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";
    let (front, back) = RESULT.split_at(10);
    let chunked = format!(
        "{head}Transfer-Encoding: chunked\r\n\r\na;x=y\r\n{front}\r\n{:X}\r\n{back}\r\n0\r\nx: y\r\n\r\n",
        back.len()
    );
    for answer in [
        vec![write(&chunked)],
        vec![write(&format!("{head}\r\n{front}")), write(back), Act::Close],
        vec![
            write(&format!("HTTP/1.0 200 OK\r\ncontent-type: application/json\r\n\r\n{RESULT}")),
            Act::Close,
        ],
        vec![
            write("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n"),
            json(RESULT)[0].clone(),
        ],
    ] {
        let server = Server::scripted(vec![answer]).await;
        assert_eq!(result(&transport(&server).await, 1).await.text(), RESULT);
    }
}

#[tokio::test]
async fn an_ipv6_literal_is_reached() {
    let server = Server::on("[::1]:0", |_| json(RESULT)).await;
    result(&transport(&server).await, 1).await;
    assert!(server.seen()[0].header("host").is_some_and(|host| host.starts_with("[::1]:")));
}

// HTTP-13, HTTP-15
#[tokio::test]
async fn a_json_rpc_error_is_a_message_whatever_its_status_and_type() {
    let ours = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"bad"}}"#;
    let null = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"not initialized"}}"#;
    let none = r#"{"jsonrpc":"2.0","error":{"code":-32022,"message":"version","data":{}}}"#;
    let word = r#"{"jsonrpc":"2.0","id":"server-error","error":{"code":-32600,"message":"gone"}}"#;
    let json = "\r\ncontent-type: application/json; charset=utf-8";
    for (head, body, status) in [
        (format!("200 OK{json}"), ours, None),
        (format!("400 Bad Request{json}"), ours, Some(400)),
        (format!("404 Not Found{json}"), none, Some(404)),
        (format!("400 Bad Request{json}\r\nMcp-Session-Id: unasked"), word, Some(400)),
        ("400 Bad Request".to_owned(), null, Some(400)),
        ("500 Internal Server Error\r\ncontent-type: text/plain".to_owned(), null, Some(500)),
        (format!("403 Forbidden{json}"), ours, Some(403)),
        (format!("200 OK{json}"), word, None),
    ] {
        let server = Server::scripted(vec![plain(&head, body)]).await;
        let message = result(&transport(&server).await, 1).await;
        assert_eq!(message.text(), body, "{head}");
        assert!(matches!(message.body(), Body::Error { .. }));
        assert_eq!(message.outside().and_then(|outside| outside.status), status, "{head}");
        assert_eq!(message.outside().and_then(|outside| outside.session.clone()), None);
    }
}

#[tokio::test]
async fn a_body_that_is_no_response_to_the_request_is_malformed_and_says_why() {
    let json = "200 OK\r\ncontent-type: application/json";
    for (head, body, mention) in [
        (json, r#"{"jsonrpc":"2.0","id":7,"result":{}}"#, "request 1 carries the id 7"),
        (json, r#"{"jsonrpc":"2.0","id":1}"#, "neither"),
        (json, r#"{"jsonrpc":"2.0","method":"n"}"#, "no response"),
        (json, r#"[{"jsonrpc":"2.0","id":1,"result":{}}]"#, "JSON-RPC"),
        (json, r#"{"jsonrpc":"2.0","id":1,"result"#, "JSON-RPC"),
        (json, "", "application/json"),
        ("200 OK\r\ncontent-type: text/html", "<html>Login</html>", "text/html"),
        ("200 OK", "hello", "no content type"),
        ("202 Accepted", "", "202"),
        ("204 No Content", "", "204"),
    ] {
        let server = Server::scripted(vec![plain(head, body)]).await;
        let error = failure(&transport(&server).await, 1).await;
        assert_eq!(error.fault(), TransportFault::Malformed, "{body}");
        assert!(error.message().contains(mention), "{error}");
    }
    let server = Server::scripted(vec![vec![Act::Write(
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n\xFF\xFE"
            .to_vec(),
    )]])
    .await;
    assert_eq!(failure(&transport(&server).await, 1).await.fault(), TransportFault::Malformed);
}

// As the given case JR-01 has it.
#[tokio::test]
async fn an_id_that_came_back_as_text_is_the_request_s() {
    let server = Server::scripted(vec![json(r#"{"jsonrpc":"2.0","id":"1","result":{}}"#)]).await;
    let message = result(&transport(&server).await, 1).await;
    assert_eq!(message.id(), Some(&RequestId::Text("1".to_owned())));
}

#[tokio::test]
async fn what_is_no_http_and_what_ends_too_soon_is_told_apart() {
    let cases = [
        (vec![write("SSH-2.0-OpenSSH\r\n"), Act::Close], TransportFault::Malformed),
        (vec![Act::Close], TransportFault::Closed),
        (vec![Act::Reset], TransportFault::Closed),
        (vec![write("HTTP/1.1 200 OK\r\ncontent-le"), Act::Close], TransportFault::Closed),
        (
            vec![write("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{"), Act::Close],
            TransportFault::Closed,
        ),
        (
            vec![write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{"), Act::Reset],
            TransportFault::Closed,
        ),
        (
            vec![write("HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n{}")],
            TransportFault::Malformed,
        ),
        (
            vec![write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{}")],
            TransportFault::Closed,
        ),
    ];
    for (number, (acts, fault)) in cases.into_iter().enumerate() {
        let server = Server::scripted(vec![acts]).await;
        let error = soon(failure(&transport(&server).await, 1)).await;
        assert_eq!(error.fault(), fault, "case {number}: {error}");
        assert_eq!(error.processed(), Processed::Maybe);
        assert!(error.message().contains(&server.url()), "{error}");
        assert!(std::error::Error::source(&error).is_some(), "{error}");
        assert_eq!(server.seen().len(), 1, "a request that was written is not sent again");
    }
}

// S-11
#[tokio::test]
async fn an_answer_over_a_limit_fails_its_request_alone() {
    let long = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"x":"{}"}}}}"#, "y".repeat(200));
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";
    let never = Arc::new(Notify::new());
    for answer in [
        // Refused by its length: not a byte of it is waited for.
        vec![
            write(&format!("{head}content-length: 9999999999999\r\n\r\n")),
            Act::Wait(never.clone()),
        ],
        vec![
            write(&format!("{head}transfer-encoding: chunked\r\n\r\nff\r\n{long}")),
            Act::Wait(never.clone()),
        ],
        vec![write(&format!("{head}\r\n{long}")), Act::Close],
        [events(&[&format!("data: {long}")]), vec![Act::Wait(never.clone())]].concat(),
    ] {
        let server = Server::scripted(vec![answer, json(RESULT)]).await;
        let transport = connect(http(&server).max_body_bytes(100)).await;
        let error = soon(failure(&transport, 1)).await;
        assert_eq!(error.fault(), TransportFault::TooLarge, "{error}");
        result(&transport, 1).await;
    }
}

// S-11
#[tokio::test]
async fn a_flood_of_headers_is_refused() {
    let flood = |count: usize, size: usize| {
        let headers: String =
            (0..count).map(|n| format!("x-{n}: {}\r\n", "v".repeat(size))).collect();
        vec![write(&format!("HTTP/1.1 200 OK\r\n{headers}content-length: 0\r\n\r\n"))]
    };
    for answer in [flood(500, 1), flood(5, 1000), flood(1, 1 << 20)] {
        let server = Server::scripted(vec![answer]).await;
        let transport = connect(http(&server).max_header_bytes(4096)).await;
        let error = soon(failure(&transport, 1)).await;
        assert_eq!(error.fault(), TransportFault::TooLarge, "{error}");
    }
}

// S-11
#[tokio::test]
async fn nobody_there_and_nobody_answering_is_told_before_anything_was_sent() {
    let server = Server::start(|_| json(RESULT)).await;
    let http = http(&server);
    drop(server);
    tokio::task::yield_now().await;
    let error = failure(&connect(http).await, 1).await;
    assert_eq!((error.fault(), error.processed()), (TransportFault::Connect, Processed::No));

    // A full backlog: connections are neither taken nor refused.
    let socket = tokio::net::TcpSocket::new_v4().expect("a socket");
    socket.bind("127.0.0.1:0".parse().expect("an address")).expect("bound");
    let full = socket.listen(1).expect("listening");
    let address = full.local_addr().expect("bound");
    let mut kept = Vec::new();
    while let Ok(Ok(tcp)) =
        tokio::time::timeout(Duration::from_millis(200), tokio::net::TcpStream::connect(address))
            .await
    {
        kept.push(tcp);
    }
    let http = crate::Http::new(format!("http://{address}/")).expect("a URL");
    let transport = connect(http.connect_timeout(Duration::from_millis(50))).await;
    let error = soon(failure(&transport, 1)).await;
    assert_eq!((error.fault(), error.processed()), (TransportFault::Timeout, Processed::No));
    assert!(error.message().contains("50ms"), "{error}");
}

// HTTPL-13, HTTPL-14, HTTPL-22, HTTP-11, HDR-16
#[tokio::test]
async fn a_session_is_taken_from_the_answer_that_may_open_one_and_no_other() {
    let session = |status: &str, id: &str, body: &str| {
        plain(&format!("{status}\r\nMCP-Session-Id: {id}\r\ncontent-type: application/json"), body)
    };
    let stream = format!("data: {RESULT}\n\n");
    let streamed =
        plain("200 OK\r\nmcp-session-id: s-3\r\ncontent-type: text/event-stream", &stream);
    let error = r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}"#;
    for (answer, opens, expected) in [
        (session("200 OK", "aB=1;b/%7E~!", RESULT), true, Some("aB=1;b/%7E~!")),
        (streamed.clone(), true, Some("s-3")),
        (session("200 OK", "s-1", RESULT), false, None),
        (streamed, false, None),
        (session("400 Bad Request", "s-1", error), true, None),
        (session("200 OK", "two words", RESULT), true, None),
        (session("200 OK", "caf\u{e9}", RESULT), true, None),
        (session("200 OK", "", RESULT), true, None),
    ] {
        let server = Server::scripted(vec![answer]).await;
        let mut envelope = request(1);
        envelope.opens_session = opens;
        let items = read(transport(&server).await.exchange(envelope)).await;
        let [Ok(Incoming::Message(message))] = &*items else { panic!("{items:?}") };
        let session = message.outside().and_then(|outside| outside.session.as_ref());
        assert_eq!(session.map(snodo_types::SessionId::as_str), expected);
        assert!(!format!("{message:?} {session:?}").contains("s-3"));
    }
}

#[tokio::test]
async fn nothing_happens_before_the_first_poll() {
    let server = Server::start(|_| json(RESULT)).await;
    let transport = transport(&server).await;
    let early = transport.exchange(request(1));
    result(&transport, 1).await;
    assert_eq!(server.seen().len(), 1);
    drop(early);
    assert_eq!(told(&call(&transport, 1).await), [RESULT]);
    assert_eq!(server.seen().len(), 2);
}
