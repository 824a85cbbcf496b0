//! A server in a task of its own, which takes letters from a queue.

use serde_json::{Value, json};
use snodo::direct::{Context, Runtime, Server};
use snodo::transport::Incoming;
use snodo::types::{CallToolResult, Message};
use tokio::sync::mpsc;

/// A message, and where to put what is said because of it.
pub(crate) type Letter = (String, mpsc::Sender<String>);

/// Starts it; it ends with the last sender.
pub(crate) fn start() -> mpsc::Sender<Letter> {
    let (queue, letters) = mpsc::channel(8);
    tokio::spawn(serve(letters));
    queue
}

async fn serve(mut letters: mpsc::Receiver<Letter>) {
    let server = Server::new("orders", "1.0.0").tool("count", json!({}), |_: Value, _| async {
        Ok(CallToolResult::from_text("2 pending"))
    });
    let context = Context::new();
    while let Some((text, say)) = letters.recv().await {
        let Ok(message) = Message::parse(text) else { continue };
        let mut exchange = server.dispatch(message, context.clone());
        while let Some(Ok(Incoming::Message(said))) = exchange.next().await {
            if say.send(said.text().to_owned()).await.is_err() {
                break; // Nobody waits any more.
            }
        }
    }
}
