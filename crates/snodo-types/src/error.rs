//! The one error that callers see.

use std::fmt;
use std::time::Duration;

use crate::{
    ErrorObject, InputRequired, Processed, ProtocolVersion, Raw, SchemaFault, TransportError,
    TransportFault, UnknownVersion, steers,
};

/// Why a request failed: the server said so, or it could not be asked.
///
/// A JSON-RPC error keeps the server's code, message and data; its kind follows the code. Local
/// failures have a kind of their own, so that a server's `-32000` is never taken for a broken pipe.
///
/// `Display` says what was being done, to which server, and what came back; what steers a display is
/// escaped. What lies below is in [`source`](std::error::Error::source).
///
/// ```
/// use snodo_types::{Error, ErrorObject, Kind};
///
/// let error = Error::from(ErrorObject::new(-32602, "unknown tool")).at("tools/call", "demo");
/// assert_eq!((error.kind(), error.code()), (Kind::Protocol, -32602));
/// assert_eq!(error.to_string(), "tools/call at demo: unknown tool (-32602)");
/// ```
#[derive(Clone)]
pub struct Error(Box<Inner>);

/// The kind of an [`Error`].
///
/// ```
/// use snodo_types::{Error, ErrorObject, Kind};
/// assert_eq!(Error::from(ErrorObject::new(-32603, "boom")).kind(), Kind::Execution);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// Credentials could not be had, or were refused.
    Authorization,
    /// The server, or a handler on this side, failed in doing the work (-32603).
    Execution,
    /// The message was not understood as JSON-RPC (-32700, -32600).
    JsonRpc,
    /// The request was refused: unknown method, wrong parameters, or any code of the server's own.
    Protocol,
    /// The request could not be delivered or was not answered (-32000, in time: -32001).
    Transport,
}

/// What lies below an [`Error`] that arose on this side.
///
/// ```
/// use snodo_types::{Cause, Error};
///
/// let error = Error::page_limit("c9", 1000);
/// assert!(matches!(error.cause(), Some(Cause::PageLimit { limit: 1000, .. })));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Cause {
    /// The answer is not what this request's answer has to be.
    Decode(String),
    /// The server asks for input that nobody gave; the caller can answer it by hand.
    InputRequired(Box<InputRequired>),
    /// The handler of an input request failed, or its answer is none.
    InputHandler {
        /// Which request of the result it was.
        id: String,
        /// What the handler said, or what is wrong with its answer.
        reason: String,
        /// The result, to be answered by hand.
        asked: Box<InputRequired>,
    },
    /// The pages of a list take more room together than is allowed.
    ListLimit {
        /// How many bytes were allowed.
        limit: usize,
    },
    /// The server asked for input in a way that cannot be answered.
    MalformedInput {
        /// What is wrong.
        reason: String,
        /// The result.
        asked: Box<InputRequired>,
    },
    /// The server went on asking for input after as many rounds as were allowed.
    MaxInputRounds {
        /// The last result, to be answered by hand.
        asked: Box<InputRequired>,
    },
    /// The whole call passed its `max_total_timeout`.
    MaxTotalTimeout,
    /// Neither era could be opened: what the probe got, and what `initialize` got.
    Negotiation {
        /// What came of `server/discover`.
        probe: Error,
        /// What came of `initialize`.
        initialize: Error,
    },
    /// The server asks for input of a kind that nobody handles. No handler has run.
    NoInputHandler {
        /// The kind (`form`, `url`, `sampling`, `roots`), or the method that is not known; `None`
        /// where the request names none.
        kind: Option<String>,
        /// The result, to be answered by hand.
        asked: Box<InputRequired>,
    },
    /// Pages went on after as many as were allowed.
    PageLimit {
        /// Where the list would go on.
        cursor: String,
        /// How many pages were allowed.
        limit: usize,
    },
    /// A list came back to a cursor that it had given before.
    RepeatedCursor {
        /// The cursor.
        cursor: String,
    },
    /// Arguments or a result do not fit the schema of their tool.
    Schema(Box<SchemaFault>),
    /// No answer within the timeout.
    Timeout,
    /// What carries the messages failed.
    Transport(TransportError),
    /// The result is of a type that nobody announced.
    UnknownResultType(String),
    /// The caller asked for something that has no meaning.
    Usage,
}

