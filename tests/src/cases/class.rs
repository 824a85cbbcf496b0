//! The error classes of the cases in our words: one table, which is printed and matched by.

use std::fmt;

use serde::Deserialize;
use snodo::Error;
use snodo::types::{Cause, Kind, TransportFault};

/// Prints the table, a class a line.
pub fn print(mut line: impl FnMut(String)) {
    line(format!("{:<27} {:<34} {:<8} cause", "class", "kind", "code"));
    for Class { name, shapes, .. } in CLASSES {
        for shape in *shapes {
            line(format!("{name:<27} {shape}"));
        }
    }
}

/// An error that a case expects.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExpectedError {
    err: String,
    code: Option<i64>,
    status: Option<u16>,
    retry_after_s: Option<u64>,
    /// How many times, where a step is done several times; every time unless said.
    pub(crate) count: Option<usize>,
}

/// How a step failed.
#[derive(Clone, Debug)]
pub(crate) enum Failure {
    /// The caller dropped the future: nobody is left to be told.
    Cancelled,
    Error(Error),
    /// The runner could not do the step.
    Step(String),
}

impl ExpectedError {
    /// The same without details, as cases outside `http` and `process` have it.
    pub(crate) fn new(class: &str, code: Option<i64>) -> Self {
        Self { err: class.to_owned(), code, status: None, retry_after_s: None, count: None }
    }

    /// Whether this is how it failed.
    pub(crate) fn matches(&self, failure: &Failure) -> bool {
        match failure {
            Failure::Cancelled => self.err == "cancelled" || self.err == "any",
            Failure::Error(error) => self.matches_error(error),
            Failure::Step(_) => false,
        }
    }

    fn matches_error(&self, error: &Error) -> bool {
        // Where both eras were tried, the last answer tells.
        if let Some(Cause::Negotiation { initialize, .. }) = error.cause() {
            return self.matches_error(initialize);
        }
        let Some(class) = CLASSES.iter().find(|class| class.name == self.err) else { return false };
        let below = error.transport();
        class.shapes.iter().any(|shape| shape.matches(error))
            && self.code.is_none_or(|code| code == error.code())
            && (self.status.is_none() || self.status == below.and_then(|below| below.status()))
            && self.retry_after_s.is_none_or(|seconds| {
                let wait = below.and_then(|below| below.retry_after());
                wait.is_some_and(|wait| wait.as_secs() == seconds)
            })
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cancelled => f.write_str("cancelled by the caller"),
            Self::Error(error) => {
                write!(f, "{error} [{:?}", error.kind())?;
                match (error.transport(), error.cause()) {
                    (Some(below), _) => write!(f, ", {:?} {:?}]", below.fault(), below.status()),
                    (None, Some(cause)) => write!(f, ", {}]", name(cause)),
                    (None, None) => f.write_str("]"),
                }
            }
            Self::Step(why) => write!(f, "the step was not done: {why}"),
        }
    }
}

/// One class of the cases.
struct Class {
    name: &'static str,
    shapes: &'static [Shape],
}

/// What an error of a class looks like; empty lists stand for anything.
struct Shape {
    kinds: &'static [Kind],
    code: Option<i64>,
    below: Below,
}

/// What lies below an error.
enum Below {
    Anything,
    /// One of these causes.
    Causes(&'static [&'static str]),
    /// A failure of the transport of one of these classes.
    Faults(&'static [TransportFault]),
    /// Nothing: the error is the server's own word, or a refusal before anything was sent.
    Nothing,
    /// An HTTP status from the first to the last.
    Status(u16, u16),
    /// No error of ours: the caller is gone.
    Gone,
}

impl Shape {
    fn matches(&self, error: &Error) -> bool {
        let fault = error.transport().map(|below| below.fault());
        let below = match (&self.below, error.cause()) {
            (Below::Anything, _) | (Below::Nothing, None) => true,
            (Below::Causes(names), Some(cause)) => names.contains(&name(cause)),
            (Below::Faults(faults), _) => fault.is_some_and(|fault| faults.contains(&fault)),
            (Below::Status(from, to), _) => {
                let status = error.transport().and_then(|below| below.status());
                fault == Some(TransportFault::Status)
                    && status.is_some_and(|status| (*from..=*to).contains(&status))
            }
            _ => false,
        };
        below
            && (self.kinds.is_empty() || self.kinds.contains(&error.kind()))
            && self.code.is_none_or(|code| code == error.code())
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kinds: Vec<_> = self.kinds.iter().map(|kind| format!("{kind:?}")).collect();
        let kinds = if kinds.is_empty() { "any".to_owned() } else { kinds.join(", ") };
        let code = self.code.map_or_else(|| "any".to_owned(), |code| code.to_string());
        let below = match &self.below {
            Below::Anything => "any".to_owned(),
            Below::Causes(names) => names.join(", "),
            Below::Faults(faults) => format!("Transport: {faults:?}"),
            Below::Nothing => "none".to_owned(),
            Below::Status(from, to) if from == to => format!("Transport: Status {from}"),
            Below::Status(from, to) => format!("Transport: Status {from} to {to}"),
            Below::Gone => "no error: the caller dropped the future".to_owned(),
        };
        write!(f, "{kinds:<34} {code:<8} {below}")
    }
}

