//! What is kept in memory, who fetches, and stores that fail.

use std::collections::HashMap;
use std::future::pending;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use snodo_dialect::{Extensions, Identity, Params, Request};
use snodo_engine::{Found, Group, Key, Turn, Whose};
use snodo_types::{Fingerprint, Message, ProtocolVersion, Raw};

use super::flights::Flights;
use super::foreign::Foreign;
use super::memory::Memory;
use super::{Cache, Entry, Loaded, Mark, Store, StoreError};
use crate::tests::{Log, SECOND, settle};

fn key(uri: &str) -> Key {
    let params = Params::new().with("uri", uri).expect("text");
    let identity = Identity {
        client_info: Raw::empty_object(),
        capabilities: Raw::empty_object(),
        extensions: Extensions::new(),
    };
    let request = Request::new("resources/read", params);
    Key::of(&request, &"s".into(), ProtocolVersion::V2026_07_28, &identity).expect("a key")
}

fn sized(bytes: usize) -> Message {
    Message::result(&1.into(), &format!(r#"{{"x":"{}"}}"#, "x".repeat(bytes)))
}

fn caller(name: &str) -> Whose {
    Whose::Caller(Fingerprint::of(&[name.as_bytes()]))
}

fn save(memory: &Memory, key: &Key, whose: Whose, bytes: usize) {
    memory.save(key, whose, sized(bytes), 60 * SECOND, 60 * SECOND);
}

fn kept(memory: &Memory, key: &Key) -> bool {
    memory.load(key, Whose::Everybody).is_some()
}

// S-45
#[test]
fn past_256_results_the_one_goes_that_was_not_used_for_longest() {
    let memory = Memory::default();
    let keys: Vec<_> = (0..258).map(|number| key(&format!("x:{number}"))).collect();
    for key in &keys[..256] {
        save(&memory, key, Whose::Everybody, 1);
    }
    assert!(kept(&memory, &keys[0]), "used once more");
    save(&memory, &keys[256], Whose::Everybody, 1);
    save(&memory, &keys[257], caller("ada"), 1);
    let gone: Vec<_> = (0..257).filter(|number| !kept(&memory, &keys[*number])).collect();
    assert_eq!(gone, [1, 2]);
    assert!(memory.load(&keys[257], caller("ada")).is_some());
}

// S-45
#[test]
fn past_16_mebibytes_results_give_way_and_none_that_is_larger_drives_out_the_others() {
    const MEBIBYTE: usize = 1024 * 1024;
    let memory = Memory::default();
    let keys: Vec<_> = (0..20).map(|number| key(&format!("x:{number}"))).collect();
    for key in &keys {
        save(&memory, key, Whose::Everybody, MEBIBYTE);
    }
    let left: Vec<_> = (0..20).filter(|number| kept(&memory, &keys[*number])).collect();
    assert_eq!(left, (5..20).collect::<Vec<_>>(), "fifteen and what stands beside them");
    save(&memory, &key("x:huge"), Whose::Everybody, 17 * MEBIBYTE);
    assert!(!kept(&memory, &key("x:huge")) && kept(&memory, &keys[5]));
    save(&memory, &key("x:large"), Whose::Everybody, 15 * MEBIBYTE);
    assert!(kept(&memory, &key("x:large")));
    // What is replaced takes its room only once.
    for _ in 0..3 {
        save(&memory, &key("x:large"), Whose::Everybody, 15 * MEBIBYTE);
    }
    assert!(kept(&memory, &key("x:large")));
}

// S-45, CACHE-04
#[tokio::test(start_paused = true)]
async fn what_is_of_no_use_any_more_makes_room_before_anything_else() {
    let memory = Memory::default();
    memory.save(&key("x:short"), Whose::Everybody, sized(1), SECOND, 2 * SECOND);
    for number in 0..255 {
        save(&memory, &key(&format!("x:{number}")), Whose::Everybody, 1);
    }
    tokio::time::advance(SECOND).await;
    let found = memory.load(&key("x:short"), Whose::Everybody).expect("of use");
    assert_eq!(found.fresh_for, Duration::ZERO);
    tokio::time::advance(SECOND).await;
    save(&memory, &key("x:new"), Whose::Everybody, 1);
    assert!((0..255).all(|number| kept(&memory, &key(&format!("x:{number}")))));
    assert!(!kept(&memory, &key("x:short")));
}

// CACHE-08
#[test]
fn callers_have_their_own_and_what_is_for_everybody_puts_an_end_to_it() {
    let memory = Memory::default();
    let (a, b) = (key("x:a"), key("x:b"));
    assert!(!memory.has_private(&a));
    save(&memory, &a, caller("ada"), 1);
    save(&memory, &b, caller("ada"), 1);
    assert!(memory.has_private(&a));
    assert!(memory.load(&a, caller("ada")).is_some());
    assert!(memory.load(&a, caller("bob")).is_none() && !kept(&memory, &a));
    memory.forget_private(&a);
    assert!(!memory.has_private(&a) && memory.has_private(&b));
    memory.invalidate(b.group());
    assert!(!memory.has_private(&b));
}

// S-45
#[tokio::test(start_paused = true)]
async fn a_flight_is_gone_with_the_last_who_is_on_it() {
    let flights = Arc::new(Flights::default());
    let key = key("x:a");
    let (turn, place) = flights.join(&key, Whose::Everybody, None).await;
    assert!(matches!(turn, Turn::Mine));
    let waiting = {
        let (flights, key) = (Arc::clone(&flights), key.clone());
        tokio::spawn(async move { flights.join(&key, Whose::Everybody, None).await.0 })
    };
    let given_up = {
        let (flights, key) = (Arc::clone(&flights), key.clone());
        tokio::spawn(async move { flights.join(&key, Whose::Everybody, None).await.0 })
    };
    settle().await;
    given_up.abort();
    settle().await;
    assert_eq!(flights.count(), 1);
    let place = place.expect("the turn");
    let found = Found { message: sized(1), fresh_for: SECOND };
    place.give(Whose::Everybody, &found, crate::timer::now());
    drop(place);
    assert!(matches!(waiting.await.expect("no panic"), Turn::Given(_)));
    assert_eq!(flights.count(), 0);
    let mut leaving = Box::pin(flights.join(&key, Whose::Everybody, None));
    let (_, place) = leaving.as_mut().await;
    drop(place);
    assert_eq!(flights.count(), 0);
}

/// A store that fails when it is told to, or never answers.
#[derive(Clone, Default)]
struct Moody(Arc<Inner>);

#[derive(Default)]
struct Inner {
    mood: AtomicUsize,
    asked: AtomicUsize,
    kept: Mutex<HashMap<String, Entry>>,
    stale: Mutex<Vec<String>>,
}

const WELL: usize = 0;
const FAILS: usize = 1;
const HANGS: usize = 2;

impl Moody {
    fn is(&self, mood: usize) {
        self.0.mood.store(mood, Ordering::SeqCst);
    }

    fn asked(&self) -> usize {
        self.0.asked.load(Ordering::SeqCst)
    }

    fn stale(&self) -> Vec<String> {
        self.0.stale.lock().expect("no panic").clone()
    }

    async fn mood(&self) -> Result<(), StoreError> {
        self.0.asked.fetch_add(1, Ordering::SeqCst);
        match self.0.mood.load(Ordering::SeqCst) {
            WELL => Ok(()),
            FAILS => Err(StoreError::new("no connection")),
            _ => pending().await,
        }
    }
}

impl Store for Moody {
    async fn load(&self, key: &Key) -> Result<Loaded, StoreError> {
        self.mood().await?;
        let entry = self.0.kept.lock().expect("no panic").get(key.text()).cloned();
        Ok(Loaded { entry, mark: Mark::new("m") })
    }

    async fn save(&self, key: &Key, entry: Entry, mark: Mark) -> Result<(), StoreError> {
        self.mood().await?;
        assert_eq!(mark.text(), "m");
        self.0.kept.lock().expect("no panic").insert(key.text().to_owned(), entry);
        Ok(())
    }

    async fn invalidate(&self, group: &Group) -> Result<(), StoreError> {
        self.mood().await?;
        self.0.stale.lock().expect("no panic").push(group.text());
        self.0.kept.lock().expect("no panic").clear();
        Ok(())
    }
}

// S-45
#[tokio::test(start_paused = true)]
async fn a_store_that_fails_is_warned_of_once_and_left_alone_for_a_second() {
    let store = Moody::default();
    let foreign = Foreign::new(Box::new(store.clone()));
    let (log, _guard) = Log::catch();
    let warned = || log.text().matches("calls go on without it").count();
    for mood in [FAILS, HANGS] {
        store.is(mood);
        let before = store.asked();
        for _ in 0..50 {
            assert!(foreign.load(&key("x:a")).await.is_none());
        }
        assert_eq!((store.asked() - before, warned()), (1, mood));
        tokio::time::advance(SECOND).await;
        assert!(foreign.load(&key("x:a")).await.is_none());
        assert_eq!((store.asked() - before, warned()), (2, mood), "still the same failure");
        tokio::time::advance(SECOND).await;
        store.is(WELL);
        assert!(foreign.load(&key("x:a")).await.is_some());
        assert_eq!(log.text().matches("is back").count(), mood);
    }
}

// CACHE-09
#[tokio::test(start_paused = true)]
async fn a_store_hears_what_is_stale_at_once_or_before_anything_else_it_is_asked() {
    let store = Moody::default();
    let foreign = Arc::new(Foreign::new(Box::new(store.clone())));
    let (a, b) = (key("x:a"), key("x:b"));
    let entry = Entry::new("{}", 60 * SECOND);
    assert!(foreign.save(&a, entry.clone(), Mark::new("m")).await);
    foreign.invalidate(&[a.group().clone()]);
    settle().await;
    assert_eq!(store.stale(), [a.group().text()], "nobody had to ask for anything");

    foreign.save(&a, entry.clone(), Mark::new("m")).await;
    store.is(FAILS);
    foreign.invalidate(&[a.group().clone(), b.group().clone(), a.group().clone()]);
    settle().await;
    assert!(foreign.load(&a).await.is_none());
    store.is(WELL);
    assert!(foreign.load(&a).await.is_none(), "it is left alone for a second");
    tokio::time::advance(SECOND).await;
    let loaded = foreign.load(&a).await.expect("it is well");
    assert!(loaded.entry.is_none(), "what was stale meanwhile is not given");
    assert_eq!(store.stale().len(), 3, "each is told once");
}

// CACHE-09
#[tokio::test(start_paused = true)]
async fn what_a_store_is_owed_is_bounded_by_whole_servers() {
    let store = Moody::default();
    store.is(FAILS);
    let foreign = Arc::new(Foreign::new(Box::new(store.clone())));
    for number in 0..10_000 {
        foreign.invalidate(&[key(&format!("x:{number}")).group().clone()]);
    }
    settle().await;
    store.is(WELL);
    tokio::time::advance(2 * SECOND).await;
    settle().await;
    let stale = store.stale();
    assert!(stale.len() <= 65, "{}", stale.len());
    assert_eq!(stale[0], r#"["s"]"#);
    drop(foreign);
}

// S-45
#[tokio::test(start_paused = true)]
async fn a_store_that_others_broke_is_read_like_a_server() {
    let store = Moody::default();
    let desk = super::Desk::new(&Cache::shared(store.clone()), Some("s".to_owned()));
    for (text, good) in [("{}", true), ("[]", false), ("{} {", false), ("", false)] {
        let entry = Entry::new(text, SECOND);
        store.0.kept.lock().expect("no panic").insert(key("x:a").text().to_owned(), entry);
        let (found, mark) = desk.load(&key("x:a"), Whose::Everybody).await;
        assert_eq!((found.is_some(), mark.is_some()), (good, true), "{text}");
    }
}

// CACHE-08
#[tokio::test(start_paused = true)]
async fn nothing_private_and_nothing_of_a_nameless_server_leaves_the_process() {
    let store = Moody::default();
    let cache = Cache::shared(store.clone());
    let (named, nameless) =
        (super::Desk::new(&cache, Some("s".to_owned())), super::Desk::new(&cache, None));
    let found = Found { message: sized(1), fresh_for: SECOND };
    named.save(&key("x:a"), caller("ada"), &found, SECOND, Some(Mark::new("m"))).await;
    nameless.save(&key("x:b"), Whose::Everybody, &found, SECOND, None).await;
    named.load(&key("x:a"), caller("ada")).await.0.expect("kept here");
    nameless.load(&key("x:b"), Whose::Everybody).await.0.expect("kept here");
    nameless.missed();
    settle().await;
    assert_eq!((store.asked(), named.is_shared(), nameless.is_shared()), (0, true, false));
    // Without a mark from before it was fetched, nobody knows whether it is stale.
    named.save(&key("x:a"), Whose::Everybody, &found, SECOND, None).await;
    assert_eq!(store.asked(), 0);
    named.save(&key("x:a"), Whose::Everybody, &found, SECOND, Some(Mark::new("m"))).await;
    assert_eq!(store.asked(), 1);
}
