//! MCP over WebSocket, as a stranger would write it: each message is a text frame.
//!
//! Of snodo this crate knows the seam (`snodo-transport`) and the words (`snodo-types`). Who waits
//! for what, and the bound of what waits, are the seam's [`Pending`](snodo_transport::Pending)
//! table; the socket, its two tasks and their end are here.

mod socket;
mod state;

use std::borrow::Cow;
use std::future::poll_fn;
use std::time::Duration;

use snodo_transport::{Abilities, BoxFuture, Connect, Exchange, Incoming, Transport};
use snodo_types::{Envelope, Routing, TransportError, TransportFault};

use socket::Socket;
use state::Place;

/// A server that is reached over WebSocket.
///
/// ```
/// use custom_transport::WebSocket;
/// use snodo_transport::Connect;
///
/// let server = WebSocket::new("ws://127.0.0.1:9000/mcp");
/// assert_eq!(server.target(), "ws://127.0.0.1:9000/mcp");
/// ```
#[derive(Clone, Debug)]
pub struct WebSocket {
    url: String,
}

impl WebSocket {
    /// Takes a URL of the scheme `ws`. It is shown in errors, so it must not hold a secret.
    pub fn new(url: impl Into<String>) -> Self {
        Self { url: url.into() }
    }
}

impl Connect for WebSocket {
    type Transport = WebSocketTransport;

    async fn connect(&self) -> Result<WebSocketTransport, TransportError> {
        if tokio::runtime::Handle::try_current().is_err() {
            let why = "a WebSocket needs a tokio runtime";
            return Err(TransportError::new(TransportFault::Usage, why).not_processed());
        }
        Socket::open(&self.url).await.map(WebSocketTransport)
    }

    fn target(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.url)
    }
}

/// A connection to a server over WebSocket.
///
/// All messages share it. A message of at most 16 MiB is taken; 64 messages wait to be written, and
/// who comes later waits for room.
///
/// # Drop behavior
///
/// Dropping it breaks the connection off; [`close`](Transport::close) says goodbye first. Exchanges
/// that live on then fail.
#[derive(Debug)]
pub struct WebSocketTransport(Socket);

impl Transport for WebSocketTransport {
    fn exchange(&self, envelope: Envelope) -> Exchange {
        let shared = self.0.shared();
        let letters = self.0.letters();
        // Nothing of this runs before the first poll.
        Exchange::generate(|sender| async move {
            let mut place = Place::open(shared, envelope)?;
            let Ok(room) = letters.reserve().await else { return Err(place.why_closed()) };
            let (letter, written) = place.letter();
            room.send(letter);
            let Some(id) = place.id() else {
                written.await.map_err(|_| place.why_closed())?;
                sender.send(Incoming::Sent).await;
                return Ok(());
            };
            while let Some(next) = poll_fn(|cx| place.shared().poll(id, cx)).await {
                sender.send(next?).await;
            }
            Ok(())
        })
    }

    fn abilities(&self) -> Abilities {
        Abilities { listen: true, ..Abilities::default() }
    }

    fn unsolicited(&self, _: Routing) -> Option<Exchange> {
        let shared = self.0.shared();
        shared.take_unsolicited().then(|| {
            Exchange::generate(|sender| async move {
                while let Some(next) = poll_fn(|cx| shared.poll_unsolicited(cx)).await {
                    sender.send(next?).await;
                }
                Ok(())
            })
        })
    }

    fn close(&self, _: Routing, limit: Duration) -> BoxFuture<'static, ()> {
        Box::pin(self.0.close(limit))
    }
}
