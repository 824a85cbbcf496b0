//! The cache on a real Redis.

mod clients;
mod fleet;
mod server;
mod store;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use snodo_testkit::{Loopback, Reply};

/// A server whose every list is another one, with these hints; and how many it gave.
pub(crate) async fn counting(hints: Value) -> (Loopback, Arc<AtomicUsize>) {
    let given = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&given);
    let server = Loopback::serve(move |request| {
        let (count, hints) = (Arc::clone(&count), hints.clone());
        async move {
            let message = request.json().unwrap_or_default();
            let mut result = hints;
            if message["method"] != "tools/list" {
                return refuse(&message);
            }
            let name = format!("t{}", count.fetch_add(1, Ordering::SeqCst));
            result["tools"] = json!([{ "name": name, "inputSchema": { "type": "object" } }]);
            let body = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
            Reply::new(200).json(body.to_string())
        }
    });
    (server.await.expect("a port"), given)
}

pub(crate) fn refuse(message: &Value) -> Reply {
    let error = json!({ "code": -32601, "message": "no such method" });
    let body = json!({ "jsonrpc": "2.0", "id": message["id"], "error": error });
    Reply::new(200).json(body.to_string())
}
