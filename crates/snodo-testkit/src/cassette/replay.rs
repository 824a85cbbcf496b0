//! A recorded session as a way to a server.

use std::borrow::Cow;
use std::fmt;
use std::future::poll_fn;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use serde_json::{Value, json};
use snodo_transport::{
    Abilities, BoxFuture, Connect, Exchange, Incoming, Pending, Route, Sender, Transport,
};
use snodo_types::{
    Envelope, ErrorObject, Message, Outside, Routing, SessionId, TransportError, TransportFault,
};
use tokio::sync::Notify;

use super::failure::Failure;
use super::tape::{Entry, Place, Tape, What};
use crate::{Bindings, Transcript, TranscriptError};

/// A way to a server that is not there: a [`Transcript`] says what it says.
///
/// The transcript is one that a [`Recorder`](crate::Recorder) wrote or one written by hand; of the
/// latter the `>`, `<`, `!` and `@` lines count, except for times. Nothing is forced on the client:
///
/// - A request is looked for among the `>` lines that were not used yet, those of its own
///   connection first: its method and parameters have to be equal to those of the line, or else to
///   hold them. `_meta` does not count, and the id is whatever the client chose.
/// - What the transcript has for that request is said at once, in its order; an answer waits for
///   the client's answers to what the server asked before it, and an event of a listening request
///   for everything that the client did before it.
/// - What concerns no request is said once the client did what stands before it.
/// - A request that has no answer in the transcript gets none; one that has no line is answered
///   with the error -32601, and [`finish`](Self::finish) tells of it.
///
/// Each connection of the client's plays the lines behind the next `> reopens`, and the last ones
/// again when there are no more. Clones are the same replay.
///
/// ```
/// use snodo_testkit::{Replay, Transcript};
/// use snodo_transport::{Connect, Incoming, Transport};
/// use snodo_types::Message;
///
/// # async fn replay() -> Result<(), Box<dyn std::error::Error>> {
/// let text = r#"
/// > {"id":"$call","method":"tools/call","params":{"name":"greet"}}
/// < {"jsonrpc":"2.0","id":"$call","result":{"content":[{"type":"text","text":"Hello"}]}}
/// "#;
/// let replay = Replay::new(&Transcript::parse("greeting", text)?);
/// let transport = replay.connect().await?;
/// let params = r#"{"name":"greet","arguments":{}}"#;
/// let request = Message::request(&41.into(), "tools/call", Some(params));
/// let Some(Ok(Incoming::Message(answer))) = transport.exchange(request.into()).next().await else {
///     panic!("an answer");
/// };
/// assert_eq!(answer.id(), Some(&41.into()));
/// replay.finish()?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Replay {
    shared: Arc<Shared>,
}

/// What of a [`Replay`] went differently from its transcript.
///
/// ```
/// # use snodo_testkit::{Replay, Transcript};
/// let transcript = Transcript::parse("x", "> {\"id\":\"$a\",\"method\":\"ping\"}")?;
/// let error = Replay::new(&transcript).finish().expect_err("nobody asked");
/// assert_eq!(error.to_string(), "x: nobody asked for line 1: {\"id\":\"$a\",\"method\":\"ping\"}");
/// # Ok::<(), snodo_testkit::TranscriptError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplayError {
    name: String,
    left: Vec<String>,
    strays: Vec<String>,
}

impl Replay {
    /// Replays a transcript.
    #[must_use]
    pub fn new(transcript: &Transcript) -> Self {
        let tape = Tape::new(transcript);
        let done = tape.connections.iter().map(|entries| vec![false; entries.len()]).collect();
        let lines = tape.connections.iter().map(|_| Side::default()).collect();
        let state = State { done, sides: lines, made: 0, strays: Vec::new() };
        Self { shared: Arc::new(Shared { tape, state: Mutex::new(state), changed: Notify::new() }) }
    }

    /// Replays the transcript in a file.
    ///
    /// # Errors
    ///
    /// As [`Transcript::load`].
    pub fn load(path: impl AsRef<Path>) -> Result<Self, TranscriptError> {
        Transcript::load(path).map(|transcript| Self::new(&transcript))
    }

    /// Whether every request of the transcript was made, and no other.
    ///
    /// # Errors
    ///
    /// The lines that nobody asked for, and the requests that have no line.
    pub fn finish(&self) -> Result<(), ReplayError> {
        let state = self.shared.state();
        let entries = self
            .shared
            .tape
            .connections
            .iter()
            .zip(&state.done)
            .flat_map(|(entries, done)| entries.iter().zip(done).filter(|(_, done)| !**done));
        let left = entries.filter_map(|(entry, _)| match &entry.what {
            What::Asked { pattern, .. } => Some(format!("line {}: {pattern}", entry.line)),
            _ => None,
        });
        let left: Vec<_> = left.collect();
        let strays = state.strays.clone();
        if left.is_empty() && strays.is_empty() {
            return Ok(());
        }
        Err(ReplayError { name: self.shared.tape.name.clone(), left, strays })
    }
}

