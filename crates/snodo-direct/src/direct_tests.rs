//! What the transport to a server in the same process promises.

use std::future::pending;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures_core::Stream;
use serde_json::{Value, json};
use snodo_transport::{Connect, Exchange, Transport};
use snodo_types::{
    Body, CallToolResult, Envelope, ErrorObject, Message, Processed, ProtocolVersion, Routing,
    TransportFault,
};

use super::Direct;
use crate::hand::{Peer, run, stateless};
use crate::{Call, Runtime, Server};

/// Counts what is alive.
struct Alive(Arc<AtomicUsize>);

impl Alive {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(count))
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A server with a tool that never ends, and how often that is under way.
fn endless() -> (Server, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let alive = Arc::clone(&count);
    let server = Server::new("demo", "1").tool("wait", json!({}), move |_: Value, _: Call| {
        let alive = Arc::clone(&alive);
        async move {
            let _alive = Alive::new(&alive);
            pending::<()>().await;
            Ok(CallToolResult::default())
        }
    });
    (server, count)
}

fn envelope(name: &str) -> Envelope {
    let params = stateless(json!({ "name": name, "arguments": {} }));
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    Envelope::request(1, message.to_string())
}

fn poll(exchange: &mut Exchange) -> bool {
    let mut cx = Context::from_waker(Waker::noop());
    matches!(Pin::new(exchange).poll_next(&mut cx), Poll::Ready(_))
}

// S-23
#[test]
fn the_server_works_while_it_is_polled_and_stops_when_the_exchange_is_dropped() {
    let (server, alive) = endless();
    let peer = Peer::new(server);
    let mut exchanges: Vec<Exchange> = (0..3).map(|_| peer.0.exchange(envelope("wait"))).collect();
    assert_eq!(alive.load(Ordering::SeqCst), 0, "nothing before the first poll");
    for exchange in &mut exchanges {
        assert!(!poll(exchange));
    }
    assert_eq!(alive.load(Ordering::SeqCst), 3, "several calls are several futures");
    exchanges.pop();
    assert_eq!(alive.load(Ordering::SeqCst), 2);
    drop(exchanges);
    assert_eq!(alive.load(Ordering::SeqCst), 0);
}

#[test]
fn closing_does_nothing_and_a_call_after_it_works() {
    let peer = Peer::new(Server::new("demo", "1"));
    run(peer.0.close(Routing::new(), Duration::ZERO));
    assert_eq!(peer.result("server/discover", stateless(json!({})))["resultType"], "complete");
}

#[test]
fn what_is_no_message_never_reaches_the_server() {
    let peer = Peer::new(Server::new("demo", "1"));
    let mut exchange = peer.0.exchange(Envelope::request(1, r#"{"id":1}"#.to_owned()));
    let error = run(exchange.next()).expect("an item").expect_err("malformed");
    assert_eq!((error.fault(), error.processed()), (TransportFault::Usage, Processed::No));
    assert!(run(exchange.next()).is_none());
}

#[test]
fn it_is_a_call_in_the_same_task_with_a_stream_of_its_own() {
    let transport = run(Direct::new(Server::new("demo", "1")).connect()).expect("always there");
    let abilities = transport.abilities();
    assert!(abilities.same_task && abilities.own_stream && abilities.notify);
    assert!(abilities.listen && !abilities.routing);
    assert!(transport.unsolicited(Routing::new()).is_none());
}

#[test]
fn a_panic_of_a_handler_is_one_of_the_caller_and_the_next_call_works() {
    let server = Server::new("demo", "1").tool("fall", json!({}), |args: Value, _| async move {
        assert_eq!(args, json!({}), "no argument is expected");
        Ok(CallToolResult::default())
    });
    let peer = Peer::new(server);
    let call = |arguments: Value| {
        let params = stateless(json!({ "name": "fall", "arguments": arguments }));
        catch_unwind(AssertUnwindSafe(|| peer.result("tools/call", params)))
    };
    let panic = call(json!({ "x": 1 })).expect_err("the handler panics");
    let text = panic.downcast_ref::<String>().expect("a text");
    assert!(text.contains("no argument is expected"), "{text}");
    assert_eq!(call(json!({})).expect("works")["resultType"], "complete");
}

#[test]
fn a_runtime_of_somebody_else_is_reached_behind_a_pointer_too() {
    struct Echo;

    impl Runtime for Echo {
        fn versions(&self) -> Vec<ProtocolVersion> {
            vec![ProtocolVersion::V2025_06_18]
        }

        fn dispatch(&self, message: Message, context: crate::Context) -> Exchange {
            let Body::Request { id, params, .. } = message.body() else {
                return Exchange::sent();
            };
            assert_eq!(context.auth(), Some(&7_u8));
            Exchange::ready(Message::result(id, params.unwrap_or("{}")))
        }
    }

    let runtime: Arc<dyn Runtime> = Arc::new(Echo);
    let direct = Direct::new(runtime).auth(7_u8);
    assert_eq!(direct.versions(), [ProtocolVersion::V2025_06_18]);
    let peer = Peer::of(&direct.clone());
    assert_eq!(peer.result("x/y", json!({ "a": 1 })), json!({ "a": 1 }));
    peer.tell("x/z");
}

#[test]
fn what_is_said_from_another_thread_arrives_before_the_result() {
    let server = Server::new("demo", "1").tool("far", json!({}), |_: Value, call| async move {
        let far = std::thread::spawn(move || run(call.progress(1.0, None, None)));
        far.join().map_err(|_| ErrorObject::new(1, "the thread panicked"))?;
        Ok(CallToolResult::default())
    });
    let mut params = stateless(json!({ "name": "far" }));
    params["_meta"]["progressToken"] = json!(3);
    let heard = Peer::new(server).hear("tools/call", params);
    assert_eq!(heard[0]["params"], json!({ "progressToken": 3, "progress": 1 }));
    assert_eq!(heard.len(), 2);
}

#[test]
fn who_calls_is_not_shown() {
    let direct = Direct::new(Server::new("demo", "1")).auth("secret");
    let transport = run(direct.connect()).expect("always there");
    assert!(!format!("{direct:?} {transport:?}").contains("secret"));
}
