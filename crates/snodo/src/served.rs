//! How long a connection was busy answering the server.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::timer;

/// Adds up the time in which at least one of the server's questions was being answered. A call
/// that waits meanwhile does not count it as the server's.
#[derive(Debug, Default)]
pub(crate) struct Served(Mutex<Clock>);

#[derive(Debug, Default)]
struct Clock {
    running: usize,
    since: Option<Instant>,
    total: Duration,
}

/// Counts while it lives.
#[derive(Debug)]
pub(crate) struct Serving(Arc<Served>);

impl Served {
    /// Starts counting; overlapping counts are one.
    pub(crate) fn begin(self: &Arc<Self>) -> Serving {
        self.change(|clock| {
            clock.since.get_or_insert_with(timer::now);
            clock.running += 1;
        });
        Serving(Arc::clone(self))
    }

    /// What was counted so far, and whether it still counts.
    pub(crate) fn total(&self) -> (Duration, bool) {
        self.change(|clock| {
            let running = clock.since.map(|since| timer::now().saturating_duration_since(since));
            (clock.total + running.unwrap_or_default(), running.is_some())
        })
    }

    fn change<T>(&self, change: impl FnOnce(&mut Clock) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.0.change(|clock| {
            clock.running -= 1;
            if clock.running == 0
                && let Some(since) = clock.since.take()
            {
                clock.total += timer::now().saturating_duration_since(since);
            }
        });
    }
}
