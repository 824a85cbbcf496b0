//! The store by itself, used as several processes would.

use std::sync::Arc;
use std::time::Duration;

use snodo::cache::{Claim, Entry, Group, Key, Mark, Release, Store};
use snodo::dialect::{Extensions, Identity, Params, Request};
use snodo::types::{ProtocolVersion, Raw};
use snodo_cache_redis::Redis;

use super::server::Server;

const SECOND: Duration = Duration::from_secs(1);

fn name() -> Arc<str> {
    "http://example.com/mcp".into()
}

fn key(uri: &str) -> Key {
    let request = Request::new("resources/read", Params::new().with("uri", uri).expect("text"));
    let identity = Identity {
        client_info: Raw::empty_object(),
        capabilities: Raw::empty_object(),
        extensions: Extensions::new(),
    };
    Key::of(&request, &name(), ProtocolVersion::V2026_07_28, &identity).expect("a key")
}

async fn mark(store: &Redis, key: &Key) -> Mark {
    store.load(key).await.expect("asked").mark
}

async fn kept(store: &Redis, key: &Key) -> Option<String> {
    store.load(key).await.expect("asked").entry.map(|entry| entry.result)
}

/// Saves a result that was fetched just now.
async fn save(store: &Redis, key: &Key, result: &str) {
    let mark = mark(store, key).await;
    store.save(key, Entry::new(result, 60 * SECOND), mark).await.expect("saved");
}

// S-45, CACHE-02, CACHE-04
#[tokio::test]
async fn what_one_process_saves_another_loads_with_what_is_left_of_its_time() {
    let server = Server::start().await;
    let (one, other) = (server.store(), server.store());
    let a = key("x:a");
    assert_eq!(kept(&one, &a).await, None);
    let entry = Entry::new(r#"{"contents":[]}"#, 60 * SECOND).kept_for(90 * SECOND);
    let at = mark(&one, &a).await;
    one.save(&a, entry, at).await.expect("saved");
    let loaded = other.load(&a).await.expect("asked").entry.expect("kept");
    assert_eq!(loaded.result, r#"{"contents":[]}"#);
    assert!(loaded.fresh_for <= 60 * SECOND && loaded.fresh_for > 50 * SECOND, "{loaded:?}");
    assert!(loaded.kept_for <= 90 * SECOND && loaded.kept_for > 80 * SECOND, "{loaded:?}");
    assert_eq!(kept(&other, &key("x:b")).await, None);
    let elsewhere = server.store().prefix("elsewhere");
    assert_eq!(kept(&elsewhere, &a).await, None);

    let short = Entry::new("{}", Duration::from_millis(1)).kept_for(60 * SECOND);
    let at = mark(&one, &a).await;
    one.save(&a, short, at).await.expect("saved");
    tokio::time::sleep(Duration::from_millis(5)).await;
    let stale = other.load(&a).await.expect("asked").entry.expect("kept past its time");
    assert_eq!(stale.fresh_for, Duration::ZERO);
}

// S-45, CACHE-09
#[tokio::test]
async fn what_grew_stale_is_loaded_by_nobody_even_if_it_is_saved_afterwards() {
    let server = Server::start().await;
    let (one, other) = (server.store(), server.store());
    let (a, b) = (key("x:a"), key("x:b"));
    for key in [&a, &b] {
        save(&one, key, "{}").await;
    }
    other.invalidate(a.group()).await.expect("told");
    assert_eq!((kept(&one, &a).await, kept(&one, &b).await), (None, Some("{}".to_owned())));

    let before = mark(&one, &a).await;
    other.invalidate(a.group()).await.expect("told");
    one.save(&a, Entry::new("{}", 60 * SECOND), before).await.expect("saved");
    assert_eq!((kept(&one, &a).await, kept(&other, &a).await), (None, None), "fetched before");
    save(&one, &a, "{}").await;
    assert!(kept(&other, &a).await.is_some());

    other.invalidate(&Group::all(&name())).await.expect("told");
    assert_eq!((kept(&one, &a).await, kept(&one, &b).await), (None, None));
    save(&one, &a, "{}").await;
    other.invalidate(&Group::all(&"another".into())).await.expect("told");
    assert!(kept(&one, &a).await.is_some());
}

// S-45
#[tokio::test]
async fn one_process_claims_a_key_until_it_lets_go_or_is_never_heard_of_again() {
    let server = Server::start().await;
    let (one, other) = (server.store(), server.store());
    let (a, b) = (key("x:a"), key("x:b"));
    let claim = async |store: &Redis, key: &Key| store.claim(key).await.expect("asked");
    assert_eq!(claim(&one, &a).await, Claim::Mine);
    assert_eq!((claim(&other, &a).await, claim(&other, &b).await), (Claim::Others, Claim::Mine));
    // Nobody lets go of what is another's.
    other.release(&a, Release::Done).await.expect("told");
    assert_eq!(claim(&other, &a).await, Claim::Others);
    one.release(&a, Release::Done).await.expect("told");
    assert_eq!(claim(&other, &a).await, Claim::Mine);
    other.release(&a, Release::Unshared).await.expect("told");
    assert_eq!(
        (claim(&one, &a).await, claim(&other, &a).await),
        (Claim::Everybody, Claim::Everybody)
    );

    let hasty = server.store().claim_for(Duration::from_millis(30));
    let c = key("x:c");
    assert_eq!(claim(&hasty, &c).await, Claim::Mine);
    let waited = async {
        while claim(&one, &c).await != Claim::Mine {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(10 * SECOND, waited).await.expect("a claim ends by itself");
}

// S-45
#[tokio::test]
async fn what_is_too_large_is_not_kept_and_a_key_that_is_too_long_is_waited_for_by_nobody() {
    let server = Server::start().await;
    let store = server.store().max_result_bytes(10);
    let (a, long) = (key("x:a"), key(&"x".repeat(5000)));
    save(&store, &a, "{\"x\":\"too long\"}").await;
    assert_eq!(kept(&store, &a).await, None);
    save(&store, &a, "{}").await;
    assert!(kept(&store, &a).await.is_some());
    save(&store, &long, "{}").await;
    assert_eq!(kept(&store, &long).await, None);
    assert_eq!(store.claim(&long).await.expect("asked"), Claim::Everybody);
    store.release(&long, Release::Done).await.expect("nothing to do");
}

// S-45
#[tokio::test]
async fn a_redis_that_goes_is_an_error_and_one_that_comes_back_is_used_again() {
    let mut server = Server::start().await;
    let store = server.store();
    let a = key("x:a");
    save(&store, &a, "{}").await;
    server.kill().await;
    for _ in 0..3 {
        store.load(&a).await.expect_err("nobody is there");
    }
    assert!(server.begin().await);
    save(&store, &a, "{}").await;
    assert!(kept(&store, &a).await.is_some());
}
