//! The HTTP+SSE transport of MCP 2024-11-05, for servers that speak nothing newer.
//!
//! Two URLs make a connection: an event stream that a GET opens, on which everything comes, and an
//! endpoint that the first event of the stream names, to which messages are posted. The protocol
//! replaced it by Streamable HTTP in 2025-03-26, and it is deprecated: nothing chooses it by itself.
//!
//! ```no_run
//! use snodo_http::Http;
//! use snodo_sse_legacy::SseLegacy;
//! use snodo_transport::{Connect, Transport};
//! use snodo_types::Message;
//!
//! # async fn ask() -> Result<(), snodo_types::TransportError> {
//! let server = SseLegacy::new(Http::new("http://localhost:3001/sse")?);
//! let connection = server.connect().await?;
//! let mut exchange = connection.exchange(Message::request(&1.into(), "ping", None).into());
//! println!("{:?}", exchange.next().await);
//! # Ok(())
//! # }
//! ```
//!
//! Which version is spoken over it is another question. Servers of its time know 2024-11-05 alone,
//! which a client has to be told by name; such a server may also say nothing at all to the question
//! that newer clients begin with. What this crate never does: name a version, read a message further
//! than to tell whom it concerns, go on with a stream that broke.

mod link;
mod state;

use std::borrow::Cow;
use std::fmt;
use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

use snodo_http::Http;
use snodo_transport::{Abilities, BoxFuture, Connect, Exchange, Incoming, Transport};
use snodo_types::{Envelope, Routing, TransportError};

use link::Link;
use state::Place;

/// A server that is reached over HTTP+SSE.
///
/// Everything about the connections (TLS, proxies, headers, credentials, limits) is what the
/// [`Http`] says, whose URL is that of the event stream.
///
/// ```
/// use std::time::Duration;
///
/// use snodo_http::Http;
/// use snodo_sse_legacy::SseLegacy;
/// use snodo_transport::Connect;
///
/// let stream = Http::new("http://localhost:3001/sse")?.bearer("token")?;
/// let server = SseLegacy::new(stream).endpoint_timeout(Duration::from_secs(3));
/// assert_eq!(server.target(), "http://localhost:3001/sse");
/// # Ok::<(), snodo_types::TransportError>(())
/// ```
#[derive(Clone)]
#[must_use]
pub struct SseLegacy {
    http: Http,
    endpoint_timeout: Duration,
}

impl SseLegacy {
    /// Takes the URL of the event stream, and how it is reached.
    pub fn new(http: Http) -> Self {
        Self { http, endpoint_timeout: Duration::from_secs(10) }
    }

    /// How long the server may take for the head of the stream, a login not included, and then for
    /// the event that names the endpoint; 10 seconds each unless set.
    pub fn endpoint_timeout(mut self, limit: Duration) -> Self {
        self.endpoint_timeout = limit;
        self
    }
}

impl Connect for SseLegacy {
    type Transport = SseLegacyTransport;

    /// Opens the event stream and waits for the endpoint.
    ///
    /// # Errors
    ///
    /// Those of [`Http::events`]; [`Timeout`](snodo_types::TransportFault::Timeout): no endpoint was
    /// named in time; [`Usage`](snodo_types::TransportFault::Usage): it is on another server, which
    /// would be handed what belongs to this one.
    async fn connect(&self) -> Result<SseLegacyTransport, TransportError> {
        Link::open(&self.http, self.endpoint_timeout).await.map(|link| SseLegacyTransport { link })
    }

    fn target(&self) -> Cow<'_, str> {
        self.http.target()
    }
}

impl fmt::Debug for SseLegacy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SseLegacy")
            .field("http", &self.http)
            .field("endpoint_timeout", &self.endpoint_timeout)
            .finish()
    }
}

