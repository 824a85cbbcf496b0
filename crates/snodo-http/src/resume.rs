//! Going on with an event stream that broke.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use http::{HeaderValue, Method, StatusCode};
use snodo_transport::Incoming;
use snodo_types::{Routing, TransportError, TransportFault};
use tokio::time::{Instant, Sleep};

use crate::closed::Closed;
use crate::credentials::Notes;
use crate::events::{Events, Place};
use crate::noted::{Heard, Noted};
use crate::pace::{self, Pace};
use crate::status::{self, Media};
use crate::wire::{Draft, Wire};

/// One stream over all the responses that it may be spread over.
///
/// It lives beside the [`Events`] that are being read, and takes over when they end: waits, asks
/// by GET for what comes behind the last id, and gives the next events (2025-11-25, transports,
/// "Resumability and Redelivery").
///
/// # Cancel safety
///
/// Runs in its reader's task: dropping it ends the wait, or the connection that asks.
pub(crate) struct Resume {
    wire: Arc<Wire>,
    routing: Routing,
    closed: Closed,
    notes: Option<Notes>,
    /// The request whose response is awaited; none for the stream that a server offers.
    request: Option<u64>,
    place: Place,
    pace: Pace,
    /// When the events that are being read, or were read last, began.
    since: Instant,
    step: Step,
    /// What went wrong last.
    trouble: Option<TransportError>,
}

enum Step {
    Asking(Noted<Result<Box<Events>, Refusal>>),
    /// Others read, or nobody does any more.
    Idle,
    Waiting(Pin<Box<Sleep>>),
}

/// What comes of going on.
pub(crate) enum Resumed {
    Events(Box<Events>),
    Failed(TransportError),
    Note(Incoming),
}

/// Why there are no further events.
enum Refusal {
    /// Asking again would change nothing.
    Final(TransportError),
    /// It may pass.
    Passing(TransportError),
}

impl Resume {
    /// For the stream that a server offers. Nobody's clock runs on it, so that nobody has to know
    /// when a person is waited for.
    pub(crate) fn of_offer(wire: Arc<Wire>, routing: Routing, closed: Closed) -> Self {
        let pace = Pace::new(wire.limits.resume_attempts, wire.limits.resume_delay);
        Self {
            wire,
            routing,
            closed,
            notes: None,
            request: None,
            place: Place::default(),
            pace,
            since: Instant::now(),
            step: Step::Idle,
            trouble: None,
        }
    }

    /// For the stream of a request, from which events are read now.
    pub(crate) fn of_request(self, id: u64, notes: Option<Notes>) -> Self {
        Self { request: Some(id), notes, ..self }
    }

    /// The first events of the stream begin.
    pub(crate) fn began(&mut self) {
        self.since = Instant::now();
    }

    /// A message came.
    pub(crate) fn progressed(&mut self) {
        self.pace.progressed();
    }

    /// Whether the server is told behind what to go on.
    pub(crate) fn is_seamless(&self) -> bool {
        last_event_id(&self.place.id).is_some()
    }

    /// The events that were read have ended, here; what ended them, if not the server. From now on
    /// [`poll`](Self::poll) goes on.
    ///
    /// A new id is progress too, be there nothing else: so a server says that it is to be asked
    /// again. So is a stream that stayed open for a while with nothing to say.
    ///
    /// # Errors
    ///
    /// It does not: no id tells where to go on, or there were enough attempts.
    pub(crate) fn broke(
        &mut self,
        place: Place,
        trouble: Option<TransportError>,
    ) -> Result<(), TransportError> {
        if place.id != self.place.id || self.since.elapsed() >= STEADY {
            self.pace.progressed();
        }
        self.place = place;
        self.trouble = trouble;
        match self.request {
            Some(id) if !self.is_seamless() => {
                Err(self.trouble.take().unwrap_or_else(|| ended(id)))
            }
            _ => self.wait(None),
        }
    }

    /// Waits, asks, and waits again.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Resumed> {
        loop {
            match &mut self.step {
                Step::Asking(asking) => match ready!(asking.poll(cx)) {
                    Heard::Note(note) => return Poll::Ready(Resumed::Note(note)),
                    Heard::Outcome(Ok(events)) => {
                        self.began();
                        self.step = Step::Idle;
                        return Poll::Ready(Resumed::Events(events));
                    }
                    Heard::Outcome(Err(Refusal::Final(error))) => {
                        self.step = Step::Idle;
                        return Poll::Ready(Resumed::Failed(self.refused(error)));
                    }
                    Heard::Outcome(Err(Refusal::Passing(error))) => {
                        tracing::debug!(%error, "a stream could not be resumed yet");
                        let wait = error.retry_after();
                        self.trouble = Some(error);
                        if let Err(error) = self.wait(wait) {
                            return Poll::Ready(Resumed::Failed(error));
                        }
                    }
                },
                Step::Idle => return Poll::Pending,
                Step::Waiting(alarm) => {
                    ready!(alarm.as_mut().poll(cx));
                    if self.closed.is_so() {
                        self.step = Step::Idle;
                        return Poll::Ready(Resumed::Failed(self.over()));
                    }
                    let (wire, notes) = (Arc::clone(&self.wire), self.notes.clone());
                    let (routing, place) = (self.routing.clone(), self.place.clone());
                    let asking = ask(wire, routing, place, notes.clone());
                    self.step = Step::Asking(Noted::new(asking, notes));
                }
            }
        }
    }

    fn wait(&mut self, at_least: Option<Duration>) -> Result<(), TransportError> {
        let Some(wait) = self.pace.next_wait(self.place.retry, pace::chance()) else {
            self.step = Step::Idle;
            return Err(self.given_up());
        };
        let wait = wait.max(at_least.unwrap_or_default());
        self.step = Step::Waiting(Box::pin(tokio::time::sleep(wait)));
        Ok(())
    }

    fn refused(&self, error: TransportError) -> TransportError {
        let why = format!("{} could not be resumed: {error}", self.name());
        failed(why, Some(error))
    }

    fn given_up(&mut self) -> TransportError {
        let trouble = self.trouble.take();
        let most = self.pace.most();
        match (self.request, trouble) {
            (Some(id), None) if most == 0 => ended(id),
            (_, Some(error)) if most == 0 => error,
            (_, None) => {
                failed(format!("{} ended: {most} attempts brought no more", self.name()), None)
            }
            (_, Some(error)) => {
                let why =
                    format!("{} ended: {most} attempts brought no more: {error}", self.name());
                failed(why, Some(error))
            }
        }
    }

    fn over(&self) -> TransportError {
        let why = format!("{} ended, and the connection is closed", self.name());
        TransportError::new(TransportFault::Closed, why)
    }

    fn name(&self) -> String {
        match self.request {
            Some(id) => format!("the stream of request {id}"),
            None => "the stream that the server offers".to_owned(),
        }
    }
}

