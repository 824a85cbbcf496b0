//! A server that wants to be left alone for a while.

use std::time::{Duration, Instant};

/// How often and how long a call waits where a server says so (`Retry-After`), before it is sent
/// once more. Only what harms nothing is sent again.
///
/// ```
/// use std::time::Duration;
/// use snodo_engine::Waits;
///
/// assert_eq!(Waits::default(), Waits { times: 2, longest: Duration::from_secs(10) });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "how often, and how long")]
pub struct Waits {
    /// How often.
    pub times: u32,
    /// How long each time at most; a server that wants more is not asked again.
    pub longest: Duration,
}

impl Default for Waits {
    fn default() -> Self {
        Self { times: 2, longest: Duration::from_secs(10) }
    }
}

impl Waits {
    /// Never.
    pub const NEVER: Self = Self { times: 0, longest: Duration::ZERO };

    /// Until when to wait, where that is worth it; the wait is counted.
    ///
    /// 429 (RFC 6585, section 4) and 503 (RFC 9110, section 15.6.4) are the statuses that ask for
    /// it. Nobody waits past the end of the call: its caller would learn nothing by it.
    pub(super) fn until(
        &mut self,
        status: Option<u16>,
        wait: Option<Duration>,
        ends: Option<Instant>,
        now: Instant,
    ) -> Option<Instant> {
        let wait =
            wait.filter(|wait| matches!(status, Some(429 | 503)) && *wait <= self.longest)?;
        let until = now.checked_add(wait).filter(|until| ends.is_none_or(|ends| *until < ends))?;
        self.times = self.times.checked_sub(1)?;
        Some(until)
    }
}
