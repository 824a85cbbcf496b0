//! One request, until its answer.

mod signs;
mod waits;

use std::sync::Arc;
use std::time::{Duration, Instant};

use snodo_dialect::{Entry, Era, ParamHeaders, Request};
use snodo_types::{
    Body, Error, ErrorObject, InputRequired, InputResponses, Message, Outcome, Outside, Processed,
    RequestId, TransportError, TransportFault,
};

use crate::deadline::Deadline;
use crate::question::Answering;
use crate::rounds::{self, HandlerFailure, Round, Rounds};
use crate::{Step, Terms};

pub use self::waits::Waits;

use self::signs::{is_cut, misses_headers, names_a_version, progress_token, status_of};

/// One request: sent, followed, through rounds of input if need be, answered, or given up in time.
///
/// It keeps the undressed [`Request`] and dresses it for each sending. Dropping what was sent
/// cancels it; the driver does that when it drops the exchange. While input is gathered no clock
/// runs but that of the whole call.
///
/// ```
/// use snodo_dialect::{Params, Request};
/// use snodo_engine::{Call, Limits, Step, Terms};
/// use snodo_types::{Message, Outcome};
/// # let empty = snodo_types::Raw::empty_object;
/// # let identity = snodo_dialect::Identity {
/// #     client_info: empty(),
/// #     capabilities: empty(),
/// #     extensions: Default::default(),
/// # };
/// # let dialect = snodo_dialect::dialect(snodo_types::ProtocolVersion::V2026_07_28);
/// # let outfit = dialect.outfit(&identity, Default::default(), None);
/// # let (identity, outfit) = (&identity, &outfit);
/// # let terms = Terms { dialect, outfit, identity, carrier: Default::default(), allowed: &[] };
///
/// let mut call = Call::new(Request::new("tools/list", Params::new()), Limits::default());
/// let now = std::time::Instant::now();
/// assert!(matches!(call.poll(|| 1, &terms, now), Some(Step::Send(sent)) if sent.id == Some(1)));
/// call.handle_message(Message::result(&1.into(), r#"{"tools":[]}"#), &terms, now);
/// let done = call.poll(|| 2, &terms, now);
/// assert!(matches!(done, Some(Step::Done(Ok(Outcome::Complete(_))))));
/// ```
#[derive(Debug)]
pub struct Call {
    request: Request,
    deadline: Deadline,
    state: State,
    /// Something for the driver besides sending and the end.
    aside: Option<Box<Step<Outcome<Message>>>>,
    /// A server that named another version was asked once more.
    corrected: bool,
    rounds: Rounds,
    /// A server that wants a page opened first was asked once more.
    consented: bool,
    /// A server that misses headers of a tool's arguments was asked once more.
    defined: bool,
    /// The request changes nothing at the server.
    reads: bool,
    /// A request that was hardly heard was sent once more.
    repeated: bool,
    /// It was sent in the initialize era, where a cursor is of one session.
    sessions: bool,
    /// It was sent in a session that the server named.
    in_session: bool,
    /// A server that had lost the session was asked once more, in a new one.
    renewed: bool,
    /// A connection that is over is made anew.
    restarts: bool,
    /// It may be carried out twice: the caller says so.
    idempotent: bool,
    /// Its response stream may be cut without the connection being over, and cannot be resumed.
    fragile: bool,
    /// Which statuses, besides 404, say that the session is lost.
    lost_on: Arc<[u16]>,
    /// How it bears with a server that wants to be left alone.
    waits: Waits,
    /// It is being put off: its clock runs on.
    put_off: bool,
}

/// How long a call may take.
///
/// ```
/// use std::time::Duration;
/// use snodo_engine::Limits;
///
/// let limits = Limits { timeout: Some(Duration::from_secs(30)), ..Limits::default() };
/// assert_ne!(limits, Limits::default());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "the clocks that a call has")]
pub struct Limits {
    /// From each sending to its answer; `None` for no end.
    pub timeout: Option<Duration>,
    /// Let progress restart the timeout, up to this long after the sending.
    pub max_total_timeout: Option<Duration>,
    /// How far after the sending pauses may move the timeout, where progress may not; `None` for
    /// ten minutes.
    pub pauses: Option<Duration>,
    /// From the first sending to the end, input included; `None` for no end.
    pub deadline: Option<Duration>,
}

