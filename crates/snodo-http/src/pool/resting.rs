//! What rests between requests, and what many requests share.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::connection::{Connection, Link, Shared};

/// The connections of a pool that nobody has for himself.
#[derive(Default)]
pub(super) struct Resting {
    /// Over HTTP/1.1, with the time since when; the one that rests longest is the first.
    pub(super) connections: Vec<(Connection, Instant)>,
    /// Over HTTP/2, with the time at which its last request ended.
    shared: Option<(Shared, Instant)>,
    /// Closes what rested too long; there is one while anything rests.
    pub(super) reaper: Option<AbortHandle>,
}

/// What rested too long, and when to look again.
pub(super) struct Worn {
    /// To be dropped when the lock is free.
    pub(super) _closed: (Vec<(Connection, Instant)>, Option<Shared>),
    /// Nothing is left to look after without it.
    pub(super) next: Option<Duration>,
}

impl Resting {
    /// Lets others use a connection that was just opened; gives the one before back.
    pub(super) fn share(&mut self, shared: Shared) -> Option<Shared> {
        self.shared.replace((shared, Instant::now())).map(|(before, _)| before)
    }

    /// Counts a request on the shared connection, where that takes one more. Tells how long the
    /// connection has had none.
    pub(super) fn enter(&self, most: Option<usize>) -> Option<(Shared, Duration)> {
        let (shared, since) = self.shared.as_ref()?;
        let worn = most.is_some_and(|most| shared.requests() >= most);
        if worn || shared.is_closed() || shared.is_full() {
            return None;
        }
        let quiet = if shared.link().under_way() == 0 { since.elapsed() } else { Duration::ZERO };
        shared.enter();
        Some((shared.clone(), quiet))
    }

    /// The last request over a shared connection has ended; whether it is the one that is still
    /// shared.
    pub(super) fn quiet(&mut self, link: &Arc<Link>) -> bool {
        match &mut self.shared {
            Some((shared, since)) if Arc::ptr_eq(shared.link(), link) => {
                *since = Instant::now();
                true
            }
            _ => false,
        }
    }

    /// Takes out what rested longer than it may.
    pub(super) fn wear(&mut self, idle_timeout: Duration) -> Worn {
        let now = Instant::now();
        let over = |since: &Instant| now.duration_since(*since) >= idle_timeout;
        let worn = self.connections.iter().take_while(|(_, since)| over(since)).count();
        let closed = self.connections.drain(..worn).collect();
        let idle = |shared: &Shared| shared.link().under_way() == 0;
        let old = self.shared.take_if(|(shared, since)| idle(shared) && over(since));
        let old = old.map(|(shared, _)| shared);
        let waits = self.shared.iter().filter(|(shared, _)| idle(shared)).map(|(_, since)| *since);
        let first =
            self.connections.first().map(|(_, since)| *since).into_iter().chain(waits).min();
        let next = first.map(|since| (since + idle_timeout).duration_since(now));
        Worn { _closed: (closed, old), next }
    }
}
