//! How much of the host one server may take.

use std::time::Duration;

/// Bounds for one server.
///
/// ```
/// use std::time::Duration;
/// use snodo_host::Limits;
///
/// let limits = Limits::default().connect_within(Duration::from_secs(5)).calls_at_once(2);
/// assert_eq!(format!("{limits:?}"), "Limits { connect: 5s, calls: 2, items: 1000 }");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct Limits {
    pub(crate) connect: Duration,
    pub(crate) calls: usize,
    pub(crate) items: usize,
}

impl Limits {
    /// How long connecting may take, the start of a process included; 60 s unless set.
    pub fn connect_within(self, connect: Duration) -> Self {
        Self { connect, ..self }
    }

    /// How many calls the server gets at once; 16 unless set, and at least 1. Further ones wait for
    /// their turn, in their order; what bounds the whole of a call begins when it is sent.
    pub fn calls_at_once(self, calls: usize) -> Self {
        Self { calls: calls.clamp(1, MOST_CALLS), ..self }
    }

    /// How many items of each list are taken from the server; 1,000 unless set. What is more is left
    /// out, and [`Missing`](crate::Missing) says so.
    pub fn items(self, items: usize) -> Self {
        Self { items, ..self }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self { connect: Duration::from_secs(60), calls: 16, items: 1_000 }
    }
}

/// As many as a semaphore counts on every platform.
const MOST_CALLS: usize = 1 << 20;
