//! The transport that a connector makes.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::Method;
use snodo_transport::{Abilities, BoxFuture, Exchange, Transport};
use snodo_types::{Envelope, InboxLimits, Routing};
use tokio::runtime::Handle;
use tokio::time::timeout;

use crate::abandon::Notices;
use crate::closed::Closed;
use crate::get::Get;
use crate::post::Post;
use crate::pump::Pump;
use crate::wire::{Draft, Wire};

/// One connection to a server over Streamable HTTP, made by [`Http`](crate::Http).
///
/// It holds no session and no version: both come in the routing of each message. Each exchange is
/// a POST with a response of its own.
///
/// - An exchange runs in its reader's task. Only one that listens, and the GET stream, are read by
///   a task of their own into a bounded inbox; that task ends with the exchange.
/// - A JSON-RPC response comes out as a message whatever the HTTP status, which stands in
///   [`Message::outside`](snodo_types::Message::outside); a 401, and a failure without such a
///   body, is an error. On an exchange a response comes out only as its answer. An error without
///   an id answers; so does one with a foreign id, if it is the whole body, or the stream ends
///   without a better answer.
/// - Where the envelope is `resumable`, a response stream that breaks or ends before its response
///   is gone on with by GET behind its last event id, after the wait that the server names (see
///   [`Http::resume_attempts`](crate::Http::resume_attempts)). A server that refuses, and one that
///   brings nothing more, fail the exchange by
///   [`StreamEnded`](snodo_types::TransportFault::StreamEnded) with the status, if there was one:
///   a 404 then says that the session is over, and not that the request was not served.
/// - Dropping an unfinished exchange closes its connection. Where its envelope has an `abandon`
///   and the request was written, the notice is sent on the runtime that the transport was
///   connected on. It may outlive the exchange and the transport, by 5 seconds at most, and at
///   most 64 are under way; [`close`](Transport::close) waits for them for half of its limit.
/// - [`unsolicited`](Transport::unsolicited) opens the GET stream. It says
///   [`Incoming::Sent`](snodo_transport::Incoming::Sent) once the stream is there; where none is
///   offered (a 4xx other than 401, or a success that is no event stream) it ends without that. A
///   stream that ends or breaks later is opened again like one that is resumed, with or without an
///   id; without one `Sent` comes again, and what the server said meanwhile is lost.
///
/// ```
/// use snodo_http::{Http, HttpTransport};
/// use snodo_transport::{Connect, Transport};
///
/// # async fn run() -> Result<(), snodo_types::TransportError> {
/// let transport: HttpTransport = Http::new("https://example.com/mcp")?.connect().await?;
/// assert!(transport.abilities().own_stream);
/// # Ok(())
/// # }
/// ```
pub struct HttpTransport {
    wire: Arc<Wire>,
    closed: Closed,
    notices: Arc<Notices>,
    /// The GET stream was given away.
    listened: AtomicBool,
}

impl HttpTransport {
    pub(crate) fn new(wire: Arc<Wire>, runtime: Handle) -> Self {
        let closed = Closed::default();
        let notices = Arc::new(Notices::new(Arc::clone(&wire), closed.clone(), runtime));
        Self { wire, closed, notices, listened: AtomicBool::new(false) }
    }
}

impl Transport for HttpTransport {
    fn exchange(&self, envelope: Envelope) -> Exchange {
        let (listens, limits) = (envelope.listen, envelope.inbox);
        let post = Post::new(Arc::clone(&self.wire), &self.notices, envelope);
        if listens { Exchange::new(Pump::new(post, limits)) } else { Exchange::new(post) }
    }

    fn abilities(&self) -> Abilities {
        Abilities {
            notify: true,
            listen: true,
            routing: true,
            own_stream: true,
            ..Abilities::default()
        }
    }

    fn unsolicited(&self, routing: Routing) -> Option<Exchange> {
        if self.listened.swap(true, Ordering::AcqRel) {
            return None;
        }
        let get = Get::new(Arc::clone(&self.wire), routing, self.closed.clone());
        Some(Exchange::new(Pump::new(get, InboxLimits::default())))
    }

    /// Sends DELETE, if `routing` names a session. Connections at rest stay with the connector.
    ///
    /// Notices under way are waited for. From then on nothing is begun: a request whose answer is
    /// still awaited may get it, but its stream is not asked for again, and it is given up silently.
    fn close(&self, routing: Routing, limit: Duration) -> BoxFuture<'static, ()> {
        let (wire, notices) = (Arc::clone(&self.wire), Arc::clone(&self.notices));
        let closed = self.closed.clone();
        Box::pin(async move {
            if Handle::try_current().is_err() {
                closed.note();
                return;
            }
            let closing = async {
                let _ = timeout(limit / 2, notices.flushed()).await;
                closed.note();
                if routing.value("mcp-session-id").is_some() {
                    end_session(&wire, &routing).await;
                }
            };
            let _ = timeout(limit, closing).await;
        })
    }
}

impl fmt::Debug for HttpTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpTransport").field("target", &self.wire.target.shown()).finish()
    }
}

/// The outcome is not told: some servers allow no DELETE, and the session is over either way.
async fn end_session(wire: &Wire, routing: &Routing) {
    match wire.send(Draft::bare(Method::DELETE, routing)).await {
        Ok((answer, _)) => {
            tracing::debug!(status = %answer.status, "the session was ended");
            answer.body.drain().await;
        }
        Err(error) => tracing::debug!(%error, "the session was not ended"),
    }
}
