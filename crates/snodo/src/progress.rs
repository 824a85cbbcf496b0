//! Telling a caller how far its request got.

use std::fmt;

use snodo_types::{Body, Message, Progress};

/// The caller's function for progress. It runs in the caller's own task.
pub(crate) struct ProgressSink(Box<dyn FnMut(Progress) + Send>);

impl ProgressSink {
    pub(crate) fn new(function: impl FnMut(Progress) + Send + 'static) -> Self {
        Self(Box::new(function))
    }

    pub(crate) fn tell(&mut self, message: &Message) {
        let Body::Notification { params: Some(params), .. } = message.body() else { return };
        match serde_json::from_str(params) {
            Ok(progress) => (self.0)(progress),
            Err(error) => tracing::debug!(%error, "progress that cannot be read"),
        }
    }
}

impl fmt::Debug for ProgressSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ProgressSink")
    }
}
