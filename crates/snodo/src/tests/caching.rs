//! Clients that keep results, against a server that counts what it is asked.

use std::future::{IntoFuture, pending};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use snodo_transport::{Abilities, Incoming};
use snodo_types::Fingerprint;

use super::peer::status;
use super::{Call, Peer, SECOND, asks, form, once, session, settle, stateless, timed};
use crate::types::{Kept, Outcome, SubscriptionFilter};
use crate::{Cache, CacheMode, Client, Event, ListKind};

/// A pipe whose every exchange is one caller's.
const PIPE: Abilities = Abilities {
    notify: true,
    listen: true,
    routing: false,
    own_stream: false,
    same_task: false,
    one_caller: true,
};

/// A tool list of this number, with these hints.
fn tools(number: usize, ttl_ms: i64, scope: &str) -> Value {
    let name = format!("t{number}");
    let tool = json!({ "name": name, "inputSchema": { "type": "object" } });
    json!({ "tools": [tool], "ttlMs": ttl_ms, "cacheScope": scope })
}

/// A server whose every answer is another one.
fn counting(ttl_ms: i64, scope: &'static str) -> Peer {
    let asked = Arc::new(AtomicUsize::new(0));
    Peer::with(PIPE, move |call: Call| {
        let number = asked.fetch_add(1, Ordering::SeqCst);
        async move {
            if !call.greet().await {
                let mut answer = tools(number, ttl_ms, scope);
                answer["contents"] = json!([{ "uri": "x:a", "text": format!("c{number}") }]);
                answer["supportedVersions"] = json!(["2026-07-28"]);
                answer["capabilities"] = json!({});
                call.answer(answer).await;
            }
            Ok(())
        }
    })
}

/// The same, after a while.
fn slow(ttl_ms: i64, scope: &'static str) -> Peer {
    let asked = Arc::new(AtomicUsize::new(0));
    Peer::with(PIPE, move |call: Call| {
        let number = asked.fetch_add(1, Ordering::SeqCst);
        async move {
            tokio::time::sleep(SECOND).await;
            call.answer(tools(number, ttl_ms, scope)).await;
            Ok(())
        }
    })
}

async fn keeping(peer: &Peer, cache: &Cache) -> Client {
    stateless().cache(cache.clone()).connect(peer.clone()).await.expect("connected")
}

/// The name of the one tool there is.
async fn list(client: &Client) -> String {
    client.list_tools().await.expect("tools").remove(0).name
}

async fn pass(time: Duration) {
    tokio::time::advance(time).await;
}

// S-14, S-45
#[tokio::test(start_paused = true)]
async fn nothing_is_kept_unless_a_client_has_a_cache() {
    let peer = counting(60_000, "public");
    let client = stateless().connect(peer.clone()).await.expect("connected");
    assert_eq!((list(&client).await.as_str(), list(&client).await.as_str()), ("t0", "t1"));
}

// S-45, CACHE-01, CACHE-04, CACHE-06, CACHE-07, CACHE-15, DISC-03
#[tokio::test(start_paused = true)]
async fn results_answer_until_their_time_is_over_and_nobody_asks_for_more_by_itself() {
    for scope in ["public", "private"] {
        let peer = counting(10_000, scope);
        let client = keeping(&peer, &Cache::memory()).await;
        for round in 0..2 {
            for _ in 0..2 {
                client.discover().await.expect("discovered");
                client.list_tools().await.expect("tools");
                client.list_page(ListKind::PROMPTS, None).await.expect_err("no prompts in it");
                client.list_page(ListKind::RESOURCES, None).await.expect_err("none in it");
                let templates = client.list_page(ListKind::RESOURCE_TEMPLATES, None);
                templates.await.expect_err("none in it");
                client.read_resource("x:a").await.expect("contents");
                pass(Duration::from_millis(4_999)).await;
            }
            assert_eq!(peer.sent().len(), 6 * (round + 1), "{scope}");
            pass(Duration::from_millis(2)).await;
        }
        pass(60 * SECOND).await;
        settle().await;
        assert_eq!(peer.sent().len(), 12, "nobody asks for what grows stale");
    }
}

