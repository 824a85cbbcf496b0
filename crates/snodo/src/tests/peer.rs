//! A peer in memory: each test says what it answers.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures_core::Stream;
use serde_json::{Value, json};
use snodo_transport::{Abilities, BoxFuture, Connect, Exchange, Incoming, Sender, Transport};
use snodo_types::{
    Body, Envelope, InboxLimits, Message, Outside, Routing, SessionId, TransportError,
    TransportFault,
};

/// What a test's function makes of a message that was sent.
pub(crate) type Acting = BoxFuture<'static, Result<(), TransportError>>;

type Act = dyn Fn(Call) -> Acting + Send + Sync;

/// A peer, and all that it saw. Connecting to it makes a transport.
#[derive(Clone)]
pub(crate) struct Peer(Arc<Inner>);

struct Inner {
    act: Box<Act>,
    abilities: Abilities,
    seen: Mutex<Seen>,
    connections: AtomicUsize,
    live_connections: AtomicUsize,
    live_exchanges: AtomicUsize,
}

#[derive(Default)]
struct Seen {
    sent: Vec<Value>,
    inboxes: Vec<InboxLimits>,
    given_up: Vec<Value>,
    closed: Vec<(Duration, Option<String>)>,
    closing_takes: Duration,
    unasked: VecDeque<Incoming>,
    unasked_waker: Option<Waker>,
    unasked_count: usize,
    /// Until it was asked so often there is always one more.
    flood: usize,
    headless: bool,
}

/// One message that was sent, and the way back.
pub(crate) struct Call {
    pub(crate) id: Option<u64>,
    pub(crate) method: String,
    pub(crate) message: Value,
    pub(crate) envelope: Envelope,
    /// Which connection it came over; the first is 1.
    pub(crate) connection: usize,
    sender: Sender,
}

impl Peer {
    /// A peer that answers each message as the function says, over a shared pipe.
    pub(crate) fn new<F, G>(act: F) -> Self
    where
        F: Fn(Call) -> G + Send + Sync + 'static,
        G: Future<Output = Result<(), TransportError>> + Send + 'static,
    {
        Self::with(Abilities::default(), act)
    }

    /// The same, each exchange with a stream of its own.
    pub(crate) fn own_stream<F, G>(act: F) -> Self
    where
        F: Fn(Call) -> G + Send + Sync + 'static,
        G: Future<Output = Result<(), TransportError>> + Send + 'static,
    {
        let abilities =
            Abilities { own_stream: true, routing: true, listen: true, ..Abilities::default() };
        Self::with(abilities, act)
    }

    pub(crate) fn with<F, G>(abilities: Abilities, act: F) -> Self
    where
        F: Fn(Call) -> G + Send + Sync + 'static,
        G: Future<Output = Result<(), TransportError>> + Send + 'static,
    {
        Self(Arc::new(Inner {
            act: Box::new(move |call| Box::pin(act(call))),
            abilities,
            seen: Mutex::default(),
            connections: AtomicUsize::new(0),
            live_connections: AtomicUsize::new(0),
            live_exchanges: AtomicUsize::new(0),
        }))
    }

    /// What was sent so far, in order: requests, notifications and replies.
    pub(crate) fn sent(&self) -> Vec<Value> {
        self.seen().sent.clone()
    }

    /// The methods of what was sent; `=` for an answer.
    pub(crate) fn methods(&self) -> Vec<String> {
        let method = |message: &Value| message["method"].as_str().unwrap_or("=").to_owned();
        self.seen().sent.iter().map(method).collect()
    }

    /// What was sent that answers the peer's own questions.
    pub(crate) fn answers(&self) -> Vec<Value> {
        self.sent().into_iter().filter(|message| message.get("method").is_none()).collect()
    }

    /// The notices for requests that were given up after they were sent.
    pub(crate) fn given_up(&self) -> Vec<Value> {
        self.seen().given_up.clone()
    }

    /// How long each polite end was allowed to take.
    pub(crate) fn closed(&self) -> Vec<Duration> {
        self.seen().closed.iter().map(|(limit, _)| *limit).collect()
    }

    /// The sessions that were named by polite ends.
    pub(crate) fn closed_sessions(&self) -> Vec<String> {
        self.seen().closed.iter().filter_map(|(_, session)| session.clone()).collect()
    }

    /// A polite end takes so long.
    pub(crate) fn closing_slowly(self, time: Duration) -> Self {
        self.seen().closing_takes = time;
        self
    }

