//! A server process that is only a pipe to a server elsewhere: `relay PORT`.
//!
//! What it reads goes to a loopback port, and what comes from there it writes, until either side ends.

use std::io;
use std::net::Ipv4Addr;

use tokio::io::copy;
use tokio::net::TcpStream;

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let port = std::env::args().nth(1).and_then(|port| port.parse::<u16>().ok());
    let port = port.ok_or_else(|| io::Error::other("usage: relay PORT"))?;
    let mut socket = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await?;
    let (mut read, mut write) = socket.split();
    let (mut input, mut output) = (tokio::io::stdin(), tokio::io::stdout());
    tokio::select! {
        sent = copy(&mut input, &mut write) => sent?,
        came = copy(&mut read, &mut output) => came?,
    };
    // A read of standard input may block its thread for ever, and the runtime would wait for it.
    std::process::exit(0)
}