// S-45
#[tokio::test(start_paused = true)]
async fn a_result_lives_a_day_at_most_and_says_that_it_was_kept() {
    let peer = counting(i64::MAX, "public");
    let client = keeping(&peer, &Cache::memory()).await;
    let page = || client.list_page(ListKind::TOOLS, None);
    assert_eq!(page().await.expect("a page").kept(), None);
    pass(Duration::from_secs(24 * 60 * 60 - 1)).await;
    let kept = page().await.expect("a page");
    assert_eq!((kept.kept(), kept.items[0].name.as_str()), (Some(Kept::Fresh), "t0"));
    assert!(kept.raw().contains("ttlMs"), "{}", kept.raw());
    pass(SECOND).await;
    assert_eq!(page().await.expect("a page").items[0].name, "t1");
}

// CACHE-02, CACHE-10
#[tokio::test(start_paused = true)]
async fn pages_and_resources_are_kept_one_by_one_each_with_its_own_clock() {
    let peer = Peer::with(PIPE, |call: Call| async move {
        let params = &call.message["params"];
        let tool = |name: &str| json!([{ "name": name, "inputSchema": { "type": "object" } }]);
        let answer = match (params.get("cursor"), params.get("uri")) {
            (None, None) => json!({ "tools": tool("a"), "nextCursor": "2", "ttlMs": 10_000 }),
            (Some(_), _) => json!({ "tools": tool("b"), "ttlMs": 5_000 }),
            (_, Some(uri)) => json!({ "contents": [{ "uri": uri, "text": uri }], "ttlMs": 10_000 }),
        };
        call.answer(answer).await;
        Ok(())
    });
    let client = keeping(&peer, &Cache::memory()).await;
    for _ in 0..2 {
        assert_eq!(client.list_tools().await.expect("tools").len(), 2);
        for uri in ["x:a", "x:b"] {
            let read = client.read_resource(uri).await.expect("contents");
            assert_eq!(read.contents[0].uri, uri);
        }
    }
    assert_eq!(peer.sent().len(), 4);
    pass(6 * SECOND).await;
    assert_eq!(client.list_tools().await.expect("tools").len(), 2);
    let sent = peer.sent();
    assert_eq!(sent.len(), 5);
    assert_eq!(sent[4]["params"]["cursor"], "2", "only the page that is stale is fetched");
}

// CACHE-11
#[tokio::test(start_paused = true)]
async fn a_list_whose_kept_pages_lead_nowhere_begins_anew() {
    let generation = Arc::new(AtomicUsize::new(0));
    let now = Arc::clone(&generation);
    let peer = Peer::with(PIPE, move |call: Call| {
        let now = now.load(Ordering::SeqCst);
        async move {
            let name = |part: &str| format!("{part}{now}");
            let tool = |name: &str| json!([{ "name": name, "inputSchema": { "type": "object" } }]);
            match call.message["params"].get("cursor").cloned() {
                None => {
                    let next = name("after a");
                    let hints =
                        json!({ "tools": tool(&name("a")), "nextCursor": next, "ttlMs": 60_000 });
                    call.answer(hints).await;
                }
                Some(cursor) if cursor == name("after a") => {
                    call.answer(json!({ "tools": tool(&name("b")), "ttlMs": 1_000 })).await;
                }
                Some(_) => {
                    call.refuse(json!({ "code": -32602, "message": "no such cursor" })).await
                }
            }
            Ok(())
        }
    });
    let client = keeping(&peer, &Cache::memory()).await;
    let names = || async {
        let tools = client.list_tools().await.expect("tools");
        tools.into_iter().map(|tool| tool.name).collect::<Vec<_>>()
    };
    assert_eq!(names().await, ["a0", "b0"]);
    pass(2 * SECOND).await;
    generation.store(1, Ordering::SeqCst);
    assert_eq!(names().await, ["a1", "b1"]);
    assert_eq!(peer.sent().len(), 5, "the kept page, the cursor that is refused, and both anew");
    // A server that refuses what it just gave is not asked for ever.
    let hopeless = Peer::with(PIPE, |call: Call| async move {
        match call.message["params"].get("cursor") {
            None => call.answer(json!({ "tools": [], "nextCursor": "x", "ttlMs": 60_000 })).await,
            Some(_) => call.refuse(json!({ "code": -32602, "message": "no such cursor" })).await,
        }
        Ok(())
    });
    let client = keeping(&hopeless, &Cache::memory()).await;
    assert_eq!(client.list_tools().await.expect_err("no end").code(), -32602);
    assert_eq!(hopeless.sent().len(), 4);
}

