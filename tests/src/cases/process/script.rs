//! The `child` member: what a scripted server process does.

use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

/// A scripted server process.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ChildScript {
    pub(crate) tools: Vec<String>,
    pub(crate) on_start: Vec<Action>,
    pub(crate) on: Vec<Rule>,
    pub(crate) on_stdin_eof: AtEnd,
    pub(crate) on_sigterm: AtTerm,
    /// It only starts the grandchild, passing its streams on.
    pub(crate) launcher: bool,
    pub(crate) grandchild: Option<Box<Self>>,
}

/// What is done when a message comes; the first that matches answers.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rule {
    rpc: String,
    tool: Option<String>,
    /// Its number among those that match in all else, from 1.
    pub(crate) nth: Option<usize>,
    #[serde(rename = "do")]
    pub(crate) actions: Vec<Action>,
}

/// One action.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Members")]
pub(crate) enum Action {
    /// Closes its standard output and lives on, deaf to everything but signals.
    CloseStdout,
    Exit(i32),
    Progress {
        count: usize,
        gap: Duration,
    },
    ReplyAsBaseline,
    /// Sends itself a signal of this name.
    Signal(String),
    Sleep(Duration),
    Stderr {
        bytes: usize,
        newline: bool,
    },
    StderrText(String),
    Stdout {
        text: String,
        times: usize,
        pieces: Option<usize>,
        await_reply: bool,
    },
    StopReading,
}

/// What happens at the end of its input.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum AtEnd {
    #[default]
    Exit,
    Ignore,
    #[serde(untagged)]
    Later(Leave),
}

/// Leaves later, and with a status of its own.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Leave {
    #[serde(default)]
    pub(crate) sleep_ms: u64,
    #[serde(default)]
    pub(crate) exit: i32,
}

/// What happens when it is asked to end.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum AtTerm {
    #[default]
    Exit,
    Ignore,
}

impl ChildScript {
    /// What the process does that speaks: the grandchild, where this one is a launcher.
    pub(crate) fn speaker(&self) -> &Self {
        match (&self.grandchild, self.launcher) {
            (Some(grandchild), true) => grandchild,
            _ => self,
        }
    }

    /// The tools that rules speak of.
    pub(crate) fn named_tools(&self) -> Vec<String> {
        let speaker = self.speaker();
        let ruled = speaker.on.iter().filter_map(|rule| rule.tool.clone());
        speaker.tools.iter().cloned().chain(ruled).collect()
    }
}

impl Rule {
    pub(crate) fn matches(&self, message: &Value) -> bool {
        let method = message.get("method").and_then(Value::as_str);
        let tool = message.pointer("/params/name").and_then(Value::as_str);
        method.is_some_and(|method| self.rpc == "*" || self.rpc == method)
            && self.tool.as_deref().is_none_or(|wanted| tool == Some(wanted))
    }
}

/// The members of an action.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Members {
    close_stdout: bool,
    exit: Option<i32>,
    progress: Option<usize>,
    gap_ms: Option<u64>,
    reply: Option<String>,
    signal: Option<String>,
    sleep_ms: Option<u64>,
    stderr: Option<usize>,
    newline: bool,
    stderr_text: Option<String>,
    stdout: Option<String>,
    times: Option<usize>,
    pieces: Option<usize>,
    await_reply: bool,
    stop_reading: bool,
}

impl TryFrom<Members> for Action {
    type Error = String;

    fn try_from(members: Members) -> Result<Self, String> {
        let shown = format!("action {members:?}");
        let gap = Duration::from_millis(members.gap_ms.unwrap_or(0));
        let mut found = Vec::new();
        found.extend(members.close_stdout.then_some(Self::CloseStdout));
        found.extend(members.exit.map(Self::Exit));
        found.extend(members.progress.map(|count| Self::Progress { count, gap }));
        if let Some(reply) = &members.reply {
            if reply != "baseline" {
                return Err(shown);
            }
            found.push(Self::ReplyAsBaseline);
        }
        found.extend(members.signal.map(Self::Signal));
        found.extend(members.sleep_ms.map(|ms| Self::Sleep(Duration::from_millis(ms))));
        found.extend(members.stderr.map(|bytes| Self::Stderr { bytes, newline: members.newline }));
        found.extend(members.stderr_text.map(Self::StderrText));
        found.extend(members.stdout.map(|text| Self::Stdout {
            text,
            times: members.times.unwrap_or(1),
            pieces: members.pieces,
            await_reply: members.await_reply,
        }));
        found.extend(members.stop_reading.then_some(Self::StopReading));
        match (found.pop(), found.pop()) {
            (Some(action), None) => Ok(action),
            _ => Err(shown),
        }
    }
}
