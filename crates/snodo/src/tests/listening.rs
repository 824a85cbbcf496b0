//! Subscriptions whose servers talk too much, or whose owners go away.

use std::future::{IntoFuture, pending};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use snodo_direct::Runtime;
use snodo_transport::{Abilities, Exchange, Incoming};
use snodo_types::{Body, Message, ProtocolVersion, TraceContext};

use super::peer::status;
use super::{
    Call, Far, Peer, SECOND, once, run_without_a_runtime, session, settle, stateless, timed,
};
use crate::types::{Kind, Overflow, SubscriptionFilter};
use crate::{Client, Closed, Event};

fn tools() -> SubscriptionFilter {
    SubscriptionFilter::new().tools_list_changed()
}

fn tagged(call: &Call, method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({ "io.modelcontextprotocol/subscriptionId": call.id });
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}

async fn acknowledge(call: &Call) {
    let filter = call.message["params"]["notifications"].clone();
    let params = json!({ "notifications": filter });
    call.say(tagged(call, "notifications/subscriptions/acknowledged", params)).await;
}

fn listening(own_stream: bool) -> Abilities {
    Abilities { own_stream, listen: true, ..Abilities::default() }
}

/// A stateless server that acknowledges and then says nothing.
fn quiet(own_stream: bool) -> Peer {
    Peer::with(listening(own_stream), |call: Call| async move {
        acknowledge(&call).await;
        pending::<()>().await;
        Ok(())
    })
}

// S-62
#[tokio::test(start_paused = true)]
async fn a_server_that_says_everything_but_the_acknowledgement_is_given_up_in_time() {
    let peer = Peer::own_stream(|call: Call| async move {
        for _ in 0..20_000 {
            tokio::time::advance(Duration::from_millis(1)).await;
            call.say(json!({ "jsonrpc": "2.0", "method": "notifications/message" })).await;
        }
        Ok(())
    });
    let client = stateless().connect(peer.clone()).await.expect("connected");
    let opening = client.listen(tools()).timeout(2 * SECOND).into_future();
    let (waited, result) = timed(opening).await;
    let error = result.expect_err("no acknowledgement");
    assert!(error.is_timeout(), "{error:?}");
    assert!(waited < 3 * SECOND, "{waited:?}");
}

// S-62
#[tokio::test(start_paused = true)]
async fn a_server_that_never_stops_talking_before_the_acknowledgement_starves_nobody() {
    let peer = Peer::own_stream(|call: Call| async move {
        for _ in 0..100_000 {
            call.say(json!({ "jsonrpc": "2.0", "method": "notifications/message" })).await;
        }
        acknowledge(&call).await;
        pending::<()>().await;
        Ok(())
    });
    let client = stateless().connect(peer.clone()).await.expect("connected");
    let mut opening = client.listen(tools()).into_future();
    for _ in 0..20 {
        assert!(once(&mut opening).await.is_pending());
    }
}

// S-06, S-64
#[tokio::test(start_paused = true)]
async fn an_open_subscription_ends_with_its_client_and_none_begins_behind_it() {
    for own_stream in [true, false] {
        let peer = quiet(own_stream);
        let client = stateless().connect(peer.clone()).await.expect("connected");
        let mut events = client.listen(tools()).await.expect("acknowledged");
        client.close().await;
        let ended = tokio::time::timeout(60 * SECOND, events.next()).await.expect("it ends");
        assert!(matches!(ended, Some(Event::Closed(_))), "{ended:?}");
        assert!(events.next().await.is_none());
        let error = client.listen(tools()).await.expect_err("closed");
        assert!(error.is_closed(), "{error:?}");
        assert_eq!(peer.methods(), ["subscriptions/listen"]);
        assert_eq!(peer.alive().1, 0);
    }
}

// S-65, CAN-02, SUB-10, SUB-08
#[tokio::test(start_paused = true)]
async fn a_subscription_is_given_up_once_whenever_it_is_dropped() {
    for own_stream in [true, false] {
        let told = usize::from(!own_stream);
        let silent = Peer::with(listening(own_stream), |_| pending());
        let client = stateless().connect(silent.clone()).await.expect("connected");
        drop(client.listen(tools()).into_future());
        assert_eq!(silent.sent().len(), 0, "nothing is sent before the first poll");
        let mut opening = client.listen(tools()).into_future();
        assert!(once(&mut opening).await.is_pending());
        drop(opening);
        assert_eq!((silent.given_up().len(), silent.alive()), (told, (1, 0)));

        let peer = quiet(own_stream);
        let client = stateless().connect(peer.clone()).await.expect("connected");
        let events = client.listen(tools()).await.expect("acknowledged");
        drop(client);
        assert_eq!(peer.alive(), (1, 1), "a subscription keeps its connection");
        drop(events);
        assert_eq!((peer.given_up().len(), peer.alive()), (told, (0, 0)));
    }
}

