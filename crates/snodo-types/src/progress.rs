//! How far a request has come.

use crate::object::object;
use crate::{Members, Meta, Raw, RequestId};

/// What ties progress to its request: a string or an integer, chosen by the requester.
///
/// ```
/// let token: snodo_types::ProgressToken = 7.into();
/// assert_eq!(token.to_string(), "7");
/// ```
pub type ProgressToken = RequestId;

/// How far a request has come: the params of `notifications/progress`.
///
/// ```
/// use snodo_types::Progress;
///
/// let progress: Progress =
///     serde_json::from_str(r#"{"progressToken":1,"progress":50,"total":200}"#)?;
/// assert_eq!(progress.fraction(), Some(0.25));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// Which request it is about.
    pub progress_token: ProgressToken,
    /// How far it has come, in units of the server's own; grows from message to message.
    pub progress: f64,
    /// How far it has to come, if that is known.
    pub total: Option<f64>,
    /// What is going on.
    pub message: Option<String>,
    /// `_meta`, as it came; read by [`meta`](Self::meta).
    pub meta: Option<Raw>,
    /// Members without a name here.
    pub other: Members,
}

impl Progress {
    /// Progress of the request with this token.
    #[must_use]
    pub fn new(token: ProgressToken, progress: f64) -> Self {
        Self {
            progress_token: token,
            progress,
            total: None,
            message: None,
            meta: None,
            other: Members::new(),
        }
    }

    /// Sets how far it has to come.
    #[must_use]
    pub fn with_total(mut self, total: f64) -> Self {
        self.total = Some(total);
        self
    }

    /// Sets what is going on.
    #[must_use]
    pub fn with_message(mut self, message: impl Into<String>) -> Self {
        self.message = Some(message.into());
        self
    }

    /// The part that is done, from 0 to 1, where a total is known.
    #[must_use]
    pub fn fraction(&self) -> Option<f64> {
        let total = self.total.filter(|total| *total > 0.0)?;
        Some((self.progress / total).clamp(0.0, 1.0))
    }

    /// What is known of `_meta`.
    #[must_use]
    pub fn meta(&self) -> Meta<'_> {
        Meta::of(self.meta.as_ref())
    }
}

object! {
    impl Progress {
        required progress_token: "progressToken",
        required progress: "progress",
        optional total: "total",
        optional message: "message",
        optional meta: "_meta";
        other
    }
}
