//! The spans that a client makes: names and fields are stable, and hold no argument and no secret.

use std::time::Instant;

use snodo_types::{Error, Kind, Message, Outcome};
use tracing::Span;
use tracing::field::Empty;

use crate::call::Call;
use crate::timer;

/// The span of one call, from its start to its answer. Where nobody listens it is nothing.
#[derive(Debug)]
pub(crate) struct CallSpan {
    span: Span,
    since: Option<Instant>,
}

impl CallSpan {
    /// It stands below the span in which the request is awaited.
    pub(crate) fn of(call: &Call) -> Self {
        let span = tracing::info_span!(
            target: "snodo",
            "snodo.call",
            method = call.method(),
            server = call.target(),
            id = Empty,
            protocol = Empty,
            outcome = Empty,
            code = Empty,
            duration = Empty,
        );
        let since = (!span.is_disabled()).then(timer::now);
        if since.is_some() {
            let version = call.core.connection().opened.dialect.version();
            span.record("protocol", version.as_str());
        }
        Self { span, since }
    }

    pub(crate) fn span(&self) -> &Span {
        &self.span
    }

    /// It is sent under this id; a later sending has another.
    pub(crate) fn sent(&self, id: Option<u64>) {
        if let (Some(_), Some(id)) = (self.since, id) {
            self.span.record("id", id);
        }
    }

    /// How it ended. Told once.
    pub(crate) fn ended(&mut self, answer: &Result<Outcome<Message>, Error>) {
        let outcome = match answer {
            Ok(Outcome::Complete(_)) => "ok",
            Ok(Outcome::InputRequired(_)) => "input_required",
            Err(error) if error.is_timeout() => "timeout",
            Err(error) => match error.kind() {
                Kind::Authorization => "authorization",
                Kind::Execution => "execution",
                Kind::JsonRpc => "json_rpc",
                Kind::Protocol => "protocol",
                _ => "transport",
            },
        };
        if let (Some(_), Err(error)) = (self.since, answer) {
            self.span.record("code", error.code());
        }
        self.end(outcome);
    }

    fn end(&mut self, outcome: &'static str) {
        let Some(since) = self.since.take() else { return };
        self.span.record("outcome", outcome);
        let taken = timer::now().saturating_duration_since(since);
        self.span.record("duration", taken.as_secs_f64());
    }
}

impl Drop for CallSpan {
    /// Whoever dropped the call gave it up.
    fn drop(&mut self) {
        self.end("cancelled");
    }
}
