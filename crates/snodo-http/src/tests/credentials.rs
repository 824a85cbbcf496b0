//! Credentials: asked for, refused, held.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::{HeaderMap, HeaderValue};
use snodo_transport::{Connect as _, Transport as _};
use snodo_types::{TransportError, TransportFault};
use tokio::sync::Notify;

use super::server::{Act, Server, json, plain, soon, whole_events};
use super::{call, connect, failure, http, notice, read, request, result, routing, told};
use crate::{Asked, Credentials, Refusal, RefusedToken, TokenProvider, Tokens, Verdict};

const RESULT: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
const REFUSED: &str = "401 Unauthorized\r\nWWW-Authenticate: Bearer error=\"invalid_token\"";

/// Counts, and gives `Bearer <times refused>`.
#[derive(Clone, Default)]
struct Counting {
    asked: Arc<Mutex<Vec<String>>>,
    refused: Arc<AtomicUsize>,
    seen: Arc<AtomicUsize>,
    stubborn: bool,
}

impl Credentials for Counting {
    async fn authorize(&self, request: Asked<'_>) -> Result<HeaderMap, TransportError> {
        self.asked
            .lock()
            .expect("not poisoned")
            .push(format!("{} {}", request.method, request.url));
        let refused = if self.stubborn { 0 } else { self.refused.load(Ordering::SeqCst) };
        let value = HeaderValue::from_str(&format!("Bearer t{refused}")).expect("a value");
        Ok(HeaderMap::from_iter([(http::header::AUTHORIZATION, value)]))
    }

    async fn refused(&self, refusal: Refusal<'_>) -> Result<Verdict, TransportError> {
        assert_eq!(refusal.resends as usize, self.refused.fetch_add(1, Ordering::SeqCst));
        assert!(refusal.headers.contains_key("www-authenticate"));
        assert!(!format!("{refusal:?}").contains("Bearer t"), "no secret");
        Ok(Verdict::Retry)
    }

    fn seen(&self, _: &HeaderMap) {
        self.seen.fetch_add(1, Ordering::SeqCst);
    }
}

// AUTH-13
#[tokio::test]
async fn every_kind_of_request_is_authorized_and_every_answer_seen() {
    let server = Server::start(|_| json(RESULT)).await;
    let counting = Counting::default();
    let transport = connect(http(&server).credentials(counting.clone())).await;
    result(&transport, 1).await;
    read(transport.exchange(notice())).await;
    soon(read(transport.unsolicited(routing()).expect("once"))).await;
    soon(transport.close(routing(), Duration::from_secs(5))).await;
    let asked = counting.asked.lock().expect("not poisoned").clone();
    let url = server.url();
    assert_eq!(asked, ["POST", "POST", "GET", "DELETE"].map(|method| format!("{method} {url}")));
    assert!(server.seen().iter().all(|seen| seen.header("authorization") == Some("Bearer t0")));
    assert_eq!(counting.seen.load(Ordering::SeqCst), 4);
}

#[tokio::test]
async fn a_refused_request_is_sent_again_three_times_at_most() {
    for (refusals, told_last) in [(3, RESULT), (4, "!Status")] {
        let server = Server::start(move |seen| {
            let number: usize = seen
                .header("authorization")
                .map_or(0, |value| value["Bearer t".len()..].parse().expect("a number"));
            if number < refusals { plain(REFUSED, "no") } else { json(RESULT) }
        })
        .await;
        let transport = connect(http(&server).credentials(Counting::default())).await;
        assert_eq!(told(&soon(call(&transport, 1)).await), [told_last]);
        assert_eq!(server.seen().len(), 4);
        assert_eq!(server.accepted(), 1, "the bodies of refusals are read");
    }
}

#[tokio::test]
async fn the_same_challenge_for_the_same_credential_is_final() {
    let server = Server::scripted(vec![plain(REFUSED, "no")]).await;
    let stubborn = Counting { stubborn: true, ..Counting::default() };
    let transport = connect(http(&server).credentials(stubborn)).await;
    let error = soon(failure(&transport, 1)).await;
    assert_eq!((error.status(), error.credential_sent()), (Some(401), true));
    assert_eq!(error.challenges(), ["Bearer error=\"invalid_token\""]);
    assert!(error.message().contains(": no ("), "{error}");
    assert_eq!(server.seen().len(), 2);
}

