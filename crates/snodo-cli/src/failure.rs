//! Failures: their exit status, and how they are told.

use std::error::Error as _;
use std::fmt::Write;

use serde_json::json;
use snodo::Error;
use snodo::types::{Cause, ErrorObject, Kind, Members, Raw, TransportFault};

use crate::hints;
use crate::safe;
use crate::signals::Interrupted;

/// What the caller of this program learns from its exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Done,
    /// The tool ran, and reports a failure.
    ToolFailed,
    /// The command line cannot be understood.
    Usage,
    /// The server answered with an error.
    Refused,
    /// There is no connection, no answer in time, or none that can be read.
    Unreachable,
    /// A signal ended it, by its number.
    Interrupted(u8),
}

impl Status {
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::ToolFailed => 1,
            Self::Usage => 2,
            Self::Refused => 3,
            Self::Unreachable => 4,
            // As a shell tells of a process that a signal ended.
            Self::Interrupted(signal) => signal.saturating_add(128),
        }
    }
}

/// An error, and what it means for the exit status.
#[derive(Debug)]
pub(crate) struct Failure {
    error: Error,
    status: Status,
    /// What to try, where the error alone does not tell.
    hint: Option<&'static str>,
}

impl Failure {
    /// While connecting the options have been checked before: where they do not lead to a version
    /// in common, it is by the server's answer.
    pub(crate) fn connecting(error: Error) -> Self {
        let failure = Self::from(error);
        match failure.error.cause() {
            Some(Cause::Usage) => Self { status: Status::Refused, ..failure },
            _ => failure,
        }
    }

    /// The system would not give what this program needs to run.
    pub(crate) fn starting(error: std::io::Error) -> Self {
        let text = format!("this program cannot run: {error}");
        let error = Error::new(Kind::Execution, ErrorObject::INTERNAL_ERROR, text);
        Self { error, status: Status::Unreachable, hint: None }
    }

    pub(crate) fn hint(self, hint: &'static str) -> Self {
        Self { hint: Some(hint), ..self }
    }

    pub(crate) fn status(&self) -> Status {
        self.status
    }

    /// The document for `--json`.
    pub(crate) fn document(&self) -> String {
        let mut object = Members::new();
        object.insert("kind", json!(name(self.error.kind())));
        object.insert("code", json!(self.error.code()));
        object.insert("message", json!(self.error.message()));
        if let Some(data) = self.error.data() {
            object.insert("data", data.clone());
        }
        safe::json(&format!("{{\"error\":{}}}", Raw::from(&object))).into_owned()
    }

    /// Three lines for people: what failed, why, and what to try.
    pub(crate) fn lines(&self) -> String {
        let mut why = match self.status {
            // Server and code say nothing about a word on the command line, or a key.
            Status::Interrupted(_) | Status::Usage => String::new(),
            _ => format!("{} ({})", self.error.message(), self.error.code()),
        };
        let what = self.error.to_string();
        let what = match what.strip_suffix(&why) {
            _ if why.is_empty() => self.error.message().to_owned(),
            // The error says where: that is what failed.
            Some(place) if place.ends_with(": ") => {
                format!("{} failed", place.trim_end_matches(": "))
            }
            _ => std::mem::take(&mut why),
        };
        let mut source = self.error.source();
        while let Some(below) = source {
            let told = below.to_string();
            // An error below says its code too, which the one above has said.
            let bare = told.rsplit_once(" (-").map_or(told.as_str(), |(bare, _)| bare);
            if !what.contains(bare) && !why.contains(bare) {
                let between = if why.is_empty() { "" } else { ": " };
                why = format!("{why}{between}{told}");
            }
            source = below.source();
        }
        if let Some(data) = self.error.data() {
            let text = data.text();
            let cut = text.char_indices().nth(DATA).map_or(text.len(), |(at, _)| at);
            let mark = if cut < text.len() { "…" } else { "" };
            let between = if why.is_empty() { "" } else { "; " };
            why = format!("{why}{between}data: {}{mark}", &text[..cut]);
        }
        let mut lines = what;
        if !why.is_empty() {
            // Writing to a string cannot fail.
            let _ = write!(lines, "\n  why: {}", safe::line(&why));
        }
        if let Some(try_this) = self.hint.or_else(|| hints::hint(&self.error, self.status)) {
            let _ = write!(lines, "\n  try: {try_this}");
        }
        safe::text(&lines).into_owned()
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let status = match error.cause() {
            Some(Cause::Usage) => Status::Usage,
            Some(Cause::Transport(below)) if below.fault() == TransportFault::Usage => {
                Status::Usage
            }
            _ => match error.kind() {
                Kind::Authorization | Kind::Transport => Status::Unreachable,
                _ => Status::Refused,
            },
        };
        Self { error, status, hint: None }
    }
}