#[derive(Debug)]
enum State {
    /// To be sent.
    Fresh,
    /// Sent under this id.
    Waiting(u64),
    /// Input is being gathered for this result.
    Asking(Box<InputRequired>),
    /// Consent to open pages is being gathered; without it this is the end.
    Consenting(Box<Error>),
    /// The tool's definition is being looked for; without it this is the end.
    Defining(Box<Error>),
    /// The session is gone and a new one is being opened; without it this is the end.
    Renewing(Box<Error>),
    /// To be sent again then.
    Pacing(Instant),
    /// Over, and not told yet.
    Ended(Result<Outcome<Message>, Error>),
    Told,
}

impl Call {
    /// A call that has not been sent.
    #[must_use]
    pub fn new(request: Request, limits: Limits) -> Self {
        let deadline = Deadline::new(limits.timeout, limits.max_total_timeout)
            .pauses(limits.pauses)
            .whole(limits.deadline);
        let rounds = Rounds::new(Answering::default(), 0);
        Self {
            request,
            deadline,
            state: State::Fresh,
            aside: None,
            corrected: false,
            rounds,
            consented: false,
            defined: false,
            sessions: false,
            in_session: false,
            restarts: false,
            idempotent: false,
            fragile: false,
            lost_on: Arc::default(),
            waits: Waits::NEVER,
            put_off: false,
            renewed: false,
            reads: false,
            repeated: false,
        }
    }

    /// Does without a new session where this one is lost.
    #[must_use]
    #[inline]
    pub fn in_this_session(mut self) -> Self {
        self.renewed = true;
        self
    }

    /// Says that it may be carried out twice.
    #[must_use]
    #[inline]
    pub fn idempotent(mut self) -> Self {
        self.idempotent = true;
        self
    }

    /// Says which statuses, besides 404, tell of a lost session where they come without an error that
    /// names the request.
    #[must_use]
    #[inline]
    pub fn lost_on(mut self, statuses: Arc<[u16]>) -> Self {
        self.lost_on = statuses;
        self
    }

    /// Waits where the server says how long, and is sent again if it may be.
    #[must_use]
    #[inline]
    pub fn waiting(mut self, waits: Waits) -> Self {
        self.waits = waits;
        self
    }

    /// Makes the connection anew where it turns out to be over before anything was written.
    #[must_use]
    #[inline]
    pub fn restarting(mut self) -> Self {
        self.restarts = true;
        self
    }

    /// Says that so much of the first timeout was spent before, in a queue.
    #[must_use]
    #[inline]
    pub fn spent(mut self, spent: Duration) -> Self {
        self.deadline = self.deadline.spent(spent);
        self
    }

    /// Lets the driver answer what the server asks, in `limit` rounds at most. Without it an
    /// input-required result goes to the caller.
    #[must_use]
    #[inline]
    pub fn answering(mut self, answering: Answering, limit: usize) -> Self {
        self.rounds = Rounds::new(answering, limit);
        self
    }

    /// What is to be done next; `None` until something happens.
    ///
    /// `next_id` gives an id that this client never used before.
    pub fn poll(
        &mut self,
        next_id: impl FnOnce() -> u64,
        terms: &Terms<'_>,
        now: Instant,
    ) -> Option<Step<Outcome<Message>>> {
        if let Some(aside) = self.aside.take() {
            return Some(*aside);
        }
        match std::mem::replace(&mut self.state, State::Told) {
            State::Fresh => Some(self.send(next_id(), terms, now)),
            State::Ended(result) => Some(Step::Done(result)),
            other => {
                self.state = other;
                None
            }
        }
    }

