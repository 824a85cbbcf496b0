//! One step of `do`.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use snodo::types::SubscriptionFilter;

use crate::cases::later::Need;

/// One step, done once or several times.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Value")]
pub(crate) struct Step {
    pub(crate) action: Action,
    /// The number of the client that does it, from 1; the last one connected unless said.
    pub(crate) on: Option<usize>,
    /// How many at a time.
    pub(crate) parallel: Option<usize>,
    /// How many in all.
    pub(crate) repeat: Option<usize>,
    /// The pause between two.
    pub(crate) gap: Duration,
    /// When the first of several is given up.
    pub(crate) cancel_first_after: Option<Duration>,
}

/// What a step does.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    Call(Call),
    Close(Option<usize>),
    Connect,
    ConnectFails(usize),
    Drop,
    List(String),
    Listen(SubscriptionFilter),
    Method(String),
    Notify(String),
    RawCall {
        tool: String,
        arguments: Value,
    },
    Read(String),
    Resume,
    /// Several steps in place of one.
    Several(Vec<Step>),
    Sleep(Duration),
    WaitNotifications(usize),
    WaitPings(usize),
}

/// A call of a tool with its options.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) tool: String,
    pub(crate) arguments: Value,
    pub(crate) timeout: Option<Duration>,
    pub(crate) max_total: Option<Duration>,
    pub(crate) reset_on_progress: bool,
    pub(crate) cancel_after: Option<Duration>,
}

impl Step {
    /// What the step needs that is not there yet.
    pub(crate) fn needs(&self) -> Result<(), Need> {
        match &self.action {
            Action::Notify(method) if method != ROOTS_CHANGED => {
                Err(Need::unknown(format!("the notification {method}")))
            }
            Action::Resume => Err(Need::new(5, "resuming of a session")),
            Action::Several(steps) => steps.iter().try_for_each(Self::needs),
            _ => Ok(()),
        }
    }

    /// Whether the server is told of a change.
    pub(crate) fn notifies(&self) -> bool {
        match &self.action {
            Action::Several(steps) => steps.iter().any(Self::notifies),
            action => matches!(action, Action::Notify(_)),
        }
    }

    pub(crate) fn waits_for_notifications(&self) -> bool {
        match &self.action {
            Action::Several(steps) => steps.iter().any(Self::waits_for_notifications),
            action => matches!(action, Action::WaitNotifications(_)),
        }
    }

    pub(crate) fn tools(&self, names: &mut Vec<String>) {
        match &self.action {
            Action::Call(Call { tool, .. }) | Action::RawCall { tool, .. } => {
                names.push(tool.clone());
            }
            Action::Several(steps) => steps.iter().for_each(|step| step.tools(names)),
            _ => {}
        }
    }

    fn plain(action: Action) -> Self {
        Self {
            action,
            on: None,
            parallel: None,
            repeat: None,
            gap: Duration::ZERO,
            cancel_first_after: None,
        }
    }
}

impl TryFrom<Value> for Step {
    type Error = String;

    fn try_from(value: Value) -> Result<Self, String> {
        match value {
            Value::String(word) => Action::word(&word).map(Self::plain),
            members => {
                let members: Members =
                    serde_json::from_value(members).map_err(|error| format!("step: {error}"))?;
                members.step()
            }
        }
    }
}

impl Action {
    fn word(word: &str) -> Result<Self, String> {
        match word.split_once(':') {
            None if word == "close" => Ok(Self::Close(None)),
            None if word == "connect" => Ok(Self::Connect),
            None if word == "drop" => Ok(Self::Drop),
            Some(("close", number)) => {
                let number = number.parse().map_err(|_| format!("step `{word}`"))?;
                Ok(Self::Close(Some(number)))
            }
            _ => Err(format!("step `{word}`")),
        }
    }
}

/// The members of a step that is an object.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Members {
    call: Option<String>,
    args: Option<Value>,
    args_bytes: Option<usize>,
    timeout_ms: Option<u64>,
    #[serde(default)]
    reset_on_progress: bool,
    max_total_ms: Option<u64>,
    cancel_after_ms: Option<u64>,
    cancel_first_after_ms: Option<u64>,
    on: Option<usize>,
    parallel: Option<usize>,
    repeat: Option<usize>,
    gap_ms: Option<u64>,
    #[serde(rename = "do")]
    steps: Option<Vec<Step>>,
    calls: Option<Vec<String>>,
    connect_fails: Option<usize>,
    list: Option<String>,
    listen: Option<SubscriptionFilter>,
    method: Option<String>,
    notify: Option<String>,
    raw_call: Option<String>,
    read: Option<String>,
    resume: Option<Value>,
    sleep_ms: Option<u64>,
    wait_notifications: Option<usize>,
    wait_pings: Option<usize>,
}

impl Members {
    fn step(mut self) -> Result<Step, String> {
        let (on, parallel, repeat) = (self.on, self.parallel, self.repeat);
        let gap = milliseconds(self.gap_ms).unwrap_or_default();
        let cancel_first_after = milliseconds(self.cancel_first_after_ms);
        let mut actions = self.actions();
        let action = actions.pop().ok_or("a step that does nothing")?;
        if !actions.is_empty() {
            return Err("a step that does several things".to_owned());
        }
        Ok(Step { action, on, parallel, repeat, gap, cancel_first_after })
    }

    fn actions(&mut self) -> Vec<Action> {
        let mut actions = Vec::new();
        if let Some(tool) = self.call.take() {
            actions.push(Action::Call(self.call(tool)));
        }
        if let Some(tool) = self.raw_call.take() {
            let arguments = self.args.take().unwrap_or_else(|| json!({}));
            actions.push(Action::RawCall { tool, arguments });
        }
        if let Some(tools) = self.calls.take() {
            let call = |tool| Step::plain(Action::Call(self.call(tool)));
            actions.push(Action::Several(tools.into_iter().map(call).collect()));
        }
        actions.extend(self.steps.take().map(Action::Several));
        actions.extend(self.connect_fails.map(Action::ConnectFails));
        actions.extend(self.list.take().map(Action::List));
        actions.extend(self.listen.take().map(Action::Listen));
        actions.extend(self.method.take().map(Action::Method));
        actions.extend(self.notify.take().map(Action::Notify));
        actions.extend(self.read.take().map(Action::Read));
        actions.extend(self.resume.take().map(|_| Action::Resume));
        actions.extend(milliseconds(self.sleep_ms).map(Action::Sleep));
        actions.extend(self.wait_notifications.map(Action::WaitNotifications));
        actions.extend(self.wait_pings.map(Action::WaitPings));
        actions
    }

    fn call(&self, tool: String) -> Call {
        let arguments = match (&self.args, self.args_bytes) {
            (Some(args), _) => args.clone(),
            (None, Some(bytes)) => json!({ "text": "x".repeat(bytes) }),
            (None, None) => json!({}),
        };
        Call {
            tool,
            arguments,
            timeout: milliseconds(self.timeout_ms),
            max_total: milliseconds(self.max_total_ms),
            reset_on_progress: self.reset_on_progress,
            cancel_after: milliseconds(self.cancel_after_ms),
        }
    }
}

/// The one notification that a caller of this library sends by itself.
pub(crate) const ROOTS_CHANGED: &str = "notifications/roots/list_changed";

fn milliseconds(number: Option<u64>) -> Option<Duration> {
    number.map(Duration::from_millis)
}
