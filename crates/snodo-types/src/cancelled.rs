//! Giving up a request.

use crate::object::object;
use crate::{Members, Meta, Raw, RequestId};

/// A request is given up: the params of `notifications/cancelled`.
///
/// ```
/// use snodo_types::{Cancelled, RequestId};
///
/// let cancelled = Cancelled::new(RequestId::Number(3)).with_reason("not needed any more");
/// assert_eq!(
///     serde_json::to_string(&cancelled)?,
///     r#"{"requestId":3,"reason":"not needed any more"}"#
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cancelled {
    /// Which request; 2025-11-25 leaves it out for tasks.
    pub request_id: Option<RequestId>,
    /// Why, for people and logs.
    pub reason: Option<String>,
    /// `_meta`, as it came; read by [`meta`](Self::meta).
    pub meta: Option<Raw>,
    /// Members without a name here.
    pub other: Members,
}

impl Cancelled {
    /// This request is given up.
    #[must_use]
    pub fn new(request_id: RequestId) -> Self {
        Self { request_id: Some(request_id), reason: None, meta: None, other: Members::new() }
    }

    /// Says why.
    #[must_use]
    pub fn with_reason(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }

    /// What is known of `_meta`.
    #[must_use]
    pub fn meta(&self) -> Meta<'_> {
        Meta::of(self.meta.as_ref())
    }
}

object! {
    impl Cancelled {
        optional request_id: "requestId",
        optional reason: "reason",
        optional meta: "_meta";
        other
    }
}
