//! Without async: each verb waits for its answer, and events are a loop.
//!
//! ```text
//! tools: greet
//! Hello, Ada!
//! it took too long: true
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what it got")]

use std::time::Duration;

use serde_json::{Value, json};
use snodo::blocking::Client;
use snodo::direct::Server;
use snodo::transport::from_fn;
use snodo::types::CallToolResult;
use snodo::{Error, ProtocolVersion};

fn main() -> Result<(), Error> {
    let server =
        Server::new("demo", "1.0.0").tool("greet", json!({}), |args: Value, _| async move {
            let name = args["name"].as_str().unwrap_or("stranger");
            Ok(CallToolResult::from_text(format!("Hello, {name}!")))
        });
    // With a server of yours: `Client::connect(Stdio::new("npx").args(["-y", "some-server"]))`.
    let client = Client::open(snodo::Client::direct(server))?;
    for tool in client.list_tools().wait()? {
        println!("tools: {}", tool.name);
    }
    println!("{}", client.call_tool("greet", json!({ "name": "Ada" })).wait()?.text());

    // What is built in any other way is waited for, and options are those of the request.
    let silence = from_fn(|_| std::future::pending());
    let builder = snodo::Client::builder().protocol([ProtocolVersion::V2026_07_28]);
    let client = Client::open(builder.connect(silence))?;
    let call = client.call_tool("think", ()).with(|call| call.timeout(Duration::from_millis(50)));
    println!("it took too long: {}", call.wait().is_err_and(|error| error.is_timeout()));
    Ok(())
}
