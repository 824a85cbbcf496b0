//! Starting a server process again.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use snodo_types::{TransportError, TransportFault};

use crate::timer;

/// Whether a server process that ended is started again.
///
/// It is, when the next request is made or a subscription is read: negotiated anew, with the
/// subscriptions restored. Requests that were under way when it ended fail once, with the exit
/// status; they are never repeated, since they may have been carried out (2026-07-28, stdio,
/// "Unexpected Termination").
///
/// ```
/// use std::time::Duration;
/// use snodo::Restart;
///
/// let restart = Restart::ON_FAILURE.at_most(5, Duration::from_secs(60));
/// assert_ne!(restart, Restart::NEVER);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Restart {
    when: When,
    most: usize,
    within: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    Always,
    Never,
    OnFailure,
}

impl Restart {
    /// However it ended; at most 3 times a minute.
    pub const ALWAYS: Self = Self { when: When::Always, most: 3, within: Duration::from_secs(60) };
    /// Not at all.
    pub const NEVER: Self = Self { when: When::Never, most: 0, within: Duration::ZERO };
    /// Where it ended with anything but the exit status 0; at most 3 times a minute.
    pub const ON_FAILURE: Self =
        Self { when: When::OnFailure, most: 3, within: Duration::from_secs(60) };

    /// At most so many times within so long.
    #[must_use]
    pub const fn at_most(self, most: usize, within: Duration) -> Self {
        Self { most, within, ..self }
    }

    /// Whether an end like this one calls for a start.
    pub(crate) fn follows(self, why: &TransportError) -> bool {
        let ended = matches!(why.fault(), TransportFault::Closed | TransportFault::Exited);
        match self.when {
            When::Always => ended,
            When::Never => false,
            When::OnFailure => ended && why.exit() != Some("exit status 0"),
        }
    }
}

impl Default for Restart {
    fn default() -> Self {
        Self::NEVER
    }
}

/// The starts of late, at most as many as are allowed.
#[derive(Debug, Default)]
pub(crate) struct Starts(Mutex<VecDeque<Instant>>);

impl Starts {
    /// Whether one more is allowed; it counts then.
    pub(crate) fn allow(&self, restart: Restart) -> bool {
        let now = timer::now();
        let mut starts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        starts.retain(|start| now.saturating_duration_since(*start) < restart.within);
        let allowed = starts.len() < restart.most;
        if allowed {
            starts.push_back(now);
        }
        allowed
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use snodo_types::{TransportError, TransportFault};

    use super::{Restart, Starts};

    fn exited(exit: &str) -> TransportError {
        TransportError::new(TransportFault::Exited, "the server process ended").with_exit(exit)
    }

    #[test]
    fn only_a_failure_is_followed_by_a_start_unless_every_end_is() {
        assert!(Restart::ON_FAILURE.follows(&exited("exit status 1")));
        assert!(Restart::ON_FAILURE.follows(&exited("signal 9")));
        assert!(!Restart::ON_FAILURE.follows(&exited("exit status 0")));
        assert!(Restart::ALWAYS.follows(&exited("exit status 0")));
        assert!(!Restart::NEVER.follows(&exited("signal 9")));
        let status = TransportError::new(TransportFault::Status, "HTTP 500").with_status(500);
        assert!(!Restart::ALWAYS.follows(&status));
    }

    #[tokio::test(start_paused = true)]
    async fn starts_are_counted_within_their_time() {
        let (starts, restart) =
            (Starts::default(), Restart::ALWAYS.at_most(2, Duration::from_secs(60)));
        assert!(starts.allow(restart) && starts.allow(restart) && !starts.allow(restart));
        tokio::time::advance(Duration::from_secs(61)).await;
        assert!(starts.allow(restart));
        assert!(!Starts::default().allow(Restart::NEVER));
    }
}
