//! How long one round may take.

use std::time::{Duration, Instant};

use snodo_types::Error;

/// The clock of a call: a timeout that progress may restart, a cap on that, and pauses.
#[derive(Clone, Debug, Default)]
pub(crate) struct Deadline {
    timeout: Option<Duration>,
    /// Progress restarts the timeout, up to this long after the start.
    total: Option<Duration>,
    at: Option<Instant>,
    cap: Option<Instant>,
    /// How far pauses may move the timeout after the start, where progress may not.
    pauses: Option<Duration>,
    /// The limit that cut an extension short.
    capped: Option<Duration>,
    /// What was left when the clock was stopped.
    held: Option<Duration>,
    started: Option<Instant>,
    /// For the call as a whole.
    whole: Option<Duration>,
    whole_at: Option<Instant>,
    /// Of the first count: what was spent before it.
    spent: Duration,
}

/// How far pauses may move a timeout, where nothing else is said.
const PAUSES: Duration = Duration::from_secs(600);

impl Deadline {
    /// A clock that has not started. No timeout means no end.
    pub(crate) fn new(timeout: Option<Duration>, total: Option<Duration>) -> Self {
        Self { timeout, total, ..Self::default() }
    }

    /// Adds a limit on the call as a whole.
    pub(crate) fn whole(self, whole: Option<Duration>) -> Self {
        Self { whole, ..self }
    }

    /// Limits how far pauses may move the timeout.
    pub(crate) fn pauses(self, pauses: Option<Duration>) -> Self {
        Self { pauses, ..self }
    }

    /// So much was spent before the first count, in a queue.
    pub(crate) fn spent(self, spent: Duration) -> Self {
        Self { spent, ..self }
    }

    /// Counts anew from now; the whole call counts from the first start.
    pub(crate) fn start(&mut self, now: Instant) {
        let spent = std::mem::take(&mut self.spent);
        let after = |wait: Duration| now.checked_add(wait.saturating_sub(spent));
        self.at = self.timeout.and_then(after);
        self.cap = self.total.and_then(after);
        if self.whole_at.is_none() {
            self.whole_at = self.whole.and_then(after);
        }
        (self.capped, self.held, self.started) = (None, None, Some(now));
    }

    /// So much of the time was not the server's.
    pub(crate) fn pause(&mut self, time: Duration) {
        let (Some(at), Some(started)) = (self.at, self.started) else { return };
        let limit = self.total.or(self.pauses).unwrap_or(PAUSES);
        let cap = started.checked_add(limit);
        let moved = at.checked_add(time).unwrap_or(at);
        match cap.filter(|cap| *cap < moved) {
            None => self.at = Some(moved),
            Some(cap) if at <= cap => (self.at, self.capped) = (Some(cap), Some(limit)),
            Some(_) => {}
        }
    }

    /// Progress came: never earlier than before, never past the cap.
    pub(crate) fn extend(&mut self, now: Instant) {
        let (Some(timeout), Some(_), Some(at)) = (self.timeout, self.total, self.at) else {
            return;
        };
        let Some(next) = now.checked_add(timeout) else { return };
        let limited = self.cap.filter(|cap| *cap < next);
        if limited.is_some() {
            self.capped = self.total;
        }
        self.at = Some(at.max(limited.unwrap_or(next)));
    }

    /// Stops the clock.
    pub(crate) fn hold(&mut self, now: Instant) {
        if let Some(at) = self.at.take() {
            self.held = Some(at.saturating_duration_since(now));
        }
    }

    /// Lets the clock run on.
    pub(crate) fn release(&mut self, now: Instant) {
        if let Some(left) = self.held.take() {
            self.at = now.checked_add(left);
        }
    }

    /// When it ends, if it does.
    pub(crate) fn at(&self) -> Option<Instant> {
        match (self.at, self.whole_at) {
            (Some(at), Some(whole)) => Some(at.min(whole)),
            (at, whole) => at.or(whole),
        }
    }

    /// When the call as a whole ends, if it does.
    pub(crate) fn whole_at(&self) -> Option<Instant> {
        self.whole_at
    }