impl From<Interrupted> for Failure {
    fn from(Interrupted(signal): Interrupted) -> Self {
        let text = match signal {
            2 => "cancelled by Ctrl-C, and the server was told so".to_owned(),
            _ => format!("interrupted by signal {signal}"),
        };
        let error = Error::new(Kind::Execution, ErrorObject::INTERNAL_ERROR, text);
        Self { error, status: Status::Interrupted(signal), hint: None }
    }
}

fn name(kind: Kind) -> &'static str {
    match kind {
        Kind::Authorization => "authorization",
        Kind::Execution => "execution",
        Kind::JsonRpc => "json_rpc",
        Kind::Protocol => "protocol",
        // The enum is open for other crates; what is left of it today is the transport.
        _ => "transport",
    }
}

/// How many characters of an error's data are shown to people.
const DATA: usize = 600;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use snodo::Error;
    use snodo::types::{ErrorObject, Raw, TransportError, TransportFault};

    use super::{Failure, Status};

    fn status(error: Error) -> Status {
        Failure::from(error).status()
    }

    fn transport(fault: TransportFault) -> TransportError {
        TransportError::new(fault, "it broke")
    }

    #[test]
    fn the_status_tells_who_failed() {
        assert_eq!(status(Error::usage("no")), Status::Usage);
        assert_eq!(status(transport(TransportFault::Usage).into()), Status::Usage);
        for code in [-32700, -32602, -32603, -32000, -32001, 7] {
            assert_eq!(status(ErrorObject::new(code, "no").into()), Status::Refused);
        }
        assert_eq!(status(transport(TransportFault::Spawn).into()), Status::Unreachable);
        let refused = transport(TransportFault::Status).with_status(401);
        assert_eq!(status(refused.into()), Status::Unreachable);
        assert_eq!(status(Error::timeout(Duration::from_secs(1))), Status::Unreachable);
        assert_eq!(status(Error::decode("half")), Status::Unreachable);
        assert_eq!(Failure::connecting(Error::usage("no version")).status(), Status::Refused);
        let codes = [Status::Done, Status::ToolFailed, Status::Usage, Status::Refused];
        assert_eq!(codes.map(Status::code), [0, 1, 2, 3]);
        assert_eq!([Status::Unreachable, Status::Interrupted(2)].map(Status::code), [4, 130]);
    }

    #[test]
    fn the_document_holds_what_the_server_said() {
        let data = Raw::parse(r#"{"b": 1, "a": 12345678901234567890123}"#).expect("JSON");
        let error = Error::from(ErrorObject::new(-32603, "bo\u{9b}om")).with_data(data);
        assert_eq!(
            Failure::from(error).document(),
            r#"{"error":{"kind":"execution","code":-32603,"message":"bo\u009bom","data":{"b": 1, "a": 12345678901234567890123}}}"#
        );
        let error = Error::from(transport(TransportFault::Closed));
        assert_eq!(
            Failure::from(error).document(),
            r#"{"error":{"kind":"transport","code":-32000,"message":"it broke"}}"#
        );
    }

    #[test]
    fn people_are_told_what_lies_below_and_no_character_steers_their_terminal() {
        let source = std::io::Error::other("disk\u{1b}[2J on fire");
        let below = TransportError::new(TransportFault::Connect, "no way").with_source(source);
        let error = Error::from(below).at("connect", "x").with_data(serde_json::json!("\u{202e}"));
        let lines = Failure::from(error).lines();
        let expected = "connect at x failed\n  why: no way (-32000): disk\\u{1b}[2J on fire; data: \"\\u{202e}\"\n  try: ";
        assert!(lines.starts_with(expected), "{lines}");
        assert_eq!(lines.lines().count(), 3);
        let long = Error::usage("no").with_data(serde_json::json!("x".repeat(9_000)));
        assert!(Failure::from(long).lines().chars().count() < 1_000);
    }
}