/// A connection to a server over HTTP+SSE, made by [`SseLegacy`].
///
/// It is a pipe: all messages of the server come on one stream, and one task reads it, whatever
/// callers do. What nobody fetches is bounded by each exchange's
/// [`InboxLimits`](snodo_types::InboxLimits). Messages are posted in the order in which their
/// exchanges were first polled: the next goes when the server took the one before, or after a
/// quarter of a second, for a server that takes a message only once it has dealt with it. At most 64
/// posts are under way and 64 messages wait, and who comes later waits for room.
///
/// A stream that ends or breaks, as proxies do with one that rests, ends the connection, and every
/// exchange on it fails: the server has no session that could be gone on with. As with a process that
/// ended, a client opens another where it was told to (`Builder::restart`), and only there.
///
/// # Drop behavior
///
/// Dropping it ends the stream and whatever is being posted. An exchange that is dropped after its
/// message was posted sends its notice, if it has one.
///
/// ```no_run
/// use std::time::Duration;
///
/// use snodo_http::Http;
/// use snodo_sse_legacy::{SseLegacy, SseLegacyTransport};
/// use snodo_transport::{Connect, Transport};
/// use snodo_types::Routing;
///
/// # async fn run() -> Result<(), snodo_types::TransportError> {
/// let server = SseLegacy::new(Http::new("http://localhost:3001/sse")?);
/// let connection: SseLegacyTransport = server.connect().await?;
/// connection.close(Routing::new(), Duration::from_secs(1)).await;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct SseLegacyTransport {
    link: Link,
}

/// What an exchange hears of.
enum Heard {
    /// The stream: what came for the request, or its end.
    Stream(Option<Result<Incoming, TransportError>>),
    /// The post.
    Post(Result<Incoming, TransportError>),
    /// Nothing that was posted will be.
    Nothing,
}

impl Transport for SseLegacyTransport {
    fn exchange(&self, envelope: Envelope) -> Exchange {
        let (shared, letters) = (self.link.shared(), self.link.letters());
        // Nothing of this runs before the first poll.
        Exchange::generate(|sender| async move {
            let mut place = Place::open(shared, envelope)?;
            let Ok(room) = letters.reserve().await else { return Err(place.why_closed()) };
            let (letter, mut news) = place.letter();
            room.send(letter);
            let mut is_posting = true;
            loop {
                let heard = poll_fn(|cx| {
                    if let Some(id) = place.id()
                        && let Poll::Ready(next) = place.shared().poll(id, cx)
                    {
                        return Poll::Ready(Heard::Stream(next));
                    }
                    if !is_posting {
                        return Poll::Pending;
                    }
                    news.poll_recv(cx).map(|news| news.map_or(Heard::Nothing, Heard::Post))
                });
                match heard.await {
                    Heard::Stream(None) => return Ok(()),
                    Heard::Stream(Some(item)) => sender.send(item?).await,
                    Heard::Post(Ok(Incoming::Sent)) if place.id().is_none() => {
                        sender.send(Incoming::Sent).await;
                        return Ok(());
                    }
                    Heard::Post(Ok(incoming)) => sender.send(incoming).await,
                    Heard::Post(Err(error)) => return Err(place.failed(error)),
                    Heard::Nothing if place.id().is_none() => return Err(place.why_closed()),
                    Heard::Nothing => is_posting = false,
                }
            }
        })
    }

    fn abilities(&self) -> Abilities {
        Abilities { listen: true, routing: true, ..Abilities::default() }
    }

    fn unsolicited(&self, _: Routing) -> Option<Exchange> {
        let shared = self.link.shared();
        shared.take_unsolicited().then(|| {
            Exchange::generate(|sender| async move {
                while let Some(next) = poll_fn(|cx| shared.poll_unsolicited(cx)).await {
                    sender.send(next?).await;
                }
                Ok(())
            })
        })
    }

    /// Posts what waits to be posted, and ends the stream.
    fn close(&self, _: Routing, limit: Duration) -> BoxFuture<'static, ()> {
        Box::pin(self.link.close(limit))
    }
}

#[cfg(test)]
mod tests;
