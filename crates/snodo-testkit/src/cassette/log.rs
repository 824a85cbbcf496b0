//! What is written down of a session, line by line, without its secrets.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use snodo_transport::Abilities;
use snodo_types::{Body, Concern, Message, RequestId, SessionId, TransportError};

use super::failure::Failure;
use super::hide::{HIDDEN, Hide};
use super::json::{copy, members, quote, unquote};

/// The lines of a recording; clones write to the same.
#[derive(Clone, Debug)]
pub(super) struct Log(Arc<Mutex<Lines>>);

#[derive(Debug)]
struct Lines {
    hide: Hide,
    abilities: Option<String>,
    target: String,
    /// The lines of each connection.
    connections: Vec<Vec<String>>,
    sessions: Vec<SessionId>,
    /// The ids that the client asked under.
    asked: HashSet<u64>,
    bytes: usize,
    limit: usize,
    full: bool,
}

impl Log {
    pub(super) fn new(target: &str, limit: usize) -> Self {
        Self(Arc::new(Mutex::new(Lines {
            hide: Hide::default(),
            abilities: None,
            target: target.to_owned(),
            connections: Vec::new(),
            sessions: Vec::new(),
            asked: HashSet::new(),
            bytes: 0,
            limit,
            full: false,
        })))
    }

    pub(super) fn hide(&self, change: impl FnOnce(&mut Hide)) {
        change(&mut self.lines().hide);
    }

    /// Begins the lines of a connection; gives its number.
    pub(super) fn connection(&self) -> usize {
        let mut lines = self.lines();
        lines.connections.push(Vec::new());
        lines.connections.len() - 1
    }

    pub(super) fn abilities(&self, abilities: Abilities) {
        let names = ABILITIES.iter().filter(|(_, has)| has(&abilities)).map(|(name, _)| *name);
        let names = names.collect::<Vec<_>>().join(" ");
        self.lines().abilities.get_or_insert(names);
    }

    /// The client wrote a message.
    pub(super) fn asked(&self, connection: usize, text: &str) {
        let mut lines = self.lines();
        let line = lines.client_line(text);
        lines.add(connection, format!("> {line}"));
    }

    /// The client gave a request up by closing its stream.
    pub(super) fn closed(&self, connection: usize, id: u64) {
        self.lines().add(connection, format!("> closes \"${id}\""));
    }

    /// The client opened the stream of what concerns no request.
    pub(super) fn attended(&self, connection: usize) {
        self.lines().add(connection, "> GET".to_owned());
    }

    /// The server said something, on the stream of a request or on none.
    pub(super) fn said(&self, connection: usize, on: Option<u64>, message: &Message) {
        let mut lines = self.lines();
        if let Some(session) = message.outside().and_then(|outside| outside.session.as_ref()) {
            let number = lines.number_of(session);
            lines.add(connection, format!("@ session s{number}"));
        }
        let status = message.outside().and_then(|outside| outside.status);
        let status = status.map_or_else(String::new, |status| format!("/{status}"));
        let elsewhere = on.filter(|id| !is_part_of(message, *id));
        let place = elsewhere.map_or_else(String::new, |id| format!(" on \"${id}\""));
        let line = lines.server_line(message, on);
        lines.add(connection, format!("<{status}{place} {line}"));
    }

    /// A request failed, or the whole connection.
    pub(super) fn failed(&self, connection: usize, on: Option<u64>, error: &TransportError) {
        let mut lines = self.lines();
        let message = error.message().replace(['\n', '\r'], " ");
        let message = lines.hide.within(&message).unwrap_or(message);
        let failure = serde_json::to_string(&Failure::of(error, message)).unwrap_or_default();
        let on = on.map_or_else(String::new, |id| format!(" on \"${id}\""));
        lines.add(connection, format!("!{on} {failure}"));
    }

    pub(super) fn note(&self, connection: usize, text: &str) {
        self.lines().add(connection, format!("# {text}"));
    }

    /// The whole transcript.
    pub(super) fn text(&self) -> String {
        let lines = self.lines();
        let target = lines.target.replace(['\n', '\r'], " ");
        let target = lines.hide.within(&target).unwrap_or(target);
        let mut text = format!("# Recorded from {}.\n", lines.hide.told(target));
        if let Some(names) = &lines.abilities {
            text.push_str(&format!("@ abilities {names}\n"));
        }
        for (number, connection) in lines.connections.iter().enumerate() {
            if number > 0 {
                text.push_str("\n> reopens\n");
            }
            for line in connection {
                text.push_str(line);
                text.push('\n');
            }
        }
        if lines.full {
            text.push_str(&format!("# The recording was full here, at {} bytes.\n", lines.limit));
        }
        text
    }

    pub(super) fn is_full(&self) -> bool {
        self.lines().full
    }

    fn lines(&self) -> MutexGuard<'_, Lines> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lines {
    fn add(&mut self, connection: usize, line: String) {
        let line = self.hide.told(line);
        self.full = self.full || self.bytes + line.len() > self.limit;
        if !self.full {
            self.bytes += line.len();
            self.connections[connection].push(line);
        }
    }

    /// A session by its number: what it is called at the server may act as a credential.
    fn number_of(&mut self, session: &SessionId) -> usize {
        let known = self.sessions.iter().position(|known| known == session);
        known.unwrap_or_else(|| {
            self.sessions.push(session.clone());
            self.sessions.len() - 1
        }) + 1
    }

