//! Redirects: followed within the origin, with method and body, and not for ever.

use std::time::Duration;

use snodo_transport::Transport as _;
use snodo_types::TransportFault;

use super::server::{Act, Seen, Server, json, plain, soon, whole_events};
use super::{call, connect, failure, http, read, request, result, routing, told, transport};
use crate::{Asked, Credentials, Http};

const RESULT: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;

fn moved(status: &str, location: &str) -> Vec<Act> {
    plain(&format!("{status}\r\nlocation: {location}"), "moved")
}

/// Serves under `/mcp/` alone, as the mounts of some frameworks do.
fn mounted(seen: &Seen) -> Vec<Act> {
    match seen.line.split(' ').nth(1) {
        Some("/mcp/?q=1") => json(RESULT),
        Some("/mcp/") => whole_events(&[]),
        Some("/mcp?q=1") => moved("307 Temporary Redirect", "/mcp/?q=1"),
        _ => moved("308 Permanent Redirect", "mcp/"),
    }
}

// HTTP-18
#[tokio::test]
async fn a_redirect_within_the_origin_is_followed_with_method_headers_and_body() {
    let server = Server::start(mounted).await;
    let url = format!("{}?q=1", server.url());
    let http = Http::new(url).expect("a URL").bearer("t").expect("a token");
    let transport = connect(http).await;
    let mut envelope = request(1);
    envelope.routing = routing();
    assert_eq!(told(&read(transport.exchange(envelope)).await), [RESULT]);
    let seen = server.seen();
    assert_eq!((seen.len(), server.accepted()), (2, 1));
    assert_eq!(seen[1].line, "POST /mcp/?q=1 HTTP/1.1");
    assert_eq!((&seen[0].body, &seen[0].headers), (&seen[1].body, &seen[1].headers));
    assert_eq!(seen[1].header("mcp-session-id"), Some("s-1"));
}

#[tokio::test]
async fn the_offered_stream_and_the_end_of_a_session_follow_too() {
    let server = Server::start(mounted).await;
    let transport = transport(&server).await;
    let mut stream = transport.unsolicited(routing()).expect("once");
    assert_eq!(told(&[soon(stream.next()).await.expect("an item")]), ["Sent"]);
    soon(transport.close(routing(), Duration::from_secs(5))).await;
    let lines: Vec<_> = server.seen().into_iter().map(|seen| seen.line).collect();
    for line in ["GET /mcp/ HTTP/1.1", "DELETE /mcp/ HTTP/1.1"] {
        assert!(lines.iter().any(|seen| seen == line), "{lines:?}");
    }
}

#[tokio::test]
async fn a_server_that_leads_in_circles_is_left_after_five_times() {
    let server = Server::start(|_| moved("307 Temporary Redirect", "/mcp")).await;
    let error = soon(failure(&transport(&server).await, 1)).await;
    assert_eq!((error.fault(), error.status()), (TransportFault::Status, Some(307)));
    assert!(error.message().contains("more than 5 times"), "{error}");
    assert_eq!(server.seen().len(), 6);
}

// HTTP-18
#[tokio::test]
async fn nothing_goes_to_another_origin_and_no_message_becomes_a_get() {
    let other = Server::start(|_| json(RESULT)).await;
    for (status, location) in [
        ("307 Temporary Redirect", other.url()),
        ("308 Permanent Redirect", other.url()),
        ("308 Permanent Redirect", other.url().replace("http:", "https:")),
        ("301 Moved Permanently", "/mcp/".to_owned()),
        ("302 Found", "/mcp/".to_owned()),
        ("303 See Other", "/mcp/".to_owned()),
    ] {
        let server = Server::start(move |_| moved(status, &location)).await;
        let http = http(&server).bearer("t").expect("a token");
        let error = failure(&connect(http).await, 1).await;
        assert_eq!(error.fault(), TransportFault::Status);
        assert!(error.message().contains("moved to http"), "{error}");
        assert_eq!(server.seen().len(), 1);
    }
    assert_eq!(other.accepted(), 0);
}

/// Binds what it gives to the URL that it is asked for.
struct Bound;

impl Credentials for Bound {
    async fn authorize(
        &self,
        request: Asked<'_>,
    ) -> Result<http::HeaderMap, snodo_types::TransportError> {
        let value = http::HeaderValue::from_str(request.url).expect("a URL");
        Ok(http::HeaderMap::from_iter([(http::header::AUTHORIZATION, value)]))
    }
}

#[tokio::test]
async fn credentials_are_asked_anew_for_the_place_it_led_to() {
    let server = Server::start(|seen| match seen.line.contains("/mcp/") {
        true => json(RESULT),
        false => moved("307 Temporary Redirect", "/mcp/"),
    })
    .await;
    let transport = connect(http(&server).credentials(Bound)).await;
    assert_eq!(told(&call(&transport, 1).await), [RESULT]);
    let sent = server.seen()[1].header("authorization").map(str::to_owned);
    assert_eq!(sent, Some(format!("{}/", server.url())));
    result(&transport, 1).await;
}
