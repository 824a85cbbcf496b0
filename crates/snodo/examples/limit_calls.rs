//! A layer of tower around every call: never more than two at once, whoever makes them.
//!
//! ```text
//! 6 answers, at most 2 calls at once
//! a third call waits for its turn within its own time: no answer within 1s, after 1s
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what it got")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use snodo::transport::from_fn;
use snodo::types::Message;
use snodo::{Client, Error, ProtocolVersion};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};
use tower::limit::ConcurrencyLimitLayer;

// The clock is tokio's; paused, it jumps to whatever is waited for next.
#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() -> Result<(), Error> {
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (counted, peak) = (Arc::clone(&now), Arc::clone(&most));
    let server = from_fn(move |envelope| {
        let (now, most) = (Arc::clone(&counted), Arc::clone(&peak));
        async move {
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            sleep(Duration::from_secs(5)).await;
            now.fetch_sub(1, Ordering::SeqCst);
            Ok(envelope.id.map(|id| Message::result(&id.into(), r#"{"content":[]}"#)))
        }
    });
    let client = Client::builder()
        .protocol([ProtocolVersion::V2026_07_28])
        .layer(ConcurrencyLimitLayer::new(2))
        .connect(server)
        .await?;

    let mut calls = JoinSet::new();
    for _ in 0..6 {
        calls.spawn(client.call_tool("work", ()).into_future());
    }
    let answers = calls.join_all().await;
    let answered = answers.iter().filter(|answer| answer.is_ok()).count();
    println!("{answered} answers, at most {} calls at once", most.load(Ordering::SeqCst));

    let (first, second) = (client.call_tool("work", ()), client.call_tool("work", ()));
    let third = async {
        let began = Instant::now();
        let late = client.call_tool("work", ()).deadline(Duration::from_secs(1)).await;
        (late.expect_err("there is no room for a third"), began.elapsed())
    };
    let (_, _, (late, waited)) = tokio::join!(first.into_future(), second.into_future(), third);
    let why = late.message();
    println!("a third call waits for its turn within its own time: {why}, after {waited:?}");
    Ok(())
}
