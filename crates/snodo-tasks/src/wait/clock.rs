//! The time of a wait.

use std::future::Future;
use std::time::Duration;

use snodo::Error;
use snodo::types::{ErrorObject, Kind};
use tokio::runtime::Handle;
use tokio::time::Instant;

/// When a wait is over, by tokio's clock. Without a deadline it never is.
#[derive(Debug)]
pub(super) struct Clock {
    deadline: Option<Instant>,
}

impl Clock {
    /// Starts it.
    ///
    /// # Errors
    ///
    /// No runtime is in reach to keep the time (-32603).
    pub(super) fn start(limit: Option<Duration>) -> Result<Self, Error> {
        if Handle::try_current().is_err() {
            let text = "no tokio runtime is in reach to keep the time of a wait";
            return Err(Error::new(Kind::Execution, ErrorObject::INTERNAL_ERROR, text));
        }
        // A limit past the end of time is none.
        let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
        Ok(Self { deadline })
    }

    pub(super) fn now(&self) -> Instant {
        Instant::now()
    }

    /// A moment from now.
    pub(super) fn after(&self, pause: Duration) -> Instant {
        Instant::now() + pause.min(FAR)
    }

    /// What is left; `None` where there is no end.
    pub(super) fn left(&self) -> Option<Duration> {
        self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    /// The time since then does not count.
    pub(super) fn stood_since(&mut self, begun: Instant) {
        let stood = Instant::now().saturating_duration_since(begun);
        self.deadline = self.deadline.and_then(|deadline| deadline.checked_add(stood));
    }

    /// Awaits something until the wait is over; `None` when that comes first.
    pub(super) async fn within<F: Future>(&self, future: F) -> Option<F::Output> {
        match self.deadline {
            Some(deadline) => tokio::time::timeout_at(deadline, future).await.ok(),
            None => Some(future.await),
        }
    }
}

/// As far ahead as any server may wish to be left alone: the clock can be read that far.
const FAR: Duration = Duration::from_secs(60 * 60 * 24 * 365);
