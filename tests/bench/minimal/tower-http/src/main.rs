//! The tools of a server at a URL.

use std::error::Error;

use tower_mcp::client::{HttpClientTransport, McpClient};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::args().nth(1).ok_or("which URL?")?;
    let client = McpClient::connect(HttpClientTransport::new(url)).await?;
    client.discover("minimal", "0.1.0").await?;
    println!("{} tools", client.list_all_tools().await?.len());
    client.shutdown().await?;
    Ok(())
}