#[derive(Clone)]
struct Inner {
    kind: Kind,
    code: i64,
    message: String,
    data: Option<Raw>,
    cause: Option<Cause>,
    context: Option<Context>,
    repeatable: bool,
}

#[derive(Clone)]
struct Context {
    doing: Box<str>,
    server: Box<str>,
}

impl Error {
    /// The code of a failure to deliver or to understand.
    pub const TRANSPORT: i64 = -32000;
    /// The code of a request that was not answered in time.
    pub const TIMEOUT: i64 = -32001;

    /// An error of this side.
    #[must_use]
    pub fn new(kind: Kind, code: i64, message: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            kind,
            code,
            message: message.into(),
            data: None,
            cause: None,
            context: None,
            repeatable: false,
        }))
    }

    /// The caller asked for something that has no meaning: -32602, protocol.
    #[must_use]
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Kind::Protocol, ErrorObject::INVALID_PARAMS, message).with_cause(Cause::Usage)
    }

    /// No answer came within `timeout`: -32001, with `timeoutMs` in the data.
    #[must_use]
    pub fn timeout(timeout: Duration) -> Self {
        let data = serde_json::json!({ "timeoutMs": millis(timeout) });
        Self::new(Kind::Transport, Self::TIMEOUT, format!("no answer within {timeout:?}"))
            .with_data(data)
            .with_cause(Cause::Timeout)
    }

    /// The call as a whole took longer than `limit`: -32001, with `maxTotalTimeoutMs` in the data.
    #[must_use]
    pub fn max_total_timeout(limit: Duration) -> Self {
        let data = serde_json::json!({ "maxTotalTimeoutMs": millis(limit) });
        Self::new(Kind::Transport, Self::TIMEOUT, "Maximum total timeout exceeded")
            .with_data(data)
            .with_cause(Cause::MaxTotalTimeout)
    }

    /// An answer that cannot be read: -32000, transport.
    #[must_use]
    pub fn decode(reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Self::new(Kind::Transport, Self::TRANSPORT, format!("the answer cannot be read: {reason}"))
            .with_cause(Cause::Decode(reason))
    }

    /// A list that gave a cursor twice: -32000, transport.
    #[must_use]
    pub fn repeated_cursor(cursor: impl Into<String>) -> Self {
        Self::new(
            Kind::Transport,
            Self::TRANSPORT,
            "the list came back to a cursor that it had given before",
        )
        .with_cause(Cause::RepeatedCursor { cursor: cursor.into() })
    }

    /// A list whose pages take more than `limit` bytes: -32000, transport.
    #[must_use]
    pub fn list_limit(limit: usize) -> Self {
        let message = format!("the list takes more than {limit} bytes");
        Self::new(Kind::Transport, Self::TRANSPORT, message).with_cause(Cause::ListLimit { limit })
    }

    /// A list that goes on after `limit` pages: -32000, transport.
    #[must_use]
    pub fn page_limit(cursor: impl Into<String>, limit: usize) -> Self {
        Self::new(Kind::Transport, Self::TRANSPORT, format!("the list goes on after {limit} pages"))
            .with_cause(Cause::PageLimit { cursor: cursor.into(), limit })
    }

    /// Replaces the data.
    #[must_use]
    pub fn with_data(mut self, data: impl Into<Raw>) -> Self {
        self.0.data = Some(data.into());
        self
    }

    /// Replaces the cause.
    #[must_use]
    pub fn with_cause(mut self, cause: Cause) -> Self {
        self.0.cause = Some(cause);
        self
    }

    /// Says what was being done and to which server. What was said first stands.
    #[must_use]
    pub fn at(mut self, doing: &str, server: &str) -> Self {
        self.0
            .context
            .get_or_insert_with(|| Context { doing: doing.into(), server: server.into() });
        self
    }

    /// The kind.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.0.kind
    }

    /// The server's code, or one of [`TRANSPORT`](Self::TRANSPORT), [`TIMEOUT`](Self::TIMEOUT) and
    /// JSON-RPC's own for errors of this side.
    #[must_use]
    pub fn code(&self) -> i64 {
        self.0.code
    }

    /// The server's message, or a sentence of this side.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// What came with it.
    #[must_use]
    pub fn data(&self) -> Option<&Raw> {
        self.0.data.as_ref()
    }

    /// What lies below, for errors of this side.
    #[must_use]
    pub fn cause(&self) -> Option<&Cause> {
        self.0.cause.as_ref()
    }

    /// The failure of the transport below, where that is the cause. Where both eras were tried, it
    /// is that of `initialize`.
    #[must_use]
    pub fn transport(&self) -> Option<&TransportError> {
        match &self.0.cause {
            Some(Cause::Negotiation { initialize, .. }) => initialize.transport(),
            Some(Cause::Transport(below)) => Some(below),
            _ => None,
        }
    }

    /// Whether no answer came in time, by whatever clock.
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        match &self.0.cause {
            Some(Cause::Negotiation { initialize, .. }) => initialize.is_timeout(),
            Some(Cause::Timeout | Cause::MaxTotalTimeout) => true,
            Some(Cause::Transport(below)) => below.fault() == TransportFault::Timeout,
            _ => false,
        }
    }

    /// Says that the request only reads, or may be carried out twice.
    #[must_use]
    pub fn repeatable(mut self) -> Self {
        self.0.repeatable = true;
        self
    }

    /// Whether the request may be made again without being carried out twice to any harm: it was
    /// certainly not carried out, or it only reads.
    #[must_use]
    pub fn may_be_repeated(&self) -> bool {
        let unsent = self.transport().is_some_and(|below| below.processed() == Processed::No);
        self.0.repeatable || unsent
    }

    /// Whether the connection is over.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.transport().is_some_and(|below| {
            matches!(below.fault(), TransportFault::Closed | TransportFault::Exited)
        })
    }
}

