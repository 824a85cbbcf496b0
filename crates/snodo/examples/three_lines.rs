//! Three lines: connect, call, print. The server is a child process, here this very program,
//! started once more.
//!
//! ```text
//! hi
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what it got")]

use std::error::Error;

use serde_json::{Value, json};
use snodo::Client;
use snodo::direct::{Context, Runtime, Server};
use snodo::stdio::Stdio;
use snodo::transport::Incoming;
use snodo::types::{CallToolResult, Message};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    if std::env::args().nth(1).as_deref() == Some("serve") {
        return serve().await;
    }
    // With a server of yours: `Stdio::new("npx").args(["-y", "some-server"])`.
    let target = Stdio::new(std::env::current_exe()?).arg("serve");

    let client = Client::connect(target).await?;
    let result = client.call_tool("echo", json!({ "message": "hi" })).await?;
    println!("{}", result.text());
    Ok(())
}

/// The server: a line in, the lines that it causes out.
async fn serve() -> Result<(), Box<dyn Error>> {
    let schema = json!({ "type": "object", "properties": { "message": { "type": "string" } } });
    let server = Server::new("echo", "1.0.0").tool("echo", schema, |args: Value, _| async move {
        Ok(CallToolResult::from_text(args["message"].as_str().unwrap_or_default()))
    });
    let context = Context::new();
    for line in std::io::stdin().lines() {
        let mut exchange = server.dispatch(Message::parse(line?)?, context.clone());
        while let Some(said) = exchange.next().await {
            if let Incoming::Message(message) = said? {
                println!("{}", message.text());
            }
        }
    }
    Ok(())
}
