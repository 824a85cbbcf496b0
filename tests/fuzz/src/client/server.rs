//! A server that does what the input says, and writes down what it hears.

use std::collections::{HashMap, HashSet};
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use serde_json::{Value, json};
use snodo_stdio::Pipe;
use snodo_transport::{Abilities, Connect, Exchange, Incoming, Transport, connect_fn};
use snodo_types::{Envelope, Message, TransportError, TransportFault};
use tokio::io::{AsyncBufReadExt, AsyncWrite, AsyncWriteExt, BufReader, DuplexStream, WriteHalf};
use tokio::time::sleep;

/// What the servers of all connections share.
pub(super) struct World {
    script: Mutex<(Vec<u8>, usize)>,
    /// The lines that the client wrote, over all connections; the last may be cut.
    written: Mutex<Vec<Vec<u8>>>,
    closed: AtomicBool,
    sent_late: Mutex<Option<String>>,
}

/// One thing that a server does.
pub(super) enum Act {
    Close,
    Say(String),
    Wait(Duration),
}

impl World {
    pub(super) fn new(script: Vec<u8>) -> Arc<Self> {
        Arc::new(Self {
            script: Mutex::new((script, 0)),
            written: Mutex::default(),
            closed: AtomicBool::new(false),
            sent_late: Mutex::default(),
        })
    }

    /// The client is closed: from here on nothing is to be sent.
    pub(super) fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
    }

    /// A server at the other end of a byte pipe, each time anew.
    pub(super) fn pipes(self: &Arc<Self>) -> impl Connect + use<> {
        let world = Arc::clone(self);
        connect_fn(move || {
            let world = Arc::clone(&world);
            async move {
                let (near, far) = tokio::io::duplex(4096);
                tokio::spawn(serve(Arc::clone(&world), far));
                let (reader, writer) = tokio::io::split(near);
                let place = {
                    let mut written = world.written.lock().expect("no panic");
                    written.push(Vec::new());
                    written.len() - 1
                };
                Ok::<_, TransportError>(Pipe::new(reader, Watched { writer, world, place }))
            }
        })
    }

    /// A server whose exchanges have streams of their own.
    pub(super) fn streams(self: &Arc<Self>) -> impl Connect + use<> {
        let world = Arc::clone(self);
        connect_fn(move || {
            let streams = Streams(Arc::clone(&world));
            async move { Ok::<_, TransportError>(streams) }
        })
    }

    /// What the script says next; when it is over, everything is answered.
    pub(super) fn next(&self) -> u8 {
        let mut script = self.script.lock().expect("no panic");
        let at = script.1;
        script.1 += 1;
        script.0.get(at).copied().unwrap_or_default()
    }

    /// What is done about a message.
    pub(super) fn plan(&self, message: &Value) -> Vec<Act> {
        let (id, method) = (&message["id"], message["method"].as_str().unwrap_or_default());
        let mut acts = Vec::new();
        if id.is_null() || method.is_empty() {
            return acts;
        }
        let say = |message: Value| Act::Say(message.to_string());
        for number in 0..6 {
            let byte = self.next();
            let more = u64::from(byte / 16);
            acts.push(match byte % 16 {
                0..=4 => {
                    acts.push(say(answer(id, method, more)));
                    break;
                }
                5 => {
                    let code = [-32603, -32602, -32601, -32022, -32000, 7][more as usize % 6];
                    let error = json!({ "code": code, "message": "no", "data": { "supported": ["2025-11-25"] } });
                    acts.push(say(json!({ "jsonrpc": "2.0", "id": id, "error": error })));
                    break;
                }
                6 => break,
                7 | 8 => {
                    let params = json!({ "progressToken": id, "progress": number + 1 });
                    let method = "notifications/progress";
                    say(json!({ "jsonrpc": "2.0", "method": method, "params": params }))
                }
                9 => say(json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" })),
                10 => {
                    let params = json!({
                        "message": "?",
                        "requestedSchema": { "type": "object", "properties": {} },
                    });
                    let method = if more % 2 == 0 { "elicitation/create" } else { "ping" };
                    say(json!({ "jsonrpc": "2.0", "id": more, "method": method, "params": params }))
                }
                11 | 12 => Act::Wait(Duration::from_millis(500 * more * more)),
                13 => {
                    let other = id.as_u64().unwrap_or_default().wrapping_sub(more % 4);
                    say(answer(&json!(other), method, 0))
                }
                14 => Act::Say(ODD[more as usize % ODD.len()].replace("ID", &id.to_string())),
                _ => Act::Close,
            });
        }
        acts
    }

    /// Holds what the client sent against the rules.
    pub(super) fn judge(&self) {
        let late = self.sent_late.lock().expect("no panic");
        assert_eq!(*late, None, "something was sent behind the end");
        let (mut ids, mut given_up) = (HashSet::new(), HashMap::new());
        for bytes in self.written.lock().expect("no panic").iter() {
            let whole =
                bytes.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n"));
            for line in whole {
                let message: Value = serde_json::from_slice(line).expect("the client writes JSON");
                let id = &message["id"];
                match message["method"].as_str() {
                    Some("notifications/cancelled") => {
                        let id = message["params"]["requestId"].to_string();
                        let method = ids.contains(&id);
                        assert!(method, "{id} was cancelled and never asked");
                        let times = given_up.entry(id).or_insert(0);
                        *times += 1;
                        assert_eq!(*times, 1, "{message} came twice");
                    }
                    Some(_) if !id.is_null() => {
                        assert!(ids.insert(id.to_string()), "an id is used twice: {message}");
                    }
                    _ => {}
                }
            }
        }
    }

    /// The client sends a whole message.
    pub(super) fn hear(&self, message: &[u8]) {
        self.note(message);
        self.written.lock().expect("no panic").push([message, b"\n"].concat());
    }

    /// The client sends something.
    pub(super) fn note(&self, what: &[u8]) {
        if self.closed.load(Ordering::Relaxed) {
            let what = || String::from_utf8_lossy(what).into_owned();
            self.sent_late.lock().expect("no panic").get_or_insert_with(what);
        }
    }
}

