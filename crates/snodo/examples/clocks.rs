//! The clocks of a request: `timeout` is for each answer of the server, `deadline` for the whole.
//!
//! ```text
//! a slow answer: no answer within 30s, after 30s
//! a slow person: ok, after 100s
//! a slow person, but a deadline: no answer within 90s, after 90s
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what it got")]

use std::time::Duration;

use serde_json::json;
use snodo::transport::from_fn;
use snodo::types::Message;
use snodo::{Client, Error, ProtocolVersion, Request};
use tokio::time::{Instant, sleep};

const ASKS: &str = r#"{"resultType":"input_required","inputRequests":{"ok":{"method":
    "elicitation/create","params":{"message":"Sure?","requestedSchema":{"type":"object","properties":{}}}}}}"#;

// The clock is tokio's; paused, it jumps to whatever is waited for next.
#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() -> Result<(), Error> {
    // Every answer takes 20 s; the first one to `ask` is a question.
    let server = from_fn(|envelope| async move {
        let text = envelope.message;
        let asks = text.contains(r#""ask""#) && !text.contains("inputResponses");
        sleep(Duration::from_secs(if text.contains(r#""slow""#) { 40 } else { 20 })).await;
        let result = if asks { ASKS } else { r#"{"content":[]}"# };
        Ok(envelope.id.map(|id| Message::result(&id.into(), result)))
    });
    let client = Client::builder()
        .protocol([ProtocolVersion::V2026_07_28])
        .timeout(Duration::from_secs(30))
        .on_form(|form| async move {
            sleep(Duration::from_secs(60)).await; // A person thinks.
            form.accept(json!({}))
        })
        .connect(server)
        .await?;

    show("a slow answer", client.call_tool("slow", ())).await;
    // 20 s and 20 s for the server, which are each below 30 s; the person is not on that clock.
    show("a slow person", client.call_tool("ask", ())).await;
    let bounded = client.call_tool("ask", ()).deadline(Duration::from_secs(90));
    show("a slow person, but a deadline", bounded).await;
    Ok(())
}

async fn show(what: &str, call: Request<snodo::types::CallToolResult>) {
    let began = Instant::now();
    let outcome = call.await;
    let outcome = outcome.as_ref().map_or_else(Error::message, |_| "ok");
    println!("{what}: {outcome}, after {:?}", began.elapsed());
}
