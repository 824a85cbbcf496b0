//! The tools of a server at a URL.

use std::error::Error;

use snodo::Client;
use snodo::http::Http;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::args().nth(1).ok_or("which URL?")?;
    let client = Client::connect(Http::new(&url)?).await?;
    println!("{} tools", client.list_tools().await?.len());
    client.close().await;
    Ok(())
}
