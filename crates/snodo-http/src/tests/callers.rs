//! Who a request is sent for, and which server it is sent to: what a cache has to tell apart.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use http::{HeaderMap, HeaderValue};
use snodo_transport::{Connect as _, Incoming, Transport as _};
use snodo_types::{Envelope, Fingerprint, TransportError};

use super::server::{Server, json, plain, soon};
use super::{Item, connect, http, read, request};
use crate::{Asked, Credentials, Http, HttpTransport, Refusal, Verdict};

const RESULT: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
const REFUSED: &str = "401 Unauthorized\r\nWWW-Authenticate: Bearer error=\"invalid_token\"";

fn naming() -> Envelope {
    let mut envelope = request(1);
    envelope.names_caller = true;
    envelope
}

/// For whom one request was sent, in the order of its sendings.
async fn callers(transport: &HttpTransport) -> Vec<Fingerprint> {
    let items = soon(read(transport.exchange(naming()))).await;
    let caller = |item: &Item| match item {
        Ok(Incoming::Caller(caller)) => Some(*caller),
        _ => None,
    };
    items.iter().filter_map(caller).collect()
}

/// Gives another token for each refusal, and a proof that is another one each time.
#[derive(Default)]
struct Refreshing {
    refused: AtomicUsize,
    proofs: AtomicUsize,
    account: bool,
}

impl Credentials for Refreshing {
    async fn authorize(&self, _: Asked<'_>) -> Result<HeaderMap, TransportError> {
        let line = |text: String| HeaderValue::from_str(&text).expect("a value");
        let mut headers = HeaderMap::new();
        let token = self.refused.load(Ordering::SeqCst);
        headers.insert("authorization", line(format!("DPoP t{token}")));
        headers
            .insert("dpop", line(format!("proof {}", self.proofs.fetch_add(1, Ordering::SeqCst))));
        Ok(headers)
    }

    async fn refused(&self, _: Refusal<'_>) -> Result<Verdict, TransportError> {
        self.refused.fetch_add(1, Ordering::SeqCst);
        Ok(Verdict::Retry)
    }

    fn caller(&self, sent: &HeaderMap) -> Option<Fingerprint> {
        let token = sent.get("authorization").filter(|_| !self.account);
        Some(Fingerprint::of(&[token.map_or(b"ada", HeaderValue::as_bytes)]))
    }
}

#[tokio::test]
async fn nobody_is_named_who_was_not_asked_for() {
    let server = Server::start(|_| json(RESULT)).await;
    let transport = connect(http(&server).credentials(Refreshing::default())).await;
    let items = soon(read(transport.exchange(request(1)))).await;
    assert!(matches!(&items[..], [Ok(Incoming::Message(_))]), "{items:?}");
}

// CACHE-08
#[tokio::test]
async fn the_caller_is_told_before_anything_is_written() {
    let server = Server::start(|_| json(RESULT)).await;
    for http in [http(&server), http(&server).credentials(Refreshing::default())] {
        let transport = connect(http).await;
        let mut exchange = transport.exchange(naming());
        let first = soon(exchange.next()).await;
        assert!(matches!(first, Some(Ok(Incoming::Caller(_)))), "{first:?}");
        tokio::task::yield_now().await;
        drop(exchange);
    }
    assert_eq!((server.seen().len(), server.accepted()), (0, 0));
}

// CACHE-08, CACHE-14
#[tokio::test]
async fn a_refreshed_token_is_another_caller_unless_the_credentials_know_better() {
    let server = Server::start(|seen| match seen.header("authorization") {
        Some("DPoP t0") => plain(REFUSED, "no"),
        _ => json(RESULT),
    })
    .await;
    let transport = connect(http(&server).credentials(Refreshing::default())).await;
    let [before, after] = callers(&transport).await[..] else { panic!("two sendings") };
    assert_ne!(before, after);
    assert_eq!(callers(&transport).await, [after], "the same token, whatever its proof");

    let account = Refreshing { account: true, ..Refreshing::default() };
    let transport = connect(http(&server).credentials(account)).await;
    let [before, after] = callers(&transport).await[..] else { panic!("two sendings") };
    assert_eq!(before, after);
}

/// Sends nothing but a header of this value, and says nothing of whom it is.
struct Key(&'static str);

impl Credentials for Key {
    async fn authorize(&self, _: Asked<'_>) -> Result<HeaderMap, TransportError> {
        let mut headers = HeaderMap::new();
        headers.insert("x-key", HeaderValue::from_static(self.0));
        headers.insert("x-other", HeaderValue::from_static("o"));
        Ok(headers)
    }
}

// CACHE-08
#[tokio::test]
async fn each_credential_is_a_caller_of_its_own_wherever_it_stands() {
    let server = Arc::new(Server::start(|_| json(RESULT)).await);
    let plain = || http(&server);
    let header = |name: &str, value: &str| plain().header(name, value).expect("a header");
    let targets = [
        plain(),
        plain().bearer("a").expect("a token"),
        plain().bearer("b").expect("a token"),
        header("cookie", "a=1"),
        header("cookie", "a=2"),
        header("cookie", "a=1").header("cookie", "b=2").expect("a header"),
        plain().credentials(Key("a")),
        plain().credentials(Key("b")),
        header("cookie", "a=1").credentials(Key("a")),
    ];
    let mut known = Vec::new();
    for target in targets {
        let [caller] = callers(&connect(target.clone()).await).await[..] else { panic!("one") };
        assert_eq!(callers(&connect(target).await).await, [caller], "the same once more");
        assert!(!known.contains(&caller), "{}", known.len());
        known.push(caller);
    }
}

#[test]
fn a_server_has_a_name_where_the_url_and_who_asks_say_all() {
    let http = |url| Http::new(url).expect("a URL");
    let url = "http://localhost:3000/mcp";
    let named = http(url).bearer("t").expect("a token").header("cookie", "a=1").expect("a header");
    assert_eq!(named.origin().as_deref(), Some(url));
    assert_eq!(http("http://LOCALHOST:3000/mcp#x").origin().as_deref(), Some(url));
    assert_eq!(http("http://localhost:3000/mcp?tenant=blue").origin(), None);
    assert_eq!(http(url).header("x-tenant", "blue").expect("a header").origin(), None);
}
