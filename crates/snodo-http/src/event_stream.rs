//! Events as they come, for transports that are built on this one.

use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;

use http::Method;
use snodo_types::{Routing, TransportError, TransportFault};

use crate::events::Events;
use crate::sse::Event;
use crate::status::{self, Media};
use crate::wire::{Draft, Wire};

/// An event stream that a server answers a GET with; see [`Http::events`](crate::Http::events).
///
/// Nothing is read ahead of the reader but what the connection holds. An event is at most so long as
/// [`Http::max_body_bytes`](crate::Http::max_body_bytes) says.
///
/// # Drop behavior
///
/// Dropping it closes its connection.
///
/// ```no_run
/// use snodo_http::Http;
///
/// # async fn read() -> Result<(), snodo_types::TransportError> {
/// let mut events = Http::new("http://localhost:3000/sse")?.events().await?;
/// while let Some(event) = events.next().await {
///     println!("{}", event?.name);
/// }
/// # Ok(())
/// # }
/// ```
pub struct EventStream(Events);

impl EventStream {
    pub(crate) async fn open(wire: Arc<Wire>) -> Result<Self, TransportError> {
        let routing = Routing::new();
        let (mut answer, credential_sent) = wire.send(Draft::bare(Method::GET, &routing)).await?;
        if !answer.status.is_success() {
            let body = answer.body.beginning(status::MOST_READ).await;
            return Err(status::error(&wire.target, &answer, &body, credential_sent));
        }
        if Media::of(&answer.headers) != Media::EventStream {
            let status = answer.status;
            answer.body.drain().await;
            let why = format!("{} offers no event stream", wire.target.shown());
            let error = TransportError::new(TransportFault::Malformed, why);
            return Err(error.with_status(status.as_u16()));
        }
        if let Some(error) = status::packed(&answer.headers) {
            return Err(error);
        }
        Ok(Self(Events::new(answer.body, wire.limits.body_bytes)))
    }

    /// The next event; `None` after the end.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when the future is dropped before it gave something.
    ///
    /// # Errors
    ///
    /// The connection broke, or an event is too long; the stream is over.
    pub async fn next(&mut self) -> Option<Result<Event, TransportError>> {
        poll_fn(|cx| self.0.poll_event(cx)).await
    }
}

impl fmt::Debug for EventStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EventStream")
    }
}
