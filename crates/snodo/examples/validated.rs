//! Arguments and results that do not fit a tool's schemas are told with their place.
//!
//! ```text
//! 22°
//! the arguments of `weather` do not fit its schema: at /city: expected string
//! the result of `weather` does not fit its schema: at /temperature: expected number
//! the tool itself said: {"temperature":"warm"}
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what it got")]

use serde::Deserialize;
use serde_json::{Value, json};
use snodo::direct::Server;
use snodo::types::{CallToolResult, Cause, Tool};
use snodo::{Client, Validate};

#[derive(Deserialize)]
struct Weather {
    temperature: f64,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let city = json!({ "type": "object", "properties": { "city": { "type": "string" } } });
    let number = json!({ "type": "object", "properties": { "temperature": { "type": "number" } } });
    let tool = Tool::new("weather", city).with_output_schema(number);
    let server = Server::new("demo", "1.0.0").tool_with(tool, |args: Value, _| async move {
        let known = args["city"] == "Ulm";
        let temperature = if known { json!(22) } else { json!("warm") };
        Ok(CallToolResult::from_structured(json!({ "temperature": temperature })))
    });
    let client = Client::builder().validate(Validate::both()).direct(server).await?;

    let reply = client.call_tool("weather", json!({ "city": "Ulm" })).await?;
    println!("{}°", reply.structured::<Weather>()?.temperature);

    if let Err(error) = client.call_tool("weather", json!({ "city": 7 })).await {
        println!("{}", error.message());
    }
    if let Err(error) = client.call_tool("weather", json!({ "city": "Atlantis" })).await {
        println!("{}", error.message());
        if let Some(Cause::Schema(fault)) = error.cause()
            && let Some(result) = fault.result()
        {
            println!("the tool itself said: {}", result.decode::<CallToolResult>()?.text());
        }
    }
    Ok(())
}