    /// The room that was given to what each message brings.
    pub(crate) fn inboxes(&self) -> Vec<InboxLimits> {
        self.seen().inboxes.clone()
    }

    /// How many connections were made.
    pub(crate) fn connections(&self) -> usize {
        self.0.connections.load(Ordering::SeqCst)
    }

    /// How many transports and exchanges are not dropped yet.
    pub(crate) fn alive(&self) -> (usize, usize) {
        let count = |counter: &AtomicUsize| counter.load(Ordering::SeqCst);
        (count(&self.0.live_connections), count(&self.0.live_exchanges))
    }

    /// Says something on the channel of what concerns no call.
    pub(crate) fn say(&self, message: Value) {
        self.unasked(Incoming::Message(parse(&message)));
    }

    pub(crate) fn unasked(&self, incoming: Incoming) {
        let mut seen = self.seen();
        seen.unasked.push_back(incoming);
        if let Some(waker) = seen.unasked_waker.take() {
            waker.wake();
        }
    }

    /// Its own stream begins without a head.
    pub(crate) fn without_head(self) -> Self {
        self.seen().headless = true;
        self
    }

    /// From now on it always has something to say, until it was asked so often.
    pub(crate) fn flood(&self, count: usize) {
        self.seen().flood = count;
    }

    /// How often what concerns no call was asked for.
    pub(crate) fn unasked_count(&self) -> usize {
        self.seen().unasked_count
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.0.seen.lock().expect("no test panics with it")
    }
}

impl Call {
    /// Says something on the stream of this call.
    pub(crate) async fn say(&self, message: Value) {
        self.sender.send(Incoming::Message(parse(&message))).await;
    }

    pub(crate) async fn tell(&self, incoming: Incoming) {
        self.sender.send(incoming).await;
    }

    /// Answers it.
    pub(crate) async fn answer(&self, result: Value) {
        let id = self.id.expect("a request");
        self.say(json!({ "jsonrpc": "2.0", "id": id, "result": result })).await;
    }

    /// Answers it with an error.
    pub(crate) async fn refuse(&self, error: Value) {
        let id = self.id.expect("a request");
        self.say(json!({ "jsonrpc": "2.0", "id": id, "error": error })).await;
    }

    /// Says how far it got.
    pub(crate) async fn progress(&self, progress: u64) {
        let params = json!({ "progressToken": self.id, "progress": progress });
        self.say(json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params }))
            .await;
    }

    /// Answers `initialize` with a session.
    pub(crate) async fn open_session(&self, id: &str) {
        self.greet_in_session(self.greeting(), id).await;
    }

    /// The same in a version that the client did not ask for.
    pub(crate) async fn open_session_in(&self, version: &str, id: &str) {
        let mut greeting = self.greeting();
        greeting["protocolVersion"] = version.into();
        self.greet_in_session(greeting, id).await;
    }

    async fn greet_in_session(&self, greeting: Value, id: &str) {
        let result = json!({ "jsonrpc": "2.0", "id": self.id, "result": greeting });
        let outside = Outside { session: SessionId::new(id), ..Outside::default() };
        self.tell(Incoming::Message(parse(&result).with_outside(outside))).await;
    }

    fn greeting(&self) -> Value {
        let version = self.message["params"]["protocolVersion"].clone();
        let capabilities = json!({ "tools": { "listChanged": true } });
        let info = json!({ "name": "peer", "version": "1" });
        json!({ "protocolVersion": version, "capabilities": capabilities, "serverInfo": info })
    }

    /// Does what every server of the initialize era does, and says whether that was all.
    pub(crate) async fn greet(&self) -> bool {
        match self.method.as_str() {
            "initialize" => {
                self.answer(self.greeting()).await;
                true
            }
            // A notification, or an answer of the client's.
            _ if self.id.is_none() => {
                self.tell(Incoming::Sent).await;
                true
            }
            _ => false,
        }
    }
}

/// One connection to a [`Peer`].
pub(crate) struct Connection {
    peer: Peer,
    number: usize,
    unsolicited_taken: AtomicBool,
}

impl Connect for Peer {
    type Transport = Connection;

    async fn connect(&self) -> Result<Connection, TransportError> {
        let number = self.0.connections.fetch_add(1, Ordering::SeqCst) + 1;
        self.0.live_connections.fetch_add(1, Ordering::SeqCst);
        Ok(Connection { peer: self.clone(), number, unsolicited_taken: AtomicBool::new(false) })
    }

