//! The lines of a transcript, sorted by what a replay does with them.

use serde_json::Value;
use snodo_transport::Abilities;

use super::log::abilities;
use crate::pattern::name_of;
use crate::{Pattern, Step, Transcript, Wire};

/// A transcript, made ready for being replayed.
#[derive(Debug)]
pub(super) struct Tape {
    pub(super) name: String,
    pub(super) abilities: Abilities,
    /// The entries of each connection; at least one connection.
    pub(super) connections: Vec<Vec<Entry>>,
}

/// A line.
#[derive(Debug)]
pub(super) struct Entry {
    /// Its number in the text.
    pub(super) line: usize,
    pub(super) what: What,
}

#[derive(Debug)]
pub(super) enum What {
    /// The client asks.
    Asked { pattern: Pattern, value: Value, name: Option<String> },
    /// The client answers the server's question that stands there.
    Replied { question: Option<usize> },
    /// The client tells something.
    Told { method: String },
    /// The client opens the stream of what concerns no request.
    Attended,
    /// The server says something.
    Said { text: String, status: Option<u16>, session: Option<String>, place: Place },
    /// A request fails, or the connection.
    Failed { failure: String, on: Option<usize> },
    /// The server ends the connection.
    HungUp,
}

/// Where something is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// On the exchange of the request that stands there; it may end it.
    On { asked: usize, last: bool },
    /// On none.
    Unasked,
}

impl Entry {
    /// Whether it is said for the request that stands there, or fails it.
    pub(super) fn is_for(&self, asked: usize) -> bool {
        match &self.what {
            What::Said { place: Place::On { asked: of, .. }, .. } => *of == asked,
            What::Failed { on, .. } => *on == Some(asked),
            _ => false,
        }
    }
}

impl Tape {
    pub(super) fn new(transcript: &Transcript) -> Self {
        let named = transcript.all().iter().find_map(|line| match line.step() {
            Step::Abilities(names) => Some(abilities(names)),
            _ => None,
        });
        let unnamed = || Abilities { listen: true, ..Abilities::default() };
        let abilities = named.unwrap_or_else(unnamed);
        let wire = match abilities {
            Abilities { same_task: true, .. } => Wire::Direct,
            Abilities { own_stream: true, .. } => Wire::Http,
            _ => Wire::Pipe,
        };
        let mut connections = vec![Vec::new()];
        let mut session = None;
        for line in transcript.lines(wire) {
            if let Step::Reopens = line.step() {
                connections.push(Vec::new());
            }
            let number = connections.len() - 1;
            let entries = &mut connections[number];
            if let Some(what) = sort(line.step(), entries, &mut session) {
                entries.push(Entry { line: line.number(), what });
            }
        }
        Self { name: transcript.name().to_owned(), abilities, connections }
    }
}

/// What a step is to a replay, behind the entries of its connection; `None` for nothing.
fn sort(step: &Step, before: &[Entry], session: &mut Option<String>) -> Option<What> {
    match step {
        Step::Expect(pattern) => sort_message(pattern, before),
        Step::Fails { on, failure } => {
            let on = on.as_deref().map(|name| asked(before, &format!("${name}")));
            // Who fails was never asked for: then nobody does.
            let on = match on {
                Some(None) => return None,
                Some(found) => found,
                None => None,
            };
            Some(What::Failed { failure: failure.clone(), on })
        }
        Step::HangUp => Some(What::HungUp),
        Step::Method(method) if method == "GET" => Some(What::Attended),
        Step::Say { text, status, on } => {
            let place = place(text, on.as_deref(), before);
            let session = match place {
                Place::On { last: true, .. } => session.take(),
                _ => None,
            };
            Some(What::Said { text: text.clone(), status: *status, session, place })
        }
        Step::Session(name) => {
            *session = Some(name.clone());
            None
        }
        _ => None,
    }
}

fn sort_message(pattern: &Pattern, before: &[Entry]) -> Option<What> {
    let value = pattern.value().clone();
    let id = value.get("id");
    Some(match (value.get("method").and_then(Value::as_str), id) {
        // Whether a request is given up, and when, is the client's own affair.
        (Some("notifications/cancelled"), None) => return None,
        (Some(method), None) => What::Told { method: method.to_owned() },
        (Some(_), Some(id)) => {
            let name = id.as_str().and_then(name_of).map(|name| format!("${name}"));
            What::Asked { pattern: pattern.clone(), value, name }
        }
        (None, _) => What::Replied { question: id.and_then(|id| question(before, id)) },
    })
}

/// Where the server asked a question of this id.
fn question(before: &[Entry], id: &Value) -> Option<usize> {
    before.iter().rposition(|entry| match &entry.what {
        What::Said { text, .. } => {
            let said: Value = serde_json::from_str(text).unwrap_or_default();
            said.get("method").is_some() && said.get("id") == Some(id)
        }
        _ => false,
    })
}

/// Where the client asked under this name, as it stands in the text.
fn asked(before: &[Entry], wanted: &str) -> Option<usize> {
    before.iter().rposition(|entry| match &entry.what {
        What::Asked { name: Some(name), .. } => name == wanted,
        _ => false,
    })
}

fn place(text: &str, on: Option<&str>, before: &[Entry]) -> Place {
    let said: Value = serde_json::from_str(text).unwrap_or_default();
    let by_id = |id: &Value| {
        let named = id.as_str().and_then(|name| asked(before, name));
        named.or_else(|| {
            before.iter().rposition(|entry| match &entry.what {
                What::Asked { value, name: None, .. } => value.get("id") == Some(id),
                _ => false,
            })
        })
    };
    let latest = || before.iter().rposition(|entry| matches!(entry.what, What::Asked { .. }));
    let is_answer = said.get("method").is_none();
    let found = match on {
        Some(name) => asked(before, &format!("${name}")).map(|asked| (asked, is_answer)),
        // What answers no request by its id answers what came last.
        None if is_answer => said.get("id").and_then(by_id).or_else(latest).map(|on| (on, true)),
        None if said.get("id").is_some() => None,
        None => {
            let params = &said["params"];
            let ends = said["method"] == "notifications/cancelled";
            let pointer = match said["method"].as_str() {
                Some("notifications/progress") => &params["progressToken"],
                Some("notifications/cancelled") => &params["requestId"],
                _ => &params["_meta"]["io.modelcontextprotocol/subscriptionId"],
            };
            by_id(pointer).map(|asked| (asked, ends))
        }
    };
    found.map_or(Place::Unasked, |(asked, last)| Place::On { asked, last })
}
