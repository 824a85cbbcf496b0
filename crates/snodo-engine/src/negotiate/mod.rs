//! Settling the version, and opening a session where the version has one.

mod plan;

use std::time::{Duration, Instant};

use serde_json::json;
use snodo_dialect::{Dialect, Era, Params, Request, dialect, initialize};
use snodo_types::{
    Body, Cause, Error, ErrorObject, Kind, Message, Processed, ProtocolVersion, Routing,
    TransportError, TransportFault,
};

use crate::Step;
use crate::deadline::Deadline;
use crate::verdict::{Verdict, member, supported};

pub use plan::{Opened, Plan, Session};

/// The opening of one connection.
///
/// Where versions of both eras are allowed, `server/discover` is asked first; its answer, by class,
/// decides. A single era needs no probe: a stateless one sends nothing, the other `initialize`.
///
/// ```
/// use snodo_engine::{Negotiation, Plan, Step};
/// use snodo_types::{Message, ProtocolVersion};
/// # let empty = snodo_types::Raw::empty_object;
/// # let identity = snodo_dialect::Identity {
/// #     client_info: empty(),
/// #     capabilities: empty(),
/// #     extensions: Default::default(),
/// # };
/// # let (carrier, probe_timeout, timeout) = (Default::default(), None, None);
/// let allowed = vec![ProtocolVersion::V2026_07_28, ProtocolVersion::V2025_11_25];
/// let plan = Plan { allowed, identity, carrier, notifies: true, probe_timeout, timeout };
/// let mut negotiation = Negotiation::new(plan);
/// let now = std::time::Instant::now();
/// let probe = negotiation.poll(|| 1, now);
/// assert!(matches!(probe, Some(Step::Send(sent)) if sent.message.contains("server/discover")));
/// let answer = r#"{"supportedVersions":["2026-07-28"],"capabilities":{}}"#;
/// negotiation.handle_message(Message::result(&1.into(), answer), now);
/// let opened = negotiation.poll(|| 2, now);
/// assert!(matches!(opened, Some(Step::Done(Ok(opened))) if opened.session.is_none()));
/// ```
#[derive(Debug)]
pub struct Negotiation {
    plan: Plan,
    state: State,
    deadline: Deadline,
    /// Something for the driver besides sending and the end.
    aside: Option<Step<Opened>>,
    /// What the probe got, where it led to `initialize`.
    probe: Option<Error>,
    /// What the server hung up on before it heard it was sent once more.
    repeated: bool,
    /// The server forgot a session before it was open, and was asked for another.
    forgotten: bool,
    /// Ends the session that the server has opened.
    begun: Option<Routing>,
    doing: &'static str,
}

#[derive(Debug)]
enum State {
    Start,
    /// To ask `server/discover`; `again` once a refusal named this version.
    Probe {
        version: ProtocolVersion,
        again: bool,
    },
    Probing {
        version: ProtocolVersion,
        again: bool,
    },
    Reopen,
    Reopening,
    /// To ask `initialize` for the newest of these.
    Initialize(Vec<ProtocolVersion>),
    Initializing(Vec<ProtocolVersion>),
    /// To send `notifications/initialized`.
    Announce(Box<Opened>),
    Announcing(Box<Opened>),
    Ended(Box<Result<Opened, Error>>),
    Told,
}

impl Negotiation {
    /// A negotiation that has not begun.
    #[must_use]
    pub fn new(mut plan: Plan) -> Self {
        plan.allowed.sort_unstable_by(|left, right| right.cmp(left));
        plan.allowed.dedup();
        Self {
            plan,
            state: State::Start,
            deadline: Deadline::default(),
            aside: None,
            probe: None,
            repeated: false,
            forgotten: false,
            begun: None,
            doing: "connect",
        }
    }

