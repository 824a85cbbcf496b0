//! A server over HTTP that is there to be killed: of both eras, with what it did written down
//! outside it.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use snodo_testkit::{Events, Loopback, Reply, Request};
use tokio::sync::watch;

use super::ledger::Memory;

/// A server until it is dropped: then every connection of it breaks, and all it knew is gone.
///
/// Its tools: `add` answers, `hang` does not, `change` tells those who listen, `slow` answers on a
/// stream that begins with progress and goes on a while later.
pub(crate) struct Life {
    loopback: Loopback,
    server: Arc<Server>,
}

/// What a server does not have.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Lacks {
    /// The stream for what concerns no request takes its time to open.
    pub(crate) haste: bool,
    /// Streams have no event ids: they cannot be taken up again.
    pub(crate) ids: bool,
    /// The right word for a session that it does not know: it says this status.
    pub(crate) not_found: Option<u16>,
    /// The versions with sessions.
    pub(crate) sessions: bool,
    /// The version without sessions.
    pub(crate) stateless: bool,
    /// There is no stream for what concerns no request.
    pub(crate) stream: bool,
}

struct Server {
    memory: Arc<Memory>,
    lacks: Lacks,
    sessions: Mutex<HashMap<String, Arc<Session>>>,
    /// The subscriptions of the stateless era.
    listens: Mutex<Vec<(Value, Arc<Tape>)>>,
}

#[derive(Default)]
struct Session {
    /// What was told on all streams of the session, by its number.
    tape: Tape,
    watched: Mutex<Vec<Value>>,
}

/// Messages in their order, each on one of several streams; who reads one waits for more.
struct Tape {
    entries: Mutex<Vec<Entry>>,
    /// Tells of each new entry; true once all streams are over.
    over: watch::Sender<bool>,
}

#[derive(Clone)]
struct Entry {
    stream: usize,
    /// Without one the event holds an id alone.
    message: Option<Value>,
    /// Nothing follows on this stream.
    last: bool,
}

/// The number of the stream that concerns no request; the others begin where a request came.
const UNASKED: usize = 0;

impl Life {
    pub(crate) async fn start(memory: &Arc<Memory>, lacks: Lacks) -> Self {
        let (sessions, listens) = (Mutex::default(), Mutex::default());
        let server = Arc::new(Server { memory: Arc::clone(memory), lacks, sessions, listens });
        let answering = Arc::clone(&server);
        let loopback = Loopback::serve(move |request| {
            let server = Arc::clone(&answering);
            async move {
                if lacks.haste && request.method == "GET" {
                    tokio::time::sleep(WHILE).await;
                }
                server.reply(&request)
            }
        });
        Self { loopback: loopback.await.expect("a port"), server }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        let origin = self.loopback.origin();
        let address = origin.strip_prefix("http://").expect("a URL");
        address.parse().expect("an address")
    }

    /// Forgets every session, and ends its streams.
    pub(crate) fn forget(&self) {
        for (_, session) in lock(&self.server.sessions).drain() {
            session.tape.end();
        }
    }
}

impl Server {
    fn reply(self: Arc<Self>, request: &Request) -> Reply {
        let asked = request.json().unwrap_or_default();
        let stateless = request.header("mcp-protocol-version") == Some("2026-07-28");
        match (request.method.as_str(), asked["method"].as_str()) {
            (_, _) if stateless && self.lacks.stateless => {
                let text = "Bad Request: Unsupported protocol version: 2026-07-28";
                Reply::new(400).json(error(&Value::Null, -32000, text))
            }
            (_, _) if stateless => self.stateless(&asked),
            (_, _) if self.lacks.sessions => {
                self.note("refuse", &asked);
                Reply::new(404).json(error(&asked, -32601, "Method not found"))
            }
            ("POST", Some("initialize")) => self.initialize(&asked),
            (method, rpc) => {
                let id = request.header("mcp-session-id").unwrap_or_default();
                let Some(session) = lock(&self.sessions).get(id).cloned() else {
                    return self.unknown(&asked);
                };
                match (method, rpc) {
                    ("DELETE", _) => {
                        self.note("delete", &asked);
                        lock(&self.sessions).remove(id);
                        session.tape.end();
                        Reply::new(200)
                    }
                    ("GET", _) => self.unasked(session, request),
                    ("POST", Some(rpc)) => self.in_session(session, rpc, &asked),
                    _ => Reply::new(202),
                }
            }
        }
    }

