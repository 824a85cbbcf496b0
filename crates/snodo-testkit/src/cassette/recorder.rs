//! Writing down what goes over another transport.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::Stream;
use snodo_transport::{Abilities, BoxFuture, Connect, Exchange, Incoming, Transport};
use snodo_types::{Abandon, Body, Concern, Envelope, Message, Routing, TransportError};

use super::log::Log;
use crate::{Transcript, TranscriptError};

/// A way to a server that writes down what goes over another one: a cassette.
///
/// What it writes is a [`Transcript`], a text that people can read and change. It is played back by
/// [`Replay`](crate::Replay), and as long as nothing failed below the messages, a
/// [`Play`](crate::Play) performs it too. Clones write to the same one.
///
/// # What is written, and what is not
///
/// The server's messages are written as they came, with the ids of the client's requests as names
/// (`"$3"`). Of the client's messages `_meta` is left out, and of `initialize` everything but the
/// version, for they differ from one run to the next. Nothing outside of a message is written:
/// no header, no credential, no URL of a redirect. A session is called `s1`, `s2` and so on.
///
/// In the messages, the value of each member whose name ends like one for a secret (`token`,
/// `password`, `apiKey`, `authorization`, …), and each word that looks like a credential (behind
/// `Bearer`, a JSON Web Token, a key with a well-known beginning, the user in a URL), is replaced:
/// by `(hidden)` where the server said it, by `"$any"` where the client did. What else is secret is
/// told with [`hide_text`](Self::hide_text) and [`hide_member`](Self::hide_member), before anything
/// is recorded. A server may still have said something that only people know to be private: read a
/// cassette before you publish it.
///
/// At most 64 MiB are kept; then the recording stops, and its last line says so.
///
/// ```
/// use snodo_testkit::Recorder;
/// use snodo_transport::{Connect, Incoming, Transport, from_fn};
/// use snodo_types::Message;
///
/// # async fn record() -> Result<(), Box<dyn std::error::Error>> {
/// let server = from_fn(|envelope| async move {
///     Ok(envelope.id.map(|id| Message::result(&id.into(), r#"{"tools":[]}"#)))
/// });
/// let recorder = Recorder::new(server);
/// recorder.hide_text("my-tenant");
/// let transport = recorder.connect().await?;
/// let mut exchange = transport.exchange(Message::request(&7.into(), "tools/list", None).into());
/// while let Some(incoming) = exchange.next().await {
///     incoming?;
/// }
/// assert!(recorder.text().ends_with(
///     "> {\"id\":\"$7\",\"method\":\"tools/list\"}\n\
///      < {\"jsonrpc\":\"2.0\",\"id\":\"$7\",\"result\":{\"tools\":[]}}\n"
/// ));
/// # Ok(())
/// # }
/// ```
pub struct Recorder<C> {
    connect: Arc<C>,
    log: Log,
}

impl<C: Connect> Recorder<C> {
    /// How many bytes are recorded at most: 64 MiB.
    pub const MAX_BYTES: usize = 64 * 1024 * 1024;

    /// Records what goes over the connections that `connect` makes.
    #[must_use]
    pub fn new(connect: C) -> Self {
        Self::with_max_bytes(connect, Self::MAX_BYTES)
    }

    /// The same with another limit on what is kept.
    #[must_use]
    pub fn with_max_bytes(connect: C, max_bytes: usize) -> Self {
        let log = Log::new(&connect.target(), max_bytes);
        Self { connect: Arc::new(connect), log }
    }

    /// Hides a text wherever it stands, from now on.
    pub fn hide_text(&self, secret: &str) {
        self.log.hide(|hide| hide.text(secret));
    }

    /// Hides the values of members of this name, whatever stands between its letters and digits,
    /// from now on.
    pub fn hide_member(&self, name: &str) {
        self.log.hide(|hide| hide.member(name));
    }

    /// What was recorded so far, as the text of a transcript.
    #[must_use]
    pub fn text(&self) -> String {
        self.log.text()
    }

    /// What was recorded so far, as a transcript of this name.
    ///
    /// # Errors
    ///
    /// None that is known: what is recorded can be read.
    pub fn transcript(&self, name: &str) -> Result<Transcript, TranscriptError> {
        Transcript::parse(name, &self.text())
    }

    /// Whether the limit was reached, and something is missing.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.log.is_full()
    }

    /// Writes what was recorded so far to a file, in place of what is there.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> io::Result<()> {
        std::fs::write(path, self.text())
    }
}

impl<C: Connect> Connect for Recorder<C> {
    type Transport = RecordedTransport<C::Transport>;

    async fn connect(&self) -> Result<Self::Transport, TransportError> {
        let connection = self.log.connection();
        match self.connect.connect().await {
            Ok(inner) => {
                self.log.abilities(inner.abilities());
                Ok(RecordedTransport { inner, log: self.log.clone(), connection })
            }
            Err(error) => {
                self.log.failed(connection, None, &error);
                Err(error)
            }
        }
    }

