//! Logins: what they begin with, what they ask for, who waits for them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use snodo_transport::{Incoming, Transport};
use tokio::sync::Notify;

use super::world::{REDIRECT, World, agreeing, request, told};
use crate::{Departure, Error, ErrorKind, OAuth, Person, Policy, Visit};

// AUTH-05, AUTH-10, AUTH-11, AUTH-14, AUTH-43, AUTH-106, AUTH-119, AUTH-139
#[tokio::test]
async fn a_refusal_leads_to_a_token_which_then_goes_with_every_request() {
    let world = World::new().await;
    let oauth = agreeing().build();
    for _ in 0..3 {
        world.call(&oauth).await.expect("an answer");
    }
    assert_eq!(world.asked(), ["register", "authorize", "authorization_code"]);
    let carried: Vec<_> =
        world.mcp.requests().into_iter().filter(|request| request.method == "POST").collect();
    let carried: Vec<_> = carried.iter().map(|request| request.header("authorization")).collect();
    let token = Some("Bearer access-3");
    assert_eq!(carried, [None, token, token, token]);
    let (page, code) = (world.last("/authorize"), world.last("/token"));
    assert_eq!(page["resource"], world.mcp.url());
    assert_eq!(code["resource"], page["resource"]);
    assert_eq!(code["client_id"], page["client_id"]);
    assert!(!page.contains_key("scope"), "{page:?}");
}

// AUTH-21, AUTH-140, AUTH-141
#[tokio::test]
async fn no_token_goes_elsewhere_and_none_goes_into_a_url() {
    let world = World::new().await;
    let oauth = agreeing().build();
    world.call(&oauth).await.expect("an answer");
    world.state().access.clear();
    world.call(&oauth).await.expect("an answer");
    for request in world.server.requests().iter().chain(&world.mcp.requests()) {
        assert!(!request.path.contains("access-"), "{}", request.path);
        if request.method == "GET" || !request.path.starts_with("/mcp") {
            assert_eq!(request.header("authorization"), None, "{}", request.path);
            assert_eq!(request.header("cookie"), None);
            if !request.path.starts_with("/authorize") {
                assert_eq!(request.header("accept"), Some("application/json"));
            }
            assert!(!request.body.contains("access-"), "{}", request.body);
        }
    }
}

/// A person who takes their time.
#[derive(Clone, Default)]
struct Slow {
    arrived: Arc<Notify>,
    go: Arc<Notify>,
    visits: Arc<AtomicUsize>,
}

impl Person for Slow {
    async fn prepare(&self, _: Option<&str>) -> Result<Visit, Error> {
        let Self { arrived, go, visits } = self.clone();
        Ok(Visit::new(REDIRECT, move |departure: Departure| async move {
            visits.fetch_add(1, Ordering::SeqCst);
            arrived.notify_one();
            go.notified().await;
            let agreeing = crate::Unattended::new(REDIRECT).prepare(None).await?;
            (agreeing.go)(departure).await
        }))
    }
}

fn slow(person: &Slow) -> OAuth {
    OAuth::person(person.clone()).policy(Policy::new().allow_loopback()).build()
}

// AUTH-143
#[tokio::test]
async fn all_calls_wait_for_one_login_and_are_held_meanwhile() {
    let (world, person) = (World::new().await, Slow::default());
    let transport = Arc::new(world.http(&slow(&person)).await);
    let mut first = transport.exchange(request());
    let held = first.next().await.expect("an item").expect("no failure");
    assert!(matches!(held, Incoming::Held), "{held:?}");
    let others: Vec<_> =
        (0..8).map(|_| tokio::spawn(told(transport.exchange(request())))).collect();
    person.arrived.notified().await;
    person.go.notify_one();
    told(first).await.expect("an answer");
    for other in others {
        other.await.expect("no panic").expect("an answer");
    }
    assert_eq!(person.visits.load(Ordering::SeqCst), 1);
    assert_eq!(world.asked(), ["register", "authorize", "authorization_code"]);
}