    /// What is to be done next; `None` until something happens.
    pub fn poll(&mut self, next_id: impl FnOnce() -> u64, now: Instant) -> Option<Step<Opened>> {
        if let Some(aside) = self.aside.take() {
            return Some(aside);
        }
        if matches!(self.state, State::Start) {
            self.state = self.start();
        }
        match std::mem::replace(&mut self.state, State::Told) {
            State::Probe { version, again } => {
                self.begin(DISCOVER, self.plan.probe_timeout, now);
                self.state = State::Probing { version, again };
                let request = Request::new(DISCOVER, Params::new());
                Some(self.send(version, &request, next_id()))
            }
            State::Reopen => {
                self.state = State::Reopening;
                Some(Step::Reopen)
            }
            State::Initialize(versions) => {
                self.begin(INITIALIZE, self.plan.timeout, now);
                let version = versions[0];
                self.state = State::Initializing(versions);
                Some(match initialize(version, &self.plan.identity) {
                    Ok(request) => self.send(version, &request, next_id()),
                    Err(error) => self.stop(error),
                })
            }
            State::Announce(opened) => {
                self.begin(INITIALIZED, self.plan.timeout, now);
                let notice = format!(r#"{{"jsonrpc":"2.0","method":"{INITIALIZED}"}}"#);
                let envelope = opened.outfit.wrap(notice);
                self.state = State::Announcing(opened);
                Some(Step::Send(envelope))
            }
            State::Ended(result) => Some(Step::Done(*result)),
            other => {
                self.state = other;
                None
            }
        }
    }

    /// Takes a message from the exchange of what was sent last. Before the next one the driver
    /// polls.
    ///
    /// An answer counts even behind the deadline; anything else does not put it off once it has
    /// passed, so that a flood cannot hide it.
    pub fn handle_message(&mut self, message: Message, now: Instant) {
        match (&self.state, message.body()) {
            (State::Probing { .. }, Body::Error { .. } | Body::Result { .. }) => {
                self.settle(Verdict::of(message));
            }
            (State::Initializing(_), Body::Result { .. }) => self.initialized(message),
            (State::Initializing(_), Body::Error { error, .. }) => {
                match serde_json::from_str::<ErrorObject>(error) {
                    Ok(object) => self.refused(object),
                    Err(fault) => self.fail(Error::decode(fault.to_string())),
                }
            }
            _ if self.deadline.expired(now).is_some() => self.handle_timeout(now),
            // Lifecycle, "Initialization": a server may ping and log before the session is open.
            (State::Initializing(_), Body::Request { .. }) => {
                self.aside = Some(Step::Serve(message));
            }
            (State::Probing { .. } | State::Initializing(_), Body::Notification { .. }) => {
                self.aside = Some(Step::Notify(message));
            }
            (State::Probing { .. }, Body::Request { method, .. }) => {
                tracing::warn!(method, "the server sent a request before anything was agreed on");
            }
            _ => {}
        }
    }

    /// The routing that ends a session which the server opened and nobody will use: it is taken once
    /// the negotiation has failed (2025-11-25, transports, "Session Management").
    pub fn take_session(&mut self) -> Option<Routing> {
        self.begun.take()
    }

    /// What was sent last was handed to the peer.
    pub fn handle_sent(&mut self) {
        self.state = match std::mem::replace(&mut self.state, State::Told) {
            State::Announcing(opened) => State::Ended(Box::new(Ok(*opened))),
            other => other,
        };
    }

    /// The exchange is over without an answer; `None` where it just ended.
    ///
    /// What the peer hung up on before it heard it is sent once more: the worst that comes of it is
    /// a session that nobody uses. A session that is gone before it was open is followed by one
    /// other.
    pub fn handle_closed(&mut self, why: Option<TransportError>) {
        let why = why.unwrap_or_else(|| {
            TransportError::new(
                TransportFault::StreamEnded,
                "the connection ended before the answer",
            )
        });
        let unheard = why.processed() == Processed::Unlikely;
        if unheard && !std::mem::replace(&mut self.repeated, true) {
            return self.repeat();
        }
        if let Some(version) = self.lost_session(&why)
            && !std::mem::replace(&mut self.forgotten, true)
        {
            tracing::debug!("the server has forgotten the session that it just opened");
            self.begun = None;
            self.state = State::Initialize(vec![version]);
            return;
        }
        match self.state {
            State::Probing { .. } => {
                let verdict = Verdict::of_failure(why, self.plan.carrier);
                self.settle(verdict);
            }
            State::Initializing(_) | State::Announcing(_) => self.fail(Error::from(why)),
            _ => {}
        }
    }

    /// The time given by [`deadline`](Self::deadline) has come. Gives up if it really has.
    pub fn handle_timeout(&mut self, now: Instant) {
        let Some(error) = self.deadline.expired(now) else { return };
        match self.state {
            // Only a pipe falls silent before an older server; over HTTP it is the network.
            State::Probing { .. } if self.plan.carrier.own_stream => {
                self.settle(Verdict::Unknown(error));
            }
            State::Probing { .. } => self.settle(Verdict::Old(error)),
            State::Initializing(_) | State::Announcing(_) => self.fail(error),
            _ => {}
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

    /// The connection was made anew.
    pub fn handle_reopened(&mut self) {
        if matches!(self.state, State::Reopening) {
            self.state = State::Initialize(self.of_era(Era::Initialize));
        }
    }

    /// The connection could not be made anew.
    pub fn handle_reopen_failed(&mut self, error: Error) {
        if matches!(self.state, State::Reopening) {
            self.doing = "connect";
            self.fail(error);
        }
    }

    /// When [`handle_timeout`](Self::handle_timeout) is due, if ever.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        match self.state {
            State::Probing { .. } | State::Initializing(_) | State::Announcing(_) => {
                self.deadline.at()
            }
            _ => None,
        }
    }

    /// What was agreed on, from when the server is told so: what it asks from then on is asked in
    /// this version.
    #[must_use]
    pub fn agreed(&self) -> Option<&'static dyn Dialect> {
        match &self.state {
            State::Announce(opened) | State::Announcing(opened) => Some(opened.dialect),
            _ => None,
        }
    }

