//! The requests and replies of a loopback server.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use serde_json::Value;
use tokio::sync::mpsc;

/// An HTTP request as it came.
///
/// ```
/// # use snodo_testkit::Request;
/// fn method_of(request: &Request) -> Option<String> {
///     request.json()?.get("method")?.as_str().map(str::to_owned)
/// }
/// # let _ = method_of;
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Request {
    /// The method: `POST`, `GET`, `DELETE`.
    pub method: String,
    /// The path with its query.
    pub path: String,
    /// The headers in their order; names as they were written.
    pub headers: Vec<(String, String)>,
    /// The body; bytes that are no UTF-8 are replaced.
    pub body: String,
}

impl Request {
    /// The first value of a header, whatever the case of its name.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut all = self.headers.iter();
        all.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// The body as JSON, if it is.
    #[must_use]
    pub fn json(&self) -> Option<Value> {
        serde_json::from_str(&self.body).ok()
    }

    /// The method of the JSON-RPC message in the body.
    #[must_use]
    pub fn rpc(&self) -> Option<String> {
        self.json()?.get("method")?.as_str().map(str::to_owned)
    }

    /// All headers as a JSON object, their names in lower case.
    #[must_use]
    pub fn headers_json(&self) -> Value {
        let pairs = self.headers.iter();
        pairs
            .map(|(name, value)| (name.to_ascii_lowercase(), Value::from(value.as_str())))
            .collect()
    }
}

/// What a loopback server answers.
///
/// ```
/// use snodo_testkit::Reply;
///
/// let reply = Reply::new(404).header("Mcp-Session-Id", "s1").text("no such session");
/// # let _ = reply;
/// ```
#[derive(Debug)]
pub struct Reply {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Body,
}

pub(super) enum Body {
    /// It never comes.
    Hang,
    /// In pieces, as the future hands them over; it ends with the future.
    Pieces(mpsc::Receiver<Piece>, Pin<Box<dyn Future<Output = ()> + Send>>),
    /// The connection breaks before a byte of the answer.
    Reset,
    Whole(String),
}

/// What the writer of a body hands over.
#[derive(Debug)]
pub(super) enum Piece {
    /// Here the connection breaks.
    Cut,
    Text(String),
}

/// Where the writer of an event stream puts its events; see [`Reply::stream`].
///
/// ```
/// use snodo_testkit::Reply;
///
/// let reply = Reply::new(200).stream(|events| async move {
///     events.raw(": a comment\n\n").await;
///     events.message(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#).await;
/// });
/// # let _ = reply;
/// ```
#[derive(Debug)]
pub struct Events(mpsc::Sender<Piece>);

impl Reply {
    /// An answer with an empty body.
    #[must_use]
    pub fn new(status: u16) -> Self {
        Self { status, headers: Vec::new(), body: Body::Whole(String::new()) }
    }

    /// No answer at all: the connection stays open and silent.
    #[must_use]
    pub fn hang() -> Self {
        Self { body: Body::Hang, ..Self::new(200) }
    }

    /// No answer: the connection breaks.
    #[must_use]
    pub fn reset() -> Self {
        Self { body: Body::Reset, ..Self::new(200) }
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// A JSON body with its `Content-Type`.
    #[must_use]
    pub fn json(self, body: impl Into<String>) -> Self {
        self.header("Content-Type", "application/json").text(body)
    }

    /// A body without a `Content-Type`.
    #[must_use]
    pub fn text(mut self, body: impl Into<String>) -> Self {
        self.body = Body::Whole(body.into());
        self
    }

    /// An event stream with one event for each message, which ends after the last.
    #[must_use]
    pub fn events<'a>(self, messages: impl IntoIterator<Item = &'a str>) -> Self {
        let events: String = messages.into_iter().map(event).collect();
        self.header("Content-Type", "text/event-stream").text(events)
    }

    /// An event stream that is written as one async function. It ends when the function returns;
    /// when the client hangs up first, the function is dropped where it stands.
    #[must_use]
    pub fn stream<F, G>(self, function: F) -> Self
    where
        F: FnOnce(Events) -> G,
        G: Future<Output = ()> + Send + 'static,
    {
        self.header("Content-Type", "text/event-stream").pieces(function)
    }

    /// A body without a `Content-Type` that is written as one async function, as
    /// [`stream`](Self::stream) is.
    #[must_use]
    pub fn pieces<F, G>(mut self, function: F) -> Self
    where
        F: FnOnce(Events) -> G,
        G: Future<Output = ()> + Send + 'static,
    {
        let (sender, pieces) = mpsc::channel(PIECES_WAITING);
        self.body = Body::Pieces(pieces, Box::pin(function(Events(sender))));
        self
    }
}

impl Events {
    /// Sends one event that holds a message of a single line.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is ready, nothing was sent.
    pub async fn message(&self, message: &str) {
        self.raw(event(message)).await;
    }

    /// Sends text as it is, and at once.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is ready, nothing was sent.
    pub async fn raw(&self, text: impl Into<String>) {
        // The function is dropped when its reader is gone.
        let _ = self.0.send(Piece::Text(text.into())).await;
    }

    /// Breaks the connection off, behind what was sent.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is ready, the connection stays.
    pub async fn cut(&self) {
        let _ = self.0.send(Piece::Cut).await;
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Hang => "Hang",
            Self::Pieces(..) => "Pieces",
            Self::Reset => "Reset",
            Self::Whole(_) => "Whole",
        })
    }
}

pub(crate) fn event(message: &str) -> String {
    format!("event: message\ndata: {message}\n\n")
}

const PIECES_WAITING: usize = 64;
