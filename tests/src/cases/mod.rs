//! Runs the given cases: inputs that have broken some client in public, with what a correct one
//! shows.
//!
//! The files stand in `tests/cases`, their formats in the README beside them. A case passes only
//! when every member of its file was understood and checked: each format is read by a type that
//! refuses members it does not name, and what the library cannot do yet is listed in `later.rs`
//! with the issue it waits for.

mod baseline;
mod class;
mod cli;
mod client;
mod config;
mod decode;
mod feed;
mod head;
mod headers;
pub mod http;
mod jsonrpc;
mod later;
mod marks;
mod oauth;
pub mod process;
mod sse;
mod stdio;
mod store;
mod structured;
mod suite;
mod value;
mod wire;

pub use class::print as print_classes;
pub use suite::{Report, Suite};

/// What came of a case.
///
/// ```
/// use snodo_tests::cases::Verdict;
/// assert!(matches!(Verdict::of(Vec::new()), Verdict::Passed));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "whoever counts has to count all three")]
pub enum Verdict {
    /// What was expected and what came, one line each.
    Failed(Vec<String>),
    /// Everything was checked and held.
    Passed,
    /// It was not run.
    Waits {
        /// The issue that brings what it needs; 0 for none.
        issue: u8,
        /// What it needs.
        why: String,
    },
}

impl Verdict {
    /// Passed, unless something is wrong.
    #[must_use]
    pub fn of(faults: Vec<String>) -> Self {
        if faults.is_empty() { Self::Passed } else { Self::Failed(faults) }
    }

    /// A case that names what the runner or the library does not know.
    pub(crate) fn waits(need: later::Need) -> Self {
        Self::Waits { issue: need.issue, why: need.what }
    }
}
