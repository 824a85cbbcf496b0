//! The error member of a JSON-RPC response.

use serde::{Deserialize, Serialize};

use crate::Raw;

/// What a peer says went wrong: code, message, and data if it sent any.
///
/// ```
/// use snodo_types::ErrorObject;
///
/// let error: ErrorObject = serde_json::from_str(r#"{"code":-32601,"message":"no such method"}"#)?;
/// assert_eq!((error.code, error.message.as_str()), (-32601, "no such method"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ErrorObject {
    /// The error's number.
    pub code: i64,
    /// A sentence for people.
    pub message: String,
    /// Whatever else the peer wanted to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Raw>,
}

impl ErrorObject {
    /// The message could not be parsed.
    pub const PARSE_ERROR: i64 = -32700;
    /// The message is no valid request.
    pub const INVALID_REQUEST: i64 = -32600;
    /// The peer does not know the method.
    pub const METHOD_NOT_FOUND: i64 = -32601;
    /// The parameters are wrong.
    pub const INVALID_PARAMS: i64 = -32602;
    /// The peer failed.
    pub const INTERNAL_ERROR: i64 = -32603;
    /// 2026-07-28: a header and the body disagree.
    pub const HEADER_MISMATCH: i64 = -32020;
    /// 2026-07-28: the request needs a client capability that it did not declare.
    pub const MISSING_CLIENT_CAPABILITY: i64 = -32021;
    /// 2026-07-28: the server does not speak the version of the request.
    pub const UNSUPPORTED_PROTOCOL_VERSION: i64 = -32022;
    /// 2025-11-25: the user has to open a URL first.
    pub const URL_ELICITATION_REQUIRED: i64 = -32042;

    /// An error without data.
    #[must_use]
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// Adds data.
    #[must_use]
    pub fn with_data(mut self, data: impl Into<Raw>) -> Self {
        self.data = Some(data.into());
        self
    }
}