/// The answer that is right, or nearly.
fn answer(id: &Value, method: &str, more: u64) -> Value {
    let asks = json!({
        "resultType": "input_required",
        "requestState": "s",
        "inputRequests": { "q": { "method": "elicitation/create", "params": {
            "message": "?", "requestedSchema": { "type": "object", "properties": {} } } } },
    });
    let result = match method {
        "server/discover" => json!({
            "supportedVersions": ["2026-07-28"],
            "capabilities": { "tools": { "listChanged": true } },
            "serverInfo": { "name": "any", "version": "1" },
        }),
        "initialize" => json!({
            "protocolVersion": if more == 9 { "1999-01-01" } else { "2025-11-25" },
            "capabilities": { "tools": { "listChanged": true } },
            "serverInfo": { "name": "any", "version": "1" },
        }),
        "tools/call" if more % 4 == 3 => asks,
        "tools/list" if more % 4 == 3 => json!({ "tools": [], "nextCursor": "more" }),
        "tools/list" => {
            json!({ "tools": [{ "name": "any", "inputSchema": { "type": "object" } }] })
        }
        _ => json!({ "content": [], "isError": more == 5 }),
    };
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

/// What is no message, or one that nobody should get. `ID` is the id of the request.
const ODD: &[&str] = &[
    "",
    "hello",
    "{",
    "[]",
    r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}}"#,
    r#"{"jsonrpc":"2.0","id":"ID","result":{}}"#,
    r#"{"jsonrpc":"2.0","id":ID,"result":{"cut": [1,"#,
    r#"{"jsonrpc":"2.0","id":ID,"result":{},"error":{}}"#,
    r#"{"jsonrpc":"2.0","id":ID,"result":{"tools":7,"content":"x"}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":ID}}"#,
    r#"{"jsonrpc":"2.0","id":ID,"method":"roots/list"}"#,
    r#"{"jsonrpc":"1.0","id":ID,"result":{}}"#,
];

/// The server at the far end of a pipe: one thing after the other.
async fn serve(world: Arc<World>, far: DuplexStream) {
    let (reader, mut writer) = tokio::io::split(far);
    let mut lines = BufReader::new(reader).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let Ok(message) = serde_json::from_str(&line) else { return };
        for act in world.plan(&message) {
            match act {
                Act::Close => return,
                Act::Say(text) => {
                    let line = format!("{text}\n");
                    if writer.write_all(line.as_bytes()).await.is_err() {
                        return;
                    }
                }
                Act::Wait(time) => sleep(time).await,
            }
        }
    }
}

/// The client's end of the pipe: notes what is written.
struct Watched {
    writer: WriteHalf<DuplexStream>,
    world: Arc<World>,
    place: usize,
}

impl AsyncWrite for Watched {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.writer).poll_write(cx, bytes);
        if let Poll::Ready(Ok(count)) = &written {
            self.world.note(&bytes[..*count]);
            self.world.written.lock().expect("no panic")[self.place].extend(&bytes[..*count]);
        }
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.writer).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.writer).poll_shutdown(cx)
    }
}

/// A connection whose exchanges have streams of their own.
struct Streams(Arc<World>);

impl Transport for Streams {
    fn exchange(&self, envelope: Envelope) -> Exchange {
        let world = Arc::clone(&self.0);
        Exchange::generate(move |sender| async move {
            world.hear(envelope.message.as_bytes());
            let message = serde_json::from_str(&envelope.message).expect("the client sends JSON");
            sender.send(Incoming::Sent).await;
            for act in world.plan(&message) {
                match act {
                    Act::Close => {
                        let text = "the server broke it off";
                        return Err(TransportError::new(TransportFault::StreamEnded, text));
                    }
                    // What is no message a transport hands on to nobody.
                    Act::Say(text) => {
                        if let Ok(message) = Message::parse(text) {
                            sender.send(Incoming::Message(message)).await;
                        }
                    }
                    Act::Wait(time) => sleep(time).await,
                }
            }
            if envelope.id.is_some() {
                std::future::pending().await
            }
            Ok(())
        })
    }

    fn abilities(&self) -> Abilities {
        Abilities { own_stream: true, routing: true, listen: true, ..Abilities::default() }
    }
}
