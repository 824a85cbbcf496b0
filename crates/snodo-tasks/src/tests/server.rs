//! The server of these tests.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use snodo::transport::from_fn;
use snodo::types::{
    Body, Envelope, ErrorObject, Message, RequestId, TransportError, TransportFault,
};
use snodo::{Builder, Client, ProtocolVersion};
use tokio::time::Instant;

pub(super) const NEW: ProtocolVersion = ProtocolVersion::V2026_07_28;
pub(super) const CORE: ProtocolVersion = ProtocolVersion::V2025_11_25;
pub(super) const OLD: ProtocolVersion = ProtocolVersion::V2025_06_18;

/// Answers each request by the next line of its script, and keeps what it got. A request that the
/// script does not have next fails its test.
#[derive(Clone)]
pub(super) struct Server(Arc<Inner>);

struct Inner {
    script: Mutex<VecDeque<(&'static str, Line)>>,
    seen: Mutex<Vec<Seen>>,
    capabilities: Value,
    began: Instant,
}

enum Line {
    Breaks,
    Error(i64),
    Result(Value),
    Silence,
}

type Answer = Result<Option<Message>, TransportError>;

/// A request that came.
#[derive(Clone)]
pub(super) struct Seen {
    pub(super) method: String,
    pub(super) params: Value,
    pub(super) cancellable: bool,
    pub(super) at: Duration,
}

impl Server {
    /// A server that makes tasks of either kind.
    pub(super) fn new() -> Self {
        Self::declaring(
            json!({ "tasks": { "cancel": {}, "requests": { "tools": { "call": {} } } } }),
        )
    }

    pub(super) fn declaring(capabilities: Value) -> Self {
        Self(Arc::new(Inner {
            script: Mutex::default(),
            seen: Mutex::default(),
            capabilities,
            began: Instant::now(),
        }))
    }

    /// Answers the next request, which is one of this method.
    pub(super) fn says(self, method: &'static str, result: Value) -> Self {
        self.line(method, Line::Result(result))
    }

    pub(super) fn fails(self, method: &'static str, code: i64) -> Self {
        self.line(method, Line::Error(code))
    }

    pub(super) fn breaks(self, method: &'static str) -> Self {
        self.line(method, Line::Breaks)
    }

    pub(super) fn keeps_silent_on(self, method: &'static str) -> Self {
        self.line(method, Line::Silence)
    }

    fn line(self, method: &'static str, line: Line) -> Self {
        self.0.script.lock().expect("no panic").push_back((method, line));
        self
    }

    pub(super) async fn connect(&self, version: ProtocolVersion) -> Client {
        self.connect_with(version, |builder| builder).await
    }

    pub(super) async fn connect_with(
        &self,
        version: ProtocolVersion,
        options: impl FnOnce(Builder) -> Builder,
    ) -> Client {
        let server = self.clone();
        let target = from_fn(move |envelope: Envelope| {
            let server = server.clone();
            async move { server.answer(envelope, version).await }
        });
        let builder = options(Client::builder().protocol([version]));
        builder.connect(target).await.expect("a connection")
    }

    /// The requests that came, without those that open the connection.
    pub(super) fn seen(&self) -> Vec<Seen> {
        self.0.seen.lock().expect("no panic").clone()
    }

    pub(super) fn methods(&self) -> Vec<String> {
        self.seen().into_iter().map(|seen| seen.method).collect()
    }

    /// When requests of a method came, in milliseconds.
    pub(super) fn times(&self, method: &str) -> Vec<u128> {
        let seen = self.seen().into_iter().filter(|seen| seen.method == method);
        seen.map(|seen| seen.at.as_millis()).collect()
    }

    /// Whether all that was written down was said.
    pub(super) fn is_done(&self) -> bool {
        self.0.script.lock().expect("no panic").is_empty()
    }

    async fn answer(&self, envelope: Envelope, version: ProtocolVersion) -> Answer {
        let message = Message::parse(envelope.message.as_str()).expect("a message");
        let Body::Request { id, method, .. } = message.body() else {
            self.keep(&message, &envelope);
            return Ok(None);
        };
        if method == "initialize" {
            let result = json!({
                "protocolVersion": version.as_str(),
                "capabilities": self.0.capabilities,
                "serverInfo": { "name": "script", "version": "1" },
            });
            return Ok(Some(Message::result(id, &result.to_string())));
        }
        self.keep(&message, &envelope);
        let next = self.0.script.lock().expect("no panic").pop_front();
        let Some((expected, line)) = next else { panic!("{method} after the last line") };
        assert_eq!(method, expected);
        self.say(id, line).await
    }

    async fn say(&self, id: &RequestId, line: Line) -> Answer {
        match line {
            Line::Breaks => {
                Err(TransportError::new(TransportFault::Closed, "the connection is gone"))
            }
            Line::Error(code) => Ok(Some(Message::error(Some(id), &ErrorObject::new(code, "no")))),
            Line::Result(result) => Ok(Some(Message::result(id, &result.to_string()))),
            Line::Silence => std::future::pending().await,
        }
    }

    fn keep(&self, message: &Message, envelope: &Envelope) {
        let value: Value = serde_json::from_str(message.text()).expect("JSON");
        let method = value["method"].as_str().unwrap_or_default().to_owned();
        if method == "notifications/initialized" {
            return;
        }
        self.0.seen.lock().expect("no panic").push(Seen {
            method,
            params: value["params"].clone(),
            cancellable: envelope.abandon.is_some(),
            at: self.0.began.elapsed(),
        });
    }
}

/// A task of the extension, with more members.
pub(super) fn task(status: &str, more: Value) -> Value {
    let task = json!({
        "resultType": "complete", "taskId": "t-1", "status": status, "ttlMs": null,
        "createdAt": "2026-07-28T10:00:00Z", "lastUpdatedAt": "2026-07-28T10:00:00Z",
    });
    merged(task, more)
}

/// The same as the answer to a call.
pub(super) fn created(status: &str, more: Value) -> Value {
    merged(task(status, json!({ "resultType": "task" })), more)
}

/// A task of the core.
pub(super) fn core_task(status: &str, more: Value) -> Value {
    let task = json!({
        "taskId": "t-1", "status": status, "ttl": 60000,
        "createdAt": "2025-11-25T10:00:00Z", "lastUpdatedAt": "2025-11-25T10:00:00Z",
    });
    merged(task, more)
}

pub(super) fn text(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

/// A form as a task asks for it.
pub(super) fn form(message: &str) -> Value {
    json!({ "method": "elicitation/create", "params": {
        "mode": "form", "message": message,
        "requestedSchema": { "type": "object", "properties": { "name": { "type": "string" } } },
    }})
}

fn merged(mut object: Value, more: Value) -> Value {
    let members = object.as_object_mut().expect("an object");
    members.extend(more.as_object().expect("an object").clone());
    object
}
