//! One request, until its answer.

use std::time::{Duration, Instant};

use serde::Deserialize;
use snodo_dialect::{Era, Request, dialect};
use snodo_types::{
    Body, Error, ErrorObject, Message, Outcome, ProtocolVersion, TransportError, TransportFault,
};

use crate::deadline::Deadline;
use crate::{Step, Terms};

/// One request: sent, followed, answered, or given up in time.
///
/// It keeps the undressed [`Request`] and dresses it for each sending. Dropping what was sent
/// cancels it; the driver does that when it drops the exchange.
#[derive(Debug)]
pub struct Call {
    request: Request,
    deadline: Deadline,
    state: State,
    /// Something for the driver besides sending and the end.
    aside: Option<Step<Outcome<Message>>>,
    /// A server that named another version was asked once more.
    corrected: bool,
}

/// How long a call may take.
///
/// ```
/// use std::time::Duration;
/// use snodo_engine::Limits;
///
/// let limits = Limits { timeout: Some(Duration::from_secs(30)), max_total_timeout: None };
/// assert_ne!(limits, Limits::default());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a call has these two clocks")]
pub struct Limits {
    /// From each sending to its answer; `None` for no end.
    pub timeout: Option<Duration>,
    /// Let progress restart the timeout, up to this long after the sending.
    pub max_total_timeout: Option<Duration>,
}

#[derive(Debug)]
enum State {
    /// To be sent.
    Fresh,
    /// Sent under this id.
    Waiting(u64),
    /// Over, and not told yet.
    Ended(Box<Result<Outcome<Message>, Error>>),
    Told,
}

impl Call {
    /// A call that has not been sent.
    #[must_use]
    pub fn new(request: Request, limits: Limits) -> Self {
        let deadline = Deadline::new(limits.timeout, limits.max_total_timeout);
        Self { request, deadline, state: State::Fresh, aside: None, corrected: false }
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
            return Some(aside);
        }
        match std::mem::replace(&mut self.state, State::Told) {
            State::Fresh => Some(self.send(next_id(), terms, now)),
            State::Ended(result) => Some(Step::Done(*result)),
            other => {
                self.state = other;
                None
            }
        }
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
            Body::Error { .. } | Body::Result { .. } => {
                let result = terms.dialect.read(&self.request, message);
                self.end(result);
            }
            _ if self.deadline.expired(now).is_some() => self.handle_timeout(now),
            Body::Notification { method: "notifications/progress", params: Some(params) } => {
                if progress_token(params) == Some(id) {
                    self.deadline.extend(now);
                    self.aside = Some(Step::Progress(message));
                }
            }
            Body::Notification { .. } => self.aside = Some(Step::Notify(message)),
            Body::Request { method, .. } => match terms.dialect.era() {
                Era::Initialize => self.aside = Some(Step::Serve(message)),
                // 2026-07-28, transports, "Receiving Messages": such a request is the peer's
                // fault; a client of this era never answers.
                _ => tracing::warn!(
                    method,
                    "the server sent a request, which its version does not allow"
                ),
            },
        }
    }

    /// The exchange is over without an answer; `None` where it just ended.
    pub fn handle_closed(&mut self, why: Option<TransportError>) {
        if matches!(self.state, State::Waiting(_)) {
            let why = why.unwrap_or_else(|| {
                TransportError::new(
                    TransportFault::StreamEnded,
                    "the response stream ended before the response",
                )
            });
            self.end(Err(Error::from(why)));
        }
    }

    /// The time given by [`deadline`](Self::deadline) has come. Gives up if it really has.
    pub fn handle_timeout(&mut self, now: Instant) {
        if matches!(self.state, State::Waiting(_))
            && let Some(error) = self.deadline.expired(now)
        {
            self.end(Err(error));
        }
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
            State::Waiting(_) => self.deadline.at(),
            _ => None,
        }
    }

    /// What is asked.
    #[must_use]
    pub fn request(&self) -> &Request {
        &self.request
    }

    fn send(&mut self, id: u64, terms: &Terms<'_>, now: Instant) -> Step<Outcome<Message>> {
        let dressed = terms.dialect.admit(&self.request.method);
        match dressed.and_then(|()| terms.dialect.dress(&self.request, id, terms.outfit)) {
            Ok(envelope) => {
                self.deadline.start(now);
                self.state = State::Waiting(id);
                Step::Send(envelope)
            }
            Err(error) => Step::Done(Err(error)),
        }
    }

    fn end(&mut self, result: Result<Outcome<Message>, Error>) {
        self.state = State::Ended(Box::new(result));
    }
}

/// Whether a refusal of the version lists one that is allowed here and spoken without a session
/// (2026-07-28, versioning, "Protocol Version Negotiation").
fn names_a_version(error: &str, terms: &Terms<'_>) -> bool {
    let Ok(object) = serde_json::from_str::<ErrorObject>(error) else { return false };
    if object.code != ErrorObject::UNSUPPORTED_PROTOCOL_VERSION {
        return false;
    }
    let versions = crate::verdict::supported(&object).unwrap_or_default();
    let speaks = |version: &ProtocolVersion| {
        versions.iter().any(|name| name == version.as_str())
            && dialect(*version).era() == Era::Stateless
    };
    terms.dialect.era() == Era::Stateless && terms.allowed.iter().any(speaks)
}

fn progress_token(params: &str) -> Option<u64> {
    #[derive(Deserialize)]
    struct Token {
        #[serde(rename = "progressToken")]
        token: snodo_types::RequestId,
    }

    serde_json::from_str::<Token>(params).ok()?.token.as_ours()
}

#[cfg(test)]
mod tests;
