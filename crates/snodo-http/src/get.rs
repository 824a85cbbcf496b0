//! The stream that a server may offer for what concerns no request.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_core::Stream;
use http::{Method, StatusCode};
use snodo_transport::{BoxFuture, Incoming};
use snodo_types::{Body, Routing, TransportError};

use crate::credentials::Notes;
use crate::events::{Events, Found};
use crate::status::{self, Media};
use crate::wire::{Draft, Wire};

/// A GET and the events that come of it.
///
/// Says [`Incoming::Sent`] once the server has answered. Where it offers no stream, the exchange
/// ends behind that; every 4xx but 401 means so, and so does a success that is no event stream.
pub(crate) struct Get {
    state: State,
    notes: Option<Notes>,
}

enum State {
    Opening(BoxFuture<'static, Result<Option<Box<Events>>, TransportError>>),
    Opened(Result<Option<Box<Events>>, TransportError>),
    Reading(Box<Events>),
    Ended,
}

type Item = Result<Incoming, TransportError>;

impl Get {
    pub(crate) fn new(wire: Arc<Wire>, routing: Routing) -> Self {
        let notes = wire.notes();
        let opening = open(wire, routing, notes.clone());
        Self { state: State::Opening(Box::pin(opening)), notes }
    }
}

impl Stream for Get {
    type Item = Item;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Item>> {
        loop {
            match &mut self.state {
                State::Opening(opening) => {
                    let polled = opening.as_mut().poll(cx);
                    if let Poll::Ready(opened) = polled {
                        self.state = State::Opened(opened);
                    }
                    match self.notes.as_ref().and_then(Notes::take) {
                        Some(note) => return Poll::Ready(Some(Ok(note))),
                        None if matches!(self.state, State::Opening(_)) => return Poll::Pending,
                        None => {}
                    }
                }
                State::Opened(_) => {
                    if let Some(note) = self.notes.as_ref().and_then(Notes::take) {
                        return Poll::Ready(Some(Ok(note)));
                    }
                    let State::Opened(opened) = std::mem::replace(&mut self.state, State::Ended)
                    else {
                        return Poll::Ready(None);
                    };
                    if let Some(events) = opened? {
                        self.state = State::Reading(events);
                    }
                    return Poll::Ready(Some(Ok(Incoming::Sent)));
                }
                State::Reading(events) => match ready!(events.poll_found(cx)) {
                    Some(Ok(Found::Message(message))) => match message.body() {
                        Body::Notification { .. } | Body::Request { .. } => {
                            return Poll::Ready(Some(Ok(Incoming::Message(message))));
                        }
                        Body::Error { .. } | Body::Result { .. } => {
                            tracing::debug!(id = ?message.id(), "a response nobody waits for");
                        }
                    },
                    Some(Ok(Found::Malformed(malformed))) => {
                        tracing::debug!(%malformed, "an event of a stream is skipped");
                    }
                    Some(Err(error)) => {
                        self.state = State::Ended;
                        return Poll::Ready(Some(Err(error)));
                    }
                    None => self.state = State::Ended,
                },
                State::Ended => return Poll::Ready(None),
            }
        }
    }
}

async fn open(
    wire: Arc<Wire>,
    routing: Routing,
    notes: Option<Notes>,
) -> Result<Option<Box<Events>>, TransportError> {
    let headers = wire.templates.get(&routing)?;
    let draft = Draft { method: Method::GET, headers, body: Bytes::new(), written: None, notes };
    let (mut answer, credential_sent) = wire.send(draft).await?;
    let status = answer.status;
    if status.is_success() && Media::of(&answer.headers) == Media::EventStream {
        let events = Events::new(answer.body, wire.limits.body_bytes);
        return Ok(Some(Box::new(events)));
    }
    if status.is_success() || (status.is_client_error() && status != StatusCode::UNAUTHORIZED) {
        tracing::debug!(%status, "the server offers no stream of its own");
        answer.body.drain().await;
        return Ok(None);
    }
    let body = answer.body.beginning(status::MOST_READ).await;
    Err(status::error(&wire.target, &answer, &body, credential_sent))
}
