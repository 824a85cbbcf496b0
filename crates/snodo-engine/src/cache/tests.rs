//! Keys, groups, and lookups played step by step.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use snodo_dialect::{Extensions, Identity, Params, Request};
use snodo_types::{
    Error, Fingerprint, InputRequests, InputRequired, Kept, Kind, Message, Outcome,
    ProtocolVersion, Raw, TransportError, TransportFault,
};

use super::{Asking, Claim, Facts, Found, Group, Key, Lookup, LookupStep, Turn, Whose, made_stale};

const SECOND: Duration = Duration::from_secs(1);
const EVERYBODY: Whose = Whose::Everybody;

fn server(name: &str) -> Arc<str> {
    name.into()
}

fn identity(name: &str, capabilities: &str) -> Identity {
    Identity {
        client_info: Raw::parse(format!(r#"{{"name":"{name}"}}"#)).expect("JSON"),
        capabilities: Raw::parse(capabilities).expect("JSON"),
        extensions: Extensions::new(),
    }
}

fn request(method: &'static str, params: Value) -> Request {
    Request::new(method, Params::from_object(&params).expect("an object"))
}

fn key(method: &'static str, params: Value) -> Option<Key> {
    let request = request(method, params);
    Key::of(&request, &server("s"), ProtocolVersion::V2026_07_28, &identity("a", "{}"))
}

fn message(result: &str) -> Message {
    Message::result(&1.into(), result)
}

fn found(result: &str, fresh_for: Duration) -> Option<Found> {
    Some(Found { message: message(result), fresh_for })
}

fn answer(result: &str) -> Result<Outcome<Message>, Error> {
    Ok(Outcome::Complete(message(result)))
}

fn unreachable() -> Error {
    TransportError::new(TransportFault::Connect, "nobody is there").into()
}

fn ada() -> Fingerprint {
    Fingerprint::of(&[b"ada"])
}

/// The steps that are due, in short.
fn due(lookup: &mut Lookup) -> Vec<String> {
    let tell = |step| match step {
        LookupStep::Done(answer) => match *answer {
            Ok(Outcome::Complete(message)) => {
                let kept = message.outside().and_then(|outside| outside.kept);
                format!("done {kept:?} {}", message.text().contains("old"))
            }
            Ok(Outcome::InputRequired(_)) => "done asking".to_owned(),
            Err(error) => format!("done {}", error.code()),
        },
        LookupStep::Join(Whose::Caller(_)) => "join caller".to_owned(),
        LookupStep::Join(EVERYBODY) => "join".to_owned(),
        LookupStep::Leave(leaving) => format!("leave {leaving:?}"),
        LookupStep::Load(Whose::Caller(_)) => "load caller".to_owned(),
        LookupStep::Load(EVERYBODY) => "load".to_owned(),
        LookupStep::Save { whose, fresh_for, kept_for, .. } => {
            let whose = if whose == EVERYBODY { "everybody" } else { "caller" };
            format!("save {whose} {} {}", fresh_for.as_secs(), kept_for.as_secs())
        }
        other => format!("{other:?}").to_lowercase(),
    };
    std::iter::from_fn(|| lookup.poll()).map(tell).collect()
}

/// A lookup that missed and is being fetched, for somebody whom the transport named.
fn fetching(asking: Asking) -> Lookup {
    let mut lookup = Lookup::new(asking);
    lookup.poll();
    lookup.handle_loaded(None);
    lookup.handle_turn(Turn::Mine);
    lookup.handle_loaded(None);
    lookup.handle_caller(ada());
    lookup.handle_loaded(None);
    lookup.handle_turn(Turn::Mine);
    lookup.handle_loaded(None);
    assert_eq!(due(&mut lookup).last().map(String::as_str), Some("fetch"));
    lookup
}

// S-45, CACHE-01, CACHE-15, PRM-03
#[test]
fn six_methods_have_keys_and_no_other_has() {
    let methods = ["server/discover", "tools/list", "prompts/list", "resources/list"];
    for method in methods.into_iter().chain(["resources/templates/list"]) {
        assert!(key(method, json!({})).is_some(), "{method}");
    }
    assert!(key("resources/read", json!({ "uri": "x:/" })).is_some());
    assert!(key("resources/read", json!({})).is_none(), "it says nothing of what is read");
    for method in ["tools/call", "prompts/get", "completion/complete", "ping", "tasks/get"] {
        assert!(key(method, json!({ "name": "x" })).is_none(), "{method}");
    }
}

// S-45, CACHE-02, CACHE-13
#[test]
fn whatever_may_decide_an_answer_is_another_key() {
    let list = request("tools/list", json!({}));
    let page = |cursor| request("tools/list", json!({ "cursor": cursor }));
    let read = |uri| request("resources/read", json!({ "uri": uri }));
    let (new, old) = (ProtocolVersion::V2026_07_28, ProtocolVersion::V2025_11_25);
    let (one, other) = (identity("a", "{}"), identity("b", "{}"));
    let able = identity("a", r#"{"roots":{}}"#);
    let prompts = request("prompts/list", json!({}));
    let (next, empty) = (page("2"), page(""));
    let (a, b) = (read("x:a"), read("x:b"));
    let of = |request, name: &str, version, identity| {
        Key::of(request, &server(name), version, identity).expect("a key")
    };
    let keys = [
        of(&list, "s", new, &one),
        of(&list, "s", old, &one),
        of(&list, "s", new, &other),
        of(&list, "s", new, &able),
        of(&list, "t", new, &one),
        of(&prompts, "s", new, &one),
        of(&next, "s", new, &one),
        of(&empty, "s", new, &one),
        of(&a, "s", new, &one),
        of(&b, "s", new, &one),
        of(&list, r#"s","2026"#, new, &one),
    ];
    for (place, key) in keys.iter().enumerate() {
        assert!(keys[..place].iter().all(|known| known.text() != key.text()), "{}", key.text());
    }
    assert_eq!(of(&list, "s", new, &one), keys[0]);
    let shown = format!("{:?} {:?}", of(&a, "s", new, &one), of(&a, "s", new, &one).group());
    assert!(!shown.contains("x:a"), "{shown}");
}

// S-45, CACHE-09
#[test]
fn events_make_their_lists_and_resources_stale_and_nothing_else() {
    let told = |method: &str, params: Value| {
        let text = json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string();
        made_stale(&server("s"), &Message::parse(text).expect("a message"))
    };
    let group = |method, params| key(method, params).expect("a key").group().clone();
    let everything = [
        group("tools/list", json!({ "cursor": "2" })),
        group("prompts/list", json!({})),
        group("resources/list", json!({})),
        group("resources/templates/list", json!({ "cursor": "" })),
        group("server/discover", json!({})),
        group("resources/read", json!({ "uri": "x:a" })),
        group("resources/read", json!({ "uri": "x:a/b" })),
    ];
    let hit = |stale: Vec<Group>| {
        let covered = |group: &&Group| stale.iter().any(|stale| stale.covers(group));
        let places = everything.iter().enumerate().filter(|(_, group)| covered(group));
        places.map(|(place, _)| place).collect::<Vec<_>>()
    };
    assert_eq!(hit(told("notifications/tools/list_changed", json!({}))), [0]);
    assert_eq!(hit(told("notifications/prompts/list_changed", json!({}))), [1]);
    assert_eq!(hit(told("notifications/resources/list_changed", json!({}))), [2, 3]);
    assert_eq!(hit(told("notifications/resources/updated", json!({ "uri": "x:a" }))), [5]);
    assert_eq!(hit(told("notifications/resources/updated", json!({}))), Vec::<usize>::new());
    assert_eq!(hit(told("notifications/message", json!({}))), Vec::<usize>::new());
    assert_eq!(hit(vec![Group::all(&server("s"))]), [0, 1, 2, 3, 4, 5, 6]);
    assert_eq!(hit(vec![Group::all(&server("t"))]), Vec::<usize>::new());
    let mut texts: Vec<_> = everything.iter().map(Group::text).collect();
    texts.push(Group::all(&server("s")).text());
    let count = texts.len();
    texts.sort();
    texts.dedup();
    assert_eq!(texts.len(), count, "each group has a text of its own");
}

// S-45, CACHE-04
#[test]
fn what_is_fresh_is_given_and_what_is_not_is_fetched() {
    let mut lookup = Lookup::new(Asking::default());
    assert_eq!(due(&mut lookup), ["load"]);
    lookup.handle_loaded(found("{}", Duration::from_millis(1)));
    assert_eq!(due(&mut lookup), ["leave Failed", "done Some(Fresh) false"]);

    let mut lookup = Lookup::new(Asking::default());
    assert_eq!(due(&mut lookup), ["load"]);
    lookup.handle_loaded(found("{}", Duration::ZERO));
    assert_eq!(due(&mut lookup), ["join"]);
    lookup.handle_turn(Turn::Mine);
    assert_eq!(due(&mut lookup), ["load"], "another one may just have saved it");
    lookup.handle_loaded(None);
    assert_eq!(due(&mut lookup), ["fetch"]);
}

// S-45, CACHE-01, CACHE-04, CACHE-05, CACHE-08, CACHE-12
#[test]
fn the_hints_of_a_result_say_for_whom_and_how_long_it_is_kept() {
    let table = [
        (r#"{"ttlMs":5000,"cacheScope":"public"}"#, Some("save everybody 5 5")),
        (r#"{"ttlMs":5000,"cacheScope":"private"}"#, Some("save caller 5 5")),
        (r#"{"ttlMs":5000}"#, Some("save caller 5 5")),
        (r#"{"ttlMs":5000,"cacheScope":"planet"}"#, Some("save caller 5 5")),
        (r#"{"ttlMs":86401000,"cacheScope":"public"}"#, Some("save everybody 86400 86400")),
        (r#"{"ttlMs":9223372036854775807}"#, Some("save caller 86400 86400")),
        (r#"{"resultType":"complete","ttlMs":1000}"#, Some("save caller 1 1")),
        (r#"{"ttlMs":0,"cacheScope":"public"}"#, None),
        (r#"{"ttlMs":-5,"cacheScope":"public"}"#, None),
        (r#"{"cacheScope":"public"}"#, None),
        (r#"{"resultType":"partial","ttlMs":1000}"#, None),
    ];
    for (result, saved) in table {
        let mut lookup = fetching(Asking::default());
        lookup.handle_answer(answer(result), Facts::default());
        let leaves = if saved.is_some() { "leave Saved" } else { "leave Unkept" };
        let rest = [leaves, "done None false"];
        assert_eq!(due(&mut lookup), [saved.as_slice(), &rest[..]].concat(), "{result}");
    }
}

// S-45, CACHE-03
#[test]
fn what_came_after_questions_or_from_elsewhere_is_not_kept() {
    let facts = [
        Facts { inquired: true, ..Facts::default() },
        Facts { elsewhere: true, ..Facts::default() },
    ];
    for facts in facts {
        let mut lookup = fetching(Asking::default());
        lookup.handle_answer(answer(r#"{"ttlMs":5000,"cacheScope":"public"}"#), facts);
        assert_eq!(due(&mut lookup), ["leave Unkept", "done None false"]);
    }
    let mut lookup = fetching(Asking::default());
    let asked = InputRequired::new(InputRequests::new());
    lookup.handle_answer(Ok(Outcome::InputRequired(asked)), Facts::default());
    assert_eq!(due(&mut lookup), ["leave Unkept", "done asking"]);
}

// CACHE-08
#[test]
fn what_is_private_is_not_kept_where_nobody_knows_who_asks() {
    let mut lookup = Lookup::new(Asking::default());
    lookup.handle_loaded(None);
    lookup.handle_turn(Turn::Mine);
    lookup.handle_loaded(None);
    due(&mut lookup);
    lookup.handle_answer(answer(r#"{"ttlMs":5000}"#), Facts::default());
    assert_eq!(due(&mut lookup), ["leave Unkept", "done None false"]);
}

// CACHE-08, CACHE-14
#[test]
fn who_asks_is_looked_up_before_it_is_sent_and_anew_when_it_changes() {
    let mut lookup = Lookup::new(Asking { private: true, ..Asking::default() });
    assert_eq!(due(&mut lookup), ["fetch"]);
    lookup.handle_caller(ada());
    assert_eq!(due(&mut lookup), ["load caller"]);
    lookup.handle_loaded(None);
    assert_eq!(due(&mut lookup), ["join caller"]);
    lookup.handle_turn(Turn::Mine);
    assert_eq!(due(&mut lookup), ["load caller"]);
    lookup.handle_loaded(None);
    assert_eq!(due(&mut lookup), ["fetch"]);
    lookup.handle_caller(ada());
    assert_eq!(due(&mut lookup), ["fetch"], "the same once more");
    lookup.handle_caller(Fingerprint::of(&[b"bob"]));
    assert_eq!(due(&mut lookup), ["load caller"]);
    lookup.handle_loaded(found("{}", SECOND));
    assert_eq!(due(&mut lookup), ["leave Failed", "done Some(Fresh) false"]);
}

// S-45
#[test]
fn a_refresh_gives_nothing_that_was_kept_and_keeps_what_comes() {
    let mut lookup = Lookup::new(Asking { anew: true, ..Asking::default() });
    assert_eq!(due(&mut lookup), ["join"]);
    lookup.handle_turn(Turn::Mine);
    assert_eq!(due(&mut lookup), ["load"]);
    lookup.handle_loaded(found(r#"{"old":1}"#, SECOND));
    assert_eq!(due(&mut lookup), ["fetch"]);
    lookup.handle_answer(answer(r#"{"ttlMs":1000,"cacheScope":"public"}"#), Facts::default());
    assert_eq!(due(&mut lookup), ["save everybody 1 1", "leave Saved", "done None false"]);
    // What failed is told, whatever is kept.
    let stale_for = 60 * SECOND;
    let mut lookup = Lookup::new(Asking { anew: true, stale_for, ..Asking::default() });
    lookup.handle_turn(Turn::Mine);
    lookup.handle_loaded(found(r#"{"old":1}"#, Duration::ZERO));
    due(&mut lookup);
    lookup.handle_answer(Err(unreachable()), Facts::default());
    assert_eq!(due(&mut lookup), ["leave Failed", "done -32000"]);
}

// S-45, CACHE-07
#[test]
fn a_stale_result_answers_for_a_server_that_cannot_be_asked_and_for_no_refusal() {
    let failures = |status| {
        let error = TransportError::new(TransportFault::Status, "no");
        Error::from(error.with_status(status))
    };
    let word = Error::new(Kind::Protocol, -32602, "no such resource");
    let table = [
        (unreachable(), true),
        (Error::timeout(SECOND), true),
        (failures(503), true),
        (failures(429), true),
        (failures(408), true),
        (failures(404), false),
        (failures(400), false),
        (Error::new(Kind::Authorization, -32000, "who are you"), false),
        (word, false),
    ];
    for (error, serves) in table {
        let code = error.code();
        let mut lookup = Lookup::new(Asking { stale_for: 60 * SECOND, ..Asking::default() });
        lookup.handle_loaded(found(r#"{"old":1}"#, Duration::ZERO));
        lookup.handle_turn(Turn::Mine);
        lookup.handle_loaded(found(r#"{"old":1}"#, Duration::ZERO));
        due(&mut lookup);
        lookup.handle_answer(Err(error.clone()), Facts::default());
        let end = match serves {
            true => format!("done {:?} true", Some(Kept::Stale)),
            false => format!("done {code}"),
        };
        assert_eq!(due(&mut lookup), ["leave Failed".to_owned(), end], "{error:?}");
    }
    let mut lookup = fetching(Asking { stale_for: 60 * SECOND, ..Asking::default() });
    lookup.handle_answer(answer(r#"{"ttlMs":1000}"#), Facts::default());
    assert_eq!(due(&mut lookup)[0], "save caller 1 61");
}

// S-45
#[test]
fn who_waited_gets_what_was_fetched_or_fetches() {
    let waiting = || {
        let mut lookup = Lookup::new(Asking::default());
        lookup.handle_loaded(None);
        assert_eq!(due(&mut lookup), ["load", "join"]);
        lookup
    };
    let mut given = waiting();
    given.handle_turn(Turn::Given(Found { message: message("{}"), fresh_for: SECOND }));
    assert_eq!(due(&mut given), ["leave Failed", "done Some(Fresh) false"]);
    let mut private = waiting();
    private.handle_turn(Turn::Private);
    assert_eq!(due(&mut private), ["fetch"]);
    private.handle_caller(ada());
    private.handle_loaded(None);
    assert_eq!(due(&mut private), ["load caller", "join caller"], "with others of the caller");
    let mut alone = waiting();
    alone.handle_turn(Turn::Alone);
    assert_eq!(due(&mut alone), ["fetch"]);
    alone.handle_caller(ada());
    alone.handle_loaded(None);
    assert_eq!(due(&mut alone), ["load caller", "fetch"], "nobody is waited for twice");
}

// S-45
#[test]
fn another_process_that_fetches_is_waited_for_with_growing_pauses_and_not_for_ever() {
    let asking = Asking { shared: true, patience: SECOND, ..Asking::default() };
    let mut lookup = Lookup::new(asking);
    lookup.handle_loaded(None);
    lookup.handle_turn(Turn::Mine);
    assert_eq!(due(&mut lookup), ["load", "join", "claim"]);
    let mut pauses = Vec::new();
    loop {
        lookup.handle_claim(Claim::Others);
        match lookup.poll() {
            Some(LookupStep::Sleep(pause)) => pauses.push(pause.as_millis()),
            Some(LookupStep::Fetch) => break,
            other => panic!("{other:?}"),
        }
        lookup.handle_slept();
        assert_eq!(due(&mut lookup), ["load"]);
        lookup.handle_loaded(None);
        assert_eq!(due(&mut lookup), ["claim"]);
    }
    assert_eq!(pauses[..6], [10, 20, 40, 80, 160, 160]);
    assert!((1000..1200).contains(&pauses.iter().sum::<u128>()), "{pauses:?}");

    let mut lookup = Lookup::new(asking);
    lookup.handle_loaded(None);
    lookup.handle_turn(Turn::Mine);
    lookup.handle_claim(Claim::Others);
    lookup.handle_slept();
    due(&mut lookup);
    lookup.handle_loaded(found("{}", SECOND));
    assert_eq!(due(&mut lookup), ["leave Failed", "done Some(Fresh) false"]);
}

// S-45
#[test]
fn a_claim_is_checked_against_the_store_before_it_is_fetched() {
    let claiming = || {
        let mut lookup = Lookup::new(Asking { shared: true, ..Asking::default() });
        lookup.handle_loaded(None);
        lookup.handle_turn(Turn::Mine);
        due(&mut lookup);
        lookup
    };
    let mut mine = claiming();
    mine.handle_claim(Claim::Mine);
    assert_eq!(due(&mut mine), ["load"]);
    mine.handle_loaded(found("{}", SECOND));
    assert_eq!(due(&mut mine), ["leave Failed", "done Some(Fresh) false"]);
    let mut everybody = claiming();
    everybody.handle_claim(Claim::Everybody);
    assert_eq!(due(&mut everybody), ["fetch"]);
}

// CACHE-11
#[test]
fn a_cursor_that_is_refused_spoils_the_pages_of_its_list() {
    let refused = || Error::new(Kind::Protocol, -32602, "unknown cursor");
    let mut later = fetching(Asking { later_page: true, ..Asking::default() });
    later.handle_answer(Err(refused()), Facts::default());
    assert_eq!(due(&mut later), ["spoil", "leave Failed", "done -32602"]);
    let mut first = fetching(Asking::default());
    first.handle_answer(Err(refused()), Facts::default());
    assert_eq!(due(&mut first), ["leave Failed", "done -32602"]);
}