impl Connect for Replay {
    type Transport = ReplayTransport;

    async fn connect(&self) -> Result<ReplayTransport, TransportError> {
        let wire = Arc::new(Mutex::new(Pending::new()));
        let side = {
            let mut state = self.shared.state();
            let side = state.made.min(self.shared.tape.connections.len() - 1);
            state.made += 1;
            let first = self.shared.tape.connections[side].first();
            if let Some(What::Failed { failure, on: None }) = first.map(|entry| &entry.what)
                && !std::mem::replace(&mut state.done[side][0], true)
            {
                return Err(Failure::read(failure));
            }
            state.sides[side].wire = Arc::downgrade(&wire);
            side
        };
        let line = Line { shared: Arc::clone(&self.shared), side, wire };
        line.go_on();
        Ok(ReplayTransport { line })
    }

    fn target(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.shared.tape.name)
    }
}

impl fmt::Debug for Replay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replay").field("name", &self.shared.tape.name).finish_non_exhaustive()
    }
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.name)?;
        let left = self.left.iter().map(|line| format!("nobody asked for {line}"));
        let strays = self.strays.iter().map(|text| format!("no line for {text}"));
        f.write_str(&left.chain(strays).collect::<Vec<_>>().join("; "))
    }
}

impl std::error::Error for ReplayError {}

/// A connection to a [`Replay`].
///
/// # Drop behavior
///
/// Dropping it ends the connection: exchanges that are still there fail.
///
/// ```
/// # use snodo_testkit::{Replay, Transcript};
/// # use snodo_transport::{Connect, Transport};
/// # async fn connect() -> Result<(), Box<dyn std::error::Error>> {
/// let replay = Replay::new(&Transcript::parse("x", "@ abilities notify own_stream")?);
/// assert!(replay.connect().await?.abilities().own_stream);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct ReplayTransport {
    line: Line,
}

impl Transport for ReplayTransport {
    fn exchange(&self, envelope: Envelope) -> Exchange {
        let line = self.line.clone();
        Exchange::generate(|sender| async move { line.answer(envelope, &sender).await })
    }

    fn abilities(&self) -> Abilities {
        self.line.shared.tape.abilities
    }

    fn unsolicited(&self, _routing: Routing) -> Option<Exchange> {
        let line = self.line.clone();
        let first = line.pending().take_unsolicited();
        first.then(|| {
            Exchange::generate(|sender| async move {
                if line.shared.tape.abilities.own_stream {
                    if !line.attend() {
                        return Ok(());
                    }
                    sender.send(Incoming::Sent).await;
                }
                while let Some(next) = poll_fn(|cx| line.pending().poll_unsolicited(cx)).await {
                    sender.send(next?).await;
                }
                Ok(())
            })
        })
    }

    fn close(&self, _routing: Routing, _limit: Duration) -> BoxFuture<'static, ()> {
        let line = self.line.clone();
        Box::pin(async move { line.end(closed("the connection is closed")) })
    }
}

impl Drop for ReplayTransport {
    fn drop(&mut self) {
        self.line.end(closed("the connection is closed"));
    }
}

struct Shared {
    tape: Tape,
    state: Mutex<State>,
    /// Something in the state changed.
    changed: Notify,
}

/// What happened of each connection's entries, in their order.
struct State {
    done: Vec<Vec<bool>>,
    sides: Vec<Side>,
    /// How many connections were made.
    made: usize,
    strays: Vec<String>,
}

#[derive(Default)]
struct Side {
    bindings: Bindings,
    /// The connection that plays it.
    wire: Weak<Mutex<Pending>>,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn message(&self, side: usize, at: usize) -> Result<Option<Message>, TransportError> {
        let What::Said { text, status, session, .. } = &self.tape.connections[side][at].what else {
            return Ok(None);
        };
        let filled = self.state().sides[side].bindings.fill(text);
        let text = filled.unwrap_or_else(|_| text.clone());
        let session = session.as_deref().and_then(SessionId::new);
        match (Message::parse(text.clone()), status) {
            (Ok(message), _) => {
                let outside = Outside { status: *status, session, ..Outside::default() };
                Ok(Some(message.with_outside(outside)))
            }
            // What is no message is skipped, as on a pipe; over HTTP it is all that came.
            (Err(_), None) => Ok(None),
            (Err(_), Some(status)) => {
                let text = format!("HTTP {status}: {text}");
                Err(TransportError::new(TransportFault::Status, text).with_status(*status))
            }
        }
    }
}

