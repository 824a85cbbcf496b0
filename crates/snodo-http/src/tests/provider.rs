//! Headers that are given anew for each request.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};
use snodo_transport::{Connect as _, Transport as _};
use snodo_types::{TransportError, TransportFault};

use super::server::{Server, json, plain, soon};
use super::{connect, failure, http, notice, read, request, result, routing};

const RESULT: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;

fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
    let pair = |(name, value): &(&'static str, &str)| {
        (HeaderName::from_static(name), HeaderValue::from_str(value).expect("a value"))
    };
    pairs.iter().map(pair).collect()
}

#[tokio::test]
async fn a_provider_is_asked_before_every_request_of_any_kind() {
    let server = Server::start(|_| json(RESULT)).await;
    let count = Arc::new(AtomicU32::new(0));
    let http = http(&server).header_provider(move |method, url| {
        let number = count.fetch_add(1, Ordering::SeqCst);
        let line = format!("{number} {method} {url}");
        async move { Ok(headers(&[("x-n", &line)])) }
    });
    assert_eq!(http.origin(), None, "it may decide which server it is");
    let transport = connect(http).await;
    result(&transport, 1).await;
    read(transport.exchange(notice())).await;
    soon(read(transport.unsolicited(routing()).expect("once"))).await;
    soon(transport.close(routing(), Duration::from_secs(5))).await;
    let (seen, url) = (server.seen(), server.url());
    let told: Vec<_> = seen.iter().filter_map(|seen| seen.header("x-n")).collect();
    let expected = ["0 POST", "1 POST", "2 GET", "3 DELETE"].map(|line| format!("{line} {url}"));
    assert_eq!(told, expected);
}

#[tokio::test]
async fn a_call_s_own_header_goes_before_a_provider_s_and_that_before_a_fixed_one() {
    let server = Server::start(|_| json(RESULT)).await;
    let fixed = http(&server).header("x-a", "fixed").expect("a header");
    let fixed = fixed.header("x-b", "fixed").expect("a header").bearer("old").expect("a token");
    let http = fixed.header_provider(|_, _| async {
        let given = [("x-a", "given"), ("x-b", "given"), ("authorization", "Bearer new")];
        Ok(headers(&given))
    });
    let transport = connect(http).await;
    let mut envelope = request(1);
    envelope.routing = snodo_types::Routing::new().with("X-A", "called");
    read(transport.exchange(envelope)).await;
    let seen = &server.seen()[0];
    let told = ["x-a", "x-b", "authorization"].map(|name| seen.header(name));
    assert_eq!(told, [Some("called"), Some("given"), Some("Bearer new")]);
}

#[tokio::test]
async fn what_a_provider_may_not_give_and_its_failure_keep_the_request_back() {
    let server = Server::start(|_| plain("202 Accepted", "")).await;
    for (name, value) in [
        ("host", "s3cret.example"),
        ("content-length", "s3cret"),
        ("mcp-session-id", "s3cret"),
        ("accept", "s3cret/html"),
        ("proxy-authorization", "s3cret"),
        ("x-a", "s3cret caf\u{e9}"),
    ] {
        let given = headers(&[(name, value)]);
        let http = http(&server).header_provider(move |_, _| {
            let given = given.clone();
            async move { Ok(given) }
        });
        let error = failure(&connect(http).await, 1).await;
        assert_eq!(error.fault(), TransportFault::Usage, "{name}");
        assert!(!error.message().contains("s3cret"), "{error}");
    }
    let fails = http(&server).header_provider(|_, _| async {
        Err(TransportError::new(TransportFault::Credentials, "no key is there"))
    });
    let error = failure(&connect(fails).await, 1).await;
    assert_eq!((error.fault(), error.message()), (TransportFault::Credentials, "no key is there"));
    assert_eq!(server.seen().len(), 0);
}
