//! Log messages of a server: from which level on, as each version asks for them.
//!
//! ```text
//! 2026-07-28: warning "the disk is nearly full"
//! 2026-07-28: debug "reading block 7", warning "the disk is nearly full"
//! 2025-11-25: warning "the disk is nearly full"
//! 2025-11-25: warning "the disk is nearly full"
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what it got")]

use std::sync::mpsc::{Receiver, channel};

use serde_json::{Value, json};
use snodo::direct::{Call, Server};
use snodo::types::{CallToolResult, ErrorObject, LogMessage, LoggingLevel};
use snodo::{Client, Error, Notification, ProtocolVersion};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    for version in [ProtocolVersion::V2026_07_28, ProtocolVersion::V2025_11_25] {
        let (tell, told) = channel();
        let client = Client::builder()
            .protocol([version])
            // What comes between the answers comes here; the function should not wait.
            .on_notification(move |notification| drop(tell.send(notification)))
            .direct(Server::new("store", "1.0.0").tool("read", json!({}), read))
            .await?;

        // A request at once where the session keeps the level; else every request says it.
        client.set_log_level(LoggingLevel::Warning).await?;
        client.call_tool("read", ()).await?;
        println!("{version}: {}", logged(&told));

        // One request may ask for more, where each asks for itself. Elsewhere this has no effect.
        client.call_tool("read", ()).log_level(LoggingLevel::Debug).await?;
        println!("{version}: {}", logged(&told));
    }
    Ok(())
}

fn logged(told: &Receiver<Notification>) -> String {
    let messages = told.try_iter().filter(|told| told.method() == "notifications/message");
    let shown = messages.filter_map(|told| {
        let log: LogMessage = told.params().ok()?;
        Some(format!("{} {}", log.level, log.data()))
    });
    shown.collect::<Vec<_>>().join(", ")
}

async fn read(_: Value, call: Call) -> Result<CallToolResult, ErrorObject> {
    call.log(LoggingLevel::Debug, json!("reading block 7")).await;
    call.log(LoggingLevel::Warning, json!("the disk is nearly full")).await;
    Ok(CallToolResult::from_text("…"))
}