#[tokio::test]
async fn a_403_without_a_challenge_is_not_the_credentials_business() {
    let server = Server::scripted(vec![plain("403 Forbidden", "")]).await;
    let counting = Counting::default();
    let transport = connect(http(&server).credentials(counting.clone())).await;
    assert_eq!(failure(&transport, 1).await.status(), Some(403));
    assert_eq!(counting.refused.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn credentials_and_a_fixed_authorization_contradict_each_other() {
    let server = Server::scripted(vec![json(RESULT)]).await;
    let http = http(&server).bearer("x").expect("a token").credentials(Counting::default());
    let error = http.connect().await.expect_err("a contradiction");
    assert_eq!(error.fault(), TransportFault::Usage);
}

struct Rude;

impl Credentials for Rude {
    async fn authorize(&self, _: Asked<'_>) -> Result<HeaderMap, TransportError> {
        let value = HeaderValue::from_static("evil");
        Ok(HeaderMap::from_iter([(http::header::HOST, value)]))
    }
}

#[tokio::test]
async fn credentials_cannot_set_what_is_the_transport_s() {
    let server = Server::scripted(vec![json(RESULT)]).await;
    let transport = connect(http(&server).credentials(Rude)).await;
    assert_eq!(failure(&transport, 1).await.fault(), TransportFault::Usage);
    assert_eq!(server.seen().len(), 0);
}

/// Waits to be let go, each time.
struct Slow {
    go: Arc<Notify>,
    limit: Duration,
}

impl Credentials for Slow {
    async fn authorize(&self, _: Asked<'_>) -> Result<HeaderMap, TransportError> {
        self.go.notified().await;
        Ok(HeaderMap::new())
    }

    fn hold(&self) -> Option<Duration> {
        Some(self.limit)
    }
}

#[tokio::test]
async fn waiting_for_a_person_is_told_before_and_after() {
    let server = Server::scripted(vec![json(RESULT)]).await;
    let go = Arc::new(Notify::new());
    let slow = Slow { go: go.clone(), limit: Duration::from_secs(300) };
    let transport = connect(http(&server).credentials(slow)).await;
    for listens in [false, true] {
        let mut envelope = request(1);
        envelope.listen = listens;
        let mut exchange = transport.exchange(envelope);
        let held = soon(exchange.next()).await.expect("an item");
        assert_eq!(told(&[held]), ["Held"]);
        go.notify_one();
        assert_eq!(told(&soon(read(exchange)).await), ["Released", RESULT]);
    }
    go.notify_one();
    let quick = told(&soon(call(&transport, 1)).await);
    assert_eq!(quick, [RESULT], "who does not wait holds nothing");
}

#[tokio::test]
async fn a_person_is_waited_for_no_longer_than_the_credentials_say() {
    let server = Server::scripted(vec![json(RESULT)]).await;
    let slow = Slow { go: Arc::default(), limit: Duration::from_millis(20) };
    let transport = connect(http(&server).credentials(slow)).await;
    assert_eq!(told(&soon(call(&transport, 1)).await), ["Held", "Released", "!Credentials"]);
    assert_eq!(server.seen().len(), 0);
}

/// A provider whose token is good from a number of refreshes on.
#[derive(Clone, Default)]
struct Provider {
    token: Arc<Mutex<Option<String>>>,
    refreshed: Arc<Mutex<Vec<String>>>,
}

impl Provider {
    fn set(&self, token: &str) {
        *self.token.lock().expect("not poisoned") = Some(token.to_owned());
    }
}

impl TokenProvider for Provider {
    async fn token(&self, _: &str) -> Result<Option<String>, TransportError> {
        Ok(self.token.lock().expect("not poisoned").clone())
    }

    async fn refresh(&self, refused: RefusedToken<'_>) -> Result<Verdict, TransportError> {
        tokio::task::yield_now().await;
        let scope = refused.challenge.and_then(|one| one.parameter("scope")).map(str::to_owned);
        let line = format!("{} {:?} {scope:?}", refused.status, refused.token);
        self.refreshed.lock().expect("not poisoned").push(line);
        self.set("good");
        Ok(Verdict::Retry)
    }
}

fn wants_good(head: &'static str) -> impl Fn(&super::server::Seen) -> Vec<Act> {
    move |seen| match seen.header("authorization") {
        Some("Bearer good") => json(RESULT),
        _ => plain(head, ""),
    }
}

// S-11
#[tokio::test]
async fn a_provider_is_asked_before_requests_and_refreshes_once_for_all_that_were_refused() {
    for (head, line) in [
        ("401 Unauthorized", "401 Some(\"bad\") None"),
        (
            "401 Unauthorized\r\nwww-authenticate: Basic, bearer scope=x",
            "401 Some(\"bad\") Some(\"x\")",
        ),
        (
            "403 Forbidden\r\nwww-authenticate: Bearer error=\"insufficient_scope\", scope=\"x y\"",
            "403 Some(\"bad\") Some(\"x y\")",
        ),
    ] {
        let server = Server::start(wants_good(head)).await;
        let provider = Provider::default();
        provider.set("bad");
        let transport = connect(http(&server).credentials(Tokens::new(provider.clone()))).await;
        let calls: Vec<_> =
            (0..8).map(|_| tokio::spawn(read(transport.exchange(request(1))))).collect();
        for call in calls {
            let told = told(&soon(call).await.expect("no panic"));
            assert_eq!(told.last().map(String::as_str), Some(RESULT));
        }
        assert_eq!(*provider.refreshed.lock().expect("not poisoned"), [line]);
    }
}

#[tokio::test]
async fn a_second_refusal_is_final_and_so_is_a_403_that_asks_for_no_scope() {
    let forbidden = "403 Forbidden\r\nwww-authenticate: Bearer error=\"invalid_token\"";
    for (head, requests) in [("401 Unauthorized", 2), (forbidden, 1)] {
        let server = Server::scripted(vec![plain(head, "")]).await;
        let transport = connect(http(&server).credentials(Tokens::new(Provider::default()))).await;
        let told = told(&soon(call(&transport, 1)).await);
        assert_eq!(told.last().map(String::as_str), Some("!Status"));
        assert_eq!(server.seen().len(), requests, "{head}");
    }
}

#[tokio::test]
async fn a_token_that_no_header_can_carry_is_never_shown() {
    let server = Server::scripted(vec![json(RESULT)]).await;
    for token in ["", "two words", "line\r\nbreak", "caf\u{e9}"] {
        let provider = Provider::default();
        provider.set(token);
        let transport = connect(http(&server).credentials(Tokens::new(provider))).await;
        let error = failure(&transport, 1).await;
        assert_eq!(error.fault(), TransportFault::Credentials);
        assert!(token.is_empty() || !format!("{error:?}").contains(token));
        let fixed = http(&server).bearer(token).expect_err("no token");
        assert_eq!(fixed.fault(), TransportFault::Usage);
    }
    assert_eq!(server.seen().len(), 0);
}

#[tokio::test]
async fn nothing_that_is_shown_holds_a_secret() {
    let server = Server::scripted(vec![json(RESULT)]).await;
    let http = http(&server)
        .bearer("s3cret")
        .expect("a token")
        .header("x-key", "s3cret")
        .expect("a header");
    let transport = connect(http.clone()).await;
    let query = crate::Http::new("http://h/mcp?key=s3cret").expect("a URL");
    let shown = format!("{http:?} {transport:?} {query:?} {}", query.target());
    assert!(shown.contains("x-key") && !shown.contains("s3cret"), "{shown}");
}

// AUTH-13
#[tokio::test]
async fn a_resumed_stream_is_authorized_anew_and_a_person_may_be_waited_for() {
    let prime = "data:\nid: a\nretry: 10\n\n";
    let rest = format!("id: b\ndata: {RESULT}\n\n");
    let server = Server::start(move |seen| match seen.header("authorization") {
        Some("Bearer t0") if seen.line.starts_with("GET") => plain(REFUSED, "no"),
        _ if seen.line.starts_with("GET") => whole_events(&[&rest]),
        _ => whole_events(&[prime]),
    })
    .await;
    let transport = connect(http(&server).credentials(Counting::default())).await;
    let mut envelope = request(1);
    envelope.resumable = true;
    assert_eq!(told(&soon(read(transport.exchange(envelope))).await), [RESULT]);
    let seen = server.seen();
    let sent: Vec<_> = seen.iter().filter_map(|seen| seen.header("authorization")).collect();
    assert_eq!(sent, ["Bearer t0", "Bearer t0", "Bearer t1"]);
    assert!(seen[1..].iter().all(|seen| seen.header("last-event-id") == Some("a")));
}

#[tokio::test]
async fn waiting_for_a_person_before_a_stream_is_resumed_is_told_too() {
    let rest = format!("id: b\ndata: {RESULT}\n\n");
    let first = whole_events(&["data:\nid: a\nretry: 10\n\n"]);
    let server = Server::scripted(vec![first, whole_events(&[&rest])]).await;
    let go = Arc::new(Notify::new());
    let slow = Slow { go: go.clone(), limit: Duration::from_secs(300) };
    let transport = connect(http(&server).credentials(slow)).await;
    let mut envelope = request(1);
    envelope.resumable = true;
    let mut exchange = transport.exchange(envelope);
    go.notify_one();
    let held = soon(exchange.next()).await.expect("an item");
    assert_eq!((told(&[held]), server.seen().len()), (vec!["Held".to_owned()], 1));
    go.notify_one();
    assert_eq!(told(&soon(read(exchange)).await), ["Released", RESULT]);
}

#[tokio::test]
async fn the_limit_of_an_event_stream_stands_while_a_person_is_waited_for() {
    let silent = Server::scripted(vec![vec![Act::Hold(Arc::default())]]).await;
    let server = Server::scripted(vec![whole_events(&["event: x\ndata: y\n\n"])]).await;
    let go = Arc::new(Notify::new());
    let slow = || Slow { go: go.clone(), limit: Duration::from_secs(300) };
    let way = http(&silent).credentials(slow());
    let mut opening = Box::pin(way.events(Duration::from_millis(10)));
    let held = tokio::time::timeout(Duration::from_millis(20), &mut opening).await;
    assert!(held.is_err(), "no time passes while a person is waited for");
    go.notify_one();
    let late = soon(opening).await.expect_err("no time was left for the server");
    assert_eq!(late.fault(), TransportFault::Timeout);

    let way = http(&server).credentials(slow());
    go.notify_one();
    let mut events = soon(way.events(Duration::from_secs(60))).await.expect("a stream");
    let event = soon(events.next()).await.expect("an event").expect("no failure");
    assert_eq!((event.name.as_str(), event.data.as_str()), ("x", "y"));
    assert!(soon(events.next()).await.is_none());
}