// S-45, CACHE-05
#[tokio::test(start_paused = true)]
async fn what_has_no_time_to_live_is_asked_for_each_time() {
    for ttl_ms in [0, -5] {
        let peer = counting(ttl_ms, "public");
        let client = keeping(&peer, &Cache::memory()).await;
        assert_eq!((list(&client).await.as_str(), list(&client).await.as_str()), ("t0", "t1"));
    }
}

// S-45, CACHE-03
#[tokio::test(start_paused = true)]
async fn what_came_of_rounds_of_input_is_never_kept() {
    let peer = Peer::with(PIPE, |call: Call| async move {
        let params = &call.message["params"];
        match (params.get("inputResponses"), params["uri"] == "x:asks") {
            (None, true) => call.answer(asks(json!({ "q": form() }), Some("s"))).await,
            _ => {
                call.answer(json!({ "contents": [], "ttlMs": 60_000, "cacheScope": "public" }))
                    .await
            }
        }
        Ok(())
    });
    let builder = stateless().on_form(|form| async move { form.accept(json!({ "name": "Ada" })) });
    let builder = builder.cache(Cache::memory());
    let client = builder.connect(peer.clone()).await.expect("connected");
    for _ in 0..2 {
        assert_eq!(client.read_resource("x:asks").await.expect("contents").kept(), None);
    }
    assert_eq!(peer.sent().len(), 4, "asked and answered twice");
    for _ in 0..2 {
        let outcome = client.read_resource("x:asks").leave_input().outcome().await;
        let Ok(Outcome::InputRequired(asked)) = outcome else { panic!("{outcome:?}") };
        let answers = crate::types::InputResponses::new().with("q", &json!({}));
        client.read_resource("x:asks").answer(&asked, answers).await.expect("contents");
    }
    assert_eq!(peer.sent().len(), 8);
    client.read_resource("x:tells").await.expect("contents");
    let kept = client.read_resource("x:tells").await.expect("contents").kept();
    assert_eq!((kept, peer.sent().len()), (Some(Kept::Fresh), 9));
}

// S-39, S-45
#[tokio::test(start_paused = true)]
async fn each_call_says_what_it_does_about_the_cache() {
    let peer = counting(60_000, "public");
    let client = keeping(&peer, &Cache::memory()).await;
    let page = |mode| client.list_page(ListKind::TOOLS, None).cache(mode).into_future();
    let name =
        |page: &crate::Reply<crate::types::Page<crate::types::Tool>>| page.items[0].name.clone();
    let mut seen = Vec::new();
    use CacheMode::{Bypass, Refresh, Use};
    for mode in [Bypass, Use, Bypass, Use, Refresh, Use, Bypass, Use] {
        seen.push(name(&page(mode).await.expect("a page")));
    }
    assert_eq!(seen, ["t0", "t1", "t2", "t1", "t3", "t3", "t4", "t3"]);
    let whole = client.list_tools().cache(Refresh).await.expect("tools");
    assert_eq!((whole[0].name.as_str(), list(&client).await.as_str()), ("t5", "t5"));
}

