//! How long a broken stream is left alone, and how often it is tried.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher as _, Hasher as _};
use std::time::Duration;

/// The waits between a stream that broke and the attempts to go on with it.
///
/// The first wait is the server's `retry`, which is never cut short (2025-11-25, transports,
/// "Sending Messages to the Server"), or a default. Each attempt in vain doubles it, up to
/// [`MOST_WAIT`] or the server's own, if that is longer. Up to a quarter more is added by chance,
/// so that the clients of a server that restarts do not come back all at once.
#[derive(Clone, Debug)]
pub(crate) struct Pace {
    most: u32,
    delay: Duration,
    /// Attempts since something came.
    vain: u32,
}

impl Pace {
    /// So many attempts in vain, and the wait where the server names none.
    pub(crate) fn new(most: u32, delay: Duration) -> Self {
        Self { most, delay, vain: 0 }
    }

    /// Something came: the next attempt counts as the first.
    pub(crate) fn progressed(&mut self) {
        self.vain = 0;
    }

    /// The wait before the next attempt, which counts as made; `None` where there have been
    /// enough. `chance` is where between nothing and a quarter more the wait lies.
    pub(crate) fn next_wait(&mut self, retry: Option<Duration>, chance: u32) -> Option<Duration> {
        if self.vain >= self.most {
            return None;
        }
        let first = retry.unwrap_or(self.delay).max(LEAST_WAIT);
        let grown = first.saturating_mul(1 << self.vain.min(16)).min(first.max(MOST_WAIT));
        self.vain += 1;
        let more = (grown / 4).mul_f64(f64::from(chance) / f64::from(u32::MAX));
        Some(grown.saturating_add(more))
    }

    /// How many attempts may be in vain.
    pub(crate) fn most(&self) -> u32 {
        self.most
    }
}

/// A number that no two clients share. The standard library keys its tables by chance, which is
/// all the chance that is needed here.
pub(crate) fn chance() -> u32 {
    let [.., a, b, c, d] = RandomState::new().build_hasher().finish().to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}

/// A server that wants no wait at all is asked a hundred times a second at most.
const LEAST_WAIT: Duration = Duration::from_millis(10);

/// The wait at which growth ends.
const MOST_WAIT: Duration = Duration::from_secs(30);

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Pace, chance};

    fn waits(mut pace: Pace, retry: Option<u64>, chance: u32) -> Vec<u128> {
        let retry = retry.map(Duration::from_millis);
        std::iter::from_fn(|| pace.next_wait(retry, chance)).map(|wait| wait.as_millis()).collect()
    }

    // HTTPL-23
    #[test]
    fn waits_double_up_to_half_a_minute_and_end() {
        let pace = Pace::new(8, Duration::from_secs(1));
        let expected = [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000];
        assert_eq!(waits(pace.clone(), None, 0), expected);
        let most = waits(pace, None, u32::MAX);
        assert_eq!(most, expected.map(|wait| wait + wait / 4));
        assert!(waits(Pace::new(0, Duration::ZERO), Some(5), 0).is_empty());
    }

    // HTTPL-10
    #[test]
    fn the_server_s_own_wait_is_never_cut_short_and_none_at_all_is_a_little_one() {
        let pace = Pace::new(4, Duration::from_secs(1));
        assert_eq!(waits(pace.clone(), Some(500), 0), [500, 1000, 2000, 4000]);
        assert_eq!(waits(pace.clone(), Some(40_000), 0), [40_000; 4]);
        assert_eq!(waits(pace.clone(), Some(0), 0), [10, 20, 40, 80]);
        assert!(waits(pace, Some(u64::MAX), u32::MAX).iter().all(|wait| *wait >= u64::MAX.into()));
    }

    #[test]
    fn progress_makes_the_next_attempt_the_first() {
        let mut pace = Pace::new(2, Duration::from_secs(1));
        let second = Some(Duration::from_secs(1));
        assert_eq!(pace.next_wait(None, 0), second);
        pace.progressed();
        assert_eq!(pace.next_wait(None, 0), second);
        assert!(pace.next_wait(None, 0).is_some() && pace.next_wait(None, 0).is_none());
    }

    #[test]
    fn chance_is_not_always_the_same() {
        assert!((0..4).any(|_| chance() != chance()));
    }
}
