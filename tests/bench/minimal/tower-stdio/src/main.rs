//! The tools of a server on a pipe.

use std::error::Error;

use tower_mcp::client::{McpClient, StdioClientTransport};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let program = std::env::args().nth(1).ok_or("which program?")?;
    let client = McpClient::connect(StdioClientTransport::spawn(&program, &[]).await?).await?;
    client.discover("minimal", "0.1.0").await?;
    println!("{} tools", client.list_all_tools().await?.len());
    client.shutdown().await?;
    Ok(())
}
