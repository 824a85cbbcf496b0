//! A message on its way out, and what its transport has to know about it.

use std::fmt;
use std::sync::Arc;

use crate::{Body, Message, RequestId, Routing};

/// One outgoing message with everything its transport needs; it never reads the inside.
///
/// ```
/// use snodo_types::Envelope;
///
/// let envelope = Envelope::request(1, r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#.to_owned());
/// assert_eq!(envelope.id, Some(1));
/// assert!(Envelope::notification("{}".to_owned()).id.is_none());
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct Envelope {
    /// The text: one JSON-RPC message without a newline in it.
    pub message: String,
    /// The id of the request; `None` for a notification or a reply, which nothing answers.
    pub id: Option<u64>,
    /// What travels outside the message.
    pub routing: Routing,
    /// How to tell the peer that nobody waits any more; `None` where it is not told.
    pub abandon: Option<Arc<Abandon>>,
    /// Whether the response may open a session (`initialize`); only then a transport looks for one.
    pub opens_session: bool,
    /// Whether a broken response stream may be taken up again (initialize era).
    pub resumable: bool,
    /// Whether the request listens: it stays open, and the peer may end it with `cancelled`.
    pub listen: bool,
    /// Whether the transport is to say who it sends the message for, if it knows, before it does.
    pub names_caller: bool,
    /// What may wait for the reader of the exchange.
    pub inbox: InboxLimits,
}

impl Envelope {
    /// An envelope for a request.
    #[must_use]
    pub fn request(id: u64, message: String) -> Self {
        Self { id: Some(id), ..Self::notification(message) }
    }

    /// An envelope for a notification or a reply.
    #[must_use]
    pub fn notification(message: String) -> Self {
        Self {
            message,
            id: None,
            routing: Routing::new(),
            abandon: None,
            opens_session: false,
            resumable: false,
            listen: false,
            names_caller: false,
            inbox: InboxLimits::default(),
        }
    }
}

impl From<Message> for Envelope {
    /// The plain envelope of a message: a request keeps its number, anything else waits for nothing.
    ///
    /// ```
    /// use snodo_types::{Envelope, Message};
    ///
    /// let envelope = Envelope::from(Message::request(&7.into(), "ping", None));
    /// assert_eq!(envelope.id, Some(7));
    /// assert_eq!(Envelope::from(Message::result(&7.into(), "{}")).id, None);
    /// ```
    fn from(message: Message) -> Self {
        let asks = matches!(message.body(), Body::Request { .. });
        let id = message.id().filter(|_| asks).and_then(RequestId::as_ours);
        Self { id, ..Self::notification(message.into_text()) }
    }
}

impl fmt::Debug for Envelope {
    /// Shows the length of the message: what stands in it may be private.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Envelope")
            .field("message", &format_args!("{} bytes", self.message.len()))
            .field("id", &self.id)
            .field("routing", &self.routing)
            .field("opens_session", &self.opens_session)
            .field("listen", &self.listen)
            .finish_non_exhaustive()
    }
}

/// The notice that a request was given up: its text before and after the id.
///
/// There is one for each connection; a transport writes it when an unfinished exchange is dropped.
///
/// ```
/// use snodo_types::{Abandon, Routing};
///
/// let abandon = Abandon::new(r#"{"jsonrpc":"2.0","method":"x","params":{"requestId":"#, "}}", Routing::new());
/// assert_eq!(abandon.message(7), r#"{"jsonrpc":"2.0","method":"x","params":{"requestId":7}}"#);
/// ```
#[derive(Clone, Debug)]
pub struct Abandon {
    before: String,
    after: String,
    routing: Routing,
}

impl Abandon {
    /// Takes the text before the id, the text after it, and what travels outside.
    #[must_use]
    pub fn new(before: impl Into<String>, after: impl Into<String>, routing: Routing) -> Self {
        Self { before: before.into(), after: after.into(), routing }
    }

    /// The notice for one request.
    #[must_use]
    pub fn message(&self, id: u64) -> String {
        format!("{}{id}{}", self.before, self.after)
    }

    /// What travels outside the notice.
    #[must_use]
    pub fn routing(&self) -> &Routing {
        &self.routing
    }
}

/// What may wait for a reader that is slower than the peer, and what happens past it.
///
/// The response and the end of an exchange are never dropped.
///
/// ```
/// use snodo_types::{InboxLimits, Overflow};
///
/// let limits = InboxLimits::default();
/// assert_eq!((limits.capacity, limits.overflow), (256, Overflow::DropOldest));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InboxLimits {
    /// The most messages that wait; 256 unless set, at least 1.
    pub capacity: usize,
    /// The most bytes that wait; 16 MiB unless set. One message alone may be larger.
    pub bytes: usize,
    /// Which message gives way.
    pub overflow: Overflow,
    /// Whether the first message (an acknowledgement) is kept whatever comes.
    pub keep_first: bool,
}

impl Default for InboxLimits {
    fn default() -> Self {
        Self {
            capacity: 256,
            bytes: 16 * 1024 * 1024,
            overflow: Overflow::DropOldest,
            keep_first: false,
        }
    }
}

/// Which message gives way when an inbox is full. Each one lost is counted and told.
///
/// ```
/// assert_eq!(snodo_types::Overflow::default(), snodo_types::Overflow::DropOldest);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Overflow {
    /// The one that came just now.
    DropNewest,
    /// The one that waits longest.
    #[default]
    DropOldest,
}
