//! Coming back: how often, and after which pauses.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::time::Duration;

use snodo_types::{Error, TransportFault};

/// Whether a subscription that was lost is opened again, and how patiently.
///
/// The pauses double from the first to the longest, each shortened by up to a half at random, so
/// that many clients do not come back at once. An attempt that succeeds starts the count anew.
///
/// ```
/// use std::time::Duration;
/// use snodo::Reopen;
///
/// let patient = Reopen::after(Duration::from_millis(100), Duration::from_secs(5));
/// assert_ne!(patient, Reopen::NEVER);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reopen {
    first: Duration,
    longest: Duration,
    attempts: u32,
}

impl Reopen {
    /// A subscription that is lost is over.
    pub const NEVER: Self = Self { first: Duration::ZERO, longest: Duration::ZERO, attempts: 0 };

    /// Comes back until it succeeds or the subscription is dropped.
    #[must_use]
    pub const fn after(first: Duration, longest: Duration) -> Self {
        Self { first, longest, attempts: u32::MAX }
    }

    /// At most so many attempts in a row.
    #[must_use]
    pub const fn attempts(self, attempts: u32) -> Self {
        Self { attempts, ..self }
    }

    /// How long to wait before this attempt, the first being 0; `None` for no more.
    pub(super) fn pause(self, attempt: u32) -> Option<Duration> {
        if attempt >= self.attempts {
            return None;
        }
        let factor = 1_u32.checked_shl(attempt.min(31)).unwrap_or(u32::MAX);
        let pause = self.first.saturating_mul(factor).min(self.longest);
        // Anything unpredictable will do: the seed of a hash map is.
        let random = RandomState::new().build_hasher().finish() % 1024;
        let cut = pause.mul_f64(0.5 * random as f64 / 1024.0);
        Some(pause.saturating_sub(cut))
    }
}

/// Whether what ended so may be asked for again: a stream that was cut is, not what the server
/// refused.
pub(super) fn follows(error: &Error) -> bool {
    let Some(below) = error.transport() else { return error.is_timeout() };
    match below.status() {
        Some(408 | 425 | 429) => true,
        Some(400..=499) => false,
        _ => below.fault() != TransportFault::Unsupported,
    }
}

impl Default for Reopen {
    /// From half a second to half a minute, until it succeeds.
    fn default() -> Self {
        Self::after(Duration::from_millis(500), Duration::from_secs(30))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Reopen;

    // SUB-11
    #[test]
    fn pauses_grow_to_the_longest_and_are_never_more_than_halved() {
        let reopen = Reopen::after(Duration::from_secs(1), Duration::from_secs(8)).attempts(6);
        for (attempt, most) in [(0, 1), (1, 2), (2, 4), (3, 8), (4, 8), (5, 8)] {
            let pause = reopen.pause(attempt).expect("one of six");
            let most = Duration::from_secs(most);
            assert!(pause <= most && pause >= most / 2, "{attempt}: {pause:?}");
        }
        assert_eq!(reopen.pause(6), None);
        assert_eq!(Reopen::NEVER.pause(0), None);
    }
}
