//! Statuses that are no success.

use std::time::Duration;

use snodo_types::{Processed, TransportFault};

use super::server::{Server, plain};
use super::{connect, failure, http, result, transport};

const ERROR: &str = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"no"}}"#;

// HTTP-14
#[tokio::test]
async fn a_status_without_json_rpc_is_told_with_a_short_plain_body() {
    let page = format!(
        "<html><head><title>502 Bad Gateway</title><style>body {{ x }}</style></head><body>\u{1b}[31mred{}</body></html>",
        "x".repeat(4000)
    );
    for (head, body, expected) in [
        (
            "502 Bad Gateway\r\ncontent-type: text/html",
            page.as_str(),
            "HTTP 502 Bad Gateway: 502 Bad Gateway [31mredxxx",
        ),
        (
            "415 Unsupported Media Type",
            "fail to deserialize\r\n\trequest body",
            "HTTP 415 Unsupported Media Type: fail to deserialize request body (",
        ),
        (
            "422 Unprocessable Entity\r\ncontent-type: text/plain",
            "Unexpected message",
            "HTTP 422 Unprocessable Entity: Unexpected message (",
        ),
        ("406 Not Acceptable", "", "HTTP 406 Not Acceptable ("),
        (
            "404 Not Found\r\ncontent-type: application/json",
            "{\"detail\":\"nope\"}",
            "HTTP 404 Not Found: {\"detail\":\"nope\"} (",
        ),
        (
            "400 Bad Request\r\ncontent-type: application/json",
            "{\"jsonrpc\":\"2.0\"",
            "HTTP 400 Bad Request: {\"jsonrpc\":\"2.0\" (",
        ),
        ("599 Whatever", "", "HTTP 599 ("),
    ] {
        let server = Server::scripted(vec![plain(head, body)]).await;
        let error = failure(&transport(&server).await, 1).await;
        assert_eq!(
            (error.fault(), error.status()),
            (TransportFault::Status, head[..3].parse().ok())
        );
        assert!(error.message().starts_with(expected), "{error}");
        let (_, behind) = error.message().split_once(&format!("({})", server.url())).expect("it");
        let known = head.starts_with("599") == behind.is_empty();
        assert!(known && (behind.is_empty() || behind.starts_with("; it usually means ")));
        assert!(
            error.message().chars().count() < 400 && !error.message().contains('\u{1b}'),
            "{error}"
        );
        assert_eq!(error.processed(), Processed::Maybe);
    }
}

#[tokio::test]
async fn an_error_says_what_its_status_usually_means() {
    for (head, sends, meaning) in [
        ("401 Unauthorized", false, "wants credentials"),
        ("401 Unauthorized", true, "no longer good"),
        ("405 Method Not Allowed", false, "HTTP+SSE"),
        ("503 Service Unavailable", false, "overloaded"),
        ("301 Moved Permanently", false, "another URL"),
    ] {
        let server = Server::scripted(vec![plain(head, "")]).await;
        let http = http(&server);
        let http = if sends { http.bearer("t").expect("a token") } else { http };
        let error = failure(&connect(http).await, 1).await;
        assert!(error.message().contains(meaning), "{error}");
    }
}

#[tokio::test]
async fn a_retry_after_is_seconds_or_a_date_by_the_server_s_clock() {
    let date = "Retry-After: Wed, 21 Oct 2015 07:30:00 GMT\r\nDate: Wed, 21 Oct 2015 07:28:00 GMT";
    for (headers, seconds) in [
        ("Retry-After: 3600", Some(3600)),
        ("retry-after: 0", Some(0)),
        (date, Some(120)),
        ("Retry-After: Wed, 21 Oct 2015 07:30:00 GMT", Some(0)),
        ("Retry-After: 99999999999999999999999", Some(u64::from(u32::MAX))),
        ("Retry-After: soon", None),
        ("x: y", None),
    ] {
        let head = format!("429 Too Many Requests\r\n{headers}");
        let expected = seconds.map(Duration::from_secs);
        let server = Server::scripted(vec![plain(&head, ""), plain(&head, ERROR)]).await;
        let transport = transport(&server).await;
        assert_eq!(failure(&transport, 1).await.retry_after(), expected, "{headers}");
        let message = result(&transport, 1).await;
        assert_eq!(message.outside().and_then(|outside| outside.retry_after), expected);
    }
}

#[tokio::test]
async fn a_redirect_is_a_failure_that_names_the_place_and_no_secret() {
    for (location, mention) in [
        ("location: /mcp/?token=secret", "/mcp/"),
        (
            "location: https://login.example.com/secret?x=secret",
            "moved to https://login.example.com (",
        ),
        ("x: y", "moved to nowhere"),
    ] {
        let server =
            Server::scripted(vec![plain(&format!("301 Moved Permanently\r\n{location}"), "")])
                .await;
        let error = failure(&transport(&server).await, 1).await;
        assert_eq!((error.fault(), error.status()), (TransportFault::Status, Some(301)));
        assert!(
            error.message().contains(mention) && !error.message().contains("secret"),
            "{error}"
        );
        assert_eq!(server.seen().len(), 1);
    }
}

#[tokio::test]
async fn a_401_is_an_error_with_every_challenge_even_behind_json_rpc() {
    let head = "401 Unauthorized\r\nWWW-Authenticate: Bearer realm=\"a\"\r\nwww-authenticate: DPoP algs=\"ES256\"\r\ncontent-type: application/json";
    let server = Server::scripted(vec![plain(head, ERROR)]).await;
    for sends in [false, true] {
        let http = http(&server);
        let http = if sends { http.bearer("t0ken").expect("a token") } else { http };
        let error = failure(&connect(http).await, 1).await;
        assert_eq!((error.fault(), error.status()), (TransportFault::Status, Some(401)));
        assert_eq!(error.challenges(), ["Bearer realm=\"a\"", "DPoP algs=\"ES256\""]);
        assert_eq!(error.credential_sent(), sends);
        assert!(!format!("{error} {error:?}").contains("t0ken"));
    }
    assert_eq!(server.seen()[1].header("authorization"), Some("Bearer t0ken"));
}

#[tokio::test]
async fn a_403_is_an_error_unless_json_rpc_says_more() {
    let head = "403 Forbidden\r\nWWW-Authenticate: Bearer error=\"insufficient_scope\"";
    let server = Server::scripted(vec![plain(head, "Access denied"), plain(head, ERROR)]).await;
    let transport = transport(&server).await;
    let error = failure(&transport, 1).await;
    assert_eq!((error.status(), error.challenges().len()), (Some(403), 1));
    let message = result(&transport, 1).await;
    assert_eq!(message.outside().and_then(|outside| outside.status), Some(403));
}
