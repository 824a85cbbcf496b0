//! A layer of one's own: how long whole calls take, their rounds and retries included.
//!
//! ```text
//! tools/call "quick": 1s, ok
//! tools/call "slow": 30s, no answer within 30s
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what it got")]

use std::time::Duration;

use snodo::transport::from_fn;
use snodo::types::Message;
use snodo::{Call, Calls, Client, Error, ProtocolVersion};
use tokio::time::{Instant, sleep};
use tower::layer::layer_fn;
use tower::{Service, ServiceExt, service_fn};

// The clock is tokio's; paused, it jumps to whatever is waited for next.
#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() -> Result<(), Error> {
    let timings = layer_fn(|calls: Calls| {
        service_fn(move |call: Call| {
            let mut calls = calls.clone();
            async move {
                let what = format!("{} {}", call.method(), call.param("name").unwrap_or_default());
                let began = Instant::now();
                let answer = calls.ready().await?.call(call).await;
                let outcome = answer.as_ref().map_or_else(Error::message, |_| "ok");
                println!("{what}: {:?}, {outcome}", began.elapsed());
                answer
            }
        })
    });

    let server = from_fn(|envelope| async move {
        let wait = if envelope.message.contains("quick") { 1 } else { 3600 };
        sleep(Duration::from_secs(wait)).await;
        Ok(envelope.id.map(|id| Message::result(&id.into(), r#"{"content":[]}"#)))
    });
    let client = Client::builder()
        .protocol([ProtocolVersion::V2026_07_28])
        .layer(timings)
        .connect(server)
        .await?;
    client.call_tool("quick", ()).await?;
    client.call_tool("slow", ()).await.expect_err("it takes an hour");
    Ok(())
}
