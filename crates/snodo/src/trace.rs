//! The spans that a client makes: names and fields are stable, and hold no argument and no secret.
//!
//! What each means to a reader stands in `docs/guides/observability.md`.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use serde::Deserialize;
use snodo_types::{Body, Error, Kind, Message, Outcome, ProtocolVersion};
use tracing::field::Empty;
use tracing::instrument::{Instrument, Instrumented};
use tracing::level_filters::LevelFilter;
use tracing::span::EnteredSpan;
use tracing::{Span, info_span};

use crate::call::Call;
use crate::connection::Connection;
use crate::running::Answer;
use crate::timer;

/// The span of one connection, from the first try to open it until nothing holds it any more. It
/// outlives what it was opened for, so it stands below nothing; what is done on it points to it.
#[derive(Debug)]
pub(crate) struct ConnectionSpan {
    span: Span,
    /// Told apart from every other of this process, for who reads logs.
    number: u64,
    since: Option<Instant>,
    opened: AtomicBool,
    over: AtomicBool,
}

/// The span of one call, from its start to its answer. Where nobody listens it is one null pointer:
/// each byte of a call is moved several times before it is sent.
#[derive(Debug)]
pub(crate) struct CallSpan(Option<Box<Told>>);

/// A call that somebody wants to know of, until it ended.
#[derive(Debug)]
struct Told {
    span: Span,
    since: Instant,
    /// The connection it was sent on last.
    connection: u64,
    over: bool,
}

/// Where something is told: within a span, or within nothing.
#[derive(Clone, Debug)]
pub(crate) struct Scope(Span);

impl Scope {
    /// Within no span of ours.
    pub(crate) fn none() -> Self {
        Self(Span::none())
    }

    /// What the future tells is told here.
    pub(crate) fn of<F>(&self, future: F) -> Instrumented<F> {
        future.instrument(self.0.clone())
    }
}

/// The next connection's number; the first of a process is 1.
static NUMBERS: AtomicU64 = AtomicU64::new(1);

impl ConnectionSpan {
    /// It begins, to the server that is called so.
    pub(crate) fn to(server: &str) -> Self {
        let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        let span = info_span!(
            target: "snodo",
            parent: None,
            "snodo.connection",
            server,
            connection = number,
            protocol = Empty,
            opening = Empty,
            outcome = Empty,
            code = Empty,
            duration = Empty,
        );
        let since = (!span.is_disabled()).then(timer::now);
        if since.is_some() {
            span.follows_from(Span::current());
        }
        Self { span, number, since, opened: AtomicBool::new(false), over: AtomicBool::new(false) }
    }

    /// What is told within it.
    pub(crate) fn scope(&self) -> Scope {
        Scope(self.span.clone())
    }

    /// It is open, and speaks this version.
    pub(crate) fn opened(&self, version: ProtocolVersion) {
        self.opened.store(true, Ordering::Release);
        if let Some(since) = self.since {
            self.span.record("protocol", version.as_str());
            self.span.record("opening", seconds(since));
        }
    }

    /// It could not be opened.
    pub(crate) fn failed(&self, error: &Error) {
        if self.since.is_some() {
            self.span.record("code", error.code());
        }
        self.end(word(error));
    }

    /// The client was closed.
    pub(crate) fn closed(&self) {
        self.end("closed");
    }

    /// The server ended it, or its session, or another one took its place.
    pub(crate) fn lost(&self) {
        self.end("lost");
    }

    /// Only the first end counts.
    fn end(&self, outcome: &'static str) {
        let Some(since) = self.since else { return };
        if !self.over.swap(true, Ordering::AcqRel) {
            self.span.record("outcome", outcome);
            self.span.record("duration", seconds(since));
        }
    }
}

impl Drop for ConnectionSpan {
    /// Whoever was opening it gave up, or nobody holds the client any more.
    fn drop(&mut self) {
        let opened = self.opened.load(Ordering::Acquire);
        self.end(if opened { "dropped" } else { "cancelled" });
    }
}

