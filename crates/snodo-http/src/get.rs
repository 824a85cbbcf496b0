//! The stream that a server may offer for what concerns no request.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures_core::Stream;
use http::{Method, StatusCode};
use snodo_transport::Incoming;
use snodo_types::{Body, Routing, TransportError, TransportFault};

use crate::closed::Closed;
use crate::credentials::Notes;
use crate::events::{Events, Found};
use crate::noted::{Heard, Noted};
use crate::resume::{Resume, Resumed};
use crate::status::{self, Media};
use crate::wire::{Draft, Wire};

/// A GET and the events that come of it.
///
/// Says [`Incoming::Sent`] once the stream is there. Where the server offers none, the exchange ends
/// without it; every 4xx but 401 means so, and so does a success that is no event stream.
/// An offered stream that ends or breaks is opened again until the server refuses or
/// [nothing comes of it](crate::Http::resume_attempts). Where no id tells what came last,
/// `Sent` is said again: something may have been missed.
pub(crate) struct Get {
    state: State,
    resume: Resume,
}

enum State {
    Opening(Noted<Result<Option<Box<Events>>, TransportError>>),
    Reading(Box<Events>),
    Resuming,
    Ended,
}

type Item = Result<Incoming, TransportError>;

impl Get {
    pub(crate) fn new(wire: Arc<Wire>, routing: Routing, closed: Closed) -> Self {
        let notes = wire.notes();
        let opening = open(Arc::clone(&wire), routing.clone(), notes.clone());
        let state = State::Opening(Noted::new(opening, notes));
        Self { state, resume: Resume::of_offer(wire, routing, closed) }
    }

    /// Takes what came on the stream; `None` where it says nothing, or leads to another state.
    fn read(&mut self, found: Option<Result<Found, TransportError>>) -> Option<Item> {
        match found {
            Some(Ok(Found::Message(message))) => {
                self.resume.progressed();
                match message.body() {
                    Body::Notification { .. } | Body::Request { .. } => {
                        return Some(Ok(Incoming::Message(message)));
                    }
                    Body::Error { .. } | Body::Result { .. } => {
                        tracing::debug!(id = ?message.id(), "a response nobody waits for");
                    }
                }
                None
            }
            Some(Ok(Found::Malformed(malformed))) => {
                self.resume.progressed();
                tracing::debug!(%malformed, "an event of a stream is skipped");
                None
            }
            Some(Err(error)) if error.fault() == TransportFault::Closed => self.broke(Some(error)),
            Some(Err(error)) => self.end(Some(error)),
            None => self.broke(None),
        }
    }

    fn broke(&mut self, trouble: Option<TransportError>) -> Option<Item> {
        let State::Reading(events) = &self.state else { return None };
        let orderly = trouble.is_none();
        match self.resume.broke(events.place(), trouble) {
            Ok(()) => {
                self.state = State::Resuming;
                None
            }
            Err(error) if orderly => {
                tracing::debug!(%error, "the server's own stream is over");
                self.end(None)
            }
            Err(error) => self.end(Some(error)),
        }
    }

    fn end(&mut self, error: Option<TransportError>) -> Option<Item> {
        self.state = State::Ended;
        error.map(Err)
    }
}

impl Stream for Get {
    type Item = Item;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Item>> {
        loop {
            match &mut self.state {
                State::Opening(opening) => match ready!(opening.poll(cx)) {
                    Heard::Note(note) => return Poll::Ready(Some(Ok(note))),
                    Heard::Outcome(opened) => {
                        self.state = State::Ended;
                        let Some(events) = opened? else { return Poll::Ready(None) };
                        self.resume.began();
                        self.state = State::Reading(events);
                        return Poll::Ready(Some(Ok(Incoming::Sent)));
                    }
                },
                State::Reading(events) => {
                    let found = ready!(events.poll_found(cx));
                    if let Some(item) = self.read(found) {
                        return Poll::Ready(Some(item));
                    }
                }
                State::Resuming => match ready!(self.resume.poll(cx)) {
                    Resumed::Events(events) => {
                        self.state = State::Reading(events);
                        if !self.resume.is_seamless() {
                            return Poll::Ready(Some(Ok(Incoming::Sent)));
                        }
                    }
                    // No longer offered, as it may not have been at first.
                    Resumed::Failed(error) if error.status() == Some(NOT_OFFERED) => {
                        self.state = State::Ended;
                    }
                    Resumed::Failed(error) => return Poll::Ready(self.end(Some(error))),
                    Resumed::Note(note) => return Poll::Ready(Some(Ok(note))),
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
    let draft = Draft { notes, ..Draft::bare(Method::GET, &routing) };
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

const NOT_OFFERED: u16 = 405;