/// A stream that ended before what it was for.
pub(crate) fn ended(id: u64) -> TransportError {
    let why = format!("the stream of request {id} ended before its response");
    TransportError::new(TransportFault::StreamEnded, why)
}

/// The request may well have been served: the failure is the stream's, whatever the status says.
fn failed(why: String, below: Option<TransportError>) -> TransportError {
    let mut error = TransportError::new(TransportFault::StreamEnded, why);
    let Some(below) = below else { return error };
    if let Some(status) = below.status() {
        error = error.with_status(status).with_challenges(below.challenges().to_vec());
    }
    if let Some(wait) = below.retry_after() {
        error = error.with_retry_after(wait);
    }
    if below.credential_sent() {
        error = error.with_credential_sent();
    }
    error.with_source(below)
}

async fn ask(
    wire: Arc<Wire>,
    routing: Routing,
    place: Place,
    notes: Option<Notes>,
) -> Result<Box<Events>, Refusal> {
    let last_event_id = last_event_id(&place.id);
    let draft = Draft { last_event_id, notes, ..Draft::bare(Method::GET, &routing) };
    let (mut answer, credential_sent) =
        wire.send(draft).await.map_err(|error| match error.fault() {
            TransportFault::Closed | TransportFault::Connect | TransportFault::Timeout => {
                Refusal::Passing(error)
            }
            _ => Refusal::Final(error),
        })?;
    let status = answer.status;
    if status.is_success() {
        if Media::of(&answer.headers) == Media::EventStream {
            let events = Events::behind(&place, answer.body, wire.limits.body_bytes);
            return Ok(Box::new(events));
        }
        let error = status::unreadable(status, &answer.headers);
        answer.body.drain().await;
        return Err(Refusal::Final(error));
    }
    let body = answer.body.beginning(status::MOST_READ).await;
    let error = status::error(&wire.target, &answer, &body, credential_sent);
    Err(if passes(status) { Refusal::Passing(error) } else { Refusal::Final(error) })
}

/// 409 is what a server says that has not noticed yet that the stream before broke.
fn passes(status: StatusCode) -> bool {
    status.is_server_error()
        || [
            StatusCode::REQUEST_TIMEOUT,
            StatusCode::CONFLICT,
            StatusCode::TOO_EARLY,
            StatusCode::TOO_MANY_REQUESTS,
        ]
        .contains(&status)
}

/// The header that tells where to go on. An id that no header can carry leads nowhere, and one
/// that is longer than servers read is not tried.
fn last_event_id(id: &str) -> Option<HeaderValue> {
    let fits = !id.is_empty() && id.len() <= LONGEST_ID;
    HeaderValue::from_bytes(id.as_bytes()).ok().filter(|_| fits)
}

/// The most bytes of an id that is sent back.
const LONGEST_ID: usize = 4096;

/// A stream that was open for so long is no attempt in vain, whatever it brought: proxies end idle
/// streams by the clock.
const STEADY: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use snodo_types::Routing;
    use tokio::time::advance;

    use super::{Closed, Place, Resume, STEADY};
    use crate::Http;

    fn resume(attempts: u32) -> Resume {
        let http = Http::new("http://localhost/mcp").expect("a URL").resume_attempts(attempts);
        Resume::of_offer(http.wire(), Routing::new(), Closed::default())
    }

    // As the given case RC-03 has it.
    // HTTPL-23
    #[tokio::test(start_paused = true)]
    async fn a_stream_that_was_open_for_a_while_is_no_attempt_in_vain_though_nothing_came() {
        let mut resume = resume(1);
        for _ in 0..100 {
            resume.began();
            advance(STEADY).await;
            resume.broke(Place::default(), None).expect("it goes on");
        }
        resume.began();
        advance(STEADY - Duration::from_millis(1)).await;
        resume.broke(Place::default(), None).expect_err("enough");
    }

    // HTTPL-09, HTTPL-23
    #[tokio::test(start_paused = true)]
    async fn a_new_id_or_a_message_is_progress_and_the_same_id_is_none() {
        let place = |id: &str| Place { id: id.to_owned(), retry: None };
        let mut resume = resume(1);
        for id in ["a", "b", "a"] {
            resume.broke(place(id), None).expect("it goes on");
        }
        resume.progressed();
        resume.broke(place("a"), None).expect("it goes on");
        resume.broke(place("a"), None).expect_err("enough");
    }
}
