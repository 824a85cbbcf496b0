//! Connections that end in every way they can, and how a client comes back.
//!
//! The servers here are really killed, started again, made to forget, and cut off in the middle of
//! a word; each writes down what it did where its end does not reach.

mod ledger;
mod options;
mod processes;
mod server;
mod sessions;
mod storms;
mod streams;

use std::future::Future;
use std::time::Duration;

use snodo::{Event, ProtocolVersion, Subscription};
use tokio::runtime::{Builder, Handle};

use ledger::{PATIENCE, until};

const VERSIONS: [ProtocolVersion; 2] = [ProtocolVersion::V2026_07_28, ProtocolVersion::V2025_11_25];

/// What a busy machine may add to any time that is measured here.
const SLACK: Duration = Duration::from_secs(2);

/// Runs a test on a runtime of its own, and sees that it leaves no task behind.
fn alone(test: impl Future<Output = ()>) {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.expect("a runtime").block_on(async {
        tokio::time::timeout(BOUND, test).await.expect("it ends in time");
        let tasks = || Handle::current().metrics().num_alive_tasks();
        until("no task is left", || tasks() == 0).await;
    });
}

/// A runtime for what is not the client's, so that the tasks of the client can be counted.
struct Elsewhere(Option<tokio::runtime::Runtime>);

impl Elsewhere {
    fn new() -> Self {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build();
        Self(Some(runtime.expect("a runtime")))
    }

    /// Runs something there to its end.
    async fn run<T: Send + 'static>(&self, future: impl Future<Output = T> + Send + 'static) -> T {
        let runtime = self.0.as_ref().expect("it is there until it is dropped");
        runtime.spawn(future).await.expect("it panics for nothing")
    }
}

impl Drop for Elsewhere {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// The next event; one has to come.
async fn next(events: &mut Subscription) -> Event {
    let next = tokio::time::timeout(PATIENCE, events.next()).await;
    next.expect("something comes").expect("it is not over")
}

/// Reads until the subscription is there again, which it has to be before anything else is told.
async fn resumed(events: &mut Subscription) {
    let event = next(events).await;
    assert!(matches!(event, Event::Resumed { may_have_missed: true, .. }), "{event:?}");
}

/// Reads one notification of this method.
async fn told(events: &mut Subscription, method: &str) {
    let event = next(events).await;
    assert!(matches!(&event, Event::Notification(told) if told.method() == method), "{event:?}");
}

const TOOLS_CHANGED: &str = "notifications/tools/list_changed";

const BOUND: Duration = Duration::from_secs(120);
