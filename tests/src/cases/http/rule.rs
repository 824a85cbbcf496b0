//! The `rules` member: what a request has to be, and how it is answered then.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::request::Request;
use crate::cases::marks::{Marks, expand, expand_value};

/// One rule. The first that matches answers.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rule {
    #[serde(rename = "match")]
    pub(crate) pattern: Pattern,
    /// How often it may be used.
    pub(crate) times: Option<usize>,
    pub(crate) reply: Reply,
}

/// What a request has to be.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Pattern {
    pub(crate) http: Option<String>,
    pub(crate) rpc: Option<String>,
    pub(crate) tool: Option<String>,
    path: Option<String>,
    pub(crate) host: Option<String>,
    has_header: BTreeMap<String, String>,
    lacks_header: Vec<String>,
    has_param: BTreeMap<String, Value>,
    lacks_param: Vec<String>,
    has_form: BTreeMap<String, String>,
    /// Its number among those that match in all else, from 1.
    pub(crate) nth: Option<usize>,
    /// No message of this method has been fully answered yet.
    pub(crate) before: Option<String>,
}

/// How a request is answered.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) json: Option<Value>,
    pub(crate) body: Option<String>,
    pub(crate) body_hex: Option<String>,
    pub(crate) sse: Option<Vec<String>>,
    pub(crate) gap_ms: u64,
    pub(crate) transfer: Option<Transfer>,
    pub(crate) delay_ms: u64,
    pub(crate) hang: bool,
    pub(crate) after: After,
    pub(crate) session_next: bool,
}

/// How the end of a body is told.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Transfer {
    Chunked,
    Length,
}

/// What follows a body.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum After {
    /// The response ends.
    #[default]
    Close,
    /// The response stays open.
    Hold,
    /// It stays open until some request was answered with 404.
    HoldUntil404,
    /// The connection breaks.
    Reset,
}

impl Default for Reply {
    fn default() -> Self {
        Self {
            status: 200,
            headers: BTreeMap::new(),
            json: None,
            body: None,
            body_hex: None,
            sse: None,
            gap_ms: 0,
            transfer: None,
            delay_ms: 0,
            hang: false,
            after: After::Close,
            session_next: false,
        }
    }
}

impl Pattern {
    /// Whether a request is this, but for its number and the time.
    pub(crate) fn matches(&self, request: &Request, marks: &impl Marks) -> bool {
        let is = |wanted: &Option<String>, found: Option<&str>| {
            wanted.as_deref().is_none_or(|wanted| wanted == "*" || found == Some(wanted))
        };
        let params = request.message.get("params");
        let param = |name: &str| params.and_then(|params| params.get(name));
        let tool = param("name").and_then(Value::as_str);
        is(&self.http, Some(&request.method))
            && is(&self.rpc, request.rpc())
            && is(&self.tool, tool)
            && is(&self.path, Some(request.path()))
            && is(&self.host, Some(&request.host))
            && self.has_header.iter().all(|(name, wanted)| {
                is_header(&expand(wanted, marks), request.header(name).as_deref())
            })
            && lacks(&self.lacks_header, |name, value| {
                let found = request.header(name);
                found.is_some_and(|found| value.is_none_or(|value| expand(value, marks) == found))
            })
            && self.has_param.iter().all(|(name, wanted)| match (param(name), wanted) {
                (found, Value::String(any)) if any == "*" => found.is_some(),
                (found, wanted) => found == Some(&expand_value(wanted, marks)),
            })
            && lacks(&self.lacks_param, |name, _| param(name).is_some())
            && self.has_form.iter().all(|(name, wanted)| {
                let found = request.form(name);
                found.is_some_and(|found| wanted == "*" || expand(wanted, marks) == found)
            })
    }
}

/// `*` any, `!=v` there with another value, `~v` holds it, `!~v` does not.
fn is_header(wanted: &str, found: Option<&str>) -> bool {
    if wanted == "*" {
        found.is_some()
    } else if let Some(value) = wanted.strip_prefix("!=") {
        found.is_some_and(|found| found != value)
    } else if let Some(value) = wanted.strip_prefix("!~") {
        !found.is_some_and(|found| found.contains(value))
    } else if let Some(value) = wanted.strip_prefix('~') {
        found.is_some_and(|found| found.contains(value))
    } else {
        found == Some(wanted)
    }
}

/// Whether at least one of these is missing; an empty list asks for nothing.
fn lacks(wanted: &[String], has: impl Fn(&str, Option<&str>) -> bool) -> bool {
    let has = |item: &String| match item.split_once('=') {
        Some((name, value)) => has(name, Some(value)),
        None => has(item, None),
    };
    wanted.is_empty() || !wanted.iter().all(has)
}
