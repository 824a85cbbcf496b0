//! What a scripted server decides: which rule answers, and with what.

use std::collections::{BTreeMap, HashMap};
use std::time::Instant;

use serde_json::{Value, json};

use super::record::{Record, Seen};
use super::request::Request;
use super::rule::{Reply, Rule};
use super::server::Scripted;
use crate::cases::baseline;
use crate::cases::client::Baseline;
use crate::cases::marks::Marks;

/// The state of a scripted server.
pub(crate) struct State {
    pub(crate) script: Scripted,
    /// The base URL of each listener.
    pub(crate) origins: BTreeMap<String, String>,
    pub(crate) record: Record,
    /// How often each rule matched, and how often it answered.
    matched: Vec<usize>,
    used: Vec<usize>,
    /// The session given out last.
    session: Option<String>,
    sessions: usize,
    /// The call on whose stream an event id was sent.
    calls: HashMap<String, Value>,
    answered_404: bool,
    version: String,
}

/// A request that was taken, and what its text may be filled with.
#[derive(Clone, Debug)]
pub(crate) struct Taken {
    pub(crate) number: usize,
    pub(crate) request: Request,
    /// The call whose stream is taken up.
    last_id: Option<Value>,
    session: Option<String>,
    version: String,
    origins: BTreeMap<String, String>,
}

impl State {
    pub(crate) fn new(script: Scripted, origins: BTreeMap<String, String>) -> Self {
        let rules = script.rules.len();
        Self {
            session: script.server.session.clone(),
            script,
            origins,
            record: Record::default(),
            matched: vec![0; rules],
            used: vec![0; rules],
            sessions: 0,
            calls: HashMap::new(),
            answered_404: false,
            version: String::new(),
        }
    }

    /// Notes a request.
    pub(crate) fn take(&mut self, request: Request) -> Taken {
        let asked = request.message.pointer("/params/protocolVersion").and_then(Value::as_str);
        let header = request.header("mcp-protocol-version");
        if let Some(version) = asked.map(str::to_owned).or(header) {
            self.version = version;
        }
        let number = self.record.seen.len();
        let seen = Seen { request: request.clone(), started: Instant::now(), ended: None };
        self.record.seen.push(seen);
        Taken {
            number,
            last_id: self.resumed(&request),
            request,
            session: self.session.clone(),
            version: self.version.clone(),
            origins: self.origins.clone(),
        }
    }

    /// How a request is answered.
    pub(crate) fn decide(&mut self, taken: &Taken) -> Reply {
        match self.rule(taken) {
            Some(at) => {
                self.used[at] += 1;
                let reply = self.script.rules[at].reply.clone();
                if reply.session_next { self.baseline(taken) } else { reply }
            }
            None => self.baseline(taken),
        }
    }

    /// Notes that a piece of a stream was sent.
    pub(crate) fn sent(&mut self, taken: &Taken, piece: &str) {
        let id = taken.last_id.clone().or_else(|| taken.request.id().cloned());
        let ids = piece.lines().filter_map(|line| line.strip_prefix("id:"));
        for event in ids {
            let event = event.strip_prefix(' ').unwrap_or(event).to_owned();
            self.calls.insert(event, id.clone().unwrap_or_default());
        }
    }

    /// Notes the end of a response.
    pub(crate) fn ended(&mut self, taken: &Taken, status: u16) {
        self.record.seen[taken.number].ended = Some(Instant::now());
        self.answered_404 |= status == 404;
    }

    pub(crate) fn has_answered_404(&self) -> bool {
        self.answered_404
    }

    /// Whether the client has posted its response to a question of this server.
    pub(crate) fn has_response(&self, id: &str) -> bool {
        self.record.seen.iter().any(|seen| {
            let message = &seen.request.message;
            let found = message.get("id").map(|id| match id {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            });
            message.get("method").is_none() && found.as_deref() == Some(id)
        })
    }

    fn rule(&mut self, taken: &Taken) -> Option<usize> {
        for at in 0..self.script.rules.len() {
            let Rule { pattern, times, .. } = &self.script.rules[at];
            if !pattern.matches(&taken.request, taken) {
                continue;
            }
            self.matched[at] += 1;
            let is_due = pattern.nth.is_none_or(|nth| nth == self.matched[at]);
            let is_left = times.is_none_or(|times| self.used[at] < times);
            let is_early = pattern.before.as_ref().is_none_or(|rpc| !self.has_answered(rpc));
            if is_due && is_left && is_early {
                return Some(at);
            }
        }
        None
    }

    fn has_answered(&self, rpc: &str) -> bool {
        self.record.all(rpc).any(|seen| seen.ended.is_some())
    }

    /// The call on whose stream the event was sent after which a client resumes.
    fn resumed(&self, request: &Request) -> Option<Value> {
        let event = request.header("last-event-id")?;
        let call = self.calls.get(&event).cloned();
        call.or_else(|| {
            let calls = self.record.all("tools/call");
            calls.last().and_then(|seen| seen.request.id().cloned())
        })
    }

    fn baseline(&mut self, taken: &Taken) -> Reply {
        let request = &taken.request;
        if request.method != "POST" {
            return Reply { status: 405, ..Reply::default() };
        }
        let reply = baseline::reply(self.script.baseline, &self.script.tools, &request.message);
        let status = match &reply {
            baseline::Reply::Accepted => 202,
            baseline::Reply::Error(status, _) => *status,
            baseline::Reply::Result(_) => 200,
        };
        let id = request.id().cloned().unwrap_or_default();
        let mut answer = Reply { status, json: reply.response(&id), ..Reply::default() };
        if request.rpc() == Some("initialize")
            && self.script.baseline == Baseline::Legacy
            && let Some(session) = self.next_session()
        {
            answer.headers.insert("mcp-session-id".to_owned(), session);
        }
        answer
    }

    fn next_session(&mut self) -> Option<String> {
        let first = self.script.server.session.clone()?;
        self.sessions += 1;
        let is_first = self.sessions == 1 && !self.script.server.rotates();
        let session = if is_first { first } else { format!("session-{}", self.sessions) };
        self.session = Some(session.clone());
        Some(session)
    }
}

impl Marks for Taken {
    fn value(&self, mark: &str) -> Option<Value> {
        match mark {
            "ID" => Some(self.request.id().cloned().unwrap_or_default()),
            "LASTID" => Some(self.last_id.clone().unwrap_or_default()),
            "SESSION" => Some(json!(self.session.clone().unwrap_or_default())),
            "VER" => Some(json!(self.version)),
            _ => {
                let host = mark.strip_prefix("ORIGIN:")?;
                Some(json!(self.origins.get(host)?))
            }
        }
    }
}
