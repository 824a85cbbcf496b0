//! The other end of a transport that is tried out.

mod wires;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use snodo_transport::{Exchange, Incoming, Sender};
use snodo_types::{Body, Message, TransportError};
use tokio::sync::Notify;

/// A server for [`check_transport`](crate::check_transport): it answers a few methods of its own
/// and remembers what it heard.
///
/// | method | what it does |
/// |---|---|
/// | `echo` | gives the parameters back |
/// | `count` | tells progress `params.to` times, then answers |
/// | `ask` | sends a request of its own, then answers |
/// | `hold` | answers only when the test calls [`release`](Self::release) |
///
/// Clones are the same peer. It is put at the end of a pipe with [`serve_pipe`](Self::serve_pipe),
/// behind HTTP with [`serve_http`](Self::serve_http), and anywhere else by calling
/// [`answer`](Self::answer) for each message.
///
/// ```
/// use snodo_testkit::Peer;
/// use snodo_transport::Incoming;
///
/// # async fn ask() {
/// let peer = Peer::new();
/// let text = r#"{"jsonrpc":"2.0","id":1,"method":"echo","params":{"a":1}}"#;
/// let Some(Ok(Incoming::Message(answer))) = peer.answer(text.to_owned()).next().await else {
///     panic!("an answer");
/// };
/// assert_eq!(answer.text(), r#"{"jsonrpc":"2.0","id":1,"result":{"a":1}}"#);
/// assert_eq!(peer.heard(), [text]);
/// # }
/// ```
#[derive(Clone, Default)]
pub struct Peer(Arc<Inner>);

#[derive(Default)]
struct Inner {
    state: Mutex<State>,
    /// Something in the state changed.
    changed: Notify,
}

#[derive(Default)]
struct State {
    heard: Vec<String>,
    released: BTreeSet<u64>,
    given_up: BTreeSet<u64>,
}

impl Peer {
    /// A peer that heard nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What the peer says because of one message. The message is heard when the exchange is first
    /// polled; dropping the exchange before its end is noticed (see [`given_up`](Self::given_up)).
    #[must_use]
    pub fn answer(&self, text: String) -> Exchange {
        let peer = self.clone();
        Exchange::generate(|sender| async move {
            peer.change(|state| state.heard.push(text.clone()));
            let Ok(message) = Message::parse(text) else { return Ok(()) };
            match message.body() {
                Body::Request { id, method, params } => {
                    let params = serde_json::from_str(params.unwrap_or("{}")).unwrap_or_default();
                    let number = id.as_ours().unwrap_or_default();
                    let mut watch = Watch { peer: peer.clone(), id: number, armed: true };
                    peer.work(number, method, &params, &sender).await;
                    watch.armed = false;
                    let result = if method == "echo" { params } else { json!({}) };
                    let response = Message::result(id, &result.to_string());
                    sender.send(Incoming::Message(response)).await;
                }
                _ => sender.send(Incoming::Sent).await,
            }
            Ok(())
        })
    }

    /// The one message that answers `text`, and nothing of what else the peer says: enough for a
    /// transport made by [`from_fn`](snodo_transport::from_fn). `None` for what nothing answers.
    ///
    /// # Errors
    ///
    /// None of its own.
    pub async fn reply(&self, text: String) -> Result<Option<Message>, TransportError> {
        let mut exchange = self.answer(text);
        let mut last = None;
        while let Some(incoming) = exchange.next().await {
            if let Incoming::Message(message) = incoming? {
                last = Some(message);
            }
        }
        Ok(last)
    }

    /// Every message so far, in the order they came.
    #[must_use]
    pub fn heard(&self) -> Vec<String> {
        self.state().heard.clone()
    }

    /// Whether the stream of a request ended before its answer.
    #[must_use]
    pub fn given_up(&self, id: u64) -> bool {
        self.state().given_up.contains(&id)
    }

    /// Answers a request for `hold`, now or as soon as it comes.
    pub fn release(&self, id: u64) {
        self.change(|state| {
            state.released.insert(id);
        });
    }

    /// Waits until a message was heard for which `wanted` is true.
    pub async fn until_heard(&self, wanted: impl Fn(&str) -> bool) {
        self.until(|state| state.heard.iter().any(|text| wanted(text))).await;
    }

    /// Waits until every one of these requests was heard.
    pub(crate) async fn until_requested(&self, ids: impl Iterator<Item = u64> + Clone) {
        self.until(|state| ids.clone().all(|id| state.requested(id))).await;
    }

    /// Whether this request was heard.
    pub(crate) fn requested(&self, id: u64) -> bool {
        self.state().requested(id)
    }

    /// Waits until the stream of a request has ended before its answer.
    pub async fn until_given_up(&self, id: u64) {
        self.until(|state| state.given_up.contains(&id)).await;
    }

    async fn work(&self, id: u64, method: &str, params: &Value, sender: &Sender) {
        match method {
            "count" => {
                for number in 1..=params["to"].as_u64().unwrap_or_default() {
                    let params = json!({ "progressToken": id, "progress": number });
                    say(sender, json!({ "method": "notifications/progress", "params": params }))
                        .await;
                }
            }
            "ask" => say(sender, json!({ "id": id, "method": "ping" })).await,
            "hold" => self.until(|state| state.released.contains(&id)).await,
            _ => {}
        }
    }

    async fn until(&self, mut happened: impl FnMut(&State) -> bool) {
        loop {
            let changed = self.0.changed.notified();
            if happened(&self.state()) {
                return;
            }
            changed.await;
        }
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state());
        self.0.changed.notify_waiters();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Peer").field("heard", &self.state().heard.len()).finish()
    }
}

impl State {
    fn requested(&self, id: u64) -> bool {
        let mark = format!("\"id\":{id},");
        self.heard.iter().any(|text| text.contains(&mark))
    }
}

async fn say(sender: &Sender, mut message: Value) {
    message["jsonrpc"] = "2.0".into();
    let message = Message::parse(message.to_string()).expect("a notification or a request");
    sender.send(Incoming::Message(message)).await;
}

/// Notices that the stream of a request ended before its answer.
struct Watch {
    peer: Peer,
    id: u64,
    armed: bool,
}

impl Drop for Watch {
    fn drop(&mut self) {
        if self.armed {
            self.peer.change(|state| {
                state.given_up.insert(self.id);
            });
        }
    }
}
