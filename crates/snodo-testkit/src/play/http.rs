//! A transcript as a Streamable HTTP endpoint.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tokio::sync::mpsc;

use super::Tasks;
use super::outlet::{Event, Outlet, Said};
use crate::{Loopback, Reply, Request};

/// How a response is written when nothing is said before it.
///
/// ```
/// assert_eq!(snodo_testkit::Answers::default(), snodo_testkit::Answers::Json);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Answers {
    /// As an event stream, always.
    Events,
    /// As a JSON body; as an event stream only when something is said before the response.
    #[default]
    Json,
}

/// Which HTTP methods other than POST the transcript has lines for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Methods {
    pub(super) get: bool,
    pub(super) delete: bool,
}

/// Listens until the tasks are dropped; gives the URL.
pub(super) async fn serve(
    events: mpsc::Sender<Event>,
    tasks: &Tasks,
    answers: Answers,
    methods: Methods,
) -> io::Result<String> {
    let streams = Streams(Arc::default());
    // A play that is gone hears nothing; the endpoint ends with it.
    let _ = events.send(Event::Opened(Outlet::Http(streams.clone()))).await;
    let endpoint = Endpoint { events, answers, methods, streams };
    let server = Loopback::serve(move |request| endpoint.clone().answer(request)).await?;
    let url = server.url();
    let mut tasks = tasks.lock().unwrap_or_else(PoisonError::into_inner);
    tasks.spawn(async move {
        let _server = server;
        std::future::pending::<()>().await;
    });
    Ok(url)
}

/// The response streams that wait for what the server says.
#[derive(Clone, Debug)]
pub(crate) struct Streams(Arc<Open>);

#[derive(Debug, Default)]
struct Open {
    next: AtomicU64,
    waiting: Mutex<BTreeMap<u64, mpsc::Sender<Said>>>,
}

impl Streams {
    pub(super) async fn say(&self, said: Said) -> Result<(), String> {
        let number = said.stream.unwrap_or(UNSOLICITED);
        let stream = {
            let mut waiting = self.waiting();
            if said.last { waiting.remove(&number) } else { waiting.get(&number).cloned() }
        };
        let stream = stream.ok_or("the client has no stream open for this")?;
        stream.send(said).await.map_err(|_| "the client closed the stream".to_owned())
    }

    pub(super) fn hang_up(&self) {
        self.waiting().clear();
    }

    fn open(&self, number: u64) -> mpsc::Receiver<Said> {
        let (sender, receiver) = mpsc::channel(MESSAGES_WAITING);
        self.waiting().insert(number, sender);
        receiver
    }

    fn waiting(&self) -> MutexGuard<'_, BTreeMap<u64, mpsc::Sender<Said>>> {
        self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Clone)]
struct Endpoint {
    events: mpsc::Sender<Event>,
    answers: Answers,
    methods: Methods,
    streams: Streams,
}

impl Endpoint {
    async fn answer(self, request: Request) -> Reply {
        let wanted = match request.method.as_str() {
            "POST" => return self.post(request).await,
            "GET" => self.methods.get,
            "DELETE" => self.methods.delete,
            _ => false,
        };
        if !wanted {
            return Reply::new(405);
        }
        let is_get = request.method == "GET";
        let said = is_get.then(|| self.streams.open(UNSOLICITED));
        let method =
            Event::Method { method: request.method.clone(), headers: request.headers_json() };
        self.tell(method).await;
        match said {
            Some(said) => self.stream(Reply::new(200), None, said, UNSOLICITED),
            None => Reply::new(200),
        }
    }

    async fn post(self, request: Request) -> Reply {
        let message = request.json().unwrap_or_default();
        let is_request = message.get("id").is_some() && message.get("method").is_some();
        let number = self.streams.0.next.fetch_add(1, Ordering::Relaxed) + 1;
        let said = is_request.then(|| self.streams.open(number));
        let headers = Some(request.headers_json());
        // From here on the stream is given up when the client hangs up.
        let watch = Watch { events: self.events.clone(), stream: number, armed: is_request };
        self.tell(Event::Message { text: request.body, stream: number, headers }).await;
        let Some(mut said) = said else { return Reply::new(202) };
        let Some(first) = said.recv().await else {
            watch.disarm();
            return Reply::reset();
        };
        let reply = Reply::new(first.status.unwrap_or(200));
        let reply = match &first.session {
            Some(session) => reply.header("Mcp-Session-Id", session),
            None => reply,
        };
        watch.disarm();
        if first.last && (self.answers == Answers::Json || first.status.is_some()) {
            return match serde_json::from_str::<Value>(&first.text) {
                Ok(_) => reply.json(first.text),
                Err(_) => reply.text(first.text),
            };
        }
        self.stream(reply, Some(first), said, number)
    }

    /// Writes what is said as an event stream, which ends after the response.
    fn stream(
        &self,
        reply: Reply,
        mut first: Option<Said>,
        mut said: mpsc::Receiver<Said>,
        number: u64,
    ) -> Reply {
        let watch = Watch { events: self.events.clone(), stream: number, armed: true };
        reply.stream(|events| async move {
            loop {
                let next = match first.take() {
                    Some(first) => Some(first),
                    None => said.recv().await,
                };
                let Some(next) = next else { break };
                events.message(&next.text).await;
                if next.last {
                    break;
                }
            }
            watch.disarm();
        })
    }

    async fn tell(&self, event: Event) {
        // A play that is gone hears nothing.
        let _ = self.events.send(event).await;
    }
}

/// Tells that the client closed a stream, unless the stream ended by itself.
struct Watch {
    events: mpsc::Sender<Event>,
    stream: u64,
    armed: bool,
}

impl Watch {
    fn disarm(mut self) {
        self.armed = false;
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if self.armed {
            let _ = self.events.try_send(Event::StreamClosed(self.stream));
        }
    }
}

/// The number of the stream for what concerns no request.
const UNSOLICITED: u64 = 0;

/// How many messages may wait on a stream.
const MESSAGES_WAITING: usize = 256;
