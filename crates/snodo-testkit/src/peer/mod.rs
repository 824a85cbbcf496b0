//! The other end of a transport that is tried out.

mod wires;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use snodo_transport::{Exchange, Incoming, Sender};
use snodo_types::{Body, ErrorObject, Message, RequestId, TransportError, TransportFault};
use tokio::sync::{Notify, broadcast};

/// A server for [`check_transport`](crate::check_transport): it answers a few methods of its own
/// and remembers what it heard.
///
/// | method | what it does |
/// |---|---|
/// | `ask` | sends a request of its own, then answers |
/// | `cancel` | says that it gives up a request of its own, whose number is this one's, then answers |
/// | `count` | tells progress `params.to` times, with `params.text` beside it, then answers |
/// | `echo` | gives the parameters back |
/// | `fail` | answers with the error -32000 and the parameters as its data |
/// | `hold` | answers only when the test calls [`release`](Self::release) |
/// | `leave` | goes away: the connection ends without an answer |
/// | `listen` | tells `params.to` events, waits for [`release`](Self::release), tells one more, then answers or, with `params.ends`, says that it gives the request up |
/// | `tell` | says `params.to` things that concern no request, then answers |
///
/// Clones are the same peer. It is put at the end of a pipe with [`serve_pipe`](Self::serve_pipe),
/// at the end of anything else that carries messages both ways with [`serve`](Self::serve), behind
/// HTTP with [`serve_http`](Self::serve_http), and where each message has an answer of its own by
/// calling [`answer`](Self::answer).
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

struct Inner {
    state: Mutex<State>,
    /// Something in the state changed.
    changed: Notify,
    /// What concerns no request, for every connection there is.
    unasked: broadcast::Sender<Message>,
}

impl Default for Inner {
    fn default() -> Self {
        let (unasked, _) = broadcast::channel(UNASKED_WAITING);
        Self { state: Mutex::default(), changed: Notify::new(), unasked }
    }
}

#[derive(Default)]
struct State {
    heard: Vec<String>,
    /// The numbers of the requests among them.
    requested: BTreeSet<u64>,
    released: BTreeSet<u64>,
    given_up: BTreeSet<u64>,
    done: BTreeSet<u64>,
}

/// How the work on a request ends.
enum Ending {
    Answer(Message),
    /// The peer has said that it gives the request up.
    GivenUp,
    /// The peer goes away.
    Left,
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
            let message = Message::parse(text.clone());
            peer.change(|state| state.hear(text, message.as_ref().ok()));
            let Ok(message) = message else { return Ok(()) };
            let Body::Request { id, method, params } = message.body() else {
                sender.send(Incoming::Sent).await;
                return Ok(());
            };
            let number = id.as_ours().unwrap_or_default();
            let mut watch = Watch { peer: peer.clone(), id: number, armed: true };
            let ending = peer.work(id, method, params.unwrap_or("{}"), &sender).await;
            watch.armed = false;
            match ending {
                Ending::Answer(answer) => sender.send(Incoming::Message(answer)).await,
                Ending::GivenUp => {}
                Ending::Left => {
                    let why = "the peer has left, as it was asked to";
                    return Err(TransportError::new(TransportFault::Closed, why));
                }
            }
            peer.change(|state| {
                state.done.insert(number);
            });
            Ok(())
        })
    }

    /// The one message that answers `text`, and nothing of what else the peer says: enough for a
    /// transport made by [`from_fn`](snodo_transport::from_fn). `None` for what nothing answers.
    ///
    /// # Errors
    ///
    /// The peer was asked to leave.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future gives the request up, which [`given_up`](Self::given_up) then tells.
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
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when the future is dropped: what was heard stays heard.
    pub async fn until_heard(&self, wanted: impl Fn(&str) -> bool) {
        self.until(|state| state.heard.iter().any(|text| wanted(text))).await;
    }

    /// Waits until every one of these requests was heard.
    pub(crate) async fn until_requested(&self, ids: impl Iterator<Item = u64> + Clone) {
        self.until(|state| ids.clone().all(|id| state.requested.contains(&id))).await;
    }

    /// Whether this request was heard.
    pub(crate) fn requested(&self, id: u64) -> bool {
        self.state().requested.contains(&id)
    }

    /// Waits until the stream of a request has ended before its answer.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when the future is dropped.
    pub async fn until_given_up(&self, id: u64) {
        self.until(|state| state.given_up.contains(&id)).await;
    }

    /// Waits until everything that the peer has to say about a request was handed on.
    pub(crate) async fn until_done(&self, id: u64) {
        self.until(|state| state.done.contains(&id)).await;
    }

    /// What the peer says that concerns no request, from now on.
    pub(crate) fn unasked(&self) -> broadcast::Receiver<Message> {
        self.0.unasked.subscribe()
    }

    async fn work(&self, id: &RequestId, method: &str, text: &str, sender: &Sender) -> Ending {
        let params: Value = serde_json::from_str(text).unwrap_or_default();
        let number = id.as_ours().unwrap_or_default();
        let times = 1..=params["to"].as_u64().unwrap_or_default();
        let released = self.until(|state| state.released.contains(&number));
        match method {
            "ask" => say(sender, Message::request(id, "ping", None)).await,
            "cancel" => say(sender, cancelled(number)).await,
            "count" => {
                for time in times {
                    let params = json!({ "progressToken": number, "progress": time, "message": params["text"] });
                    say(sender, notification("notifications/progress", &params)).await;
                }
            }
            "echo" => return Ending::Answer(Message::result(id, text)),
            "fail" => {
                let error = ErrorObject::new(-32000, "as asked").with_data(params);
                return Ending::Answer(Message::error(Some(id), &error));
            }
            "hold" => released.await,
            "leave" => return Ending::Left,
            "listen" => {
                for time in times {
                    say(sender, event(number, time)).await;
                }
                released.await;
                say(sender, event(number, 0)).await;
                if params["ends"] == true {
                    say(sender, cancelled(number)).await;
                    return Ending::GivenUp;
                }
            }
            "tell" => {
                for time in times {
                    // Nobody may be there to hear it.
                    let _ = self.0.unasked.send(event_of_nobody(time));
                }
            }
            _ => {}
        }
        Ending::Answer(Message::result(id, "{}"))
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
    fn hear(&mut self, text: String, message: Option<&Message>) {
        if let Some(Body::Request { id, .. }) = message.map(Message::body) {
            self.requested.extend(id.as_ours());
        }
        self.heard.push(text);
    }
}

async fn say(sender: &Sender, message: Message) {
    sender.send(Incoming::Message(message)).await;
}

/// An event on the stream of a listening request.
fn event(id: u64, number: u64) -> Message {
    let meta = json!({ "io.modelcontextprotocol/subscriptionId": id });
    notification("kit/event", &json!({ "_meta": meta, "number": number }))
}

fn event_of_nobody(number: u64) -> Message {
    notification("kit/unasked", &json!({ "number": number }))
}

fn cancelled(id: u64) -> Message {
    notification("notifications/cancelled", &json!({ "requestId": id }))
}

fn notification(method: &str, params: &Value) -> Message {
    Message::notification(method, Some(&params.to_string()))
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

/// How many things that concern no request may wait for a connection of the peer's.
const UNASKED_WAITING: usize = 4096;