    fn note(&self, did: &str, asked: &Value) {
        let arguments = &asked["params"]["arguments"];
        self.memory.note(json!({ "did": did, "n": arguments["n"], "id": asked["id"] }));
    }

    /// As servers in the field answer.
    fn unknown(&self, asked: &Value) -> Reply {
        match self.lacks.not_found {
            None => Reply::new(404).json(error(asked, -32001, "session not found")),
            Some(400) => {
                let text = "Bad Request: No valid session ID provided";
                Reply::new(400).json(error(&Value::Null, -32000, text))
            }
            Some(status) => Reply::new(status).text("Unauthorized: Session not found"),
        }
    }

    fn initialize(&self, asked: &Value) -> Reply {
        static NUMBER: AtomicU64 = AtomicU64::new(1);

        self.note("initialize", asked);
        let id = format!("s{}", NUMBER.fetch_add(1, Ordering::Relaxed));
        lock(&self.sessions).insert(id.clone(), Arc::default());
        let capabilities =
            json!({ "tools": { "listChanged": true }, "resources": { "subscribe": true } });
        let result = json!({
            "protocolVersion": asked["params"]["protocolVersion"],
            "capabilities": capabilities,
            "serverInfo": { "name": "mortal", "version": "1" },
        });
        Reply::new(200).header("Mcp-Session-Id", &id).json(answer(asked, result))
    }

    /// The stream that concerns no request, or one that is taken up again.
    fn unasked(&self, session: Arc<Session>, request: &Request) -> Reply {
        if self.lacks.stream {
            return Reply::new(405);
        }
        let behind = request.header("last-event-id").and_then(|id| id.parse::<usize>().ok());
        self.note(if behind.is_some() { "resume" } else { "stream" }, &Value::Null);
        let entries = lock(&session.tape.entries).len();
        let stream = match behind {
            Some(behind) => lock(&session.tape.entries)[behind - 1].stream,
            None => UNASKED,
        };
        // Who comes without an id gets what is told from now on.
        let (from, ids) = (behind.unwrap_or(entries), !self.lacks.ids);
        Reply::new(200).stream(move |events| async move {
            session.tape.play(stream, from, ids, &events).await;
        })
    }

    fn in_session(self: Arc<Self>, session: Arc<Session>, rpc: &str, asked: &Value) -> Reply {
        let uri = &asked["params"]["uri"];
        match rpc {
            "resources/subscribe" => {
                self.note("watch", asked);
                lock(&session.watched).push(uri.clone());
                Reply::new(200).json(answer(asked, json!({})))
            }
            "resources/unsubscribe" => {
                self.note("unwatch", asked);
                lock(&session.watched).retain(|watched| watched != uri);
                Reply::new(200).json(answer(asked, json!({})))
            }
            "tools/call" => self.call(Some(session), asked),
            "tools/list" => Reply::new(200).json(answer(asked, json!({ "tools": [] }))),
            "ping" => Reply::new(200).json(answer(asked, json!({}))),
            _ if rpc.starts_with("notifications/") => Reply::new(202),
            _ => Reply::new(200).json(error(asked, -32601, "Method not found")),
        }
    }

    fn stateless(self: Arc<Self>, asked: &Value) -> Reply {
        match asked["method"].as_str().unwrap_or_default() {
            "server/discover" => {
                let capabilities = json!({ "tools": { "listChanged": true } });
                let result =
                    json!({ "supportedVersions": ["2026-07-28"], "capabilities": capabilities });
                Reply::new(200).json(answer(asked, result))
            }
            "subscriptions/listen" => {
                self.note("listen", asked);
                let tape = Arc::new(Tape::default());
                let accepted = json!({ "notifications": asked["params"]["notifications"] });
                let method = "notifications/subscriptions/acknowledged";
                tape.put(UNASKED, Some(told(method, accepted, &asked["id"])), false);
                lock(&self.listens).push((asked["id"].clone(), Arc::clone(&tape)));
                Reply::new(200).stream(move |events| async move {
                    tape.play(UNASKED, 0, false, &events).await;
                })
            }
            "tools/list" => {
                self.note("list", asked);
                self.slowly(None, asked, json!({ "tools": [] }))
            }
            "tools/call" => self.call(None, asked),
            _ => Reply::new(404).json(error(asked, -32601, "Method not found")),
        }
    }