// S-66
#[tokio::test(start_paused = true)]
async fn a_transport_that_cannot_listen_says_so_and_sends_nothing() {
    for builder in [stateless(), session()] {
        let peer = Peer::new(|call: Call| async move {
            call.greet().await;
            Ok(())
        });
        let client = builder.connect(peer.clone()).await.expect("connected");
        let sent = peer.sent().len();
        assert_eq!(client.listen(tools()).await.expect_err("it cannot").code(), -32602);
        assert_eq!(peer.sent().len(), sent);
    }
}

// S-60, S-66
#[tokio::test(start_paused = true)]
async fn the_filter_and_the_options_go_with_the_request() {
    let peer = quiet(true);
    let client = stateless().connect(peer.clone()).await.expect("connected");
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let trace = || TraceContext::new(parent).expect("a trace");
    let mut filter = tools().resource("file:///a").task("t-1");
    filter.other.insert("com.example/own", json!({ "a": [1] }));
    let listen = client.listen(filter).meta("com.example/tenant", "acme").trace_context(trace());
    let events = listen.await.expect("acknowledged");
    let params = peer.sent()[0]["params"].clone();
    let asked = json!({
        "toolsListChanged": true, "resourceSubscriptions": ["file:///a"], "taskIds": ["t-1"],
        "com.example/own": { "a": [1] }
    });
    assert_eq!(params["notifications"], asked);
    assert_eq!(serde_json::to_value(events.accepted()).expect("a filter"), asked);
    assert_eq!(
        (&params["_meta"]["com.example/tenant"], &params["_meta"]["traceparent"]),
        (&json!("acme"), &json!(parent))
    );
    for key in ["-a", "a b"] {
        let error = client.listen(tools()).meta(key, 1).await.expect_err(key);
        assert_eq!(error.code(), -32602);
    }
    assert_eq!(peer.sent().len(), 1);

    let (client, mut far) = watching().await;
    let filter = SubscriptionFilter::new().resource("file:///a");
    let listen = client.listen(filter).meta("com.example/tenant", "acme").trace_context(trace());
    let server = async {
        let asked = far.read().await;
        far.answer(&asked, json!({})).await;
        asked["params"].clone()
    };
    let (events, params) = tokio::join!(listen.into_future(), server);
    let meta = json!({ "com.example/tenant": "acme", "traceparent": parent });
    assert_eq!(params, json!({ "uri": "file:///a", "_meta": meta }));
    drop(events);
}

// S-60, S-62
#[tokio::test(start_paused = true)]
async fn a_filter_that_cannot_be_read_is_refused_by_the_server_or_where_it_sees_none_here() {
    let mut filter = tools();
    filter.other.insert("resourceSubscriptions", json!("file:///a"));
    let peer = Peer::own_stream(|call: Call| async move {
        let asked = &call.message["params"]["notifications"]["resourceSubscriptions"];
        let code = if asked.is_string() { -32602 } else { -32603 };
        call.refuse(json!({ "code": code, "message": "no such filter" })).await;
        Ok(())
    });
    let client = stateless().connect(peer.clone()).await.expect("connected");
    let error = client.listen(filter.clone()).await.expect_err("the server's");
    assert_eq!((error.code(), error.message()), (-32602, "no such filter"));

    let (client, mut far) = watching().await;
    let error = client.listen(filter).await.expect_err("our own");
    assert_eq!((error.code(), error.kind()), (-32602, Kind::Protocol));
    assert!(far.is_silent().await);
}

// S-61, S-62
#[tokio::test(start_paused = true)]
async fn it_is_there_once_acknowledged_and_every_failure_before_is_told_apart() {
    let peer = Peer::own_stream(|call: Call| async move {
        match call.message["params"]["notifications"]["resourceSubscriptions"][0].as_str() {
            Some("part") => {
                tokio::time::sleep(SECOND).await;
                let params = json!({ "notifications": { "toolsListChanged": true } });
                call.say(tagged(&call, "notifications/subscriptions/acknowledged", params)).await;
                pending::<()>().await;
            }
            Some("error") => call.refuse(json!({ "code": -32007, "message": "no" })).await,
            Some("end") => {}
            Some("break") => return Err(status(503)),
            _ => pending::<()>().await,
        }
        Ok(())
    });
    let client = stateless().connect(peer.clone()).await.expect("connected");
    let listen = |what: &str| {
        let listen = client.listen(tools().resource(what)).timeout(3 * SECOND);
        timed(listen.into_future())
    };
    let (waited, events) = listen("part").await;
    let events = events.expect("acknowledged");
    assert_eq!((waited, events.accepted()), (SECOND, &tools()));
    assert_eq!(listen("error").await.1.expect_err("the server's").code(), -32007);
    let ended = listen("end").await.1.expect_err("it ended");
    assert_eq!((ended.code(), ended.kind()), (-32000, Kind::Transport));
    let broken = listen("break").await.1.expect_err("it broke");
    assert_eq!(broken.transport().and_then(|below| below.status()), Some(503));
    let (waited, silent) = listen("never").await;
    let silent = silent.expect_err("nothing came");
    assert_eq!((silent.code(), silent.is_timeout(), waited), (-32001, true, 3 * SECOND));
    drop(events);
    assert_eq!(peer.alive(), (1, 0));
}

