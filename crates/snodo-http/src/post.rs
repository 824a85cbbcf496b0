//! One message out by POST, and what it causes back.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use futures_core::Stream;
use snodo_transport::Incoming;
use snodo_types::{Envelope, Message, Outside, Routing, TransportError, TransportFault};
use tokio::runtime::Handle;
use tokio::time::Sleep;

use crate::abandon::{Guard, Notices};
use crate::answer::{self, Opened, Verdict, Waiting};
use crate::body::Body;
use crate::closed::Closed;
use crate::credentials::Notes;
use crate::events::{Events, Found};
use crate::fault;
use crate::noted::{Heard, Noted};
use crate::resume::{self, Resume, Resumed};
use crate::wire::{Draft, Wire};

/// An exchange: a request with everything that comes on its response stream, or a notice.
///
/// Runs in the reader's task. Nothing happens before the first poll. Response messages come out
/// only as the answer: an error without an id, or with a foreign one behind which nothing better
/// came, counts as such; a result for another request never does.
///
/// A stream that ends before the answer is gone on with, where its envelope allows that and the
/// server gave its events ids.
pub(crate) struct Post {
    wire: Arc<Wire>,
    closed: Closed,
    waiting: Option<Waiting>,
    state: State,
    /// Gone once the exchange has ended.
    guard: Option<Guard>,
    notes: Option<Notes>,
    /// Goes on with a stream that may be resumed.
    resume: Option<Box<Resume>>,
    /// A failure with a foreign id, kept for a stream that ends without a better answer.
    stray: Option<Message>,
}

enum State {
    /// With the routing, where a stream may be resumed by it.
    Opening(Noted<Result<(Opened, Option<Routing>), TransportError>>),
    Reading(Box<Events>, Outside),
    Resuming(Outside),
    /// The answer has come; a moment for the stream to end.
    Closing(Box<Closing>),
    Ended,
}

struct Closing {
    answer: Message,
    body: Body,
    waited: usize,
    alarm: Option<Pin<Box<Sleep>>>,
}

type Item = Result<Incoming, TransportError>;

impl Post {
    pub(crate) fn new(wire: Arc<Wire>, notices: &Arc<Notices>, mut envelope: Envelope) -> Self {
        let opens_session = envelope.opens_session;
        let waiting = envelope.id.map(|id| Waiting { id, opens_session });
        let guard = envelope
            .id
            .zip(envelope.abandon.take())
            .map(|(id, abandon)| Guard::new(id, abandon, Arc::clone(notices)));
        let notes = if envelope.names_caller { Some(Notes::naming()) } else { wire.notes() };
        let written = guard.as_ref().map(Guard::written);
        let opening = {
            let (wire, notes) = (Arc::clone(&wire), notes.clone());
            let Envelope { message, routing, resumable, .. } = envelope;
            async move {
                let draft = Draft::post(&routing, Bytes::from(message));
                let draft = Draft { written, notes, ..draft };
                let (answer, known) = wire.send(draft).await?;
                let opened = match waiting {
                    Some(waiting) => answer::to_request(&wire, answer, known, waiting).await,
                    None => answer::to_notice(&wire, answer, known).await,
                };
                Ok((opened?, resumable.then_some(routing)))
            }
        };
        let state = State::Opening(Noted::new(opening, notes.clone()));
        let closed = notices.closed().clone();
        Self { wire, closed, waiting, state, guard, notes, resume: None, stray: None }
    }

    fn poll_item(&mut self, cx: &mut Context<'_>) -> Poll<Option<Item>> {
        loop {
            match &mut self.state {
                State::Opening(opening) => match ready!(opening.poll(cx)) {
                    Heard::Note(note) => return Poll::Ready(Some(Ok(note))),
                    Heard::Outcome(Ok((opened, routing))) => {
                        if let Some(item) = self.open(opened, routing) {
                            return Poll::Ready(Some(item));
                        }
                    }
                    Heard::Outcome(Err(error)) => return Poll::Ready(self.finish(Err(error))),
                },
                State::Reading(events, _) => {
                    let found = ready!(events.poll_found(cx));
                    if let Some(item) = self.read(found) {
                        return Poll::Ready(Some(item));
                    }
                }
                State::Resuming(outside) => {
                    let Some(resume) = &mut self.resume else { return Poll::Ready(None) };
                    match ready!(resume.poll(cx)) {
                        Resumed::Events(events) => {
                            let outside = std::mem::take(outside);
                            self.state = State::Reading(events, outside);
                        }
                        Resumed::Failed(error) => return Poll::Ready(self.finish(Err(error))),
                        Resumed::Note(note) => return Poll::Ready(Some(Ok(note))),
                    }
                }
                State::Closing(closing) => {
                    ready!(closing.poll_end(&self.wire, cx));
                    let State::Closing(closing) = std::mem::replace(&mut self.state, State::Ended)
                    else {
                        return Poll::Ready(None);
                    };
                    return Poll::Ready(Some(Ok(Incoming::Message(closing.answer))));
                }
                State::Ended => return Poll::Ready(None),
            }
        }
    }

