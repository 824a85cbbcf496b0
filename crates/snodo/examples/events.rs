//! Events of a server: one subscription, the same on every version of the protocol.
//!
//! ```text
//! 2026-07-28 agrees to tell of the tools: true, of ["note://1"]
//!   list the tools again
//!   read note://1 again
//! 2025-11-25 agrees to tell of the tools: true, of ["note://1"]
//!   list the tools again
//!   read note://1 again
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what it got")]

#[path = "servers/pipe.rs"]
mod pipe;
#[path = "servers/telling.rs"]
mod telling;

use serde_json::Value;
use snodo::types::SubscriptionFilter;
use snodo::{Client, Event, ProtocolVersion};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    for version in [ProtocolVersion::V2026_07_28, ProtocolVersion::V2025_11_25] {
        let target = pipe::Pipes::new(telling::Telling);
        let client = Client::builder().protocol([version]).connect(target).await?;

        let filter = SubscriptionFilter::new().tools_list_changed().resource("note://1");
        let mut events = client.listen(filter).max_buffer(64).await?;
        // A server may agree to less than was asked for.
        let agreed = events.accepted();
        let (tools, notes) =
            (agreed.tools_list_changed.unwrap_or(false), &agreed.resource_subscriptions);
        println!(
            "{version} agrees to tell of the tools: {tools}, of {:?}",
            notes.as_deref().unwrap_or_default()
        );

        for _ in 0..2 {
            match events.next().await {
                Some(Event::Notification(told))
                    if told.method().starts_with("notifications/resources") =>
                {
                    println!(
                        "  read {} again",
                        told.params::<Value>()?["uri"].as_str().unwrap_or("?")
                    );
                }
                Some(Event::Notification(_)) => println!("  list the tools again"),
                // What was missed is not known: look at everything again.
                Some(Event::Dropped(_) | Event::Resumed { .. }) => println!("  start over"),
                Some(Event::Closed(reason)) => println!("  over: {reason}"),
                Some(_) | None => break,
            }
        }
        // Dropping the subscription ends it at the server.
    }
    Ok(())
}