// S-45
#[tokio::test(start_paused = true)]
async fn a_request_with_any_option_besides_its_clocks_has_nothing_to_do_with_the_cache() {
    let peer = counting(60_000, "public");
    let client = keeping(&peer, &Cache::memory()).await;
    let page = || client.list_page(ListKind::TOOLS, None);
    let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let trace = || crate::types::TraceContext::new(trace).expect("a trace context");
    page().await.expect("a page");
    let optioned = [
        page().meta("com.example/x", 1),
        page().progress(|_| {}),
        page().trace_context(trace()),
        page().header("x-a", "b"),
        page().param("extra", 1),
        page().leave_input(),
        page().max_input_rounds(3),
        page().log_level(crate::types::LoggingLevel::Info),
        page().reset_timeout_on_progress().cache(CacheMode::Use),
    ];
    let count = optioned.len();
    for request in optioned {
        assert_eq!(request.await.expect("a page").kept(), None);
    }
    client.list_tools().meta("com.example/x", 1).await.expect("tools");
    let raw = client.request("tools/list", json!({ "_meta": { "com.example/x": 1 } }));
    assert_eq!(raw.await.expect("tools").kept(), None);
    assert_eq!(peer.sent().len(), 1 + count + 2);
    let clocks = page().timeout(SECOND).max_total_timeout(SECOND).deadline(SECOND);
    assert_eq!(clocks.await.expect("a page").items[0].name, "t0");
    let raw = client.request("tools/list", ());
    assert_eq!(raw.await.expect("tools").kept(), Some(Kept::Fresh));
}

// S-45
#[tokio::test(start_paused = true)]
async fn a_client_that_traces_or_logs_every_request_keeps_results_all_the_same() {
    let peer = counting(60_000, "public");
    let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let hook = move || crate::types::TraceContext::new(trace).ok();
    let builder = stateless().cache(Cache::memory()).trace_context(hook);
    let client = builder.connect(peer.clone()).await.expect("connected");
    client.set_log_level(crate::types::LoggingLevel::Info).await.expect("set");
    assert_eq!((list(&client).await, list(&client).await), ("t0".into(), "t0".into()));
}

// S-45
#[tokio::test(start_paused = true)]
async fn fifty_who_miss_the_same_fetch_it_once() {
    for scope in ["public", "private"] {
        let peer = slow(60_000, scope);
        let client = keeping(&peer, &Cache::memory()).await;
        let mut calls: Vec<_> = (0..50).map(|_| client.list_tools().into_future()).collect();
        for call in &mut calls {
            assert!(once(call).await.is_pending());
        }
        let (waited, ()) = timed(async {
            for call in calls {
                assert_eq!(call.await.expect("tools")[0].name, "t0");
            }
        })
        .await;
        assert_eq!((peer.sent().len(), waited), (1, SECOND), "{scope}");
    }
}

// S-45
#[tokio::test(start_paused = true)]
async fn where_the_one_that_fetches_is_dropped_the_next_one_does() {
    let peer = slow(60_000, "public");
    let client = keeping(&peer, &Cache::memory()).await;
    let mut calls: Vec<_> = (0..10).map(|_| client.list_tools().into_future()).collect();
    for call in &mut calls {
        assert!(once(call).await.is_pending());
    }
    pass(SECOND / 2).await;
    drop(calls.remove(0));
    drop(calls.remove(0));
    for call in calls {
        assert_eq!(call.await.expect("tools")[0].name, "t1");
    }
    assert_eq!((peer.sent().len(), peer.given_up().len()), (2, 1));
}

// S-45
#[tokio::test(start_paused = true)]
async fn where_the_one_that_fetches_fails_the_next_one_does() {
    let asked = Arc::new(AtomicUsize::new(0));
    let peer = Peer::with(PIPE, move |call: Call| {
        let number = asked.fetch_add(1, Ordering::SeqCst);
        async move {
            tokio::time::sleep(SECOND).await;
            match number {
                0 => call.refuse(json!({ "code": -32603, "message": "not now" })).await,
                _ => call.answer(tools(number, 60_000, "public")).await,
            }
            Ok(())
        }
    });
    let client = keeping(&peer, &Cache::memory()).await;
    let mut calls: Vec<_> = (0..10).map(|_| client.list_tools().into_future()).collect();
    for call in &mut calls {
        assert!(once(call).await.is_pending());
    }
    let mut outcomes = Vec::new();
    for call in calls {
        outcomes.push(call.await.map(|tools| tools[0].name.clone()).map_err(|error| error.code()));
    }
    assert_eq!(outcomes[0], Err(-32603));
    assert!(outcomes[1..].iter().all(|outcome| outcome.as_deref() == Ok("t1")), "{outcomes:?}");
    assert_eq!(peer.sent().len(), 2);
}

