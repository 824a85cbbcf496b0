//! Whether a transport is closed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What everything of one transport knows of its end: once it is closed, nothing is begun for it.
///
/// The wire cannot know, since all transports of a connector share it.
#[derive(Clone, Default)]
pub(crate) struct Closed(Arc<AtomicBool>);

impl Closed {
    pub(crate) fn note(&self) {
        self.0.store(true, Ordering::Release);
    }

    pub(crate) fn is_so(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}
