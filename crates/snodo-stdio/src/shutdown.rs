//! How long a process is waited for.

use std::time::Duration;

/// How a process is ended: its input is closed, then everything in its group is asked to end
/// (`SIGTERM`), then killed (`SIGKILL`); on Windows there is no asking.
///
/// Each wait ends as soon as nobody of the group is left (2026-07-28, stdio, "Shutdown").
///
/// ```
/// use std::time::Duration;
/// use snodo_stdio::{Shutdown, Stdio};
///
/// let patient = Shutdown { after_stdin: Duration::from_secs(10), ..Shutdown::default() };
/// let server = Stdio::new("server").shutdown(patient);
/// # let _ = server;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "two waits, written with `..Default`")]
pub struct Shutdown {
    /// From the end of its input to `SIGTERM`: 2 s unless set.
    pub after_stdin: Duration,
    /// From `SIGTERM` to `SIGKILL`: 2 s unless set.
    pub after_terminate: Duration,
}

impl Default for Shutdown {
    fn default() -> Self {
        let wait = Duration::from_secs(2);
        Self { after_stdin: wait, after_terminate: wait }
    }
}

impl Shutdown {
    /// The same, shrunk so that it fits within a limit with some time left for killing.
    pub(crate) fn within(self, limit: Duration) -> Self {
        let whole = self.after_stdin.as_secs_f64() + self.after_terminate.as_secs_f64();
        let room = (limit - (limit / 10).min(Duration::from_millis(200))).as_secs_f64();
        if whole <= room {
            return self;
        }
        let share = room / whole;
        Self {
            after_stdin: self.after_stdin.mul_f64(share),
            after_terminate: self.after_terminate.mul_f64(share),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Duration, Shutdown};

    #[test]
    fn the_waits_shrink_in_proportion_to_fit_a_limit() {
        let seconds = Duration::from_secs;
        let waits = Shutdown { after_stdin: seconds(6), after_terminate: seconds(2) };
        assert_eq!(waits.within(seconds(9)), waits);
        let shrunk = waits.within(Duration::from_millis(4_200));
        let close = |wait: Duration, second| wait.abs_diff(seconds(second)).as_millis() < 1;
        assert!(close(shrunk.after_stdin, 3) && close(shrunk.after_terminate, 1));
        let none = waits.within(Duration::ZERO);
        assert_eq!((none.after_stdin, none.after_terminate), (Duration::ZERO, Duration::ZERO));
        let endless = Shutdown { after_stdin: Duration::MAX, after_terminate: Duration::MAX };
        let shrunk = endless.within(seconds(10));
        assert!(shrunk.after_stdin + shrunk.after_terminate < seconds(10));
    }
}