// S-62, S-65
#[tokio::test(start_paused = true)]
async fn in_the_caller_s_task_an_acknowledgement_is_waited_for_without_a_clock() {
    let abilities = Abilities { same_task: true, ..listening(true) };
    let silent = Peer::with(abilities, |_| pending());
    let client = stateless().connect(silent.clone()).await.expect("connected");
    let opening = client.listen(tools()).timeout(SECOND).into_future();
    assert!(tokio::time::timeout(3600 * SECOND, opening).await.is_err(), "it waits on");
    assert_eq!(silent.alive(), (1, 0), "dropping it ends the source");
}

/// A server in this process that tells without end, as fast as it is asked.
struct Ticking(Arc<AtomicUsize>);

impl Runtime for Ticking {
    fn versions(&self) -> Vec<ProtocolVersion> {
        ProtocolVersion::ALL.to_vec()
    }

    fn dispatch(&self, message: Message, _: snodo_direct::Context) -> Exchange {
        /// Says that the source is there.
        struct Alive(Arc<AtomicUsize>);

        impl Drop for Alive {
            fn drop(&mut self) {
                self.0.fetch_sub(1, Ordering::SeqCst);
            }
        }

        let sources = Arc::clone(&self.0);
        let Body::Request { id, method, params } = message.body() else { return Exchange::sent() };
        let params: Value =
            params.map_or(Value::Null, |text| serde_json::from_str(text).expect("JSON"));
        match method {
            "initialize" => {
                let capabilities = json!({ "tools": { "listChanged": true } });
                let info = json!({ "name": "ticking", "version": "1" });
                let result = json!({ "protocolVersion": params["protocolVersion"], "capabilities": capabilities, "serverInfo": info });
                Exchange::ready(Message::result(id, &result.to_string()))
            }
            "subscriptions/listen" => {
                let id = id.as_ours();
                Exchange::generate(move |sender| async move {
                    sources.fetch_add(1, Ordering::SeqCst);
                    let _alive = Alive(sources);
                    let mut method = "notifications/subscriptions/acknowledged";
                    loop {
                        let meta = json!({ "io.modelcontextprotocol/subscriptionId": id });
                        let params =
                            json!({ "notifications": params["notifications"], "_meta": meta });
                        let told = json!({ "jsonrpc": "2.0", "method": method, "params": params });
                        let told = Message::parse(told.to_string()).expect("a message");
                        sender.send(Incoming::Message(told)).await;
                        method = "notifications/tools/list_changed";
                    }
                })
            }
            _ => Exchange::ready(Message::result(id, "{}")),
        }
    }
}

// S-61, S-65
#[test]
fn in_process_events_come_when_they_are_asked_for_and_dropping_closes_the_source() {
    run_without_a_runtime(async {
        let sources = Arc::new(AtomicUsize::new(0));
        let ticking = || Ticking(Arc::clone(&sources));
        let client = stateless().direct(ticking()).await.expect("always there");
        let mut events = client.listen(tools()).await.expect("acknowledged");
        assert_eq!(events.accepted(), &tools());
        for _ in 0..3 {
            assert!(matches!(events.next().await, Some(Event::Notification(_))));
        }
        client.request("x/y", ()).await.expect("calls go on");
        assert_eq!(sources.load(Ordering::SeqCst), 1);
        drop(events);
        assert_eq!(sources.load(Ordering::SeqCst), 0);

        // Before that version nobody asks, and a server in process has no way to tell.
        let client = session().direct(ticking()).await.expect("always there");
        let mut events = client.listen(tools()).await.expect("nothing of it");
        assert_eq!(events.accepted(), &SubscriptionFilter::new());
        assert!(once(&mut Box::pin(events.next())).await.is_pending());

        let plain = snodo_direct::Server::new("demo", "1");
        let client = stateless().direct(plain).await.expect("always there");
        assert_eq!(client.listen(tools()).await.expect_err("it has none").code(), -32601);
    });
}

