//! No spans: what `cargo xtask spans` holds the library against, and nothing else is built with.
//!
//! It stands in the place of `trace.rs` where `cfg(snodo_without_spans)` is set.

use snodo_types::{Error, Message, Outcome, ProtocolVersion};

use crate::call::Call;

/// In the place of a connection's span.
#[derive(Debug)]
pub(crate) struct ConnectionSpan;

/// In the place of a call's span.
#[derive(Debug)]
pub(crate) struct CallSpan;

/// In the place of where something is told.
#[derive(Clone, Debug)]
pub(crate) struct Scope;

/// In the place of a span that is entered.
#[derive(Debug)]
pub(crate) struct Entered;

impl Scope {
    pub(crate) fn none() -> Self {
        Self
    }

    pub(crate) fn of<F>(&self, future: F) -> F {
        future
    }
}

impl ConnectionSpan {
    pub(crate) fn to(_: &str) -> Self {
        Self
    }

    pub(crate) fn scope(&self) -> Scope {
        Scope
    }

    pub(crate) fn opened(&self, _: ProtocolVersion) {}

    pub(crate) fn failed(&self, _: &Error) {}

    pub(crate) fn closed(&self) {}

    pub(crate) fn lost(&self) {}
}

impl CallSpan {
    pub(crate) fn of(_: &Call) -> Self {
        Self
    }

    pub(crate) fn entered(&self) -> Entered {
        Entered
    }

    pub(crate) fn scope(&self) -> Scope {
        Scope
    }

    pub(crate) fn sent(&mut self, _: Option<u64>, _: ProtocolVersion, _: &ConnectionSpan) {}

    pub(crate) fn ended(&mut self, _: &Result<Outcome<Message>, Error>) {}
}
