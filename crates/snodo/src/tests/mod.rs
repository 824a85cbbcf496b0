//! The client against peers that misbehave: drops, clocks, rounds, questions, lists, errors.
//!
//! Most peers here are a [`Peer`]: a transport in memory whose every answer a test decides, which
//! keeps what was sent, what was given up, and what is still alive. Byte pipes are a [`Far`] end.

mod agreed;
mod caching;
mod cancel;
mod closing;
mod errors;
mod far;
mod floods;
mod ids;
mod layered;
mod listening;
mod lists;
mod opening;
mod pauses;
mod peer;
mod recovery;
mod rounds;
mod runtimes;
mod secrets;
mod serving;
mod spans;
mod time;

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

pub(crate) use far::Far;
pub(crate) use peer::{Call, Peer};
pub(crate) use secrets::Log;

use crate::{Builder, Client, ProtocolVersion};

pub(crate) const SECOND: Duration = Duration::from_secs(1);

pub(crate) const STATELESS: ProtocolVersion = ProtocolVersion::V2026_07_28;
pub(crate) const SESSION: ProtocolVersion = ProtocolVersion::V2025_11_25;

/// A client of one stateless version: nothing is sent when it connects.
pub(crate) fn stateless() -> Builder {
    Client::builder().protocol([STATELESS])
}

/// A client of one version that begins with `initialize`.
pub(crate) fn session() -> Builder {
    Client::builder().protocol([SESSION])
}

/// How long something took by tokio's clock, and what came of it.
pub(crate) async fn timed<T>(future: impl Future<Output = T>) -> (Duration, T) {
    let start = Instant::now();
    let output = future.await;
    (start.elapsed(), output)
}

/// Polls once.
pub(crate) async fn once<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    std::future::poll_fn(|cx| Poll::Ready(std::pin::Pin::new(&mut *future).poll(cx))).await
}

/// Lets every other task run until none of them has anything to do.
pub(crate) async fn settle() {
    for _ in 0..200 {
        tokio::task::yield_now().await;
    }
}

/// How many tasks this test's runtime has.
pub(crate) fn tasks() -> usize {
    tokio::runtime::Handle::current().metrics().num_alive_tasks()
}

/// Runs a future on this thread, with no runtime in reach.
pub(crate) fn run_without_a_runtime<T>(future: impl Future<Output = T>) -> T {
    struct Unpark(Thread);

    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut cx = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut cx) {
            Poll::Ready(output) => return output,
            Poll::Pending => std::thread::park_timeout(Duration::from_millis(50)),
        }
    }
}

/// The members of a tool's answer.
pub(crate) fn text(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

/// A result that asks for input.
pub(crate) fn asks(requests: Value, state: Option<&str>) -> Value {
    let mut result = json!({ "resultType": "input_required", "inputRequests": requests });
    if let Some(state) = state {
        result["requestState"] = state.into();
    }
    result
}

/// A form that asks for one name.
pub(crate) fn form() -> Value {
    json!({
        "method": "elicitation/create",
        "params": {
            "message": "Your name?",
            "requestedSchema": {
                "type": "object",
                "properties": { "name": { "type": "string" } },
                "required": ["name"]
            }
        }
    })
}
