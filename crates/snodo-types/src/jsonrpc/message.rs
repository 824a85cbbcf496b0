//! One message: its text, its head read once, and whom it concerns.

use std::fmt;
use std::ops::Range;
use std::time::Duration;

use serde::Deserialize;

use super::RequestId;
use super::head::form;
use super::peek::answered_id;
use crate::json::read_known;
use crate::{Kept, Meta, lens, read_json};

/// A JSON-RPC message from a peer.
///
/// The text is kept as it came; only the members of the outermost object were looked at. What
/// stands in `params`, `result` or `error` stays text until it is read, at any depth.
///
/// ```
/// use snodo_types::{Body, Concern, Message};
///
/// let message = Message::parse(r#"{"jsonrpc":"2.0","id":3,"result":{"tools":[]}}"#)?;
/// let Body::Result { result, .. } = message.body() else { panic!("a result") };
/// assert_eq!(result, r#"{"tools":[]}"#);
/// assert_eq!(message.concerns(), Concern::Answer(3));
/// # Ok::<(), snodo_types::MalformedMessage>(())
/// ```
#[derive(Clone)]
pub struct Message {
    pub(super) text: String,
    pub(super) form: Form,
    pub(super) origin: Origin,
    pub(super) outside: Option<Box<Outside>>,
}

/// Where the text of a message is from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// It was read, and is JSON throughout.
    Parsed,
    /// It was put together here of pieces that nobody has read.
    Written,
}

/// What a message is; see [`Message::body`].
///
/// Closed on purpose: JSON-RPC knows these four.
///
/// ```
/// use snodo_types::{Body, Message};
///
/// let message = Message::parse(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)?;
/// assert!(matches!(message.body(), Body::Notification { method: "notifications/initialized", params: None }));
/// # Ok::<(), snodo_types::MalformedMessage>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "JSON-RPC 2.0 has exactly these four")]
pub enum Body<'a> {
    /// The peer could not do what was asked. Some answers to unreadable requests have no id.
    Error {
        /// The request that failed.
        id: Option<&'a RequestId>,
        /// The text of the error object.
        error: &'a str,
    },
    /// The peer tells something and wants no answer.
    Notification {
        /// What it is about.
        method: &'a str,
        /// The text of the parameters object.
        params: Option<&'a str>,
    },
    /// The peer asks for something.
    Request {
        /// The peer's id: its numbers are not ours.
        id: &'a RequestId,
        /// What is asked.
        method: &'a str,
        /// The text of the parameters: an object, if the peer asks properly.
        params: Option<&'a str>,
    },
    /// The answer to a request.
    Result {
        /// The request that is answered.
        id: &'a RequestId,
        /// The text of the result object.
        result: &'a str,
    },
}

/// Whom a message concerns, in the numbers of the client's own requests.
///
/// A transport that shares one pipe between many requests routes by it.
///
/// ```
/// use snodo_types::{Concern, Message};
///
/// let text = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":4,"progress":1}}"#;
/// assert_eq!(Message::parse(text)?.concerns(), Concern::Part(4));
/// # Ok::<(), snodo_types::MalformedMessage>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a transport has to route every case")]
pub enum Concern {
    /// The response to this request.
    Answer(u64),
    /// The peer gave this request up (`notifications/cancelled`). Only a listening request may be
    /// ended so; in the initialize era the number is one of the peer's own.
    Ends(u64),
    /// No request of ours: a request of the peer's, or news for whoever attends the connection.
    Nobody,
    /// Something on the way to the response: progress, or an event of a subscription.
    Part(u64),
}

/// What stood outside a message: facts that a transport knows and the text does not.
///
/// ```
/// use snodo_types::{Message, Outside};
///
/// let message = Message::parse(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"busy"}}"#)?
///     .with_outside(Outside { status: Some(503), ..Outside::default() });
/// assert_eq!(message.outside().and_then(|outside| outside.status), Some(503));
/// # Ok::<(), snodo_types::MalformedMessage>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "built by transports of other crates with `..Default`"
)]
pub struct Outside {
    /// The HTTP status, where it was not a plain 200.
    pub status: Option<u16>,
    /// How long the peer wants to be left alone (`Retry-After`).
    pub retry_after: Option<Duration>,
    /// The session this response opened. Given for envelopes that may open one, and only then.
    pub session: Option<SessionId>,
    /// The message did not come from the peer just now: it was kept.
    pub kept: Option<Kept>,
}

/// The id of a session that a server issued. It may act as a credential: `Debug` hides it.
///
/// ```
/// let id = snodo_types::SessionId::new("6f1c").expect("visible ASCII");
/// assert_eq!(id.as_str(), "6f1c");
/// assert_eq!(format!("{id:?}"), "SessionId(…)");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct SessionId(Box<str>);

