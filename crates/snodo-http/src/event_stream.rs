//! Events as they come, for transports that are built on this one.

use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use http::Method;
use snodo_transport::Incoming;
use snodo_types::{Routing, TransportError, TransportFault};
use tokio::time::{Instant, timeout};

use crate::credentials::Notes;
use crate::events::Events;
use crate::noted::{Heard, Noted};
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
/// use std::time::Duration;
///
/// use snodo_http::Http;
///
/// # async fn read() -> Result<(), snodo_types::TransportError> {
/// let mut events = Http::new("http://localhost:3000/sse")?.events(Duration::from_secs(10)).await?;
/// while let Some(event) = events.next().await {
///     println!("{}", event?.name);
/// }
/// # Ok(())
/// # }
/// ```
pub struct EventStream(Events);

impl EventStream {
    /// Opens it within `limit`; the time in which a person is waited for does not count.
    pub(crate) async fn open(wire: Arc<Wire>, limit: Duration) -> Result<Self, TransportError> {
        let notes = wire.notes();
        let mut opening = Noted::new(answered(Arc::clone(&wire), notes.clone()), notes);
        let (mut left, mut is_held) = (limit, false);
        loop {
            let began = Instant::now();
            let heard = poll_fn(|cx| opening.poll(cx));
            let heard = if is_held { Ok(heard.await) } else { timeout(left, heard).await };
            match heard {
                Ok(Heard::Outcome(outcome)) => return outcome,
                Ok(Heard::Note(Incoming::Held)) => {
                    left = left.saturating_sub(began.elapsed());
                    is_held = true;
                }
                Ok(Heard::Note(Incoming::Released)) => is_held = false,
                Ok(Heard::Note(_)) => {}
                Err(_) => {
                    let why = format!("no answer from {} within {limit:?}", wire.target.shown());
                    return Err(TransportError::new(TransportFault::Timeout, why));
                }
            }
        }
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

async fn answered(wire: Arc<Wire>, notes: Option<Notes>) -> Result<EventStream, TransportError> {
    let routing = Routing::new();
    let draft = Draft { notes, ..Draft::bare(Method::GET, &routing) };
    let (mut answer, credential_sent) = wire.send(draft).await?;
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
    Ok(EventStream(Events::new(answer.body, wire.limits.body_bytes)))
}

impl fmt::Debug for EventStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EventStream")
    }
}
