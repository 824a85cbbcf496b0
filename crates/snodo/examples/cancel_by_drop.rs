//! Cancelling: drop the future of a call, and the server hears of it as its version and the
//! transport want it.
//!
//! ```text
//! 2026-07-28 over a pipe: told to stop 1; the work is dropped
//! 2025-11-25 over a pipe: told to stop 2; the work is dropped
//! 2026-07-28 over HTTP: the work is dropped
//! 2026-07-28 in process: the work is dropped
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what it got")]

#[path = "servers/http.rs"]
mod http;
#[path = "servers/pipe.rs"]
mod pipe;
#[path = "servers/thinker.rs"]
mod thinker;

use snodo::http::Http;
use snodo::{Client, ProtocolVersion};
use tokio::sync::mpsc::UnboundedReceiver;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Over a pipe that many calls share, a notification names the request.
    for version in [ProtocolVersion::V2026_07_28, ProtocolVersion::V2025_11_25] {
        let (server, heard) = thinker::new();
        let builder = Client::builder().protocol([version]);
        give_up(builder.connect(pipe::Pipes::new(server)).await?, heard, "over a pipe").await;
    }
    // Over HTTP each call has a stream of its own, and closing it says all; versions that begin
    // with `initialize` want the notification too.
    let (server, heard) = thinker::new();
    let server = http::serve(server).await?;
    give_up(Client::connect(Http::new(server.url())?).await?, heard, "over HTTP").await;
    // In process the work is a part of the call, and is dropped with it.
    let (server, heard) = thinker::new();
    give_up(Client::direct(server).await?, heard, "in process").await;
    Ok(())
}

/// Calls, and drops the call once the server has begun: here by `select!`, elsewhere by a
/// `timeout`, by the end of a task, or with the struct that holds it.
async fn give_up(client: Client, mut heard: UnboundedReceiver<String>, wire: &str) {
    tokio::select! {
        answer = client.call_tool("think", ()).into_future() => println!("too late: {answer:?}"),
        begun = heard.recv() => assert_eq!(begun.as_deref(), Some("begun")),
    }
    let mut story = Vec::new();
    while story.last().is_none_or(|last| last != "the work is dropped") {
        story.push(heard.recv().await.expect("the server tells on"));
    }
    println!("{} {wire}: {}", client.protocol(), story.join("; "));
}
