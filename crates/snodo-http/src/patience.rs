//! Whether it is worth waiting for the end of a stream whose response has come.

use std::sync::atomic::{AtomicU32, Ordering};

/// What was learned of a server's streams.
///
/// A connection can be used again only once its stream has ended. Nearly all servers end it right
/// behind the response, so that a moment's wait saves a new connection. One that holds it open is
/// asked again seldom, and ever more seldom.
#[derive(Debug, Default)]
pub(crate) struct Patience {
    /// Streams for which nobody waits, before it is tried again.
    skip: AtomicU32,
    /// How often in a row a wait was for nothing.
    missed: AtomicU32,
}

impl Patience {
    /// Whether to wait for the end of this stream. The counts are hints; a race costs one wait.
    pub(crate) fn waits(&self) -> bool {
        let left = self.skip.load(Ordering::Relaxed);
        if left > 0 {
            self.skip.store(left - 1, Ordering::Relaxed);
        }
        left == 0
    }

    /// A stream ended behind its response.
    pub(crate) fn ended(&self) {
        self.missed.store(0, Ordering::Relaxed);
        self.skip.store(0, Ordering::Relaxed);
    }

    /// A stream was waited for in vain.
    pub(crate) fn missed(&self) {
        let missed = self.missed.load(Ordering::Relaxed).min(5);
        self.missed.store(missed + 1, Ordering::Relaxed);
        self.skip.store(8 << missed, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::Patience;

    #[test]
    fn a_server_that_holds_its_streams_is_waited_for_ever_more_seldom() {
        let patience = Patience::default();
        let mut waits = 0;
        for _ in 0..1000 {
            if patience.waits() {
                waits += 1;
                patience.missed();
            }
        }
        assert!((3..10).contains(&waits), "{waits}");
        patience.ended();
        assert!(patience.waits() && patience.waits());
    }
}
