//! Does one step of a transcript after the other.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use snodo_types::{Body, Concern, Message};
use tokio::sync::mpsc;

use super::outlet::{Event, Outlet, Said};
use crate::{Bindings, Pattern, Step, Wire};

/// The state of a performance.
#[derive(Debug)]
pub(super) struct Director {
    events: mpsc::Receiver<Event>,
    outlet: Option<Outlet>,
    bindings: Bindings,
    /// The response stream of each request, by its id.
    streams: BTreeMap<u64, u64>,
    /// Response streams that the client closed.
    closed: BTreeSet<u64>,
    /// The stream and the headers of the message that came last.
    last: Option<(u64, Option<Value>)>,
    session: Option<String>,
}

impl Director {
    pub(super) fn new(events: mpsc::Receiver<Event>) -> Self {
        Self {
            events,
            outlet: None,
            bindings: Bindings::default(),
            streams: BTreeMap::new(),
            closed: BTreeSet::new(),
            last: None,
            session: None,
        }
    }

    pub(super) async fn step(&mut self, step: &Step) -> Result<(), String> {
        match step {
            Step::Abilities(_) | Step::Act(_) | Step::Outcome(_) => Ok(()),
            Step::ClosesStream(name) => self.closes(name).await,
            Step::Expect(pattern) => self.expect(pattern).await,
            Step::Fails { .. } => Err("only a replay can fail so".to_owned()),
            Step::HangUp => {
                self.connected().await?;
                self.outlet.take().into_iter().for_each(Outlet::hang_up);
                Ok(())
            }
            Step::Headers(pattern) => self.headers(pattern),
            Step::Method(method) => self.method(method).await,
            Step::Reopens => self.reopens().await,
            Step::Say { text, status, on } => self.say(text, *status, on.as_deref()).await,
            Step::Session(name) => {
                self.session = Some(name.clone());
                Ok(())
            }
            Step::Wait(time) => {
                tokio::time::sleep(*time).await;
                Ok(())
            }
        }
    }

    /// What came and was not asked for yet, for messages about a silence.
    pub(super) fn heard(&mut self) -> String {
        match self.events.try_recv() {
            Ok(event) => format!("; what came meanwhile: {}", describe(&event)),
            Err(_) => String::new(),
        }
    }

    /// Whether the client leaves it at what the transcript holds.
    pub(super) async fn rest(&mut self, wire: Wire) -> Result<(), String> {
        loop {
            let event = if wire == Wire::Http || self.outlet.is_none() {
                self.events.try_recv().ok()
            } else {
                self.events.recv().await
            };
            match event {
                None | Some(Event::Ended) => return Ok(()),
                Some(Event::Opened(outlet)) if self.outlet.is_none() => self.outlet = Some(outlet),
                Some(Event::StreamClosed(_)) => {}
                Some(event) => return Err(describe(&event)),
            }
        }
    }

    async fn expect(&mut self, pattern: &Pattern) -> Result<(), String> {
        let event = self.next().await?;
        let Event::Message { text, stream, headers } = event else {
            return Err(format!("expected a message, but {}", describe(&event)));
        };
        let value: Value = serde_json::from_str(&text)
            .map_err(|error| format!("the client wrote what is no JSON ({error}): {text}"))?;
        pattern
            .check(&value, &mut self.bindings)
            .map_err(|mismatch| format!("{mismatch}\n  the client wrote {value}"))?;
        if let Some(id) = value.get("id").and_then(Value::as_u64).filter(|_| is_request(&value)) {
            self.streams.insert(id, stream);
        }
        self.last = Some((stream, headers));
        Ok(())
    }

    fn headers(&mut self, pattern: &Pattern) -> Result<(), String> {
        let Some((_, Some(headers))) = &self.last else {
            return Err("no message came over HTTP before this line".to_owned());
        };
        pattern
            .check(headers, &mut self.bindings)
            .map_err(|mismatch| format!("{mismatch}\n  the headers were {headers}"))
    }

