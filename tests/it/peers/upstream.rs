//! The MCP server behind the proxies.

use std::sync::Arc;

use serde_json::{Value, json};
use snodo_testkit::{Loopback, Reply, Request};
use tokio::sync::Notify;

/// Speaks the stateless version. Its tools: `echo` answers, `hang` does not, `steps` tells progress
/// and waits to be let go, `heavy` has much to say; lists are empty.
pub(super) struct Upstream {
    loopback: Loopback,
    go: Arc<Notify>,
}

impl Upstream {
    pub(super) async fn start() -> Self {
        let go = Arc::new(Notify::new());
        let waits = Arc::clone(&go);
        let loopback = Loopback::serve(move |request| {
            let reply = reply(&request, Arc::clone(&waits));
            async move { reply }
        });
        Self { loopback: loopback.await.expect("a port"), go }
    }

    /// Host and port.
    pub(super) fn address(&self) -> String {
        self.loopback.origin().replace("http://", "")
    }

    pub(super) fn requests(&self) -> Vec<Request> {
        self.loopback.requests()
    }

    /// The distinct values of a header of all requests.
    pub(super) fn values(&self, header: &str) -> Vec<String> {
        let requests = self.requests();
        let mut values: Vec<_> =
            requests.iter().filter_map(|it| it.header(header).map(str::to_owned)).collect();
        values.sort();
        values.dedup();
        values
    }

    /// Lets `steps` go on, now or as soon as it waits.
    pub(super) fn go(&self) {
        self.go.notify_one();
    }
}

fn reply(request: &Request, go: Arc<Notify>) -> Reply {
    let asked = request.json().unwrap_or_default();
    let (id, params) = (asked["id"].clone(), &asked["params"]);
    let token = params["_meta"]["progressToken"].clone();
    match (asked["method"].as_str(), params["name"].as_str()) {
        (Some("tools/list"), _) => {
            let result = json!({
                "tools": [], "resultType": "complete", "ttlMs": 0, "cacheScope": "private",
            });
            Reply::new(200).json(answer(&id, result))
        }
        (_, Some("hang")) => Reply::hang(),
        (_, Some("heavy")) => Reply::new(200).json(answer(&id, text(&"all work ".repeat(9000)))),
        (_, Some("steps")) => Reply::new(200).stream(move |events| async move {
            let progress = json!({
                "jsonrpc": "2.0", "method": "notifications/progress",
                "params": { "progressToken": token, "progress": 1 },
            });
            events.message(&progress.to_string()).await;
            go.notified().await;
            events.message(&answer(&id, text("done"))).await;
        }),
        _ => Reply::new(200).json(answer(&id, text("ok"))),
    }
}

fn answer(id: &Value, result: Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string()
}

fn text(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }], "resultType": "complete" })
}