impl SessionId {
    /// Takes an id of visible ASCII characters (2025-11-25, transports, "Session Management");
    /// `None` for an empty or any other text, and for one longer than 4 KiB.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let fits = !text.is_empty() && text.len() <= 4096;
        (fits && text.bytes().all(|byte| byte.is_ascii_graphic())).then(|| Self(text.into()))
    }

    /// The id as it goes on the wire.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionId(…)")
    }
}

/// A text that is no JSON-RPC message.
///
/// ```
/// use snodo_types::{Message, RequestId};
///
/// let malformed = Message::parse(r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#).expect_err("both");
/// assert_eq!(malformed.id(), Some(&RequestId::Number(1)));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a JSON-RPC message: {reason}")]
pub struct MalformedMessage {
    reason: String,
    id: Option<RequestId>,
}

impl MalformedMessage {
    /// The request that the text answers, where it is a response and the id could be read.
    #[must_use]
    pub fn id(&self) -> Option<&RequestId> {
        self.id.as_ref()
    }

    /// What is wrong with the text.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

impl Message {
    /// Reads the head of one message.
    ///
    /// # Errors
    ///
    /// The text is not one JSON object, lacks `"jsonrpc":"2.0"`, names a top-level member twice,
    /// or is neither a request, a notification nor a response with exactly one of an object
    /// `result` and an object `error`.
    pub fn parse(text: impl Into<String>) -> Result<Self, MalformedMessage> {
        let text = text.into();
        match form(&text) {
            Ok(form) => Ok(Self { text, form, origin: Origin::Parsed, outside: None }),
            Err(reason) => Err(MalformedMessage { reason, id: answered_id(text.as_bytes()) }),
        }
    }

    /// Adds what stood outside the text.
    #[must_use]
    pub fn with_outside(mut self, outside: Outside) -> Self {
        self.outside = (outside != Outside::default()).then(|| Box::new(outside));
        self
    }

    /// What stood outside the text, if it was anything worth telling.
    #[must_use]
    pub fn outside(&self) -> Option<&Outside> {
        self.outside.as_deref()
    }

    /// The whole text, as it came.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The whole text, without a copy of it.
    #[must_use]
    pub fn into_text(self) -> String {
        self.text
    }

    /// The message taken apart.
    #[must_use]
    pub fn body(&self) -> Body<'_> {
        let at = |range: &Range<usize>| &self.text[range.clone()];
        match &self.form {
            Form::Error { id, error } => Body::Error { id: id.as_ref(), error: at(error) },
            Form::Notification { method, params } => Body::Notification {
                method: method.read(&self.text),
                params: params.as_ref().map(at),
            },
            Form::Request { id, method, params } => Body::Request {
                id,
                method: method.read(&self.text),
                params: params.as_ref().map(at),
            },
            Form::Result { id, result, .. } => Body::Result { id, result: at(result) },
        }
    }

    /// Reads what the message carries as a `T`: the result, the error object or the parameters, of which absent ones read
    /// as `{}`.
    ///
    /// It is the same as [`read_json`](crate::read_json) of the text in [`body`](Self::body), in less time: that text was
    /// looked at once already.
    ///
    /// ```
    /// use snodo_types::{CallToolResult, Message};
    ///
    /// let message = Message::parse(r#"{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"hi"}]}}"#)?;
    /// assert_eq!(message.decode::<CallToolResult>()?.text(), "hi");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// It is no `T`.
    pub fn decode<'a, T: Deserialize<'a>>(&'a self) -> Result<T, serde_json::Error> {
        let text = match self.body() {
            Body::Error { error, .. } => error,
            Body::Notification { params, .. } | Body::Request { params, .. } => {
                params.unwrap_or("{}")
            }
            Body::Result { result, .. } => result,
        };
        match self.origin {
            Origin::Parsed => read_known(text),
            Origin::Written => read_json(text),
        }
    }

    fn concern(&self, method: &str, params: &str) -> Concern {
        let number = |path: &[&str]| self.member(params, path).and_then(RequestId::read)?.as_ours();
        match method {
            "notifications/progress" => {
                number(&["progressToken"]).map_or(Concern::Nobody, Concern::Part)
            }
            "notifications/cancelled" => {
                number(&["requestId"]).map_or(Concern::Nobody, Concern::Ends)
            }
            _ => number(SUBSCRIPTION).map_or(Concern::Nobody, Concern::Part),
        }
    }

