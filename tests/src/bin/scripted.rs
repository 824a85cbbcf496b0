//! A server process that says what a transcript says: `scripted FILE`.

use std::error::Error;

use snodo_testkit::Server;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::args().nth(1).ok_or("usage: scripted FILE")?;
    Server::load(file)?.stdio().await;
    // A read of standard input may block its thread for ever, and the runtime would wait for it.
    std::process::exit(0)
}
