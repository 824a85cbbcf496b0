//! For tests: an executor of a page, and a client that talks JSON.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use serde_json::{Value, json};
use snodo_transport::{Connect, Incoming, Transport};
use snodo_types::{Envelope, ProtocolVersion};

use crate::{Direct, DirectTransport, Runtime};

/// Runs a future to its end in this thread. One that waits and was not woken would wait for ever.
pub(crate) fn run<T>(future: impl Future<Output = T>) -> T {
    let flag = Arc::new(Flag(AtomicBool::new(true)));
    let waker = Waker::from(Arc::clone(&flag));
    let mut future = pin!(future);
    while flag.0.swap(false, Ordering::SeqCst) {
        if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return value;
        }
    }
    panic!("the future waits, and nothing woke it")
}

struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// A connection of a client.
pub(crate) struct Peer<R>(pub(crate) DirectTransport<R>);

impl<R: Runtime> Peer<R> {
    pub(crate) fn new(runtime: R) -> Self {
        Self::of(&Direct::new(runtime))
    }

    pub(crate) fn of(direct: &Direct<R>) -> Self {
        Self(run(direct.connect()).expect("always there"))
    }

    /// Opens a session.
    pub(crate) fn initialized(runtime: R, version: &str) -> Self {
        let peer = Self::new(runtime);
        let answer = peer.ask("initialize", initialize(version));
        assert_eq!(answer["result"]["protocolVersion"], version, "{answer}");
        peer.tell("notifications/initialized");
        peer
    }

    /// Everything that comes because of a request, the response last.
    pub(crate) fn hear(&self, method: &str, params: Value) -> Vec<Value> {
        let message = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
        let mut exchange = self.0.exchange(Envelope::request(7, message.to_string()));
        let mut heard = Vec::new();
        while let Some(incoming) = run(exchange.next()) {
            let Incoming::Message(message) = incoming.expect("nothing fails") else {
                panic!("a message")
            };
            heard.push(serde_json::from_str(message.text()).expect("JSON"));
        }
        let last: &Value = heard.last().expect("a response");
        assert_eq!((&last["jsonrpc"], &last["id"]), (&json!("2.0"), &json!(7)), "{last}");
        heard
    }

    /// The response to a request.
    pub(crate) fn ask(&self, method: &str, params: Value) -> Value {
        self.hear(method, params).pop().expect("a response")
    }

    /// The result of a request.
    pub(crate) fn result(&self, method: &str, params: Value) -> Value {
        let mut answer = self.ask(method, params);
        assert_eq!(answer["error"], Value::Null, "{answer}");
        answer["result"].take()
    }

    /// The code, and the data, of the error that a request is answered with.
    pub(crate) fn refusal(&self, method: &str, params: Value) -> (i64, Value) {
        let answer = self.ask(method, params);
        assert_eq!(answer["result"], Value::Null, "{answer}");
        (answer["error"]["code"].as_i64().expect("a code"), answer["error"]["data"].clone())
    }

    /// Sends a notification.
    pub(crate) fn tell(&self, method: &str) {
        let message = json!({ "jsonrpc": "2.0", "method": method });
        let mut exchange = self.0.exchange(Envelope::notification(message.to_string()));
        assert!(matches!(run(exchange.next()), Some(Ok(Incoming::Sent))));
        assert!(run(exchange.next()).is_none());
    }
}

/// Parameters that say version and capabilities.
pub(crate) fn stateless(params: Value) -> Value {
    with_meta(params, json!({}))
}

/// Parameters that say version, capabilities and more in `_meta`.
pub(crate) fn with_meta(mut params: Value, more: Value) -> Value {
    let mut meta = json!({
        "io.modelcontextprotocol/protocolVersion": ProtocolVersion::V2026_07_28.as_str(),
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    for (name, value) in more.as_object().expect("an object") {
        meta[name] = value.clone();
    }
    params["_meta"] = meta;
    params
}

/// The parameters of `initialize`.
pub(crate) fn initialize(version: &str) -> Value {
    json!({
        "protocolVersion": version,
        "capabilities": { "sampling": {} },
        "clientInfo": { "name": "agent", "version": "1.4.0" },
    })
}
