//! A client and a server on rmcp in one process: no child, no socket, nothing to install.
//!
//! ```text
//! calculator speaks 2026-07-28
//! 2 + 3 = 5
//! ```

use rmcp_in_process::{Calculator, in_process};
use serde_json::json;
use snodo::{Client, Error};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let client = Client::connect(in_process(Calculator)).await?;
    let server = client.server();
    let name = server.info().map_or("it", |info| &info.name);
    println!("{name} speaks {}", client.protocol());
    let sum = client.call_tool("add", json!({ "a": 2, "b": 3 })).await?;
    println!("2 + 3 = {}", sum.text());
    client.close().await;
    Ok(())
}