    /// A member of a piece of this text.
    fn member<'a>(&'a self, piece: &'a str, path: &[&str]) -> Option<&'a str> {
        match self.origin {
            Origin::Parsed => lens::known_member(piece, path),
            Origin::Written => lens::member(piece, path),
        }
    }

    /// The id of the request or of what is answered; notifications have none.
    #[must_use]
    pub fn id(&self) -> Option<&RequestId> {
        match &self.form {
            Form::Error { id, .. } => id.as_ref(),
            Form::Notification { .. } => None,
            Form::Request { id, .. } | Form::Result { id, .. } => Some(id),
        }
    }

    /// The text of the result's member `resultType`, and of nothing else of it; `None` where it is
    /// absent or `null`, and for what is no result. Of several, the last counts.
    ///
    /// ```
    /// use snodo_types::Message;
    ///
    /// let message = Message::parse(r#"{"jsonrpc":"2.0","id":3,"result":{"resultType":"task"}}"#)?;
    /// assert_eq!(message.result_type(), Some(r#""task""#));
    /// # Ok::<(), snodo_types::MalformedMessage>(())
    /// ```
    #[must_use]
    pub fn result_type(&self) -> Option<&str> {
        let Form::Result { result, kind, .. } = &self.form else { return None };
        match kind {
            Kind::Absent => None,
            Kind::At(range) => Some(&self.text[range.clone()]).filter(|kind| *kind != "null"),
            Kind::Unknown => self.member(&self.text[result.clone()], &["resultType"]),
        }
    }

    /// The subscription that a notification is under (2026-07-28), if it names one.
    ///
    /// ```
    /// use snodo_types::{Message, RequestId};
    ///
    /// let params = r#"{"_meta":{"io.modelcontextprotocol/subscriptionId":4},"uri":"a:b"}"#;
    /// let news = Message::notification("notifications/resources/updated", Some(params));
    /// assert_eq!(news.subscription_id(), Some(RequestId::Number(4)));
    /// ```
    #[must_use]
    pub fn subscription_id(&self) -> Option<RequestId> {
        match self.body() {
            Body::Notification { params, .. } => {
                self.member(params?, SUBSCRIPTION).and_then(RequestId::read)
            }
            _ => None,
        }
    }

    /// Whom the message concerns.
    #[must_use]
    pub fn concerns(&self) -> Concern {
        match self.body() {
            Body::Error { id: Some(id), .. } | Body::Result { id, .. } => {
                id.as_ours().map_or(Concern::Nobody, Concern::Answer)
            }
            Body::Error { id: None, .. } | Body::Request { .. } => Concern::Nobody,
            Body::Notification { params: None, .. } => Concern::Nobody,
            Body::Notification { method, params: Some(params) } => self.concern(method, params),
        }
    }
}

impl fmt::Debug for Message {
    /// Shows the head; what peers say may be private.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, method) = match self.body() {
            Body::Error { .. } => ("Error", None),
            Body::Notification { method, .. } => ("Notification", Some(method)),
            Body::Request { method, .. } => ("Request", Some(method)),
            Body::Result { .. } => ("Result", None),
        };
        let mut shown = f.debug_struct(name);
        if let Some(id) = self.id() {
            shown.field("id", &format_args!("{id}"));
        }
        if let Some(method) = method {
            shown.field("method", &method);
        }
        shown.field("bytes", &self.text.len()).finish()
    }
}

impl TryFrom<String> for Message {
    type Error = MalformedMessage;

    fn try_from(text: String) -> Result<Self, MalformedMessage> {
        Self::parse(text)
    }
}

/// Where things stand in the text.
#[derive(Clone)]
pub(super) enum Form {
    Error { id: Option<RequestId>, error: Range<usize> },
    Notification { method: Name, params: Option<Range<usize>> },
    Request { id: RequestId, method: Name, params: Option<Range<usize>> },
    Result { id: RequestId, result: Range<usize>, kind: Kind },
}

/// Where a result says of what type it is.
#[derive(Clone)]
pub(super) enum Kind {
    Absent,
    At(Range<usize>),
    /// Nobody has looked yet.
    Unknown,
}

/// A method name: nearly always a piece of the text, rarely one that had to be unescaped.
#[derive(Clone)]
pub(super) enum Name {
    At(Range<usize>),
    Unescaped(Box<str>),
}

impl Name {
    fn read<'a>(&'a self, text: &'a str) -> &'a str {
        match self {
            Self::At(range) => &text[range.clone()],
            Self::Unescaped(name) => name,
        }
    }
}

/// Where a notification names the subscription that it is under.
const SUBSCRIPTION: &[&str] = &["_meta", Meta::SUBSCRIPTION_ID];

#[cfg(test)]
#[path = "message_tests.rs"]
mod tests;