// S-45
#[tokio::test(start_paused = true)]
async fn what_is_not_kept_holds_up_the_others_no_longer_than_once() {
    let peer = slow(0, "public");
    let client = keeping(&peer, &Cache::memory()).await;
    let mut calls: Vec<_> = (0..10).map(|_| client.list_tools().into_future()).collect();
    for call in &mut calls {
        assert!(once(call).await.is_pending());
    }
    let (waited, ()) = timed(async {
        let all = calls.into_iter().map(tokio::spawn).collect::<Vec<_>>();
        for call in all {
            call.await.expect("no panic").expect("tools");
        }
    })
    .await;
    assert_eq!((peer.sent().len(), waited), (10, 2 * SECOND));
}

// S-45
#[tokio::test(start_paused = true)]
async fn waiting_for_another_counts_within_the_timeout() {
    let peer = Peer::with(PIPE, |_: Call| pending());
    let client = keeping(&peer, &Cache::memory()).await;
    let mut first = client.list_tools().timeout(None).into_future();
    assert!(once(&mut first).await.is_pending());
    let (waited, second) = timed(client.list_tools().timeout(3 * SECOND).into_future()).await;
    let error = second.expect_err("too slow");
    assert_eq!((error.is_timeout(), waited), (true, 3 * SECOND), "{error:?}");
    assert!(error.to_string().starts_with("tools/list at the peer: "), "{error}");
    // What is left of it is all that its own fetch has.
    let third = client.list_tools().timeout(3 * SECOND).into_future();
    let mut third = Box::pin(timed(third));
    assert!(once(&mut third).await.is_pending());
    pass(2 * SECOND).await;
    drop(first);
    let (waited, third) = third.await;
    assert_eq!((third.expect_err("too slow").is_timeout(), waited), (true, 3 * SECOND));
    let deadline = client.list_tools().cache(CacheMode::Use);
    let mut leader = deadline.timeout(None).into_future();
    assert!(once(&mut leader).await.is_pending());
    let page = client.list_page(ListKind::TOOLS, None).timeout(None).deadline(2 * SECOND);
    let (waited, page) = timed(page.into_future()).await;
    assert_eq!((page.expect_err("too slow").is_timeout(), waited), (true, 2 * SECOND));
}

// S-45
#[tokio::test(start_paused = true)]
async fn a_refresh_asks_whoever_else_is_asking_and_refreshes_share_one_that_began_later() {
    let peer = slow(60_000, "public");
    let client = keeping(&peer, &Cache::memory()).await;
    let refresh = || client.list_tools().cache(CacheMode::Refresh).into_future();
    let mut calls = vec![client.list_tools().into_future(), refresh(), refresh(), refresh()];
    for call in &mut calls {
        assert!(once(call).await.is_pending());
        pass(Duration::from_millis(10)).await;
    }
    let mut names = Vec::new();
    for call in calls {
        names.push(call.await.expect("tools")[0].name.clone());
    }
    assert_eq!(names, ["t0", "t1", "t1", "t1"]);
    assert_eq!((peer.sent().len(), list(&client).await.as_str()), (2, "t1"));
}

// S-45, DISC-09
#[tokio::test(start_paused = true)]
async fn clients_of_one_cache_share_what_is_public_on_a_server_of_one_name() {
    let peer = counting(60_000, "public");
    let cache = Cache::memory();
    let strangers = [keeping(&peer, &cache).await, keeping(&peer, &cache).await];
    assert_eq!((list(&strangers[0]).await, list(&strangers[1]).await), ("t0".into(), "t1".into()));
    let named = cache.server("the peer");
    let friends = [keeping(&peer, &named).await, keeping(&peer, &named).await];
    assert_eq!((list(&friends[0]).await, list(&friends[1]).await), ("t2".into(), "t2".into()));
    let other = stateless().client_info(crate::types::Implementation::new("other", "1"));
    let other = other.cache(named.clone()).connect(peer.clone()).await.expect("connected");
    let able = stateless().capabilities(json!({ "experimental": {} })).cache(named);
    let able = able.connect(peer.clone()).await.expect("connected");
    assert_eq!((list(&other).await, list(&able).await), ("t3".into(), "t4".into()));
}

