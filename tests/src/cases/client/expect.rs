//! The `expect` member.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use super::{Expected, Heard, StepResult};
use crate::cases::class::Failure;
use crate::cases::later::Need;

/// What a scripted case should show.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Expect {
    #[serde(default)]
    pub(crate) steps: Vec<Expected>,
    #[serde(default)]
    pub(crate) requests: BTreeMap<String, Range>,
    #[serde(default)]
    pub(crate) count: BTreeMap<String, usize>,
    #[serde(default)]
    pub(crate) saw: Vec<String>,
    #[serde(default)]
    pub(crate) never: Vec<String>,
    within_ms: Option<u64>,
    #[serde(default)]
    error_mentions: Vec<String>,
    #[serde(default)]
    error_not_mentions: Vec<String>,
    error_max_chars: Option<usize>,
    negotiated: Option<String>,
    #[serde(default)]
    ids_unique: bool,
    pub(crate) min_gap_ms: Option<Gap>,
    pub(crate) open_connections_max: Option<usize>,
    pub(crate) open_connections_after: Option<usize>,
    #[serde(default)]
    pub(crate) notifications: Vec<String>,
    auth_prompts: Option<usize>,
    #[serde(default)]
    meta_capabilities_lacks: Vec<String>,
    pub(crate) child_gone: Option<bool>,
    pub(crate) grandchild_gone: Option<bool>,
    pub(crate) exit_status: Option<i32>,
    pub(crate) order: Option<Vec<String>>,
    pub(crate) spawns: Option<usize>,
    pub(crate) children_left: Option<usize>,
    pub(crate) open_fds_growth_max: Option<usize>,
    pub(crate) tasks_left: Option<usize>,
    pub(crate) max_rss_growth_bytes: Option<u64>,
    pub(crate) pending_after: Option<usize>,
    #[serde(default)]
    pub(crate) wire_has: Vec<String>,
    #[serde(default)]
    pub(crate) wire_never: Vec<String>,
}

/// From and to, both included.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Range {
    #[serde(default)]
    min: usize,
    max: Option<usize>,
}

/// The least time between two requests.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Gap {
    pub(crate) between: [String; 2],
    pub(crate) ms: u64,
}

/// What is known after the steps were done.
pub(crate) struct Evidence<'a> {
    pub(crate) results: &'a [StepResult],
    /// From the first step to the end of the last.
    pub(crate) elapsed: Duration,
    pub(crate) negotiated: Option<String>,
    pub(crate) heard: &'a Heard,
    /// Every message that the server got, in order.
    pub(crate) received: &'a [Value],
}

impl Expect {
    /// What cannot be checked yet, on whatever transport.
    pub(crate) fn needs(&self) -> Result<(), Need> {
        if self.auth_prompts.is_some() {
            return Err(Need::new(9, "log-ins"));
        }
        Ok(())
    }

    /// How long the steps may take.
    pub(crate) fn within(&self) -> Option<Duration> {
        self.within_ms.map(Duration::from_millis)
    }

    /// Checks what is the same on every transport.
    pub(crate) fn check(&self, evidence: &Evidence<'_>) -> Vec<String> {
        let mut faults = self.check_steps(evidence.results);
        if let Some(limit) = self.within()
            && evidence.elapsed > limit
        {
            faults.push(format!("the steps took {:?}, allowed are {limit:?}", evidence.elapsed));
        }
        if self.negotiated.is_some() && self.negotiated != evidence.negotiated {
            let (wanted, got) = (&self.negotiated, &evidence.negotiated);
            faults.push(format!("negotiated {got:?}, expected {wanted:?}"));
        }
        if let Some(method) = evidence.heard.missing(&self.notifications) {
            faults.push(format!("nobody was told of {method}"));
        }
        if self.ids_unique {
            faults.extend(repeated_id(evidence.received));
        }
        for name in &self.meta_capabilities_lacks {
            if evidence.received.iter().any(|message| declares(message, name)) {
                faults.push(format!("a request declares the capability `{name}`"));
            }
        }
        let failures = evidence.results.iter().flat_map(StepResult::failures);
        let errors = failures.filter_map(|failure| match failure {
            Failure::Error(error) => Some(error),
            Failure::Cancelled | Failure::Step(_) => None,
        });
        self.check_errors(&errors.collect::<Vec<_>>(), &mut faults);
        faults
    }

    fn check_steps(&self, results: &[StepResult]) -> Vec<String> {
        if results.len() != self.steps.len() {
            let (wanted, got) = (self.steps.len(), results.len());
            return vec![format!("{got} steps were done, {wanted} are expected")];
        }
        let pairs = self.steps.iter().zip(results).enumerate();
        let wrong = pairs.filter(|(_, (expected, result))| !expected.matches(result));
        wrong
            .map(|(at, (expected, result))| {
                format!("step {}: expected {expected:?}, came: {result}", at + 1)
            })
            .collect()
    }

    fn check_errors(&self, errors: &[&snodo::Error], faults: &mut Vec<String>) {
        let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
        for words in &self.error_mentions {
            if !texts.iter().any(|text| text.contains(words)) {
                faults.push(format!("no error mentions {words:?}: {texts:?}"));
            }
        }
        let whole: Vec<String> = errors.iter().map(|error| with_sources(error)).collect();
        for words in &self.error_not_mentions {
            if let Some(text) = whole.iter().find(|text| text.contains(words)) {
                faults.push(format!("an error mentions {words:?}: {text:?}"));
            }
        }
        let limit = self.error_max_chars.unwrap_or(usize::MAX);
        if let Some(long) = texts.iter().find(|text| text.chars().count() > limit) {
            faults.push(format!("an error has more than {limit} characters: {long:?}"));
        }
    }
}

impl Range {
    /// What is wrong with a number, if anything.
    pub(crate) fn fault(self, what: &str, count: usize) -> Option<String> {
        let fits = count >= self.min && self.max.is_none_or(|max| count <= max);
        let max = self.max.map_or_else(|| "any".to_owned(), |max| max.to_string());
        (!fits).then(|| format!("{count} times {what}, expected {} to {max}", self.min))
    }
}

/// An error with all that lies below it.
fn with_sources(error: &snodo::Error) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(below) = source {
        text.push_str(": ");
        text.push_str(&below.to_string());
        source = below.source();
    }
    text
}

fn repeated_id(received: &[Value]) -> Option<String> {
    let mut seen = std::collections::HashSet::new();
    let requests = received.iter().filter(|message| message.get("method").is_some());
    let mut ids = requests.filter_map(|message| message.get("id")).map(Value::to_string);
    ids.find(|id| !seen.insert(id.clone())).map(|id| format!("the id {id} was used twice"))
}

/// Whether a message says that the client has a capability.
fn declares(message: &Value, capability: &str) -> bool {
    let params = message.get("params");
    let meta = params.and_then(|params| params.get("_meta"));
    let declared = meta.and_then(|meta| meta.get("io.modelcontextprotocol/clientCapabilities"));
    declared.is_some_and(|capabilities| capabilities.get(capability).is_some())
}
