//! The tools of a server on a pipe.

use std::error::Error;

use rmcp::ServiceExt as _;
use rmcp::transport::TokioChildProcess;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let program = std::env::args().nth(1).ok_or("which program?")?;
    let client = ().serve(TokioChildProcess::new(tokio::process::Command::new(program))?).await?;
    println!("{} tools", client.list_all_tools().await?.len());
    client.cancel().await?;
    Ok(())
}
