//! Roots: where a server may work, and telling it that this has changed.
//!
//! ```text
//! 2026-07-28: the server hears []
//! 2025-11-25: the server hears [notifications/initialized, notifications/roots/list_changed]
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what it got")]

use std::sync::{Arc, Mutex};

use serde_json::json;
use snodo::direct::{Context, Runtime, Server};
use snodo::transport::Exchange;
use snodo::types::{Body, Message, Roots};
use snodo::{Client, Error, ProtocolVersion};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let folders = Arc::new(Mutex::new(vec!["file:///srv/one"]));
    for version in [ProtocolVersion::V2026_07_28, ProtocolVersion::V2025_11_25] {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let answering = Arc::clone(&folders);
        let client = Client::builder()
            .protocol([version])
            // Asked whenever the server wants to know, so that the answer is never stale.
            .on_roots(move |_| {
                let folders = answering.lock().expect("nobody panicked with it").clone();
                let roots =
                    folders.iter().fold(Roots::new(), |roots, uri| roots.with(*uri, "work"));
                async { Ok(roots) }
            })
            // The promise to tell of changes is the program's to make.
            .capabilities(json!({ "roots": { "listChanged": true } }))
            .direct(Listening(Arc::clone(&heard), Server::new("editor", "1.0.0")))
            .await?;

        folders.lock().expect("nobody panicked with it").push("file:///srv/two");
        // A server of 2026-07-28 asks anew each time: there is nothing to tell.
        client.roots_changed().await?;
        let heard = heard.lock().expect("nobody panicked with it").join(", ");
        println!("{version}: the server hears [{heard}]");
    }
    Ok(())
}

/// Keeps the notifications that it hears.
struct Listening(Arc<Mutex<Vec<String>>>, Server);

impl Runtime for Listening {
    fn versions(&self) -> Vec<ProtocolVersion> {
        Runtime::versions(&self.1)
    }

    fn dispatch(&self, message: Message, context: Context) -> Exchange {
        if let Body::Notification { method, .. } = message.body() {
            self.0.lock().expect("nobody panicked with it").push(method.to_owned());
        }
        self.1.dispatch(message, context)
    }
}