// S-45, CACHE-08, CACHE-14
#[tokio::test(start_paused = true)]
async fn what_is_private_is_shared_by_clients_of_one_named_caller_and_by_no_others() {
    let peer = counting(60_000, "private");
    let cache = Cache::memory().server("the peer");
    let strangers = [keeping(&peer, &cache).await, keeping(&peer, &cache).await];
    for (client, name) in [(0, "t0"), (1, "t1"), (0, "t0"), (1, "t1")] {
        assert_eq!(list(&strangers[client]).await, name);
    }
    let (ada, bob) = (cache.clone().caller("ada"), cache.caller("bob"));
    let callers = [&ada, &ada, &bob];
    let mut clients = Vec::new();
    for cache in callers {
        clients.push(keeping(&peer, cache).await);
    }
    for (client, name) in [(0, "t2"), (1, "t2"), (2, "t3"), (0, "t2"), (2, "t3")] {
        assert_eq!(list(&clients[client]).await, name);
    }
}

/// A server over a transport that names its callers: whoever the number says. It counts what is
/// written.
fn naming(now: &Arc<AtomicUsize>, written: &Arc<AtomicUsize>, scope: &'static str) -> Peer {
    let (now, written) = (Arc::clone(now), Arc::clone(written));
    Peer::own_stream(move |call: Call| {
        let (now, written) = (Arc::clone(&now), Arc::clone(&written));
        async move {
            assert!(call.envelope.names_caller);
            let caller = now.load(Ordering::SeqCst);
            call.tell(Incoming::Caller(Fingerprint::of(&[&caller.to_le_bytes()]))).await;
            tokio::task::yield_now().await;
            written.fetch_add(1, Ordering::SeqCst);
            tokio::time::sleep(SECOND).await;
            call.answer(tools(caller, 60_000, scope)).await;
            Ok(())
        }
    })
}

// CACHE-08
#[tokio::test(start_paused = true)]
async fn whoever_the_transport_speaks_for_gets_what_is_his_and_nothing_is_written_for_it() {
    let (now, written) = (Arc::default(), Arc::default());
    let peer = naming(&now, &written, "private");
    let client = keeping(&peer, &Cache::memory()).await;
    for (caller, so_far) in [(1, 1), (1, 1), (2, 2), (1, 2), (2, 2), (3, 3), (1, 3)] {
        now.store(caller, Ordering::SeqCst);
        assert_eq!(list(&client).await, format!("t{caller}"));
        assert_eq!(written.load(Ordering::SeqCst), so_far, "{caller}");
    }
}

// CACHE-08, S-45
#[tokio::test(start_paused = true)]
async fn callers_who_miss_at_once_fetch_once_each_and_all_together_what_is_public() {
    for (scope, fetches) in [("private", 3), ("public", 1)] {
        let (now, written) = (Arc::default(), Arc::default());
        let peer = naming(&now, &written, scope);
        let client = keeping(&peer, &Cache::memory()).await;
        let mut calls = Vec::new();
        for caller in [1, 2, 3, 1, 2, 3, 1, 2, 3] {
            now.store(caller, Ordering::SeqCst);
            let mut call = client.list_tools().into_future();
            assert!(once(&mut call).await.is_pending());
            calls.push((caller, call));
            settle().await;
        }
        // From here on each call that asks who it is for is for the one who made it.
        let mut seen = Vec::new();
        for (caller, call) in calls {
            now.store(caller, Ordering::SeqCst);
            seen.push((caller, call.await.expect("tools")[0].name.clone()));
        }
        for (caller, name) in &seen {
            let own = if scope == "private" { *caller } else { 1 };
            assert_eq!(*name, format!("t{own}"), "{seen:?}");
        }
        assert_eq!(written.load(Ordering::SeqCst), fetches, "{scope}");
    }
}

