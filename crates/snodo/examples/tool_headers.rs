//! Arguments that travel as headers: a tool's schema marks them, and gateways route by them.
//!
//! ```text
//! by name: none
//! with the definition: eu-west, =?base64?WsO8cmljaA==?=
//! by name, once listed: eu-west, =?base64?WsO8cmljaA==?=
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what it got")]

#[path = "servers/http.rs"]
mod http;

use serde_json::{Value, json};
use snodo::Client;
use snodo::direct::Server;
use snodo::http::Http;
use snodo::types::CallToolResult;
use snodo_testkit::Loopback;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let region = json!({ "type": "string", "x-mcp-header": "Region" });
    let city = json!({ "type": "string", "x-mcp-header": "City" });
    let schema = json!({ "type": "object", "properties": { "region": region, "city": city } });
    let store = Server::new("store", "1.0.0")
        .tool("ship", schema, |_: Value, _| async { Ok(CallToolResult::from_text("shipped")) });
    let server = http::serve(store).await?;
    let arguments = json!({ "region": "eu-west", "city": "Zürich" });

    let client = Client::connect(Http::new(server.url())?).await?;

    // Nothing is known of the tool yet. A server that insists answers -32020; then the client looks
    // up the definition and sends the call once more.
    client.call_tool("ship", &arguments).await?;
    println!("by name: {}", headers(&server));

    // A tool from a list brings its definition along.
    let ship = client.list_tools().await?.remove(0);
    client.call_tool(&ship, &arguments).await?;
    println!("with the definition: {}", headers(&server));

    // The client remembers what it listed. What a header cannot carry is encoded.
    client.call_tool("ship", &arguments).await?;
    println!("by name, once listed: {}", headers(&server));
    Ok(())
}

fn headers(server: &Loopback) -> String {
    let sent = server.requests().pop().expect("the call came last");
    let (region, city) = (sent.header("Mcp-Param-Region"), sent.header("Mcp-Param-City"));
    match region.zip(city) {
        Some((region, city)) => format!("{region}, {city}"),
        None => "none".to_owned(),
    }
}