    fn call(self: Arc<Self>, session: Option<Arc<Session>>, asked: &Value) -> Reply {
        let tool = asked["params"]["name"].as_str().unwrap_or_default();
        self.note(tool, asked);
        let result = json!({ "content": [] });
        match tool {
            "hang" => return Reply::hang(),
            "slow" => return self.slowly(session, asked, result),
            "change" => self.change(),
            _ => {}
        }
        Reply::new(200).json(answer(asked, result))
    }

    /// Answers on a stream: something at once, the rest after a while, whoever reads it.
    fn slowly(
        self: Arc<Self>,
        session: Option<Arc<Session>>,
        asked: &Value,
        result: Value,
    ) -> Reply {
        let ids = session.is_some() && !self.lacks.ids;
        let session = session.unwrap_or_default();
        let from = lock(&session.tape.entries).len();
        let (stream, asked) = (from + 1, asked.clone());
        let token = asked["params"]["_meta"]["progressToken"].clone();
        let step = move |progress: u64| {
            let params = json!({ "progressToken": token, "progress": progress });
            told("notifications/progress", params, &Value::Null)
        };
        session.tape.put(stream, None, false);
        session.tape.put(stream, Some(step(1)), false);
        let playing = Arc::clone(&session);
        tokio::spawn(async move {
            tokio::time::sleep(WHILE).await;
            session.tape.put(stream, Some(step(2)), false);
            let answer = serde_json::from_str(&answer(&asked, result)).expect("JSON");
            session.tape.put(stream, Some(answer), true);
        });
        Reply::new(200).stream(move |events| async move {
            playing.tape.play(stream, from, ids, &events).await;
        })
    }

    fn change(&self) {
        let method = "notifications/tools/list_changed";
        for (id, tape) in &*lock(&self.listens) {
            tape.put(UNASKED, Some(told(method, json!({}), id)), false);
        }
        for session in lock(&self.sessions).values() {
            session.tape.put(UNASKED, Some(told(method, json!({}), &Value::Null)), false);
            for uri in &*lock(&session.watched) {
                let params = json!({ "uri": uri });
                let told = told("notifications/resources/updated", params, &Value::Null);
                session.tape.put(UNASKED, Some(told), false);
            }
        }
    }
}

impl Default for Tape {
    fn default() -> Self {
        Self { entries: Mutex::default(), over: watch::Sender::new(false) }
    }
}

impl Tape {
    fn put(&self, stream: usize, message: Option<Value>, last: bool) {
        lock(&self.entries).push(Entry { stream, message, last });
        self.over.send_modify(|_| {});
    }

    /// Ends every stream.
    fn end(&self) {
        self.over.send_replace(true);
    }

    /// Plays one stream from behind an entry on, until its last entry or the end of all.
    async fn play(&self, stream: usize, from: usize, ids: bool, events: &Events) {
        let (mut at, mut over) = (from, self.over.subscribe());
        loop {
            let is_over = *over.borrow_and_update();
            let news: Vec<Entry> = lock(&self.entries).iter().skip(at).cloned().collect();
            for entry in news {
                at += 1;
                if entry.stream != stream {
                    continue;
                }
                let mut text = String::new();
                if ids {
                    text.push_str(&format!("id: {at}\nretry: 50\n"));
                }
                let data = entry.message.map(|message| message.to_string()).unwrap_or_default();
                if ids || !data.is_empty() {
                    events.raw(format!("{text}data: {data}\n\n")).await;
                }
                if entry.last {
                    return;
                }
            }
            if is_over || over.changed().await.is_err() {
                return;
            }
        }
    }
}

fn answer(asked: &Value, mut result: Value) -> String {
    result["resultType"] = "complete".into();
    json!({ "jsonrpc": "2.0", "id": asked["id"], "result": result }).to_string()
}

fn error(asked: &Value, code: i64, message: &str) -> String {
    let error = json!({ "code": code, "message": message });
    json!({ "jsonrpc": "2.0", "id": asked["id"], "error": error }).to_string()
}

fn told(method: &str, mut params: Value, subscription: &Value) -> Value {
    if !subscription.is_null() {
        params["_meta"] = json!({ "io.modelcontextprotocol/subscriptionId": subscription });
    }
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How long a slow answer takes.
const WHILE: Duration = Duration::from_millis(150);