/// One connection, and where in the tape it is.
#[derive(Clone)]
struct Line {
    shared: Arc<Shared>,
    side: usize,
    wire: Arc<Mutex<Pending>>,
}

/// What an exchange does next.
enum Next {
    Fail(TransportError),
    Say(usize),
    Wait,
}

impl Line {
    async fn answer(self, envelope: Envelope, sender: &Sender) -> Result<(), TransportError> {
        if let Some(error) = self.pending().closed() {
            return Err(error.clone().not_processed());
        }
        let value: Value = serde_json::from_str(&envelope.message).unwrap_or_default();
        let Some(id) = envelope.id else {
            self.hear(&value);
            sender.send(Incoming::Sent).await;
            return Ok(());
        };
        let Some((side, asked)) = self.find(&value) else {
            self.shared.state().strays.push(stray(&value));
            let why = format!("{} holds no answer to this", self.shared.tape.name);
            let error = ErrorObject::new(-32601, &why);
            sender.send(Incoming::Message(Message::error(Some(&id.into()), &error))).await;
            return Ok(());
        };
        let line = Self { side, ..self };
        let _over = Over { line: &line, asked };
        line.go_on();
        let mut from = asked + 1;
        loop {
            let changed = line.shared.changed.notified();
            let mut changed = std::pin::pin!(changed);
            // Whatever changes from here on is not missed.
            changed.as_mut().enable();
            match line.next(asked, from, envelope.listen) {
                Next::Fail(error) => return Err(error),
                Next::Wait => changed.await,
                Next::Say(at) => {
                    from = at + 1;
                    let last = match &line.entries()[at].what {
                        What::Said { place: Place::On { last, .. }, .. } => *last,
                        What::Failed { failure, .. } => {
                            line.did(line.side, at);
                            return Err(Failure::read(failure));
                        }
                        _ => false,
                    };
                    if let Some(message) = line.shared.message(line.side, at)? {
                        sender.send(Incoming::Message(message)).await;
                    }
                    line.did(line.side, at);
                    if last {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// The next entry that is said for a request, if it can be said yet.
    fn next(&self, asked: usize, from: usize, listens: bool) -> Next {
        if let Some(error) = self.pending().closed() {
            return Next::Fail(error.clone());
        }
        let entries = self.entries();
        let mut rest = entries.iter().enumerate().skip(from);
        let found = rest.find(|(_, entry)| entry.is_for(asked));
        let Some((at, _)) = found else { return Next::Wait };
        self.ask_before(asked, at);
        let state = self.shared.state();
        let done = &state.done[self.side];
        let is_missing = |(index, entry): (usize, &Entry)| match &entry.what {
            What::Replied { question: Some(question) } => !done[index] && done[*question],
            What::Asked { .. } | What::Told { .. } => listens && !done[index],
            _ => false,
        };
        let mut before = entries.iter().enumerate().take(at).skip(asked + 1);
        if before.any(is_missing) { Next::Wait } else { Next::Say(at) }
    }

    /// Says what concerns no request but stands between a request and what is said for it.
    fn ask_before(&self, asked: usize, at: usize) {
        for index in asked + 1..at {
            let is_unasked =
                matches!(self.entries()[index].what, What::Said { place: Place::Unasked, .. });
            if is_unasked {
                self.say_unasked(index);
            }
        }
    }

    /// Looks for the line of a request, and takes it.
    fn find(&self, value: &Value) -> Option<(usize, usize)> {
        let wanted = size(&without_meta(value));
        let mut state = self.shared.state();
        let sides = self.shared.tape.connections.len();
        let order: Vec<_> =
            [self.side].into_iter().chain((0..sides).filter(|side| *side != self.side)).collect();
        for exact in [true, false] {
            for side in order.iter().copied() {
                let State { done, sides, .. } = &mut *state;
                for (at, entry) in self.shared.tape.connections[side].iter().enumerate() {
                    let What::Asked { pattern, value: known, name } = &entry.what else { continue };
                    let is_like = !exact || size(&without_meta(known)) == wanted;
                    if done[side][at] || !is_like {
                        continue;
                    }
                    let mut bindings = sides[side].bindings.clone();
                    if let Some(name) = name {
                        // The same name may stand for another id the next time.
                        bindings.forget(&name[1..]);
                    }
                    if pattern.check(value, &mut bindings).is_ok() {
                        sides[side].bindings = bindings;
                        done[side][at] = true;
                        drop(state);
                        self.shared.changed.notify_waiters();
                        return Some((side, at));
                    }
                }
            }
        }
        None
    }

    /// The client said something that nothing answers.
    fn hear(&self, value: &Value) {
        let method = value.get("method").and_then(Value::as_str);
        let at = {
            let state = self.shared.state();
            let done = &state.done[self.side];
            let entries = self.entries().iter().enumerate().filter(|(index, _)| !done[*index]);
            let mut entries = entries.map(|(index, entry)| (index, &entry.what));
            let found = entries.find(|(_, what)| match (what, method) {
                (What::Told { method: known }, Some(method)) => known == method,
                (What::Replied { question: Some(question) }, None) => {
                    self.id_of(*question).as_ref() == value.get("id")
                }
                _ => false,
            });
            found.map(|(index, _)| index)
        };
        match at {
            Some(at) => self.did(self.side, at),
            None if method.is_none() => self.shared.state().strays.push(stray(value)),
            None => {}
        }
    }

    /// The id of a question of the server's.
    fn id_of(&self, question: usize) -> Option<Value> {
        let What::Said { text, .. } = &self.entries()[question].what else { return None };
        serde_json::from_str::<Value>(text).ok()?.get("id").cloned()
    }

    /// Whether the transcript has a stream of what concerns no request; it is open from now on.
    fn attend(&self) -> bool {
        let entries = self.entries();
        let at = entries.iter().position(|entry| matches!(entry.what, What::Attended));
        at.inspect(|at| self.did(self.side, *at)).is_some()
    }

    /// An entry is done; what waited for it goes on.
    fn did(&self, side: usize, at: usize) {
        self.shared.state().done[side][at] = true;
        self.go_on();
        self.shared.changed.notify_waiters();
    }

    /// Does what the server does by itself, up to the first thing that the client has to do.
    fn go_on(&self) {
        for (at, entry) in self.entries().iter().enumerate() {
            if self.shared.state().done[self.side][at] {
                continue;
            }
            let error = match &entry.what {
                What::Said { place: Place::Unasked, .. } => {
                    self.say_unasked(at);
                    continue;
                }
                What::Failed { failure, on: None } => Failure::read(failure),
                What::HungUp => closed("the server ended the connection"),
                _ => return,
            };
            self.shared.state().done[self.side][at] = true;
            self.end(error);
        }
    }

    fn say_unasked(&self, at: usize) {
        if std::mem::replace(&mut self.shared.state().done[self.side][at], true) {
            return;
        }
        let Ok(Some(message)) = self.shared.message(self.side, at) else { return };
        let wire = self.shared.state().sides[self.side].wire.upgrade();
        let Some(wire) = wire else { return };
        let route = lock(&wire).deliver(message);
        if let Route::Delivered(Some(reader)) = route {
            reader.wake();
        }
    }

    fn end(&self, error: TransportError) {
        let readers = self.pending().close(error);
        readers.into_iter().for_each(std::task::Waker::wake);
        self.shared.changed.notify_waiters();
    }

    fn entries(&self) -> &[Entry] {
        &self.shared.tape.connections[self.side]
    }

    fn pending(&self) -> MutexGuard<'_, Pending> {
        lock(&self.wire)
    }
}

/// The exchange of a request, which holds nobody up once it is over.
struct Over<'a> {
    line: &'a Line,
    asked: usize,
}

impl Drop for Over<'_> {
    fn drop(&mut self) {
        {
            let mut state = self.line.shared.state();
            for (at, entry) in self.line.entries().iter().enumerate() {
                if entry.is_for(self.asked) {
                    state.done[self.line.side][at] = true;
                }
            }
        }
        self.line.go_on();
        self.line.shared.changed.notify_waiters();
    }
}

impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Line").field("side", &self.side).finish_non_exhaustive()
    }
}

