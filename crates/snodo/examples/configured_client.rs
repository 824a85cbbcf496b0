//! A configured client: its handlers answer what servers ask, the same in every version.
//!
//! ```text
//! 2026-07-28: booked with
//!   form: {"action":"accept","content":{"name":"Ada","seats":1}}
//!   model: {"content":{"text":"by the window","type":"text"},"model":"parrot","role":"assistant"}
//!   page: {"action":"accept"}
//!   roots: {"roots":[{"name":"trips","uri":"file:///srv/trips"}]}
//! 2025-11-25: booked with
//!   form: {"action":"accept","content":{"name":"Ada","seats":1}}
//!   model: {"content":{"text":"by the window","type":"text"},"model":"parrot","role":"assistant"}
//!   page: {"action":"accept"}
//!   roots: {"roots":[{"name":"trips","uri":"file:///srv/trips"}]}
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what it got")]

#[path = "servers/asking.rs"]
mod asking;

use std::time::Duration;

use serde_json::json;
use snodo::types::{Content, CreateMessageResult, ElicitResult, Implementation, Roots};
use snodo::{Client, Error, ProtocolVersion};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let configured = Client::builder()
        .client_info(Implementation::new("agent", "1.4.0"))
        .timeout(Duration::from_secs(20))
        // Show the form and let the user decide; what is left out is filled with its defaults.
        .on_form(|form| async move { form.accept(json!({ "name": "Ada" })) })
        // The host is what the user has to see before anything opens.
        .on_url(|page| async move {
            let trusted = page.host() == "pay.example";
            Ok(if trusted { ElicitResult::consent() } else { ElicitResult::decline() })
        })
        .on_sampling(|_| async {
            Ok(CreateMessageResult::new("parrot", Content::text("by the window")))
        })
        .on_roots(|_| async { Ok(Roots::new().with("file:///srv/trips", "trips")) });

    for version in [ProtocolVersion::V2026_07_28, ProtocolVersion::V2025_11_25] {
        let server = asking::Asking::new(&["form", "model", "page", "roots"]);
        let client = configured.clone().protocol([version]).direct(server).await?;
        println!("{}: {}", client.protocol(), client.call_tool("book", ()).await?.text());
    }
    Ok(())
}
