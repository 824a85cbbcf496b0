//! A request before it is dressed for a version.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use snodo_types::{InboxLimits, InputResponses, Raw, RequestState, Routing, TraceContext};

use crate::{Extension, ParamHeaders, Params};

/// What a client wants to ask, in no version's words yet.
///
/// It is kept until the answer is there, so that a retry, a new session or another version is the
/// same path: dress it again.
///
/// ```
/// use snodo_dialect::{Params, Request};
///
/// let request = Request::new("tools/call", Params::new().with("name", "echo")?);
/// assert_eq!(request.method, "tools/call");
/// # Ok::<(), snodo_types::Error>(())
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct Request {
    /// The method.
    pub method: Cow<'static, str>,
    /// The parameters.
    pub params: Params,
    /// More `_meta`: these win over the version's own and over those in the parameters.
    pub meta: Vec<(String, Raw)>,
    /// Where the request stands in a trace. It wins over what `meta` says of that.
    pub trace: Option<TraceContext>,
    /// Whether progress is wanted; the request's id is its token.
    pub progress: bool,
    /// Answers to an earlier input-required result, by its keys.
    pub input_responses: Option<InputResponses>,
    /// The state of an earlier input-required result, returned unread.
    pub request_state: Option<RequestState>,
    /// An extension that this request is of, or may be answered by. One that is not registered on
    /// the client is declared with this request alone. Versions before 2026-07-28 know no
    /// extensions and pay no heed to it.
    pub extension: Option<Arc<dyn Extension>>,
    /// More to travel beside the message, for this request alone: over HTTP, headers. What
    /// [`check_header`](crate::check_header) refuses is left out: ask it first.
    pub routing: Routing,
    /// Which of the parameter `arguments` travel as headers too, where the version and the
    /// transport have headers for that.
    pub param_headers: Option<ParamHeaders>,
    /// Whether the answer is a stream that stays open.
    pub listen: bool,
    /// What may wait for the reader of the answer.
    pub inbox: InboxLimits,
}

impl Request {
    /// A request with nothing but its parameters.
    #[must_use]
    pub fn new(method: impl Into<Cow<'static, str>>, params: Params) -> Self {
        Self {
            method: method.into(),
            params,
            meta: Vec::new(),
            trace: None,
            progress: false,
            input_responses: None,
            request_state: None,
            extension: None,
            routing: Routing::new(),
            param_headers: None,
            listen: false,
            inbox: InboxLimits::default(),
        }
    }
}

impl fmt::Debug for Request {
    /// Shows names, and no value that a caller gave.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let meta: Vec<_> = self.meta.iter().map(|(name, _)| name).collect();
        f.debug_struct("Request")
            .field("method", &self.method)
            .field("params", &self.params)
            .field("meta", &meta)
            .field("progress", &self.progress)
            .field("input_responses", &self.input_responses)
            .field("request_state", &self.request_state)
            .field("routing", &self.routing)
            .field("listen", &self.listen)
            .finish_non_exhaustive()
    }
}