// S-45, CACHE-09
#[tokio::test(start_paused = true)]
async fn on_the_older_versions_what_the_server_tells_makes_results_stale() {
    let peer = counting(60_000, "public");
    let client = session().cache(Cache::memory()).connect(peer.clone()).await.expect("a session");
    let contents = || async { client.read_resource("x:a").await.expect("contents").kept() };
    list(&client).await;
    contents().await;
    assert_eq!(contents().await, Some(Kept::Fresh));
    let before = list(&client).await;
    let tell = |method: &str, params: Value| {
        peer.say(json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    };
    tell("notifications/resources/updated", json!({ "uri": "x:b" }));
    tell("notifications/prompts/list_changed", json!({}));
    settle().await;
    assert_eq!((contents().await, list(&client).await), (Some(Kept::Fresh), before.clone()));
    tell("notifications/tools/list_changed", json!({}));
    settle().await;
    assert_ne!(list(&client).await, before);
    assert_eq!(contents().await, Some(Kept::Fresh));
    tell("notifications/resources/updated", json!({ "uri": "x:a" }));
    settle().await;
    assert_eq!(contents().await, None);
}

/// A stateless server with a subscription that tells what the test wants told.
fn telling(told: tokio::sync::mpsc::UnboundedReceiver<Option<Value>>) -> Peer {
    let (told, asked) = (Arc::new(tokio::sync::Mutex::new(told)), Arc::new(AtomicUsize::new(0)));
    Peer::own_stream(move |call: Call| {
        let (told, asked) = (Arc::clone(&told), Arc::clone(&asked));
        async move {
            if call.method != "subscriptions/listen" {
                call.answer(tools(asked.fetch_add(1, Ordering::SeqCst), 60_000, "public")).await;
                return Ok(());
            }
            let tag = json!({ "io.modelcontextprotocol/subscriptionId": call.id });
            let filter = call.message["params"]["notifications"].clone();
            let say = |method: &str, mut params: Value| {
                params["_meta"] = tag.clone();
                json!({ "jsonrpc": "2.0", "method": method, "params": params })
            };
            let acknowledged = json!({ "notifications": filter });
            call.say(say("notifications/subscriptions/acknowledged", acknowledged)).await;
            while let Some(told) = told.lock().await.recv().await {
                match told {
                    Some(params) => {
                        call.say(say("notifications/tools/list_changed", params)).await;
                    }
                    None => return Err(status(502)),
                }
            }
            pending().await
        }
    })
}

// S-45, CACHE-09, SUB-13
#[tokio::test(start_paused = true)]
async fn on_the_newest_version_what_a_subscription_tells_or_misses_makes_results_stale() {
    let (tell, told) = tokio::sync::mpsc::unbounded_channel();
    let peer = telling(told);
    let client = keeping(&peer, &Cache::memory()).await;
    let filter = SubscriptionFilter::new().tools_list_changed();
    let mut events = client.listen(filter).await.expect("acknowledged");
    assert_eq!((list(&client).await, list(&client).await), ("t0".into(), "t0".into()));
    tell.send(Some(json!({}))).expect("heard");
    assert!(matches!(events.next().await, Some(Event::Notification(_))));
    assert_eq!((list(&client).await, list(&client).await), ("t1".into(), "t1".into()));
    tell.send(None).expect("heard");
    assert!(matches!(events.next().await, Some(Event::Resumed { .. })));
    assert_eq!((list(&client).await, list(&client).await), ("t2".into(), "t2".into()));
}

// CACHE-09
#[tokio::test(start_paused = true)]
async fn a_result_that_an_event_overtook_is_given_and_not_kept() {
    let asked = Arc::new(AtomicUsize::new(0));
    let peer = Peer::with(PIPE, move |call: Call| {
        let number = asked.fetch_add(1, Ordering::SeqCst);
        async move {
            if number == 0 {
                let told =
                    json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" });
                call.say(told).await;
            }
            call.answer(tools(number, 60_000, "public")).await;
            Ok(())
        }
    });
    let client = keeping(&peer, &Cache::memory()).await;
    let names = (list(&client).await, list(&client).await, list(&client).await);
    assert_eq!(names, ("t0".into(), "t1".into(), "t1".into()));
}

// S-45, CACHE-07
#[tokio::test(start_paused = true)]
async fn a_stale_result_answers_for_a_server_that_is_away_where_that_is_wanted() {
    let away = Arc::new(AtomicUsize::new(0));
    let failing = Arc::clone(&away);
    let peer = Peer::own_stream(move |call: Call| {
        let failing = failing.load(Ordering::SeqCst);
        async move {
            call.tell(Incoming::Caller(Fingerprint::of(&[]))).await;
            match failing {
                0 => call.answer(tools(0, 10_000, "private")).await,
                1 => return Err(status(503)),
                2 => pending().await,
                _ => call.refuse(json!({ "code": -32603, "message": "no" })).await,
            }
            Ok(())
        }
    });
    let strict = keeping(&peer, &Cache::memory()).await;
    let lenient = keeping(&peer, &Cache::memory().stale_on_error(60 * SECOND)).await;
    for client in [&strict, &lenient] {
        list(client).await;
    }
    let page = |client: &Client| client.list_page(ListKind::TOOLS, None).into_future();
    pass(11 * SECOND).await;
    for failure in [1, 2] {
        away.store(failure, Ordering::SeqCst);
        page(&strict).await.expect_err("away");
        assert_eq!(page(&lenient).await.expect("kept").kept(), Some(Kept::Stale), "{failure}");
    }
    away.store(3, Ordering::SeqCst);
    assert_eq!(page(&lenient).await.expect_err("refused").code(), -32603);
    away.store(1, Ordering::SeqCst);
    let refreshed = client_refresh(&lenient).await;
    assert!(refreshed.is_err(), "who asks for fresh ones gets no others");
    pass(60 * SECOND).await;
    page(&lenient).await.expect_err("too old");
}

async fn client_refresh(client: &Client) -> Result<(), crate::Error> {
    client.list_tools().cache(CacheMode::Refresh).await.map(drop)
}

// S-45
#[tokio::test(start_paused = true)]
async fn a_process_that_was_started_again_is_another_server() {
    let connections = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&connections);
    let peer = Peer::with(PIPE, move |call: Call| {
        count.fetch_max(call.connection, Ordering::SeqCst);
        async move {
            if call.method == "tools/call" && call.connection == 1 {
                let over = snodo_types::TransportFault::Exited;
                return Err(snodo_types::TransportError::new(over, "it crashed").not_processed());
            }
            call.answer(tools(call.connection, 60_000, "public")).await;
            Ok(())
        }
    });
    let builder = stateless().cache(Cache::memory()).restart(crate::Restart::ALWAYS);
    let client = builder.connect(peer.clone()).await.expect("connected");
    assert_eq!((list(&client).await, list(&client).await), ("t1".into(), "t1".into()));
    let _ = client.call_tool("crash", ()).await;
    assert_eq!(connections.load(Ordering::SeqCst), 2);
    assert_eq!(list(&client).await, "t2");
}

// S-45
#[tokio::test(start_paused = true)]
async fn a_client_that_was_closed_gives_nothing_that_was_kept() {
    let peer = counting(60_000, "public");
    let client = keeping(&peer, &Cache::memory()).await;
    list(&client).await;
    client.close().await;
    assert!(client.list_tools().await.expect_err("closed").is_closed());
    assert_eq!(peer.sent().len(), 1);
}

// S-45
#[test]
fn a_server_in_this_process_is_cached_on_any_executor() {
    use snodo_types::{CacheScope, ReadResourceResult, Resource};

    let server = crate::direct::Server::new("demo", "1");
    let server = server.resource(Resource::new("x:a", "a"), |_, _| async {
        let mut result = ReadResourceResult::new(Vec::new());
        (result.ttl_ms, result.cache_scope) = (Some(60_000), Some(CacheScope::Private));
        Ok(result)
    });
    super::run_without_a_runtime(async {
        let client = Client::builder().cache(Cache::memory()).direct(server).await.expect("there");
        for kept in [None, Some(Kept::Fresh), Some(Kept::Fresh)] {
            assert_eq!(client.read_resource("x:a").await.expect("contents").kept(), kept);
        }
    });
}
