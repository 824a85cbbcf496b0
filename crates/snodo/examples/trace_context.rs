//! Traces: requests carry the W3C trace context of the span they belong to.
//!
//! ```text
//! from the hook: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01
//! of its own: 00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01
//! refused at once: the traceparent is not one of W3C Trace Context
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what it got")]

use serde_json::{Value, json};
use snodo::Client;
use snodo::direct::{Call, Server};
use snodo::types::{CallToolResult, TraceContext};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = Server::new("traced", "1.0.0").tool("where", json!({}), |_: Value, call: Call| {
        let parent: Option<String> = call.meta().read(TraceContext::PARENT);
        async move { Ok(CallToolResult::from_text(parent.unwrap_or_default())) }
    });

    // A tracing layer installs itself as a hook, which is asked whenever a request is sent.
    let span = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let client = Client::builder()
        .trace_context(move || TraceContext::new(span).ok())
        .direct(server)
        .await?;
    println!("from the hook: {}", client.call_tool("where", ()).await?.text());

    // What a request is given itself wins.
    let own = TraceContext::new("00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01")?;
    let call = client.call_tool("where", ()).trace_context(own.with_state("vendor=t61rcWkgMzE")?);
    println!("of its own: {}", call.await?.text());

    if let Err(invalid) = TraceContext::new("0af7651916cd43dd8448eb211c80319c") {
        println!("refused at once: {invalid}");
    }
    Ok(())
}
