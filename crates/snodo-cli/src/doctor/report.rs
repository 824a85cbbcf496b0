//! What was found, as values.

use std::time::Duration;

use serde_json::{Value, json};
use snodo::Error;

use crate::failure::Status;
use crate::hints;

/// All that was found.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) target: String,
    pub(crate) steps: Vec<Step>,
    pub(crate) findings: Vec<Finding>,
    pub(crate) verdict: Verdict,
}

/// One step, and how it went.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) name: &'static str,
    pub(crate) state: State,
    pub(crate) words: String,
    pub(crate) took: Option<Duration>,
    /// Lines below it: headers.
    pub(crate) details: Vec<String>,
}

/// How a step went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Failed,
    /// As only servers of the newer era do it.
    Newer,
    Ok,
    /// As older servers do it.
    Older,
}

/// Something that can be mended.
#[derive(Debug)]
pub(crate) struct Finding {
    pub(crate) level: Level,
    pub(crate) what: String,
    pub(crate) fix: String,
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    /// Allowed, and yet something that clients trip over.
    Note,
    /// Against the specification, or nothing works by it.
    Wrong,
}

/// What it comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// No client gets to work with it.
    Broken,
    /// It works, and breaks the specification somewhere.
    Flawed,
    /// It works.
    Works,
}

impl Report {
    pub(crate) fn new(target: String) -> Self {
        Self { target, steps: Vec::new(), findings: Vec::new(), verdict: Verdict::Works }
    }

    pub(crate) fn is_ok(&self, step: &str) -> bool {
        self.steps.iter().any(|known| known.name == step && known.state == State::Ok)
    }

    /// A step failed: what is behind it is a finding.
    pub(crate) fn fail(&mut self, name: &'static str, error: &Error, took: Duration) {
        let words = because(error);
        self.steps.push(Step::new(name, State::Failed, words).took(took));
        self.find_failure(error);
    }

    /// A failure that keeps clients from working, once.
    pub(crate) fn find_failure(&mut self, error: &Error) {
        self.verdict = Verdict::Broken;
        let what = because(error);
        let fix = hints::hint(error, Status::Unreachable).unwrap_or_default();
        if !self.findings.iter().any(|known| known.fix == fix) {
            self.findings.push(Finding::wrong(what, fix));
        }
    }

    /// Puts the worst first, and draws the sum.
    pub(crate) fn settle(&mut self) {
        self.findings.sort_by_key(|finding| finding.level != Level::Wrong);
        let wrong = self.findings.iter().any(|finding| finding.level == Level::Wrong);
        if wrong && self.verdict == Verdict::Works {
            self.verdict = Verdict::Flawed;
        }
    }

    pub(crate) fn status(&self) -> Status {
        match self.verdict {
            Verdict::Broken => Status::Unreachable,
            Verdict::Flawed => Status::ToolFailed,
            Verdict::Works => Status::Done,
        }
    }

    pub(crate) fn document(&self) -> Value {
        let step = |step: &Step| {
            json!({
                "name": step.name,
                "state": step.state.word(),
                "words": step.words,
                "milliseconds": step.took.map(|took| (took.as_secs_f64() * 1e6).round() / 1e3),
                "details": step.details,
            })
        };
        let finding = |finding: &Finding| json!({ "level": finding.level.word(), "what": finding.what, "fix": finding.fix });
        json!({
            "target": self.target,
            "verdict": self.verdict.word(),
            "steps": self.steps.iter().map(step).collect::<Vec<_>>(),
            "findings": self.findings.iter().map(finding).collect::<Vec<_>>(),
        })
    }
}

impl Step {
    pub(crate) fn new(name: &'static str, state: State, words: impl Into<String>) -> Self {
        Self { name, state, words: words.into(), took: None, details: Vec::new() }
    }

    pub(crate) fn took(self, took: Duration) -> Self {
        Self { took: Some(took), ..self }
    }
}

impl Finding {
    pub(crate) fn wrong(what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { level: Level::Wrong, what: what.into(), fix: fix.into() }
    }

    pub(crate) fn note(what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { level: Level::Note, what: what.into(), fix: fix.into() }
    }

    /// What the library warned about.
    pub(crate) fn of_warning(text: &str) -> Self {
        let known = WARNINGS.iter().find(|(words, _)| text.contains(words));
        match known {
            Some((_, fix)) => Self::wrong(text, *fix),
            None => Self::note(text, "see what the server does there"),
        }
    }
}

/// The message, and what lies below it.
fn because(error: &Error) -> String {
    let mut words = error.message().to_owned();
    let mut source = std::error::Error::source(error);
    while let Some(below) = source {
        let told = below.to_string();
        if !words.contains(&told) {
            words = format!("{words}: {told}");
        }
        source = below.source();
    }
    words
}

impl State {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Newer => "newer",
            Self::Ok => "ok",
            Self::Older => "older",
        }
    }
}

impl Level {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Wrong => "wrong",
        }
    }
}

impl Verdict {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Broken => "broken",
            Self::Flawed => "flawed",
            Self::Works => "works",
        }
    }
}

/// Warnings of the library that mean that a server breaks the specification, and what helps.
const WARNINGS: &[(&str, &str)] = &[
    (
        "skipped a line that is no message",
        "write logs to the error stream: the output is for messages alone",
    ),
    ("left out of the list", "give every item the members that the specification requires"),
    (
        "which its version",
        "ask by an `input_required` result: servers of this version send no requests",
    ),
    (
        "before anything was agreed on",
        "wait for `notifications/initialized` before asking the client",
    ),
    ("session id is not visible ASCII", "make session ids of visible ASCII characters"),
    ("a result came for another request", "answer with the id of the request, as it was sent"),
    ("an error that belongs to no request", "answer with the id of the request, as it was sent"),
];
