//! Servers of a few lines: a function of the request, and the far end of a pipe.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use snodo::{Builder, Client, ProtocolVersion};
use snodo_tests::Pipes;
use snodo_transport::{Connect, from_fn};
use snodo_types::{Envelope, Message};
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};

/// A client that is pinned to the stateless version: it sends nothing until it is asked.
pub(crate) fn stateless() -> Builder {
    Client::builder().protocol([ProtocolVersion::V2026_07_28])
}

/// A client that is pinned to a version that begins with `initialize`.
pub(crate) fn session() -> Builder {
    Client::builder().protocol([ProtocolVersion::V2025_11_25])
}

/// What a server was sent, in its order.
#[derive(Clone, Default)]
pub(crate) struct Sent(Arc<Mutex<Vec<Value>>>);

impl Sent {
    pub(crate) fn all(&self) -> Vec<Value> {
        self.0.lock().expect("no panic").clone()
    }

    fn keep(&self, message: Value) {
        self.0.lock().expect("no panic").push(message);
    }
}

/// A server that answers each request with the result that a function makes of it.
pub(crate) fn server(
    answer: impl Fn(&Value) -> Value + Send + Sync + 'static,
) -> (impl Connect, Sent) {
    let sent = Sent::default();
    let seen = sent.clone();
    let transport = from_fn(move |envelope: Envelope| {
        let message: Value = serde_json::from_str(&envelope.message).expect("JSON");
        let said = envelope.id.map(|id| Message::result(&id.into(), &answer(&message).to_string()));
        seen.keep(message);
        async move { Ok(said) }
    });
    (transport, sent)
}

/// A server that gives these results, one after the other.
pub(crate) fn answers(results: impl IntoIterator<Item = Value>) -> (impl Connect, Sent) {
    let results: Mutex<VecDeque<_>> = Mutex::new(results.into_iter().collect());
    server(move |request| {
        let next = results.lock().expect("no panic").pop_front();
        next.unwrap_or_else(|| panic!("nobody expected {request}"))
    })
}

/// A result that asks for input, and a state if there is one.
pub(crate) fn asks(requests: Value, state: Option<&str>) -> Value {
    let mut result = json!({ "resultType": "input_required", "inputRequests": requests });
    if let Some(state) = state {
        result["requestState"] = json!(state);
    }
    result
}

/// A question for a name, which is a string and needed.
pub(crate) fn form() -> Value {
    let schema = json!({
        "type": "object",
        "properties": { "name": { "type": "string" } },
        "required": ["name"],
    });
    json!({
        "method": "elicitation/create",
        "params": { "message": "Who?", "requestedSchema": schema },
    })
}

/// A question for consent to a page.
pub(crate) fn page(url: &str) -> Value {
    json!({
        "method": "elicitation/create",
        "params": { "mode": "url", "message": "Look", "url": url },
    })
}

/// A question for a model.
pub(crate) fn sampling() -> Value {
    let message = json!({ "role": "user", "content": { "type": "text", "text": "Hello" } });
    json!({
        "method": "sampling/createMessage",
        "params": { "messages": [message], "maxTokens": 100 },
    })
}

/// The result of a tool.
pub(crate) fn text(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

/// The server's end of a pipe, on which a session was opened.
pub(crate) struct Far {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    write: WriteHalf<DuplexStream>,
    /// What the client sent to open the session.
    pub(crate) initialize: Value,
}

impl Far {
    /// Opens a session of 2025-11-25 with a server that is called `Far`.
    pub(crate) async fn open(builder: Builder) -> (Client, Self) {
        Self::offering(json!({}), builder).await
    }

    /// The same with a server that can do something.
    pub(crate) async fn offering(capabilities: Value, builder: Builder) -> (Client, Self) {
        let (near, far) = tokio::io::duplex(64 * 1024);
        let (read, write) = tokio::io::split(far);
        let mut far = Self { lines: BufReader::new(read).lines(), write, initialize: Value::Null };
        let near = Mutex::new(Some(near));
        let target = Pipes::new(move || near.lock().expect("no panic").take().expect("one"));
        let greet = async {
            far.initialize = far.read().await;
            let result = json!({
                "protocolVersion": "2025-11-25",
                "capabilities": capabilities,
                "serverInfo": { "name": "far", "title": "Far", "version": "1" },
            });
            far.answer(&far.initialize.clone(), result).await;
            assert_eq!(far.read().await["method"], "notifications/initialized");
        };
        let (client, ()) = tokio::join!(builder.connect(target), greet);
        (client.expect("a client"), far)
    }

    pub(crate) async fn read(&mut self) -> Value {
        let line = self.lines.next_line().await.expect("bytes").expect("a line");
        serde_json::from_str(&line).expect("JSON")
    }

    pub(crate) async fn answer(&mut self, request: &Value, result: Value) {
        self.say(json!({ "jsonrpc": "2.0", "id": request["id"], "result": result })).await;
    }

    pub(crate) async fn say(&mut self, message: Value) {
        self.write.write_all(format!("{message}\n").as_bytes()).await.expect("the pipe is open");
    }

    /// Asks a question of the server's own, and waits for what the client says to it.
    pub(crate) async fn ask(&mut self, mut question: Value) -> Value {
        question["jsonrpc"] = json!("2.0");
        question["id"] = json!("far-1");
        self.say(question).await;
        let said = self.read().await;
        assert_eq!(said["id"], "far-1");
        said
    }
}
