//! Messages from an event stream.

use std::task::{Context, Poll, ready};
use std::time::Duration;

use snodo_types::{MalformedMessage, Message, TransportError, TransportFault};

use crate::body::Body;
use crate::sse::{Event, Reader, TooLong};

/// The body of a response, read as events.
pub(crate) struct Events {
    body: Body,
    reader: Reader,
    limit: usize,
}

/// Where a stream stands, for whoever goes on with it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Place {
    /// The id of the last event that was complete; empty without one.
    pub(crate) id: String,
    /// How long the server wants to be left alone before.
    pub(crate) retry: Option<Duration>,
}

/// What an event held.
#[derive(Debug)]
pub(crate) enum Found {
    Malformed(MalformedMessage),
    Message(Message),
}

impl Events {
    pub(crate) fn new(body: Body, limit: usize) -> Self {
        Self::behind(&Place::default(), body, limit)
    }

    /// Events that go on where a stream stood: its id and its wait hold until there are others.
    pub(crate) fn behind(place: &Place, mut body: Body, limit: usize) -> Self {
        body.free_slot();
        let retry = place.retry.and_then(|retry| u64::try_from(retry.as_millis()).ok());
        Self { body, reader: Reader::behind(&place.id, retry, limit), limit }
    }

    /// Where the stream stands: behind everything that was handed out.
    pub(crate) fn place(&self) -> Place {
        let retry = self.reader.retry().map(Duration::from_millis);
        Place { id: self.reader.last_id().to_owned(), retry }
    }

    /// What the next event with something in it held; `None` at the end of the stream.
    ///
    /// Events of another type say nothing, and neither does one with empty data: it tells an id
    /// (2025-11-25, transports, "Sending Messages to the Server").
    pub(crate) fn poll_found(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Found, TransportError>>> {
        loop {
            match ready!(self.poll_event(cx)).transpose() {
                Ok(Some(event)) => {
                    if let Some(found) = found(event) {
                        return Poll::Ready(Some(Ok(found)));
                    }
                }
                Ok(None) => return Poll::Ready(None),
                Err(error) => return Poll::Ready(Some(Err(error))),
            }
        }
    }

    /// The next event of any type; `None` at the end of the stream.
    pub(crate) fn poll_event(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Event, TransportError>>> {
        loop {
            match self.reader.next_event() {
                Some(Ok(event)) => return Poll::Ready(Some(Ok(event))),
                Some(Err(TooLong)) => return Poll::Ready(Some(Err(self.too_long()))),
                None => {}
            }
            match ready!(self.body.poll_data(cx)) {
                Some(Ok(chunk)) => self.reader.feed(chunk),
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => return Poll::Ready(None),
            }
        }
    }

    /// A message that the end of the stream cut off behind its last character: whole, but without
    /// the blank line that should follow it.
    pub(crate) fn remainder(&mut self) -> Option<Message> {
        match self.reader.remainder().and_then(found)? {
            Found::Message(message) => Some(message),
            Found::Malformed(_) => None,
        }
    }

    /// What is left once nothing of the stream is wanted any more.
    pub(crate) fn into_body(self) -> Body {
        self.body
    }

    fn too_long(&self) -> TransportError {
        let why = format!("an event of the stream is over {} bytes", self.limit);
        TransportError::new(TransportFault::TooLarge, why)
    }
}

fn found(event: Event) -> Option<Found> {
    if !event.is_message() || event.data.is_empty() {
        return None;
    }
    Some(match Message::parse(event.data) {
        Ok(message) => Found::Message(message),
        Err(malformed) => Found::Malformed(malformed),
    })
}