fn lock(wire: &Mutex<Pending>) -> MutexGuard<'_, Pending> {
    wire.lock().unwrap_or_else(PoisonError::into_inner)
}

fn closed(why: &str) -> TransportError {
    TransportError::new(TransportFault::Closed, why)
}

/// A request as a `>` line of a recording would have it.
fn without_meta(value: &Value) -> Value {
    let mut value = value.clone();
    let Some(members) = value.as_object_mut() else { return value };
    members.remove("jsonrpc");
    let opens = members.get("method").is_some_and(|method| method == "initialize");
    if let Some(params) = members.get_mut("params").and_then(Value::as_object_mut) {
        params.remove("_meta");
        if opens {
            params.retain(|name, _| name == "protocolVersion");
        }
        if params.is_empty() {
            members.remove("params");
        }
    }
    value
}

/// How many values a value is made of: equal for two of which one holds the other only if they are
/// the same.
fn size(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(size).sum::<usize>(),
        Value::Object(members) => 1 + members.values().map(size).sum::<usize>(),
        _ => 1,
    }
}

/// The beginning of a message that has no line.
fn stray(value: &Value) -> String {
    let mut value = without_meta(value);
    if let Some(members) = value.as_object_mut() {
        members.insert("id".to_owned(), json!("…"));
    }
    value.to_string().chars().take(200).collect()
}
