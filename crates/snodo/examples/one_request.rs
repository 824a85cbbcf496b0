//! One request with all that it can carry.
//!
//! ```text
//! 50 %
//! 100 %
//! grey, 12 degrees, for acme
//! the header went along: r-17
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what it got")]

#[path = "servers/http.rs"]
mod http;

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use snodo::Client;
use snodo::direct::{Call, Server};
use snodo::types::{CallToolResult, ErrorObject};

#[derive(Deserialize)]
struct Weather {
    sky: String,
    degrees: f64,
    tenant: String,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = http::serve(Server::new("weather", "1.0.0").tool("look", json!({}), look)).await?;
    let client = Client::connect(snodo::http::Http::new(server.url())?).await?;

    let report = client
        .call_tool("look", ())
        .timeout(Duration::from_secs(60)) // for each answer,
        .reset_timeout_on_progress() // as long as the server shows that it lives,
        .max_total_timeout(Duration::from_secs(600)) // but no longer than this.
        .progress(|told| println!("{:.0} %", told.fraction().unwrap_or_default() * 100.0))
        .meta("com.example/tenant", "acme")
        .header("x-request-id", "r-17")
        .await?;

    // Typed; `report.raw()` is the text as it was sent, with what this library does not know.
    let weather: Weather = report.structured()?;
    println!("{}, {} degrees, for {}", weather.sky, weather.degrees, weather.tenant);
    let sent = server.requests().pop().expect("the call came last");
    println!("the header went along: {}", sent.header("x-request-id").unwrap_or("no"));
    Ok(())
}

async fn look(_: Value, call: Call) -> Result<CallToolResult, ErrorObject> {
    call.progress(1.0, Some(2.0), Some("looking out of the window")).await;
    call.progress(2.0, Some(2.0), Some("reading the thermometer")).await;
    let tenant: Option<String> = call.meta().read("com.example/tenant");
    let weather = json!({ "sky": "grey", "degrees": 12, "tenant": tenant });
    Ok(CallToolResult::default().with_structured(weather))
}
