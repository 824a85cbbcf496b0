//! Telling a caller how far its request got.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use snodo_types::{Message, Progress};

/// The caller's function for progress. It runs in the caller's own task; a call that is sent again
/// by a layer shares it.
#[derive(Clone)]
pub(crate) struct ProgressSink(Arc<Mutex<dyn FnMut(Progress) + Send>>);

impl ProgressSink {
    pub(crate) fn new(function: impl FnMut(Progress) + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(function)))
    }

    pub(crate) fn tell(&self, message: &Message) {
        match message.decode() {
            Ok(progress) => (self.0.lock().unwrap_or_else(PoisonError::into_inner))(progress),
            Err(error) => tracing::debug!(%error, "progress that cannot be read"),
        }
    }
}

impl fmt::Debug for ProgressSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ProgressSink")
    }
}
