//! The tools of a server at a URL.

use std::error::Error;

use rmcp::ServiceExt as _;
use rmcp::transport::StreamableHttpClientTransport;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::args().nth(1).ok_or("which URL?")?;
    let client = ().serve(StreamableHttpClientTransport::from_uri(url)).await?;
    println!("{} tools", client.list_all_tools().await?.len());
    client.cancel().await?;
    Ok(())
}