    /// What was done last, for errors: a method, or `connect` while nothing was sent.
    #[must_use]
    pub fn doing(&self) -> &'static str {
        self.doing
    }

    fn begin(&mut self, doing: &'static str, limit: Option<Duration>, now: Instant) {
        self.doing = doing;
        self.deadline = Deadline::new(limit, None);
        self.deadline.start(now);
    }

    /// The version of a session that is gone before it was open (2025-11-25, transports, "Session
    /// Management").
    fn lost_session(&self, why: &TransportError) -> Option<ProtocolVersion> {
        let State::Announcing(opened) = &self.state else { return None };
        let session = opened.session.as_ref()?.id.is_some();
        (session && why.status() == Some(404)).then(|| opened.dialect.version())
    }

    fn repeat(&mut self) {
        tracing::debug!("the server hung up as the request went out; it is sent once more");
        self.state = match std::mem::replace(&mut self.state, State::Told) {
            State::Probing { version, again } => State::Probe { version, again },
            State::Initializing(versions) => State::Initialize(versions),
            State::Announcing(opened) => State::Announce(opened),
            other => other,
        };
    }

    fn start(&self) -> State {
        let (stateless, sessions) = (self.of_era(Era::Stateless), self.of_era(Era::Initialize));
        match (stateless.first(), sessions.is_empty()) {
            (Some(&version), true) => self.adopt(version, None),
            (Some(&version), false) => State::Probe { version, again: false },
            (None, false) => self.begin_session(sessions),
            (None, true) => {
                State::Ended(Box::new(Err(Error::usage("no protocol version is allowed"))))
            }
        }
    }

    fn of_era(&self, era: Era) -> Vec<ProtocolVersion> {
        self.plan.allowed.iter().copied().filter(|version| dialect(*version).era() == era).collect()
    }

    /// `initialize` needs a transport that can send what nothing answers.
    fn begin_session(&self, versions: Vec<ProtocolVersion>) -> State {
        if self.plan.notifies {
            return State::Initialize(versions);
        }
        let requested = names(&versions);
        let text = "this transport cannot send notifications, which the versions that begin with initialize need";
        let error = Error::usage(text).with_data(json!({ "requested": requested }));
        State::Ended(Box::new(Err(error)))
    }

    fn adopt(&self, version: ProtocolVersion, discovered: Option<Message>) -> State {
        let dialect = dialect(version);
        let outfit = dialect.outfit(&self.plan.identity, self.plan.carrier, None);
        State::Ended(Box::new(Ok(Opened { dialect, outfit, session: None, discovered })))
    }

    fn send(&mut self, version: ProtocolVersion, request: &Request, id: u64) -> Step<Opened> {
        let dialect = dialect(version);
        let outfit = dialect.outfit(&self.plan.identity, self.plan.carrier, None);
        match dialect.dress(request, id, &outfit) {
            Ok(envelope) => Step::Send(envelope),
            Err(error) => self.stop(error),
        }
    }

    fn stop(&mut self, error: Error) -> Step<Opened> {
        self.state = State::Told;
        Step::Done(Err(error))
    }

    fn settle(&mut self, verdict: Verdict) {
        let State::Probing { version, again } = self.state else { return };
        self.state = match verdict {
            Verdict::Unknown(error) => State::Ended(Box::new(Err(error))),
            // It listed a version that needs no session: `initialize` is not for it (2026-07-28,
            // stdio, "Backward Compatibility").
            Verdict::Old(error) if again => State::Ended(Box::new(Err(error))),
            Verdict::Old(error) => {
                self.probe = Some(error);
                if self.plan.notifies {
                    State::Reopen
                } else {
                    self.begin_session(self.of_era(Era::Initialize))
                }
            }
            Verdict::Modern { versions: None, .. } => self.adopt(version, None),
            Verdict::Modern { versions: Some(versions), discovered } => {
                self.choose(versions, discovered, again)
            }
        };
    }

    /// Takes the best version that both sides speak.
    fn choose(&self, offered: Vec<String>, discovered: Option<Message>, again: bool) -> State {
        let speaks =
            |version: &ProtocolVersion| offered.iter().any(|name| name == version.as_str());
        let common: Vec<_> = self.plan.allowed.iter().copied().filter(speaks).collect();
        let Some(&best) = common.first() else {
            let data = json!({ "requested": names(&self.plan.allowed), "supported": offered });
            let text = "the server speaks none of the protocol versions that are allowed";
            return State::Ended(Box::new(Err(Error::usage(text).with_data(data))));
        };
        match (dialect(best).era(), discovered) {
            (Era::Stateless, Some(discovered)) => self.adopt(best, Some(discovered)),
            // It refused the version and lists it: ask once more, then take it at its word.
            (Era::Stateless, None) if !again => State::Probe { version: best, again: true },
            (Era::Stateless, None) => self.adopt(best, None),
            _ => self.begin_session(
                common.into_iter().filter(|v| dialect(*v).era() == Era::Initialize).collect(),
            ),
        }
    }

    fn initialized(&mut self, answer: Message) {
        let (State::Initializing(versions), Body::Result { result, .. }) =
            (&self.state, answer.body())
        else {
            return;
        };
        let id = answer.outside().and_then(|outside| outside.session.clone());
        let chosen = negotiated(result, versions);
        // Where no version was agreed on, the session ends in the one that was asked for.
        let dialect = dialect(*chosen.as_ref().unwrap_or(&versions[0]));
        let outfit = dialect.outfit(&self.plan.identity, self.plan.carrier, id.as_ref());
        self.begun = id.is_some().then(|| outfit.routing().clone());
        match chosen {
            Ok(_) => {
                let session = Some(Session { id, answer });
                let opened = Opened { dialect, outfit, session, discovered: None };
                self.state = State::Announce(Box::new(opened));
            }
            Err(error) => self.fail(error),
        }
    }

    /// A slow server of the stateless era may have let the probe's time pass, and refuse
    /// `initialize` by naming the versions it speaks.
    fn refused(&mut self, object: ErrorObject) {
        let modern = object.code == ErrorObject::UNSUPPORTED_PROTOCOL_VERSION;
        let offered = supported(&object).filter(|_| modern).unwrap_or_default();
        let speaks =
            |version: &ProtocolVersion| offered.iter().any(|name| name == version.as_str());
        let stateless = self.of_era(Era::Stateless).into_iter().find(speaks);
        match stateless {
            Some(version) => self.state = self.adopt(version, None),
            None => self.fail(Error::from(object)),
        }
    }

    /// Where both eras were tried, the error tells both answers.
    fn fail(&mut self, error: Error) {
        let error = match self.probe.take() {
            None => error,
            Some(probe) => {
                let text =
                    format!("{} (server/discover before it: {})", error.message(), probe.message());
                let both = Error::new(error.kind(), error.code(), text);
                let both = match error.data() {
                    Some(data) => both.with_data(data.clone()),
                    None => both,
                };
                both.with_cause(Cause::Negotiation { probe, initialize: error })
            }
        };
        self.state = State::Ended(Box::new(Err(error)));
    }
}

const DISCOVER: &str = "server/discover";
const INITIALIZE: &str = "initialize";
const INITIALIZED: &str = "notifications/initialized";

/// The version a server answered `initialize` with, if it is one of those allowed.
fn negotiated(result: &str, versions: &[ProtocolVersion]) -> Result<ProtocolVersion, Error> {
    let chosen = member(result, "protocolVersion").and_then(|text| serde_json::from_str(text).ok());
    let Some(chosen): Option<String> = chosen else {
        return Err(Error::decode("initialize was answered without a `protocolVersion`"));
    };
    let known = versions.iter().copied().find(|version| version.as_str() == chosen);
    known.ok_or_else(|| {
        let text =
            format!("the server chose protocol version {chosen:?}, which is not allowed here");
        let data = json!({ "negotiated": chosen, "requested": names(versions) });
        Error::new(Kind::Protocol, ErrorObject::INVALID_PARAMS, text).with_data(data)
    })
}

fn names(versions: &[ProtocolVersion]) -> Vec<&'static str> {
    versions.iter().map(|version| version.as_str()).collect()
}

#[cfg(test)]
mod tests;