    fn target(&self) -> std::borrow::Cow<'_, str> {
        "the peer".into()
    }
}

impl Transport for Connection {
    fn exchange(&self, envelope: Envelope) -> Exchange {
        self.peer.0.live_exchanges.fetch_add(1, Ordering::SeqCst);
        let (peer, number) = (self.peer.clone(), self.number);
        Exchange::new(Watched { peer, number, stage: Stage::New(Box::new(envelope)) })
    }

    fn abilities(&self) -> Abilities {
        self.peer.0.abilities
    }

    fn unsolicited(&self, _: Routing) -> Option<Exchange> {
        let first = !self.unsolicited_taken.swap(true, Ordering::SeqCst);
        first.then(|| Exchange::new(Unasked { peer: self.peer.clone(), opened: false }))
    }

    fn close(&self, routing: Routing, limit: Duration) -> BoxFuture<'static, ()> {
        let peer = self.peer.clone();
        Box::pin(async move {
            let session = routing.value("Mcp-Session-Id").map(str::to_owned);
            peer.seen().closed.push((limit, session));
            let time = peer.seen().closing_takes;
            if !time.is_zero() {
                tokio::time::sleep(time).await;
            }
        })
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.peer.0.live_connections.fetch_sub(1, Ordering::SeqCst);
    }
}

/// An exchange that keeps what is done to it.
struct Watched {
    peer: Peer,
    number: usize,
    stage: Stage,
}

enum Stage {
    New(Box<Envelope>),
    Running(Box<Envelope>, Exchange),
    Ended,
}

impl Stream for Watched {
    type Item = Result<Incoming, TransportError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Stage::New(envelope) = &self.stage {
            let envelope = envelope.clone();
            let message: Value = serde_json::from_str(&envelope.message).expect("JSON");
            self.peer.seen().sent.push(message.clone());
            self.peer.seen().inboxes.push(envelope.inbox);
            let method = message["method"].as_str().unwrap_or("=").to_owned();
            let (inner, connection, id) = (Arc::clone(&self.peer.0), self.number, envelope.id);
            let carried = (*envelope).clone();
            let running = Exchange::generate(move |sender| {
                (inner.act)(Call { id, method, message, envelope: carried, connection, sender })
            });
            self.stage = Stage::Running(envelope, running);
        }
        let Stage::Running(envelope, running) = &mut self.stage else { return Poll::Ready(None) };
        let polled = Pin::new(running).poll_next(cx);
        let over = match &polled {
            Poll::Ready(None | Some(Err(_))) => true,
            Poll::Ready(Some(Ok(Incoming::Message(message)))) => match message.body() {
                Body::Result { id, .. } => id.as_ours() == envelope.id,
                Body::Error { .. } => true,
                _ => false,
            },
            _ => false,
        };
        if over {
            self.stage = Stage::Ended;
        }
        polled
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.peer.0.live_exchanges.fetch_sub(1, Ordering::SeqCst);
        if let Stage::Running(envelope, _) = &self.stage
            && let (Some(id), Some(abandon)) = (envelope.id, &envelope.abandon)
        {
            let notice = serde_json::from_str(&abandon.message(id)).expect("JSON");
            self.peer.seen().given_up.push(notice);
        }
    }
}

/// What a peer says while nobody calls. Where that has a stream of its own, its head comes first.
struct Unasked {
    peer: Peer,
    opened: bool,
}

impl Stream for Unasked {
    type Item = Result<Incoming, TransportError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let first = !std::mem::replace(&mut self.opened, true);
        let mut seen = self.peer.seen();
        if first && self.peer.0.abilities.own_stream && !seen.headless {
            return Poll::Ready(Some(Ok(Incoming::Sent)));
        }
        seen.unasked_count += 1;
        match seen.unasked.pop_front() {
            Some(incoming) => Poll::Ready(Some(Ok(incoming))),
            None if seen.unasked_count < seen.flood => {
                let notice = json!({ "jsonrpc": "2.0", "method": "notifications/message" });
                Poll::Ready(Some(Ok(Incoming::Message(parse(&notice)))))
            }
            None => {
                seen.unasked_waker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

/// What a transport fails with where a status says no.
pub(crate) fn status(status: u16) -> TransportError {
    TransportError::new(TransportFault::Status, format!("status {status}"))
        .with_status(status)
        .not_processed()
}

fn parse(message: &Value) -> Message {
    Message::parse(message.to_string()).expect("a message")
}
