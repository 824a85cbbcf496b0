//! The `baseline` and `client` members.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;
use snodo::ProtocolVersion;
use snodo::types::{ElicitResult, Root};

use super::Step;
use crate::cases::later::Need;

/// How the server behaves where no rule says otherwise.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Baseline {
    /// Run the case on both.
    Any,
    /// The initialize era.
    Legacy,
    /// 2026-07-28.
    Modern,
}

/// Which versions the client may speak.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Mode {
    Auto,
    Legacy,
    Modern,
}

/// The `client` member.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClientScript {
    #[serde(rename = "do")]
    pub(crate) steps: Vec<Step>,
    pub(crate) mode: Option<Mode>,
    version: Option<String>,
    #[serde(default)]
    pub(crate) headers: BTreeMap<String, String>,
    timeout_ms: Option<u64>,
    probe_timeout_ms: Option<u64>,
    http_timeout_ms: Option<u64>,
    pub(crate) max_message_bytes: Option<usize>,
    pub(crate) sse_max_retries: Option<u32>,
    pub(crate) url_path: Option<String>,
    pub(crate) capabilities: Option<Value>,
    /// What every form and every page is answered with.
    pub(crate) elicit: Option<ElicitResult>,
    pub(crate) roots: Option<Vec<Root>>,
    #[serde(default)]
    consume_notifications: bool,
    #[serde(default)]
    pub(crate) close_in_close_callback: bool,
}

impl Baseline {
    /// The ones to run the case on.
    pub(crate) fn each(self) -> &'static [Self] {
        match self {
            Self::Any => &[Self::Legacy, Self::Modern],
            Self::Legacy => &[Self::Legacy],
            Self::Modern => &[Self::Modern],
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::Legacy => "legacy",
            Self::Modern => "modern",
        }
    }
}

impl ClientScript {
    /// What the script needs that is not there yet.
    pub(crate) fn needs(&self) -> Result<(), Need> {
        self.steps.iter().try_for_each(Step::needs)
    }

    /// The versions that the client may speak against a baseline.
    pub(crate) fn versions(&self, baseline: Baseline) -> Result<Vec<ProtocolVersion>, Need> {
        if let Some(version) = &self.version {
            let version = version.parse();
            return version.map(|version| vec![version]).map_err(|_| {
                Need::unknown(format!("protocol version {:?}", self.version.as_deref()))
            });
        }
        let fitting = match baseline {
            Baseline::Modern => Mode::Modern,
            Baseline::Any | Baseline::Legacy => Mode::Legacy,
        };
        Ok(match self.mode.unwrap_or(fitting) {
            Mode::Auto => ProtocolVersion::ALL.to_vec(),
            Mode::Legacy => vec![ProtocolVersion::V2025_11_25, ProtocolVersion::V2025_06_18],
            Mode::Modern => vec![ProtocolVersion::V2026_07_28],
        })
    }

    pub(crate) fn timeout(&self) -> Option<Duration> {
        self.timeout_ms.map(Duration::from_millis)
    }

    pub(crate) fn probe_timeout(&self) -> Option<Duration> {
        self.probe_timeout_ms.map(Duration::from_millis)
    }

    /// The clock of the HTTP transport itself: here that of connecting, the only one it has.
    pub(crate) fn http_timeout(&self) -> Option<Duration> {
        self.http_timeout_ms.map(Duration::from_millis)
    }

    /// Whether somebody wants to be told of notifications.
    pub(crate) fn listens(&self) -> bool {
        self.consume_notifications || self.steps.iter().any(Step::waits_for_notifications)
    }

    /// The names of all tools that are called.
    pub(crate) fn tools(&self) -> Vec<String> {
        let mut names = Vec::new();
        for step in &self.steps {
            step.tools(&mut names);
        }
        names
    }
}