    async fn method(&mut self, method: &str) -> Result<(), String> {
        match self.next().await? {
            Event::Method { method: found, headers } if found == method => {
                let stream = self.last.as_ref().map_or(0, |(stream, _)| *stream);
                self.last = Some((stream, Some(headers)));
                Ok(())
            }
            event => Err(format!("expected {method}, but {}", describe(&event))),
        }
    }

    async fn closes(&mut self, name: &str) -> Result<(), String> {
        let stream = self.stream(name)?;
        while !self.closed.contains(&stream) {
            match self.event().await? {
                Event::StreamClosed(closed) => {
                    self.closed.insert(closed);
                }
                event => return Err(format!("expected the end, but {}", describe(&event))),
            }
        }
        Ok(())
    }

    async fn reopens(&mut self) -> Result<(), String> {
        let (mut ended, mut opened) = (false, None);
        while !ended || opened.is_none() {
            match self.event().await? {
                Event::Ended => ended = true,
                Event::Opened(outlet) => opened = Some(outlet),
                Event::StreamClosed(_) => {}
                event => {
                    return Err(format!("expected a new connection, but {}", describe(&event)));
                }
            }
        }
        self.outlet = opened;
        self.streams.clear();
        self.closed.clear();
        Ok(())
    }

    async fn say(
        &mut self,
        text: &str,
        status: Option<u16>,
        on: Option<&str>,
    ) -> Result<(), String> {
        self.connected().await?;
        let text = self.bindings.fill(text).map_err(|name| format!("\"${name}\" is not bound"))?;
        let (mut stream, last) = self.place(&text);
        if let Some(name) = on {
            stream = Some(self.stream(name)?);
        }
        let session = if last { self.session.take() } else { None };
        let said = Said { text, stream, last, status, session };
        match &self.outlet {
            Some(outlet) => outlet.say(said).await,
            None => Err("no client is connected".to_owned()),
        }
    }

    /// The response stream of the request whose id was bound to a name.
    fn stream(&self, name: &str) -> Result<u64, String> {
        let id = self.bindings.value(name).and_then(Value::as_u64);
        let stream = id.and_then(|id| self.streams.get(&id)).copied();
        stream.ok_or_else(|| format!("\"${name}\" is the id of no request"))
    }

    /// The stream that a message of the server's belongs to, and whether it ends it.
    fn place(&self, text: &str) -> (Option<u64>, bool) {
        let latest = self.last.as_ref().map(|(stream, _)| *stream);
        let Ok(message) = Message::parse(text) else { return (latest, true) };
        let of = |id: &u64| self.streams.get(id).copied();
        match (message.concerns(), message.body()) {
            (Concern::Answer(id), _) => (of(&id), true),
            (Concern::Part(id), _) => (of(&id), false),
            // An error that names no request answers what came last.
            (_, Body::Error { .. } | Body::Result { .. }) => (latest, true),
            _ => (None, false),
        }
    }

    /// Waits for the client where the server begins.
    async fn connected(&mut self) -> Result<(), String> {
        if self.outlet.is_none() {
            match self.event().await? {
                Event::Opened(outlet) => self.outlet = Some(outlet),
                event => return Err(format!("the server has a word, but {}", describe(&event))),
            }
        }
        Ok(())
    }

    /// The next thing the transcript has a line for.
    async fn next(&mut self) -> Result<Event, String> {
        loop {
            match self.event().await? {
                Event::Opened(outlet) if self.outlet.is_none() => self.outlet = Some(outlet),
                Event::StreamClosed(stream) => {
                    self.closed.insert(stream);
                }
                event => return Ok(event),
            }
        }
    }

    async fn event(&mut self) -> Result<Event, String> {
        self.events.recv().await.ok_or_else(|| "the wire is gone".to_owned())
    }
}

fn is_request(message: &Value) -> bool {
    message.get("method").is_some()
}

fn describe(event: &Event) -> String {
    match event {
        Event::Ended => "the client ended its connection".to_owned(),
        Event::Method { method, .. } => format!("the client sent {method}"),
        Event::Message { text, .. } => format!("the client wrote {text}"),
        Event::Opened(_) => "the client made another connection".to_owned(),
        Event::StreamClosed(_) => "the client closed a response stream".to_owned(),
    }
}