impl From<ErrorObject> for Error {
    /// The server's own words; the kind follows the code.
    fn from(object: ErrorObject) -> Self {
        let kind = match object.code {
            ErrorObject::PARSE_ERROR | ErrorObject::INVALID_REQUEST => Kind::JsonRpc,
            ErrorObject::INTERNAL_ERROR => Kind::Execution,
            _ => Kind::Protocol,
        };
        let mut error = Self::new(kind, object.code, object.message);
        error.0.data = object.data;
        error
    }
}

impl From<TransportError> for Error {
    fn from(below: TransportError) -> Self {
        let code = match below.fault() {
            TransportFault::Timeout => Self::TIMEOUT,
            _ => Self::TRANSPORT,
        };
        let kind = match (below.fault(), below.status()) {
            (TransportFault::Credentials, _) | (_, Some(401 | 403)) => Kind::Authorization,
            _ => Kind::Transport,
        };
        Self::new(kind, code, below.message()).with_cause(Cause::Transport(below))
    }
}

impl From<UnknownVersion> for Error {
    /// -32602, protocol, with `requested` and `supported` in the data.
    fn from(unknown: UnknownVersion) -> Self {
        let supported: Vec<&str> =
            ProtocolVersion::ALL.iter().map(|version| version.as_str()).collect();
        let data = serde_json::json!({ "requested": unknown.text(), "supported": supported });
        Self::usage(unknown.to_string()).with_data(data)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(Context { doing, server }) = &self.0.context {
            write!(f, "{} at {}: ", printable(doing), printable(server))?;
        }
        write!(f, "{} ({})", printable(&self.0.message), self.0.code)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Error");
        shown
            .field("kind", &self.0.kind)
            .field("code", &self.0.code)
            .field("message", &self.0.message);
        if let Some(Context { doing, server }) = &self.0.context {
            shown.field("doing", doing).field("server", server);
        }
        shown.field("data", &self.0.data).field("cause", &self.0.cause).finish()
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self.0.cause.as_ref()? {
            Cause::Negotiation { initialize, .. } => Some(initialize),
            Cause::Transport(below) => Some(below),
            _ => None,
        }
    }
}