    /// The server has answered, whole or with a stream.
    fn open(&mut self, opened: Opened, routing: Option<Routing>) -> Option<Item> {
        match opened {
            Opened::Answered(message) => self.finish(Ok(message)),
            Opened::Events(events, outside) => {
                if let Some((waiting, routing)) = self.waiting.zip(routing) {
                    let (wire, notes) = (Arc::clone(&self.wire), self.notes.clone());
                    let resume = Resume::of_offer(wire, routing, self.closed.clone());
                    let resume = resume.of_request(waiting.id, notes);
                    self.resume = Some(Box::new(resume));
                }
                self.state = State::Reading(events, outside);
                None
            }
            Opened::Taken => {
                self.disarm();
                self.state = State::Ended;
                Some(Ok(Incoming::Sent))
            }
        }
    }

    /// Takes what came on the stream; `None` where it says nothing, or leads to another state.
    fn read(&mut self, found: Option<Result<Found, TransportError>>) -> Option<Item> {
        let waiting = self.waiting?;
        if let (Some(Ok(_)), Some(resume)) = (&found, &mut self.resume) {
            resume.progressed();
        }
        let message = match found {
            Some(Ok(Found::Message(message))) => message,
            Some(Ok(Found::Malformed(malformed))) => {
                let ours = malformed.id().and_then(snodo_types::RequestId::as_ours);
                if ours != Some(waiting.id) {
                    tracing::debug!(%malformed, "an event of a stream is skipped");
                    return None;
                }
                let error = answer::malformed(&malformed.to_string()).with_source(malformed);
                return self.finish(Err(error));
            }
            Some(Err(error)) if error.fault() == TransportFault::Closed => {
                return self.broke(waiting, Some(error));
            }
            Some(Err(error)) => return self.finish(Err(error)),
            None => return self.run_out(waiting),
        };
        match waiting.judge(message) {
            Verdict::Answer(message) => {
                self.answer(message);
                None
            }
            Verdict::OnTheWay(message) => Some(Ok(Incoming::Message(message))),
            Verdict::Stray(message) => {
                tracing::debug!(id = ?message.id(), "a failure on a stream names another request");
                self.stray = Some(message);
                None
            }
            Verdict::Foreign(id) => {
                tracing::debug!(%id, "a result on a stream is for another request");
                None
            }
        }
    }

    /// The answer has come: what is left is the end of the stream.
    fn answer(&mut self, message: Message) {
        self.disarm();
        if let State::Reading(events, outside) = std::mem::replace(&mut self.state, State::Ended) {
            let (answer, body) = (message.with_outside(outside), events.into_body());
            let closing = Closing { answer, body, waited: 0, alarm: None };
            self.state = State::Closing(Box::new(closing));
        }
    }

    /// The stream ended before the answer, or so it seems.
    fn run_out(&mut self, waiting: Waiting) -> Option<Item> {
        let State::Reading(events, outside) = &mut self.state else { return None };
        let remainder = events.remainder().map(|message| waiting.judge(message));
        let last = match remainder {
            Some(Verdict::Answer(message) | Verdict::Stray(message)) => Some(message),
            _ => self.stray.take(),
        };
        match last {
            Some(message) => {
                let outside = std::mem::take(outside);
                self.finish(Ok(message.with_outside(outside)))
            }
            None => self.broke(waiting, None),
        }
    }

    /// The stream broke, or ended without the answer: what is left is to go on with it.
    fn broke(&mut self, waiting: Waiting, trouble: Option<TransportError>) -> Option<Item> {
        let State::Reading(events, outside) = &mut self.state else { return None };
        let going_on = match &mut self.resume {
            Some(resume) => resume.broke(events.place(), trouble),
            None => Err(trouble.unwrap_or_else(|| resume::ended(waiting.id))),
        };
        match going_on {
            Ok(()) => {
                let outside = std::mem::take(outside);
                self.state = State::Resuming(outside);
                None
            }
            Err(error) => self.finish(Err(error)),
        }
    }

    fn finish(&mut self, outcome: Result<Message, TransportError>) -> Option<Item> {
        self.disarm();
        self.state = State::Ended;
        Some(outcome.map(Incoming::Message))
    }

    fn disarm(&mut self) {
        if let Some(guard) = self.guard.take() {
            guard.disarm();
        }
    }
}

impl Stream for Post {
    type Item = Item;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Item>> {
        // Sockets and timers panic elsewhere.
        if Handle::try_current().is_err() && !matches!(self.state, State::Ended) {
            return Poll::Ready(self.finish(Err(fault::no_runtime())));
        }
        self.poll_item(cx)
    }
}

impl Closing {
    /// Waits a moment for the end, where that has been worth it: the connection of a stream that
    /// ended can be used again, and the answer is not held up for one that stays open.
    fn poll_end(&mut self, wire: &Wire, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            match self.body.poll_data(cx) {
                Poll::Ready(Some(Ok(more))) => {
                    self.waited += more.len();
                    if self.waited > MOST_DRAINED {
                        return Poll::Ready(());
                    }
                }
                Poll::Ready(Some(Err(_))) => return Poll::Ready(()),
                Poll::Ready(None) => {
                    wire.patience.ended();
                    return Poll::Ready(());
                }
                Poll::Pending => break,
            }
        }
        let alarm = match &mut self.alarm {
            Some(alarm) => alarm,
            None if wire.patience.waits() => {
                self.alarm.insert(Box::pin(tokio::time::sleep(MOMENT)))
            }
            None => return Poll::Ready(()),
        };
        ready!(alarm.as_mut().poll(cx));
        wire.patience.missed();
        Poll::Ready(())
    }
}

/// How long an answer may be held up for the end of its stream.
const MOMENT: Duration = Duration::from_millis(25);

/// The most that is read behind an answer.
const MOST_DRAINED: usize = 64 * 1024;