    /// Whether nothing is to be done until something happens: [`poll`](Self::poll) gives `None`.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        self.aside.is_none() && !matches!(self.state, State::Fresh | State::Ended(_))
    }

    /// Takes a message from the exchange of this call. Before the next one the driver polls.
    ///
    /// An answer counts even behind the deadline; anything else does not put it off once it has
    /// passed, so that a flood cannot hide it.
    pub fn handle_message(&mut self, message: Message, terms: &Terms<'_>, now: Instant) {
        let State::Waiting(id) = self.state else { return };
        match message.body() {
            Body::Error { error, .. } if !self.corrected && names_a_version(error, terms) => {
                self.corrected = true;
                self.state = State::Fresh;
            }
            Body::Error { id: of, error } if self.tells_of_loss(&message, of, id) => {
                let why = serde_json::from_str::<ErrorObject>(error).map(Error::from);
                self.renew(why.unwrap_or_else(|fault| Error::decode(fault.to_string())));
            }
            Body::Error { .. } if self.is_put_off(message.outside(), now) => {}
            // A failure may name no request, or another; a result of another is not this one's,
            // whatever the transport makes of it.
            Body::Result { id: other, .. } if other.as_ours() != Some(id) => {
                tracing::warn!(id, %other, "a result came for another request");
            }
            Body::Error { .. } | Body::Result { .. } => {
                let result = terms.dialect.read(&self.request, message, terms.outfit);
                self.answered(result, terms, now);
            }
            _ if self.deadline.expired(now).is_some() => self.handle_timeout(now),
            Body::Notification { method: "notifications/progress", params: Some(params) } => {
                if progress_token(params) == Some(id) {
                    self.deadline.extend(now);
                    self.aside = Some(Box::new(Step::Progress(message)));
                }
            }
            Body::Notification { .. } => self.aside = Some(Box::new(Step::Notify(message))),
            Body::Request { method, .. } => match terms.dialect.era() {
                Era::Initialize => self.aside = Some(Box::new(Step::Serve(message))),
                // 2026-07-28, transports, "Receiving Messages": such a request is the peer's
                // fault; a client of this era never answers.
                _ => tracing::warn!(
                    method,
                    "the server sent a request, which its version does not allow"
                ),
            },
        }
    }

    /// The exchange failed. Where the server said how long to leave it alone, and the request may
    /// be sent again, that is waited for, within the timeout that runs; else it is over.
    pub fn handle_failure(&mut self, why: TransportError, now: Instant) {
        let (status, retry_after) = (why.status(), why.retry_after());
        let said = Outside { status, retry_after, ..Outside::default() };
        let waiting = matches!(self.state, State::Waiting(_));
        if !waiting || !self.is_put_off(Some(&said), now) {
            self.handle_closed(Some(why));
        }
    }

    /// The exchange is over without an answer; `None` where it just ended.
    ///
    /// A request that only reads is sent once more, under a new id, where the peer hung up on it
    /// before it heard it, or where its stream was cut and cannot be resumed (2026-07-28).
    pub fn handle_closed(&mut self, why: Option<TransportError>) {
        if matches!(self.state, State::Waiting(_)) {
            let unheard = why.as_ref().is_some_and(|why| why.processed() == Processed::Unlikely);
            let cut = self.fragile && why.as_ref().is_none_or(|why| is_cut(why.fault()));
            if (unheard || cut) && self.repeats() && !std::mem::replace(&mut self.repeated, true) {
                tracing::debug!("the answer was cut off; the request is sent once more");
                self.state = State::Fresh;
                return;
            }
            let lost = why.as_ref().is_some_and(|why| self.loses_connection(why));
            let why = why.unwrap_or_else(|| {
                TransportError::new(
                    TransportFault::StreamEnded,
                    "the response stream ended before the response",
                )
            });
            match lost {
                true => self.renew(Error::from(why)),
                false if self.repeats() => self.end(Err(Error::from(why).repeatable())),
                false => self.end(Err(Error::from(why))),
            }
        }
    }

    /// The connection was made anew, or could not be. What asks for a page behind a cursor ends all
    /// the same where cursors are of one session: the list has to begin anew.
    pub fn handle_reopened(&mut self, outcome: Result<(), Error>) {
        self.state = match (std::mem::replace(&mut self.state, State::Told), outcome) {
            (State::Renewing(lost), Ok(())) if self.has_old_cursor() => State::Ended(Err(*lost)),
            (State::Renewing(_), Ok(())) => State::Fresh,
            (State::Renewing(lost), Err(error)) => {
                let text =
                    format!("{} (the connection was lost: {})", error.message(), lost.message());
                let both = Error::new(error.kind(), error.code(), text);
                let cause = error.cause().or_else(|| lost.cause()).cloned();
                State::Ended(Err(match cause {
                    Some(cause) => both.with_cause(cause),
                    None => both,
                }))
            }
            (other, _) => other,
        };
    }

    /// What was asked by [`Step::Ask`] was answered; or one of the handlers failed, and why.
    pub fn handle_answers(&mut self, answers: Result<InputResponses, HandlerFailure>) {
        match (std::mem::replace(&mut self.state, State::Told), answers) {
            (State::Asking(asked), Ok(answers)) => self.go_on(*asked, Some(answers)),
            (State::Asking(asked), Err(failure)) => {
                self.end(Err(rounds::handler_failed(failure.id, failure.reason, *asked)));
            }
            (State::Consenting(error), Ok(answers)) => match rounds::all_accepted(&answers) {
                true => self.state = State::Fresh,
                false => self.end(Err(*error)),
            },
            (State::Consenting(error), Err(_)) => self.end(Err(*error)),
            (other, _) => self.state = other,
        }
    }

    /// Begins anew after the end: the server was asked in a version that it does not speak.
    pub fn again(&mut self) {
        if matches!(self.state, State::Told) {
            self.state = State::Fresh;
        }
    }

    /// Ends once more, with this.
    pub fn stop(&mut self, error: Error) {
        self.end(Err(error));
    }

    /// What [`Step::Define`] asked for: which arguments of the tool travel as headers; `None` where
    /// that could not be found out.
    pub fn handle_definition(&mut self, plan: Option<ParamHeaders>) {
        self.state = match (std::mem::replace(&mut self.state, State::Told), plan) {
            (State::Defining(_), Some(plan)) if !plan.is_empty() => {
                self.request.param_headers = Some(plan);
                State::Fresh
            }
            (State::Defining(error), _) => State::Ended(Err(*error)),
            (other, _) => other,
        };
    }

    /// The time given by [`deadline`](Self::deadline) has come. Gives up if it really has.
    pub fn handle_timeout(&mut self, now: Instant) {
        match self.state {
            State::Pacing(until) if until <= now => self.state = State::Fresh,
            State::Waiting(_) | State::Renewing(_) => {
                if let Some(error) = self.deadline.expired(now) {
                    self.end(Err(error));
                }
            }
            State::Asking(_) | State::Consenting(_) | State::Defining(_) | State::Pacing(_) => {
                if let Some(error) = self.deadline.whole_expired(now) {
                    self.end(Err(error));
                }
            }
            State::Fresh | State::Ended(_) | State::Told => {}
        }
    }

    /// For so long the server's own questions were being answered: that time is not the server's.
    /// It moves the timeout, up to ten minutes after the sending or `max_total_timeout`.
    pub fn handle_served(&mut self, time: Duration) {
        self.deadline.pause(time);
    }

    /// The transport waits for a person: the clock stands.
    pub fn handle_held(&mut self, now: Instant) {
        self.deadline.hold(now);
    }

    /// The wait for a person is over.
    pub fn handle_released(&mut self, now: Instant) {
        self.deadline.release(now);
    }

    /// When [`handle_timeout`](Self::handle_timeout) is due, if ever.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        match self.state {
            State::Waiting(_) | State::Renewing(_) => self.deadline.at(),
            State::Asking(_) | State::Consenting(_) | State::Defining(_) => {
                self.deadline.whole_at()
            }
            State::Pacing(until) => {
                Some(self.deadline.whole_at().map_or(until, |whole| whole.min(until)))
            }
            State::Fresh | State::Ended(_) | State::Told => None,
        }
    }

    /// When the call as a whole ends, if ever: for what a driver does beside it.
    #[must_use]
    pub fn ends(&self) -> Option<Instant> {
        self.deadline.whole_at()
    }

    /// What is asked.
    #[must_use]
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// Whether the server asked for input on the way, or for consent.
    #[must_use]
    pub fn was_inquired(&self) -> bool {
        self.rounds.were_any() || self.consented
    }

    /// What the server wants to know before it answers, while that is being gathered.
    #[must_use]
    pub fn asked(&self) -> Option<&InputRequired> {
        match &self.state {
            State::Asking(asked) => Some(asked),
            _ => None,
        }
    }

    fn send(&mut self, id: u64, terms: &Terms<'_>, now: Instant) -> Step<Outcome<Message>> {
        let dressed = terms.dialect.admit(&self.request.method);
        match dressed.and_then(|()| terms.dialect.dress(&self.request, id, terms.outfit)) {
            Ok(envelope) => {
                let entry = terms.dialect.catalog().entry(&self.request.method);
                self.reads = entry.is_some_and(Entry::reads);
                self.fragile = terms.dialect.era() == Era::Stateless && terms.carrier.own_stream;
                self.sessions = terms.dialect.era() == Era::Initialize;
                self.in_session = self.sessions && terms.outfit.has_session();
                if !std::mem::take(&mut self.put_off) {
                    self.deadline.start(now);
                }
                self.state = State::Waiting(id);
                Step::Send(envelope)
            }
            Err(error) => Step::Done(Err(error)),
        }
    }

    /// 2025-11-25, transports, "Session Management": a 404 to a request that names a session says
    /// that the session is over. The request was not processed, so it is sent once more.
    fn loses_session(&self, status: Option<u16>) -> bool {
        let lost = status.is_some_and(|status| status == 404 || self.lost_on.contains(&status));
        lost && self.in_session && !self.renewed
    }

    /// Puts the call off, if the server wants that and it harms nothing.
    fn is_put_off(&mut self, said: Option<&Outside>, now: Instant) -> bool {
        let said = said.filter(|_| self.repeats());
        let until = said.and_then(|said| {
            self.waits.until(said.status, said.retry_after, self.deadline.at(), now)
        });
        if let Some(until) = until {
            tracing::debug!(wait = ?until.duration_since(now), "the server wants to be left alone");
            self.put_off = true;
            self.state = State::Pacing(until);
        }
        until.is_some()
    }

    /// Of the statuses a caller named, an error that names its request is an answer to it.
    fn tells_of_loss(&self, message: &Message, of: Option<&RequestId>, id: u64) -> bool {
        let status = status_of(message);
        let answers = of.and_then(RequestId::as_ours) == Some(id);
        (status == Some(404) || !answers) && self.loses_session(status)
    }

    fn repeats(&self) -> bool {
        self.reads || self.idempotent
    }

    /// 2025-11-25, pagination, "Implementation Guidelines": a cursor is of no use in another session.
    fn has_old_cursor(&self) -> bool {
        self.sessions && self.request.params.member("cursor").is_some()
    }

    fn loses_connection(&self, why: &TransportError) -> bool {
        let over = matches!(why.fault(), TransportFault::Closed | TransportFault::Exited);
        let unsent = over && why.processed() == Processed::No;
        // A session that is lost while a stream is resumed says nothing of the request, which the
        // server may have carried out.
        let refused = why.fault() == TransportFault::Status || self.repeats();
        (unsent && self.restarts && !self.renewed) || (refused && self.loses_session(why.status()))
    }

    fn renew(&mut self, lost: Error) {
        self.renewed = true;
        self.state = State::Renewing(Box::new(lost));
        self.aside = Some(Box::new(Step::Reopen));
    }

    /// Reads an answer: the end, or a round of questions.
    fn answered(
        &mut self,
        result: Result<Outcome<Message>, Error>,
        terms: &Terms<'_>,
        now: Instant,
    ) {
        match result {
            Ok(Outcome::InputRequired(asked)) if self.rounds.answer() => self.ask(asked, now),
            Err(error) if !self.defined && misses_headers(&error, &self.request, terms) => {
                self.defined = true;
                let name = self.request.params.member("name").unwrap_or_default();
                self.aside =
                    Some(Box::new(Step::Define(serde_json::from_str(&name).unwrap_or_default())));
                self.state = State::Defining(Box::new(error));
            }
            Err(error) if !self.consented => match self.rounds.pages(&error, terms.dialect) {
                Some(questions) => {
                    self.consented = true;
                    self.state = State::Consenting(Box::new(error));
                    self.aside = Some(Box::new(Step::Ask(questions)));
                }
                None => self.end(Err(error)),
            },
            other => self.end(other),
        }
    }

    fn ask(&mut self, asked: InputRequired, now: Instant) {
        match self.rounds.next(&asked) {
            Ok(Round::Ask(questions)) => {
                self.state = State::Asking(Box::new(asked));
                self.aside = Some(Box::new(Step::Ask(questions)));
            }
            Ok(Round::Wait(pause)) => {
                self.go_on(asked, None);
                self.state = now.checked_add(pause).map_or(State::Fresh, State::Pacing);
            }
            Err(error) => self.end(Err(error)),
        }
    }

    /// The same request again, with the newest answers and the newest state alone (2026-07-28,
    /// multi round-trip requests, "Client Requirements").
    fn go_on(&mut self, asked: InputRequired, answers: Option<InputResponses>) {
        self.request.input_responses = answers;
        self.request.request_state = asked.request_state;
        self.state = State::Fresh;
    }

    fn end(&mut self, result: Result<Outcome<Message>, Error>) {
        self.state = State::Ended(result);
    }
}

#[cfg(test)]
mod tests;