    /// The error, once the call as a whole has ended.
    pub(crate) fn whole_expired(&self, now: Instant) -> Option<Error> {
        self.whole_at.filter(|whole| *whole <= now)?;
        self.whole.map(Error::timeout)
    }

    /// The error, once it has ended.
    pub(crate) fn expired(&self, now: Instant) -> Option<Error> {
        if self.at.is_none_or(|at| now < at) {
            return self.whole_expired(now);
        }
        Some(match self.capped {
            Some(limit) => Error::max_total_timeout(limit),
            None => Error::timeout(self.timeout.unwrap_or_default()),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::Deadline;

    const SECOND: Duration = Duration::from_secs(1);

    // S-41, CAN-07
    #[test]
    fn progress_restarts_the_timeout_up_to_the_cap() {
        let start = Instant::now();
        let mut deadline = Deadline::new(Some(10 * SECOND), Some(25 * SECOND));
        deadline.start(start);
        deadline.extend(start + 9 * SECOND);
        assert!(deadline.expired(start + 18 * SECOND).is_none());
        deadline.extend(start + 18 * SECOND);
        let error = deadline.expired(start + 25 * SECOND).expect("the cap");
        assert_eq!(error.message(), "Maximum total timeout exceeded");
    }

    // S-41
    #[test]
    fn without_the_option_progress_changes_nothing() {
        let start = Instant::now();
        let mut deadline = Deadline::new(Some(10 * SECOND), None);
        deadline.start(start);
        deadline.extend(start + 9 * SECOND);
        let error = deadline.expired(start + 10 * SECOND).expect("the timeout");
        assert_eq!(
            error.data().map(ToString::to_string).as_deref(),
            Some(r#"{"timeoutMs":10000}"#)
        );
    }

    #[test]
    fn a_cap_below_the_timeout_does_not_shorten_a_silent_call() {
        let start = Instant::now();
        let mut deadline = Deadline::new(Some(10 * SECOND), Some(5 * SECOND));
        deadline.start(start);
        deadline.extend(start + SECOND);
        assert!(deadline.expired(start + 9 * SECOND).is_none());
        assert!(deadline.expired(start + 10 * SECOND).is_some());
    }

    #[test]
    fn the_clock_stands_while_a_person_is_waited_for() {
        let start = Instant::now();
        let mut deadline = Deadline::new(Some(10 * SECOND), None);
        deadline.start(start);
        deadline.hold(start + 4 * SECOND);
        assert_eq!(deadline.at(), None);
        deadline.release(start + 300 * SECOND);
        assert_eq!(deadline.at(), Some(start + 306 * SECOND));
    }

    // CAN-12
    #[test]
    fn the_whole_call_ends_in_time_however_often_its_rounds_begin_anew() {
        let start = Instant::now();
        let mut deadline = Deadline::new(Some(10 * SECOND), None).whole(Some(15 * SECOND));
        deadline.start(start);
        deadline.start(start + 9 * SECOND);
        assert_eq!(deadline.at(), Some(start + 15 * SECOND));
        assert!(deadline.expired(start + 14 * SECOND).is_none());
        let error = deadline.expired(start + 15 * SECOND).expect("the whole call");
        assert_eq!(
            error.data().map(ToString::to_string).as_deref(),
            Some(r#"{"timeoutMs":15000}"#)
        );
    }

    #[test]
    fn the_time_of_answering_the_server_is_not_counted_up_to_ten_minutes() {
        let start = Instant::now();
        let mut deadline = Deadline::new(Some(30 * SECOND), None);
        deadline.start(start);
        deadline.pause(60 * SECOND);
        assert_eq!(deadline.at(), Some(start + 90 * SECOND));
        deadline.pause(3600 * SECOND);
        assert_eq!(deadline.at(), Some(start + 600 * SECOND));
    }

    #[test]
    fn no_timeout_never_ends() {
        let mut deadline = Deadline::new(None, Some(SECOND));
        deadline.start(Instant::now());
        deadline.extend(Instant::now());
        assert_eq!(deadline.at(), None);
    }
}
