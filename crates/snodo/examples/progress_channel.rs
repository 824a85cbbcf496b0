//! Progress to a channel: another task shows it, while this one waits for the answer.
//!
//! ```text
//! [##........] read
//! [#####.....] sorted
//! [##########] written
//! done: 3 steps
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what it got")]

use serde_json::{Value, json};
use snodo::direct::{Call, Server};
use snodo::types::{CallToolResult, ErrorObject, Progress};
use snodo::{Client, Error};
use tokio::sync::mpsc;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let client =
        Client::direct(Server::new("sorter", "1.0.0").tool("sort", json!({}), sort)).await?;

    // The function must not wait, so the channel is bounded and a full one loses a step: the next
    // says more anyway.
    let (tell, told) = mpsc::channel(16);
    let bar = tokio::spawn(draw(told));
    let result = client
        .call_tool("sort", ())
        .progress(move |progress| drop(tell.try_send(progress)))
        .await?;
    // The function went with the call, and with it the channel's last sender.
    bar.await.expect("the bar draws to its end");
    println!("done: {}", result.text());
    Ok(())
}

async fn draw(mut told: mpsc::Receiver<Progress>) {
    while let Some(progress) = told.recv().await {
        let filled = (progress.fraction().unwrap_or_default() * 10.0) as usize;
        let doing = progress.message.as_deref().unwrap_or_default();
        println!("[{}{}] {doing}", "#".repeat(filled), ".".repeat(10 - filled));
    }
}

async fn sort(_: Value, call: Call) -> Result<CallToolResult, ErrorObject> {
    for (done, doing) in [(2.0, "read"), (5.0, "sorted"), (10.0, "written")] {
        call.progress(done, Some(10.0), Some(doing)).await;
    }
    Ok(CallToolResult::from_text("3 steps"))
}
