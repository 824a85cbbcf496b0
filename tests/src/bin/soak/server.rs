//! The servers: both eras, and no more than the load asks for.

use std::collections::HashSet;
use std::io::{BufRead as _, Write as _};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use snodo_testkit::{Loopback, Reply, Request};
use snodo_tests::Proxy;
use tokio::sync::broadcast;

/// Over standard input and output, until that ends or the tool `leave` is called.
pub(crate) fn stdio() {
    let mut listens: Vec<Value> = Vec::new();
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let Ok(asked) = serde_json::from_str::<Value>(&line) else { continue };
        let mut says = Vec::new();
        match asked["method"].as_str().unwrap_or_default() {
            "notifications/cancelled" => listens.retain(|id| *id != asked["params"]["requestId"]),
            "subscriptions/listen" => {
                listens.push(asked["id"].clone());
                says.push(acknowledged(&asked));
            }
            "tools/call" => match asked["params"]["name"].as_str().unwrap_or_default() {
                "leave" => std::process::exit(0),
                "hang" => {}
                "change" => {
                    says.extend(listens.iter().map(|id| changed(Some(id))));
                    says.extend(listens.is_empty().then(|| changed(None)));
                    says.extend(result(&asked));
                }
                _ => says.extend([progress(&asked), result(&asked)].into_iter().flatten()),
            },
            _ => says.extend(result(&asked)),
        }
        let text: String = says.iter().map(|message| format!("{message}\n")).collect();
        if out.write_all(text.as_bytes()).and_then(|()| out.flush()).is_err() {
            return;
        }
    }
}

/// Over HTTP, on an address that is printed, until its input ends. Behind that address the server
/// is another one every few seconds, which knows no session of the one before.
pub(crate) fn http() -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    std::thread::spawn(|| {
        let _ = std::io::stdin().lock().lines().count();
        std::process::exit(0);
    });
    runtime.block_on(async {
        let mut server = serve().await?;
        let address = |server: &Loopback| server.origin().trim_start_matches("http://").parse();
        let of = |server: &Loopback| address(server).map_err(|_| "no address".to_owned());
        let proxy = Proxy::to(of(&server)?).await.map_err(|error| error.to_string())?;
        println!("{}", proxy.address());
        loop {
            tokio::time::sleep(LIFE).await;
            let next = serve().await?;
            proxy.lead_to(of(&next)?);
            proxy.cut();
            server = next;
            let _ = &server;
        }
    })
}

/// What the requests to one server share.
struct Shared {
    sessions: Mutex<HashSet<String>>,
    changes: broadcast::Sender<()>,
}

async fn serve() -> Result<Loopback, String> {
    let shared = Arc::new(Shared { sessions: Mutex::default(), changes: broadcast::channel(8).0 });
    let served = Loopback::serve(move |request| {
        let shared = Arc::clone(&shared);
        async move { shared.answer(&request) }
    });
    served.await.map_err(|error| error.to_string())
}

impl Shared {
    fn answer(&self, request: &Request) -> Reply {
        let asked = request.json().unwrap_or_default();
        let method = asked["method"].as_str().unwrap_or_default();
        let session = request.header("mcp-session-id");
        if session.is_some_and(|session| !self.sessions().contains(session)) {
            return Reply::new(404);
        }
        match (request.method.as_str(), method) {
            ("DELETE", _) => {
                self.sessions().remove(session.unwrap_or_default());
                Reply::new(200)
            }
            ("GET", _) if session.is_none() => Reply::new(405),
            ("GET", _) => self.tells(None, None),
            (_, "initialize") => {
                static NEXT: AtomicU64 = AtomicU64::new(0);
                let number = NEXT.fetch_add(1, Ordering::Relaxed);
                let session = format!("{}-{number}", std::process::id());
                self.sessions().insert(session.clone());
                let opened = result(&asked).unwrap_or_default();
                Reply::new(200).header("Mcp-Session-Id", &session).json(opened.to_string())
            }
            (_, "subscriptions/listen") => {
                self.tells(Some(acknowledged(&asked)), Some(asked["id"].clone()))
            }
            (_, "tools/call") => match asked["params"]["name"].as_str().unwrap_or_default() {
                "hang" => Reply::hang(),
                name => {
                    if name == "change" {
                        let _ = self.changes.send(());
                    }
                    let told =
                        [progress(&asked), result(&asked)].map(|told| told.map(|t| t.to_string()));
                    match told {
                        [None, Some(result)] => Reply::new(200).json(result),
                        told => Reply::new(200).events(told.iter().flatten().map(String::as_str)),
                    }
                }
            },
            _ => match result(&asked) {
                Some(result) => Reply::new(200).json(result.to_string()),
                None => Reply::new(202),
            },
        }
    }

    /// A stream of changes.
    fn tells(&self, first: Option<Value>, subscription: Option<Value>) -> Reply {
        let mut changes = self.changes.subscribe();
        Reply::new(200).stream(move |events| async move {
            match first {
                Some(first) => events.message(&first.to_string()).await,
                None => events.raw(": begun\n\n").await,
            }
            while changes.recv().await.is_ok() {
                events.message(&changed(subscription.as_ref()).to_string()).await;
            }
        })
    }

    fn sessions(&self) -> std::sync::MutexGuard<'_, HashSet<String>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The answer to a request; none to what is no request.
fn result(asked: &Value) -> Option<Value> {
    if asked["id"].is_null() || asked["method"].is_null() {
        return None;
    }
    let capabilities = json!({ "tools": { "listChanged": true } });
    let result = match asked["method"].as_str()? {
        "initialize" => json!({
            "protocolVersion": asked["params"]["protocolVersion"],
            "capabilities": capabilities,
            "serverInfo": { "name": "soak", "version": "1" },
        }),
        "server/discover" => {
            json!({ "supportedVersions": ["2026-07-28"], "capabilities": capabilities, "resultType": "complete" })
        }
        _ => json!({ "content": [{ "type": "text", "text": "ok" }], "resultType": "complete" }),
    };
    Some(json!({ "jsonrpc": "2.0", "id": asked["id"], "result": result }))
}

/// Progress, for a call that wants to know of it.
fn progress(asked: &Value) -> Option<Value> {
    let token = asked["params"]["_meta"].get("progressToken")?;
    let params = json!({ "progressToken": token, "progress": 1 });
    Some(json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params }))
}

fn acknowledged(asked: &Value) -> Value {
    let meta = json!({ "io.modelcontextprotocol/subscriptionId": asked["id"] });
    let params = json!({ "notifications": asked["params"]["notifications"], "_meta": meta });
    let method = "notifications/subscriptions/acknowledged";
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}

fn changed(subscription: Option<&Value>) -> Value {
    let mut told = json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" });
    if let Some(id) = subscription {
        told["params"] = json!({ "_meta": { "io.modelcontextprotocol/subscriptionId": id } });
    }
    told
}

/// How long a server stands behind the address.
const LIFE: Duration = Duration::from_secs(3);
