//! Telling a server that nobody waits any more.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use snodo_types::{Abandon, TransportError};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::closed::Closed;
use crate::wire::{Draft, Wire};

/// Sends the notices of one transport.
///
/// A notice outlives the exchange it speaks of and even its transport, so that a client that is
/// dropped right behind a call still tells the server: it ends by itself within [`LIMIT`], and at
/// most [`MOST`] are under way.
pub(crate) struct Notices {
    wire: Arc<Wire>,
    closed: Closed,
    runtime: Handle,
    under_way: Arc<Semaphore>,
}

/// Sends the notice when it is dropped, if the request may have reached the server.
pub(crate) struct Guard {
    id: u64,
    abandon: Arc<Abandon>,
    notices: Arc<Notices>,
    written: Arc<AtomicBool>,
}

impl Notices {
    pub(crate) fn new(wire: Arc<Wire>, closed: Closed, runtime: Handle) -> Self {
        Self { wire, closed, runtime, under_way: Arc::new(Semaphore::new(MOST as usize)) }
    }

    /// The transport that they are sent for.
    pub(crate) fn closed(&self) -> &Closed {
        &self.closed
    }

    /// Waits until no notice is under way.
    pub(crate) async fn flushed(&self) {
        drop(self.under_way.acquire_many(MOST).await);
    }

    fn send(&self, abandon: &Arc<Abandon>, id: u64) {
        if self.closed.is_so() {
            // The session is over, and with it all that was asked in it.
            return;
        }
        let Ok(permit) = Arc::clone(&self.under_way).try_acquire_owned() else {
            tracing::debug!(id, "too many requests given up at once: the server is not told");
            return;
        };
        let (wire, abandon) = (Arc::clone(&self.wire), Arc::clone(abandon));
        let body = Bytes::from(abandon.message(id));
        self.runtime.spawn(async move {
            let telling = async {
                let (answer, _) = wire.send(Draft::post(abandon.routing(), body)).await?;
                answer.body.drain().await;
                Ok::<_, TransportError>(())
            };
            match timeout(LIMIT, telling).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => tracing::debug!(id, %error, "the server was not told"),
                Err(_) => tracing::debug!(id, "the server was not told in time"),
            }
            drop(permit);
        });
    }
}

impl Guard {
    pub(crate) fn new(id: u64, abandon: Arc<Abandon>, notices: Arc<Notices>) -> Self {
        Self { id, abandon, notices, written: Arc::default() }
    }

    /// What the request sets when it is written.
    pub(crate) fn written(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.written)
    }

    /// The exchange ended: there is nothing to give up.
    pub(crate) fn disarm(self) {
        self.written.store(false, Ordering::Release);
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if self.written.load(Ordering::Acquire) {
            self.notices.send(&self.abandon, self.id);
        }
    }
}

/// How long one notice may take.
pub(crate) const LIMIT: Duration = Duration::from_secs(5);

/// How many notices may be under way.
pub(crate) const MOST: u32 = 64;