// S-63, S-64
#[tokio::test(start_paused = true)]
async fn what_found_no_room_is_counted_before_the_next_event_and_the_end_comes_last() {
    let peer = Peer::own_stream(|call: Call| async move {
        acknowledge(&call).await;
        call.tell(Incoming::Dropped(3)).await;
        let event = json!({ "n": 4, "x-own": true });
        call.say(tagged(&call, "notifications/tools/list_changed", event)).await;
        call.answer(json!({ "resultType": "complete" })).await;
        Ok(())
    });
    let client = stateless().connect(peer.clone()).await.expect("connected");
    let listen = client.listen(tools()).max_buffer(7).overflow(Overflow::DropNewest);
    let mut events = listen.await.expect("acknowledged");
    assert!(matches!(events.next().await, Some(Event::Dropped(3))));
    let Some(Event::Notification(told)) = events.next().await else { panic!("an event") };
    let params: Value = told.params().expect("an object");
    assert_eq!(told.method(), "notifications/tools/list_changed");
    assert_eq!((&params["n"], &params["x-own"]), (&json!(4), &json!(true)));
    assert_eq!(params["_meta"]["io.modelcontextprotocol/subscriptionId"], peer.sent()[0]["id"]);
    let ended = events.next().await;
    assert!(matches!(ended, Some(Event::Closed(Closed::Complete))), "{ended:?}");
    assert!(events.next().await.is_none());
    let inboxes = peer.inboxes();
    assert_eq!((inboxes[0].capacity, inboxes[0].overflow), (7, Overflow::DropNewest));
    drop(client.listen(tools()).await);
    let inboxes = peer.inboxes();
    assert_eq!((inboxes[1].capacity, inboxes[1].overflow), (100, Overflow::DropOldest));
}

/// A client of a pipe whose server lets resources be watched.
async fn watching() -> (Client, Far) {
    let (near, mut far) = Far::new(64 * 1024);
    let server = async {
        let hello = far.read().await;
        let capabilities = json!({ "resources": { "subscribe": true } });
        let info = json!({ "name": "far", "version": "1" });
        let version = hello["params"]["protocolVersion"].clone();
        far.answer(
            &hello,
            json!({ "protocolVersion": version, "capabilities": capabilities, "serverInfo": info }),
        )
        .await;
        far.read().await;
    };
    let (client, ()) = tokio::join!(session().connect(near), server);
    (client.expect("a session"), far)
}

// SRV-20, S-65, SUB-15
#[tokio::test(start_paused = true)]
async fn a_resource_is_watched_once_for_all_who_listen_and_left_with_the_last_of_them() {
    let (client, mut far) = watching().await;
    let filter = || SubscriptionFilter::new().resource("file:///a");
    let server = async {
        let asked = far.read().await;
        assert_eq!(
            (&asked["method"], &asked["params"]["uri"]),
            (&json!("resources/subscribe"), &json!("file:///a"))
        );
        far.answer(&asked, json!({})).await;
    };
    let (first, ()) = tokio::join!(client.listen(filter()).into_future(), server);
    let second = client.listen(filter()).await.expect("a subscription");
    let mut first = first.expect("a subscription");
    let updated = json!({ "jsonrpc": "2.0", "method": "notifications/resources/updated", "params": { "uri": "file:///a" } });
    far.say(updated.clone()).await;
    assert!(matches!(first.next().await, Some(Event::Notification(_))));
    // A part of what is watched is told of under a URI of its own.
    let mut part = updated;
    part["params"]["uri"] = json!("file:///a/b");
    far.say(part).await;
    assert!(matches!(first.next().await, Some(Event::Notification(_))));
    drop(first);
    assert!(far.is_silent().await, "one still watches");
    drop(second);
    let asked = far.read().await;
    assert_eq!(asked["method"], "resources/unsubscribe");
    settle().await;
}

// SRV-20
#[tokio::test(start_paused = true)]
async fn a_listener_that_goes_away_while_it_asks_leaves_nothing_watched() {
    let (client, mut far) = watching().await;
    let filter = || SubscriptionFilter::new().resource("file:///a");
    let mut opening = client.listen(filter()).into_future();
    assert!(once(&mut opening).await.is_pending());
    let asked = far.read().await;
    assert_eq!(asked["method"], "resources/subscribe");
    drop(opening);
    let mut said = vec![far.read().await["method"].clone(), far.read().await["method"].clone()];
    said.sort_by_key(ToString::to_string);
    assert_eq!(said, [json!("notifications/cancelled"), json!("resources/unsubscribe")]);
    let mut again = client.listen(filter()).into_future();
    assert!(once(&mut again).await.is_pending());
    assert_eq!(far.read().await["method"], "resources/subscribe", "the next one asks anew");
}