#[tokio::test]
async fn a_login_goes_on_without_the_call_that_began_it_and_ends_with_the_credentials() {
    let (world, person) = (World::new().await, Slow::default());
    let oauth = slow(&person);
    let transport = world.http(&oauth).await;
    let mut call = transport.exchange(request());
    call.next().await.expect("held").expect("no failure");
    person.arrived.notified().await;
    drop(call);
    person.go.notify_one();
    told(transport.exchange(request())).await.expect("an answer");
    assert_eq!(person.visits.load(Ordering::SeqCst), 1);

    world.state().access.clear();
    world.state().refresh.clear();
    let mut call = transport.exchange(request());
    while !matches!(call.next().await, Some(Ok(Incoming::Held))) {}
    let waiting = tokio::spawn(told(call));
    person.arrived.notified().await;
    let go = Arc::downgrade(&person.go);
    drop((oauth, transport, person));
    waiting.abort();
    // The visit held the last one.
    while go.strong_count() > 0 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_person_who_does_not_come_back_is_waited_for_only_so_long() {
    let (world, person) = (World::new().await, Slow::default());
    let builder = OAuth::person(person).policy(Policy::new().allow_loopback());
    let oauth = builder.patience(Duration::from_millis(200)).build();
    let error = world.call(&oauth).await.expect_err("nobody came back");
    assert_eq!(error.fault(), snodo_types::TransportFault::Credentials);
}

// AUTH-104, AUTH-138
#[tokio::test]
async fn a_no_is_told_by_its_kind_and_nobody_is_asked_again_at_once() {
    let world = World::new().await;
    world.state().adds = "&error=access_denied&error_description=not+today".to_owned();
    let oauth = agreeing().build();
    for _ in 0..3 {
        let error = world.call(&oauth).await.expect_err("declined");
        let ours = Error::within(&error).expect("one of ours");
        assert_eq!(ours.kind(), ErrorKind::Declined, "{ours}");
    }
    assert_eq!(world.asked(), ["register", "authorize"]);
    world.state().adds.clear();
    let errands = snodo_http::Errands::new();
    oauth.sign_out(&world.mcp.url(), &errands).await.expect("nothing to revoke");
    world.call(&oauth).await.expect("an answer");
}

// AUTH-97, AUTH-99, AUTH-155
#[tokio::test]
async fn an_answer_from_another_issuer_buys_nothing() {
    let world = World::new().await;
    world.state().adds = "&iss=https://evil.example.com".to_owned();
    let error = world.call(&agreeing().build()).await.expect_err("a mix-up");
    assert_eq!(Error::within(&error).map(Error::kind), Some(ErrorKind::Mismatch));
    assert_eq!(world.asked(), ["register", "authorize"]);
}

// AUTH-113
#[tokio::test]
async fn a_code_is_sent_once_whatever_comes_of_it() {
    for (status, body, kind) in [
        (503, "", ErrorKind::Unreachable),
        (307, "", ErrorKind::Unreachable),
        (400, r#"{"error":"invalid_grant"}"#, ErrorKind::Refused),
        (200, r#"{"access_token":"t","token_type":"mac"}"#, ErrorKind::Malformed),
    ] {
        let world = World::new().await;
        world.state().answers = vec![(status, body.to_owned())];
        let error = world.call(&agreeing().build()).await.expect_err("no token");
        assert_eq!(Error::within(&error).map(Error::kind), Some(kind), "{status}");
        assert_eq!(world.asked(), ["register", "authorize", "authorization_code"]);
    }
}

// AUTH-06, AUTH-15, AUTH-18, AUTH-22, AUTH-121
#[tokio::test]
async fn metadata_is_read_where_the_challenge_says_and_nowhere_else() {
    let world = World::new().await;
    let named = format!("{}/.well-known/custom.json", world.mcp.origin());
    world.state().challenge = format!("resource_metadata=\"{named}\", scope=\"a b\"");
    world.state().resource = json!({ "scopes_supported": ["c"] });
    world.call(&agreeing().build()).await.expect("an answer");
    let read: Vec<_> = world
        .mcp
        .requests()
        .into_iter()
        .filter(|one| one.method == "GET")
        .map(|one| one.path)
        .collect();
    assert_eq!(read, ["/.well-known/custom.json"]);
    assert_eq!(world.last("/authorize")["scope"], "a b");
}

// AUTH-09, AUTH-12
#[tokio::test]
async fn what_is_not_meant_for_us_is_the_caller_s() {
    use snodo_testkit::{Loopback, Reply};
    for (status, challenge) in [
        (401, "Basic realm=\"x\""),
        (401, "Negotiate, DPoP algs=\"ES256\""),
        (403, "Bearer error=\"invalid_token\""),
        (403, "Basic error=\"insufficient_scope\""),
        (400, "Bearer"),
    ] {
        let server = Loopback::serve(move |_| async move {
            Reply::new(status).header("www-authenticate", challenge)
        })
        .await
        .expect("a port");
        let http =
            snodo_http::Http::new(server.url()).expect("a URL").credentials(agreeing().build());
        let transport = snodo_transport::Connect::connect(&http).await.expect("connected");
        let error = told(transport.exchange(request())).await.expect_err("refused");
        assert_eq!(error.status(), Some(status), "{error}");
        assert_eq!(server.requests().len(), 1, "{challenge}");
    }
}