/// What may go to a terminal or a log: what [`steers`] is escaped, at most 500 characters.
fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len().min(512));
    for (count, character) in text.chars().enumerate() {
        if count == 500 {
            shown.push('…');
            break;
        }
        if steers(character) {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    shown
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Cause, Error, Kind};
    use crate::{ErrorObject, TransportError, TransportFault};

    // S-04
    #[test]
    fn the_kind_of_a_server_s_error_follows_its_code() {
        let kind = |code| Error::from(ErrorObject::new(code, "")).kind();
        assert_eq!([kind(-32700), kind(-32600)], [Kind::JsonRpc; 2]);
        assert_eq!([kind(-32601), kind(-32602), kind(-32000), kind(17)], [Kind::Protocol; 4]);
        assert_eq!(kind(-32603), Kind::Execution);
    }

    // S-05, ERR-07
    #[test]
    fn a_local_failure_is_never_mistaken_for_the_server_s_word() {
        let local = Error::from(TransportError::new(TransportFault::Closed, "the pipe is closed"));
        let sent = Error::from(ErrorObject::new(-32000, "the pipe is closed"));
        assert_eq!((local.code(), sent.code()), (-32000, -32000));
        assert_eq!((local.kind(), sent.kind()), (Kind::Transport, Kind::Protocol));
        assert!(local.is_closed() && local.transport().is_some());
        assert!(!sent.is_closed() && sent.cause().is_none());
    }

    // S-41
    #[test]
    fn a_timeout_says_how_long_was_waited() {
        let plain = Error::timeout(Duration::from_millis(1500));
        assert_eq!((plain.code(), plain.is_timeout()), (-32001, true));
        assert_eq!(plain.data().map(ToString::to_string).as_deref(), Some(r#"{"timeoutMs":1500}"#));
        let total = Error::max_total_timeout(Duration::from_secs(600));
        assert_eq!(total.message(), "Maximum total timeout exceeded");
        assert_eq!(
            total.data().map(ToString::to_string).as_deref(),
            Some(r#"{"maxTotalTimeoutMs":600000}"#)
        );
    }

    #[test]
    fn what_a_server_says_cannot_steer_a_terminal() {
        let error =
            Error::from(ErrorObject::new(1, "\u{1b}[2Jgone\r\n\u{202e}")).at("tools/call", "x");
        assert_eq!(error.to_string(), "tools/call at x: \\u{1b}[2Jgone\\r\\n\\u{202e} (1)");
        let long = Error::from(ErrorObject::new(1, "x".repeat(10_000)));
        assert!(long.to_string().chars().count() < 520);
    }

    // S-13
    #[test]
    fn an_unknown_version_is_refused_with_those_that_are_known() {
        let unknown = "1999-01-01".parse::<crate::ProtocolVersion>().expect_err("nobody speaks it");
        let error = Error::from(unknown);
        assert_eq!((error.kind(), error.code()), (Kind::Protocol, -32602));
        let data = error.data().expect("data").text();
        assert!(
            data.contains(r#""requested":"1999-01-01""#) && data.contains("2025-06-18"),
            "{data}"
        );
    }

    // S-35
    #[test]
    fn a_broken_list_names_its_cursor() {
        let error = Error::repeated_cursor("c1");
        assert_eq!((error.kind(), error.code()), (Kind::Transport, -32000));
        assert!(matches!(error.cause(), Some(Cause::RepeatedCursor { cursor }) if cursor == "c1"));
    }
}