fn name(cause: &Cause) -> &'static str {
    match cause {
        Cause::Decode(_) => "Decode",
        Cause::InputHandler { .. } => "InputHandler",
        Cause::InputRequired(_) => "InputRequired",
        Cause::ListLimit { .. } => "ListLimit",
        Cause::MalformedInput { .. } => "MalformedInput",
        Cause::MaxInputRounds { .. } => "MaxInputRounds",
        Cause::MaxTotalTimeout => "MaxTotalTimeout",
        Cause::Negotiation { .. } => "Negotiation",
        Cause::NoInputHandler { .. } => "NoInputHandler",
        Cause::PageLimit { .. } => "PageLimit",
        Cause::RepeatedCursor { .. } => "RepeatedCursor",
        Cause::Timeout => "Timeout",
        Cause::Transport(_) => "Transport",
        Cause::UnknownResultType(_) => "UnknownResultType",
        Cause::Usage => "Usage",
        _ => "another",
    }
}

const fn local(code: i64, below: Below) -> Shape {
    Shape { kinds: &[Kind::Transport], code: Some(code), below }
}

const fn refusal(below: Below) -> Shape {
    Shape { kinds: &[Kind::Protocol], code: Some(-32602), below }
}

use TransportFault::{Closed, Connect, Exited, Malformed, Spawn, StreamEnded, Tls, TooLarge};

const CLASSES: &[Class] = &[
    Class { name: "any", shapes: &[Shape { kinds: &[], code: None, below: Below::Anything }] },
    Class {
        name: "auth",
        shapes: &[Shape { kinds: &[Kind::Authorization], code: None, below: Below::Anything }],
    },
    Class { name: "cancelled", shapes: &[Shape { kinds: &[], code: None, below: Below::Gone }] },
    Class { name: "closed", shapes: &[local(-32000, Below::Faults(&[Closed, Exited]))] },
    Class { name: "content_type", shapes: &[local(-32000, Below::Faults(&[Malformed]))] },
    Class {
        name: "http_status",
        shapes: &[
            local(-32000, Below::Status(300, 599)),
            Shape { kinds: &[Kind::Authorization], code: None, below: Below::Status(401, 403) },
        ],
    },
    Class {
        name: "input_required_unsupported",
        shapes: &[refusal(Below::Causes(&["InputRequired", "NoInputHandler"]))],
    },
    Class {
        name: "pagination_loop",
        shapes: &[local(-32000, Below::Causes(&["PageLimit", "RepeatedCursor"]))],
    },
    Class {
        name: "protocol",
        shapes: &[
            local(-32000, Below::Causes(&["Decode", "MalformedInput", "UnknownResultType"])),
            local(-32000, Below::Faults(&[Malformed])),
        ],
    },
    Class { name: "redirect", shapes: &[local(-32000, Below::Status(300, 399))] },
    Class {
        name: "rpc",
        shapes: &[Shape {
            kinds: &[Kind::JsonRpc, Kind::Protocol, Kind::Execution],
            code: None,
            below: Below::Nothing,
        }],
    },
    Class {
        name: "session_lost",
        shapes: &[local(-32000, Below::Status(400, 400)), local(-32000, Below::Status(404, 404))],
    },
    Class { name: "stream_ended", shapes: &[local(-32000, Below::Faults(&[Closed, StreamEnded]))] },
    Class {
        name: "timeout",
        shapes: &[
            local(-32001, Below::Causes(&["MaxTotalTimeout", "Timeout"])),
            local(-32001, Below::Faults(&[TransportFault::Timeout])),
        ],
    },
    Class { name: "too_large", shapes: &[local(-32000, Below::Faults(&[TooLarge]))] },
    Class { name: "too_many_rounds", shapes: &[local(-32000, Below::Causes(&["MaxInputRounds"]))] },
    Class {
        name: "transport",
        shapes: &[local(
            -32000,
            Below::Faults(&[Closed, Connect, Exited, Spawn, StreamEnded, Tls]),
        )],
    },
    Class {
        name: "unsupported_version",
        shapes: &[refusal(Below::Causes(&["Usage"])), refusal(Below::Nothing)],
    },
];
