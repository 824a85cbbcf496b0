//! The tools of a server on a pipe.

use std::error::Error;

use snodo::Client;
use snodo::stdio::Stdio;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let program = std::env::args().nth(1).ok_or("which program?")?;
    let client = Client::connect(Stdio::new(program)).await?;
    println!("{} tools", client.list_tools().await?.len());
    client.close().await;
    Ok(())
}