    /// What the client wrote, as a pattern: without what differs from one run to the next.
    fn client_line(&mut self, text: &str) -> String {
        let Ok(message) = Message::parse(text) else { return quote(HIDDEN) };
        if let Body::Request { id, .. } = message.body() {
            self.asked.extend(id.as_ours());
        }
        match message.body() {
            Body::Request { id, method, params } => {
                let id = id.as_ours().map_or_else(|| json(id), |id| format!("\"${id}\""));
                let params = self.client_params(method, params);
                format!("{{\"id\":{id},\"method\":{}{params}}}", quote(method))
            }
            Body::Notification { method, params } => {
                let params = self.client_params(method, params);
                format!("{{\"method\":{}{params}}}", quote(method))
            }
            Body::Result { id, result } => {
                format!("{{\"id\":{},\"result\":{}}}", json(id), self.client_value(result))
            }
            Body::Error { id, error } => {
                let id = id.map_or_else(|| "null".to_owned(), json);
                format!("{{\"id\":{id},\"error\":{}}}", self.client_value(error))
            }
        }
    }

    fn client_params(&self, method: &str, params: Option<&str>) -> String {
        let kept = |name: &str| match method {
            "initialize" => name == "protocolVersion",
            _ => name != "_meta",
        };
        let all = members(params.unwrap_or_default());
        let kept = all.into_iter().filter(|(name, _)| kept(name)).map(|(name, value)| {
            let ours = (method, name.as_str()) == ("notifications/cancelled", "requestId");
            match value.parse::<u64>() {
                Ok(id) if ours => format!("\"requestId\":\"${id}\""),
                _ if self.hide.is_secret(&name) && !value.starts_with(['{', '[']) => {
                    format!("{}:\"$any\"", quote(&name))
                }
                _ => format!("{}:{}", quote(&name), self.client_value(value)),
            }
        });
        let kept = kept.collect::<Vec<_>>().join(",");
        if kept.is_empty() { kept } else { format!(",\"params\":{{{kept}}}") }
    }

    fn client_value(&self, text: &str) -> String {
        copy(text, |member, scalar| {
            let is_text = scalar.starts_with('"');
            let is_value = is_text || scalar.starts_with(|c: char| c == '-' || c.is_ascii_digit());
            if is_value && self.hide.is_secret(member) {
                return Some("\"$any\"".to_owned());
            }
            let content = is_text.then(|| unquote(scalar))?;
            if self.hide.within(&content).is_some() {
                return Some("\"$any\"".to_owned());
            }
            content.starts_with('$').then(|| quote(&format!("${content}")))
        })
    }

    /// What the server said, as it came, but for the ids of the client's requests.
    fn server_line(&self, message: &Message, on: Option<u64>) -> String {
        let ours = |id: &RequestId| {
            let known = id.as_ours().filter(|id| self.asked.contains(id));
            known.map_or_else(|| json(id), |id| format!("\"${id}\""))
        };
        match message.body() {
            Body::Result { id, result } => {
                let result = self.server_value(result, None);
                format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{result}}}", ours(id))
            }
            Body::Error { id, error } => {
                let id = id.map_or_else(|| "null".to_owned(), ours);
                let error = self.server_value(error, None);
                format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{error}}}")
            }
            Body::Notification { .. } => match message.concerns() {
                Concern::Part(id) if self.asked.contains(&id) => {
                    self.server_value(message.text(), Some(id))
                }
                // Elsewhere the number is one of the server's own.
                Concern::Ends(id) if on == Some(id) => self.server_value(message.text(), on),
                _ => self.server_value(message.text(), None),
            },
            Body::Request { .. } => self.server_value(message.text(), None),
        }
    }

    fn server_value(&self, text: &str, of: Option<u64>) -> String {
        copy(text, |member, scalar| {
            if let Some(id) = of.filter(|_| POINTERS.contains(&member))
                && unquote(scalar) == id.to_string()
            {
                return Some(format!("\"${id}\""));
            }
            if !scalar.starts_with('"') {
                let is_number = scalar.starts_with(|c: char| c == '-' || c.is_ascii_digit());
                return (is_number && self.hide.is_secret(member)).then(|| "0".to_owned());
            }
            if self.hide.is_secret(member) {
                return Some(quote(HIDDEN));
            }
            let hidden = self.hide.within(&unquote(scalar)).map(|hidden| quote(&hidden));
            let text = hidden.as_deref().unwrap_or(scalar);
            // A name is filled in on the way back; this is none.
            let is_name_like = text.contains("\"$");
            if is_name_like { Some(text.replace("\"$", "\"\\u0024")) } else { hidden }
        })
    }
}

/// Whether it is clear from the message itself that it belongs to this request.
fn is_part_of(message: &Message, id: u64) -> bool {
    matches!(
        message.concerns(),
        Concern::Answer(of) | Concern::Part(of) | Concern::Ends(of) if of == id
    )
}

fn json(id: &RequestId) -> String {
    serde_json::to_string(id).unwrap_or_default()
}

/// Reads what [`Log::abilities`] wrote.
pub(super) fn abilities(names: &str) -> Abilities {
    let has = |name: &str| names.split_whitespace().any(|known| known == name);
    Abilities {
        notify: has("notify"),
        listen: has("listen"),
        routing: has("routing"),
        own_stream: has("own_stream"),
        same_task: has("same_task"),
        one_caller: has("one_caller"),
    }
}

type Has = fn(&Abilities) -> bool;

const ABILITIES: [(&str, Has); 6] = [
    ("notify", |abilities| abilities.notify),
    ("listen", |abilities| abilities.listen),
    ("routing", |abilities| abilities.routing),
    ("own_stream", |abilities| abilities.own_stream),
    ("same_task", |abilities| abilities.same_task),
    ("one_caller", |abilities| abilities.one_caller),
];

/// The members that point at a request of the client's.
const POINTERS: [&str; 3] =
    ["io.modelcontextprotocol/subscriptionId", "progressToken", "requestId"];
