//! The list of servers: how each is started and what it speaks.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;
use snodo::ProtocolVersion;

/// The file.
#[derive(Deserialize)]
pub(crate) struct Servers {
    servers: BTreeMap<String, Server>,
}

/// One server.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Server {
    pub(crate) transport: Transport,
    pub(crate) command: String,
    pub(crate) args: Vec<String>,
    #[serde(default)]
    pub(crate) env: BTreeMap<String, String>,
    pub(crate) url: Option<String>,
    versions: Vec<String>,
    pub(crate) call: Option<Call>,
    /// By version: the kinds of events that arrive when a call causes them.
    #[serde(default)]
    events: BTreeMap<String, Vec<String>>,
}

#[derive(Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Transport {
    Http,
    Sse,
    Stdio,
}

/// The one call that is made, and what its text has to be or to contain.
#[derive(Clone, Deserialize)]
pub(crate) struct Call {
    pub(crate) tool: String,
    pub(crate) arguments: Value,
    pub(crate) text: Option<String>,
    pub(crate) contains: Option<String>,
}

impl Servers {
    pub(crate) fn load(path: &str) -> Result<Self, String> {
        let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
        serde_json::from_str(&text).map_err(|error| format!("{path}: {error}"))
    }

    /// Those named, or all.
    pub(crate) fn only(mut self, names: &[String]) -> Result<BTreeMap<String, Server>, String> {
        if names.is_empty() {
            return Ok(self.servers);
        }
        let chosen = names.iter().map(|name| {
            let server = self.servers.remove(name);
            Ok((name.clone(), server.ok_or_else(|| format!("there is no server `{name}`"))?))
        });
        chosen.collect()
    }
}

impl Server {
    /// The server as it is installed in a folder; the port stays open.
    pub(crate) fn at(&self, folder: &Path) -> Self {
        self.filled("{zoo}", &folder.display().to_string())
    }

    /// The server with its port.
    pub(crate) fn on(&self, port: u16) -> Self {
        self.filled("{port}", &port.to_string())
    }

    /// The versions of ours that it speaks.
    pub(crate) fn versions(&self) -> Vec<ProtocolVersion> {
        self.versions.iter().filter_map(|version| version.parse().ok()).collect()
    }

    /// The kinds of events that have to arrive in a version.
    pub(crate) fn events(&self, version: ProtocolVersion) -> &[String] {
        self.events.get(version.as_str()).map(Vec::as_slice).unwrap_or_default()
    }

    fn filled(&self, name: &str, value: &str) -> Self {
        let fill = |text: &String| text.replace(name, value);
        let call = self
            .call
            .clone()
            .map(|call| Call { arguments: fill_strings(call.arguments, &fill), ..call });
        Self {
            command: fill(&self.command),
            args: self.args.iter().map(fill).collect(),
            env: self.env.iter().map(|(name, value)| (name.clone(), fill(value))).collect(),
            url: self.url.as_ref().map(fill),
            call,
            ..self.clone()
        }
    }
}

fn fill_strings(value: Value, fill: &impl Fn(&String) -> String) -> Value {
    match value {
        Value::String(text) => Value::String(fill(&text)),
        Value::Array(items) => items.into_iter().map(|item| fill_strings(item, fill)).collect(),
        Value::Object(members) => {
            members.into_iter().map(|(name, member)| (name, fill_strings(member, fill))).collect()
        }
        other => other,
    }
}
