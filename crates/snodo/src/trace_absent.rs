//! No spans: what `cargo xtask spans` holds the library against, and nothing else is built with.
//!
//! It stands in the place of `trace.rs` where `cfg(snodo_without_spans)` is set.

use snodo_types::{Error, ProtocolVersion};

use crate::call::Call;
use crate::connection::Connection;
use crate::running::Answer;

/// In the place of a connection's span.
#[derive(Debug)]
pub(crate) struct ConnectionSpan;

/// In the place of a call's span.
#[derive(Debug)]
pub(crate) struct CallSpan;

/// In the place of where something is told.
#[derive(Clone, Debug)]
pub(crate) struct Scope;

/// In the place of a span that is entered: there is none.
#[derive(Debug)]
pub(crate) enum Entered {}

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

    pub(crate) fn is_silent(&self) -> bool {
        true
    }

    pub(crate) fn entered(&self) -> Option<Entered> {
        None
    }

    pub(crate) fn scope(&self) -> Scope {
        Scope
    }

    pub(crate) fn sent(&mut self, _: Option<u64>, _: &Connection) {}

    pub(crate) fn ended(&mut self, _: &Answer) {}
}