impl CallSpan {
    /// It stands below the span in which the request is awaited.
    #[inline]
    pub(crate) fn of(call: &Call) -> Self {
        if LevelFilter::current() < LevelFilter::INFO { Self(None) } else { Self::told(call) }
    }

    /// Apart, so that who hears nothing pays one look at the level.
    #[cold]
    fn told(call: &Call) -> Self {
        let span = info_span!(
            target: "snodo",
            "snodo.call",
            method = call.method(),
            server = call.target(),
            connection = Empty,
            id = Empty,
            protocol = Empty,
            outcome = Empty,
            code = Empty,
            duration = Empty,
        );
        if span.is_disabled() {
            return Self(None);
        }
        Self(Some(Box::new(Told { span, since: timer::now(), connection: 0, over: false })))
    }

    /// Whether nobody listens.
    pub(crate) fn is_silent(&self) -> bool {
        self.0.is_none()
    }

    /// Until the guard is gone, what is told is told within it. `None` where nobody listens.
    pub(crate) fn entered(&self) -> Option<EnteredSpan> {
        self.0.as_ref().map(|told| told.span.clone().entered())
    }

    /// What is told within it.
    pub(crate) fn scope(&self) -> Scope {
        self.0.as_ref().map_or_else(Scope::none, |told| Scope(told.span.clone()))
    }

    /// It is sent under this id; a later sending has another.
    pub(crate) fn sent(&mut self, id: Option<u64>, on: &Connection) {
        if let Some(told) = &mut self.0 {
            told.sent(id, on);
        }
    }

    /// How it ended. Told once.
    pub(crate) fn ended(&mut self, answer: &Answer) {
        let Some(told) = self.0.as_mut().filter(|told| !told.over) else { return };
        let outcome = match answer {
            Ok(Outcome::Complete(message)) if is_kept(message) => "kept",
            Ok(Outcome::Complete(message)) if is_tool_error(message) => "tool_error",
            Ok(Outcome::Complete(_)) => "ok",
            Ok(Outcome::InputRequired(_)) => "input_required",
            Err(error) => {
                told.span.record("code", error.code());
                word(error)
            }
        };
        told.end(outcome);
    }
}

impl Told {
    #[cold]
    fn sent(&mut self, id: Option<u64>, on: &Connection) {
        if let Some(id) = id {
            self.span.record("id", id);
        }
        let connection = &on.span;
        if self.connection != connection.number {
            self.connection = connection.number;
            self.span.record("connection", connection.number);
            self.span.record("protocol", on.opened.dialect.version().as_str());
            self.span.follows_from(&connection.span);
        }
    }

    fn end(&mut self, outcome: &'static str) {
        self.over = true;
        self.span.record("outcome", outcome);
        self.span.record("duration", seconds(self.since));
    }
}

impl Drop for Told {
    /// Whoever dropped the call gave it up.
    fn drop(&mut self) {
        if !self.over {
            self.end("cancelled");
        }
    }
}

fn seconds(since: Instant) -> f64 {
    timer::now().saturating_duration_since(since).as_secs_f64()
}

/// What a failure is called.
fn word(error: &Error) -> &'static str {
    if error.is_timeout() {
        return "timeout";
    }
    match error.kind() {
        Kind::Authorization => "authorization",
        Kind::Execution => "execution",
        Kind::JsonRpc => "json_rpc",
        Kind::Protocol => "protocol",
        _ => "transport",
    }
}

/// Whether an answer was not fetched for this call.
fn is_kept(message: &Message) -> bool {
    message.outside().is_some_and(|outside| outside.kept.is_some())
}

/// Whether a tool ran and reports a failure; no result of another method says so.
fn is_tool_error(message: &Message) -> bool {
    let Body::Result { result, .. } = message.body() else { return false };
    serde_json::from_str::<Marks>(result).is_ok_and(|marks| marks.is_error == Some(true))
}

#[derive(Deserialize)]
struct Marks {
    #[serde(rename = "isError")]
    is_error: Option<bool>,
}