    fn target(&self) -> Cow<'_, str> {
        self.connect.target()
    }

    fn origin(&self) -> Option<String> {
        self.connect.origin()
    }
}

impl<C> Clone for Recorder<C> {
    fn clone(&self) -> Self {
        Self { connect: Arc::clone(&self.connect), log: self.log.clone() }
    }
}

impl<C> fmt::Debug for Recorder<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Recorder")
    }
}

/// A connection that is written down; see [`Recorder`].
///
/// ```
/// # use snodo_testkit::{RecordedTransport, Recorder};
/// # use snodo_transport::{Connect, Transport};
/// # async fn connect<C: Connect>(recorder: Recorder<C>) -> Result<(), snodo_types::TransportError> {
/// let transport: RecordedTransport<C::Transport> = recorder.connect().await?;
/// println!("{:?}", transport.abilities());
/// # Ok(())
/// # }
/// ```
pub struct RecordedTransport<T> {
    inner: T,
    log: Log,
    connection: usize,
}

impl<T> RecordedTransport<T> {
    fn watch(&self, exchange: Exchange, role: Role) -> Exchange {
        let (log, connection) = (self.log.clone(), self.connection);
        Exchange::new(Watched { exchange, role, log, connection })
    }
}

impl<T: Transport> Transport for RecordedTransport<T> {
    fn exchange(&self, envelope: Envelope) -> Exchange {
        let role = Role::Message {
            text: Some(envelope.message.clone()),
            id: envelope.id,
            abandon: envelope.abandon.clone(),
            own_stream: self.inner.abilities().own_stream,
        };
        self.watch(self.inner.exchange(envelope), role)
    }

    fn abilities(&self) -> Abilities {
        self.inner.abilities()
    }

    fn unsolicited(&self, routing: Routing) -> Option<Exchange> {
        let own_stream = self.inner.abilities().own_stream;
        let exchange = self.inner.unsolicited(routing)?;
        Some(self.watch(exchange, Role::Unasked { own_stream, attended: false }))
    }

    fn close(&self, routing: Routing, limit: Duration) -> BoxFuture<'static, ()> {
        self.inner.close(routing, limit)
    }
}

impl<T> fmt::Debug for RecordedTransport<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordedTransport").field("connection", &self.connection).finish()
    }
}

/// An exchange that is written down.
struct Watched {
    exchange: Exchange,
    role: Role,
    log: Log,
    connection: usize,
}

enum Role {
    /// A message of the client's and what comes of it.
    Message {
        /// The text, until it is written.
        text: Option<String>,
        /// The request, until its exchange is over.
        id: Option<u64>,
        abandon: Option<Arc<Abandon>>,
        own_stream: bool,
    },
    /// What concerns no request.
    Unasked { own_stream: bool, attended: bool },
}

impl Watched {
    fn note(&mut self, next: Option<&Result<Incoming, TransportError>>) {
        let (log, connection) = (&self.log, self.connection);
        match (next, &mut self.role) {
            (Some(Ok(Incoming::Message(message))), Role::Message { id, .. }) => {
                log.said(connection, *id, message);
                if is_last(message) {
                    *id = None;
                }
            }
            (Some(Ok(Incoming::Message(message))), Role::Unasked { .. }) => {
                log.said(connection, None, message);
            }
            (Some(Ok(Incoming::Sent)), Role::Unasked { own_stream: true, attended })
                if !*attended =>
            {
                *attended = true;
                log.attended(connection);
            }
            (Some(Ok(Incoming::Dropped(lost))), _) => {
                log.note(connection, &format!("{lost} messages were lost here."));
            }
            (Some(Err(error)), Role::Message { id, .. }) => {
                if let Some(id) = id.take() {
                    log.failed(connection, Some(id), error);
                }
            }
            (Some(Err(_)), Role::Unasked { own_stream: true, .. }) => {
                log.note(connection, "The stream of what is unasked ended.");
            }
            (Some(Err(error)), Role::Unasked { .. }) => log.failed(connection, None, error),
            (None, Role::Message { id, .. }) => *id = None,
            _ => {}
        }
    }
}

/// Whether nothing comes behind this message on the exchange of a request.
fn is_last(message: &Message) -> bool {
    matches!(message.concerns(), Concern::Answer(_) | Concern::Ends(_))
        || matches!(message.body(), Body::Error { id: None, .. })
}

impl Stream for Watched {
    type Item = Result<Incoming, TransportError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Role::Message { text, .. } = &mut self.role
            && let Some(text) = text.take()
        {
            self.log.asked(self.connection, &text);
        }
        let polled = Pin::new(&mut self.exchange).poll_next(cx);
        if let Poll::Ready(next) = &polled {
            self.note(next.as_ref());
        }
        polled
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let Role::Message { text: None, id: Some(id), abandon, own_stream } = &self.role else {
            return;
        };
        match abandon {
            Some(abandon) => self.log.asked(self.connection, &abandon.message(*id)),
            None if *own_stream => self.log.closed(self.connection, *id),
            None => {}
        }
    }
}
