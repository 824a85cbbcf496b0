//! A policy as a layer: a tool runs if the server says that it only reads, or if a person agrees.
//! No call gets past it, whoever makes it.
//!
//! ```text
//! look: done
//! asked about erase: yes
//! erase: done
//! asked about erase: no
//! erase: not approved: erase
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what it got")]

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};
use snodo::direct::Server;
use snodo::types::{CallToolResult, Kind, Tool};
use snodo::{Call, Calls, Client, Error};
use tower::layer::layer_fn;
use tower::{Service, ServiceExt, service_fn};

/// Whom the policy asks. A program would show a dialog, and wait.
trait Person: Send + Sync + 'static {
    fn agrees(&self, tool: &str) -> bool;
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    // Annotations are a server's word: trust them where you trust the server.
    let trusted = Client::direct(server()).await?;
    let reads = |tool: &Tool| tool.annotations().is_read_only();
    let tools = trusted.list_tools().await?;
    let harmless = tools.into_iter().filter(reads).map(|tool| tool.name).collect();

    let client = policed(harmless, Arc::new(Once::default())).await?;
    for tool in ["look", "erase", "erase"] {
        match client.call_tool(tool, ()).await {
            Ok(reply) => println!("{tool}: {}", reply.text()),
            Err(error) => println!("{tool}: {}", error.message()),
        }
    }
    Ok(())
}

async fn policed(harmless: BTreeSet<String>, person: Arc<dyn Person>) -> Result<Client, Error> {
    let harmless = Arc::new(harmless);
    let approvals = layer_fn(move |calls: Calls| {
        let (harmless, person) = (Arc::clone(&harmless), Arc::clone(&person));
        service_fn(move |call: Call| {
            let (harmless, person) = (Arc::clone(&harmless), Arc::clone(&person));
            let mut calls = calls.clone();
            async move {
                if let Some(tool) = tool(&call)
                    && !harmless.contains(&tool)
                    && !person.agrees(&tool)
                {
                    let why = format!("not approved: {tool}");
                    return Err(Error::new(Kind::Execution, -32603, why));
                }
                calls.ready().await?.call(call).await
            }
        })
    });
    Client::builder().layer(approvals).direct(server()).await
}

/// The tool that is called, if it is a tool that is called. What cannot be read is refused by the name
/// it does not have.
fn tool(call: &Call) -> Option<String> {
    let named = call.param("name").and_then(|name| serde_json::from_str(&name).ok());
    (call.method() == "tools/call").then(|| named.unwrap_or_default())
}

/// A person who agrees once.
#[derive(Default)]
struct Once(std::sync::atomic::AtomicBool);

impl Person for Once {
    fn agrees(&self, tool: &str) -> bool {
        let agrees = !self.0.swap(true, std::sync::atomic::Ordering::Relaxed);
        println!("asked about {tool}: {}", if agrees { "yes" } else { "no" });
        agrees
    }
}

fn server() -> Server {
    let done = |_: Value, _| async { Ok(CallToolResult::from_text("done")) };
    let look = Tool::new("look", json!({})).with_annotations(json!({ "readOnlyHint": true }));
    Server::new("files", "1.0.0").tool_with(look, done).tool("erase", json!({}), done)
}
