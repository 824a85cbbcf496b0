//! A transport over two queues of lines to another thread.
//!
//! ```text
//! {"said":"hello"}
//! ```

use std::future::poll_fn;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::thread;
use std::time::Duration;

use snodo_transport::{
    Abilities, BoxFuture, Connect, Exchange, Incoming, Pending, Route, Transport,
};
use snodo_types::{Envelope, Message, Routing, TransportError, TransportFault};

/// A server: it reads the lines of the one queue and writes the other until either ends.
type Server = dyn Fn(Receiver<String>, SyncSender<String>) + Send + Sync;

/// The way to a server: each connection starts it anew, in a thread of its own.
pub(crate) struct Queues(Arc<Server>);

impl Queues {
    pub(crate) fn new(
        server: impl Fn(Receiver<String>, SyncSender<String>) + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(server))
    }
}

impl Connect for Queues {
    type Transport = QueueTransport;

    async fn connect(&self) -> Result<QueueTransport, TransportError> {
        let ((out, requests), (answers, lines)) = (sync_channel(LINES), sync_channel(LINES));
        let server = Arc::clone(&self.0);
        thread::spawn(move || server(requests, answers));
        let state = State { out: Some(out), pending: Pending::new() };
        let shared = Shared(Arc::new(Mutex::new(state)));
        let reader = shared.clone();
        // It ends with the server, which ends when its own queue does.
        thread::spawn(move || reader.read(&lines));
        Ok(QueueTransport(shared))
    }
}

/// A connection. Dropping it ends it.
pub(crate) struct QueueTransport(Shared);

impl Transport for QueueTransport {
    fn exchange(&self, envelope: Envelope) -> Exchange {
        let shared = self.0.clone();
        // Nothing of this runs before the first poll.
        Exchange::generate(|sender| async move {
            let place = shared.place(envelope)?;
            let Some(id) = place.envelope.id else {
                sender.send(Incoming::Sent).await;
                return Ok(());
            };
            while let Some(next) = poll_fn(|cx| shared.state().pending.poll(id, cx)).await {
                sender.send(next?).await;
            }
            Ok(())
        })
    }

    fn abilities(&self) -> Abilities {
        Abilities { listen: true, ..Abilities::default() }
    }

    fn unsolicited(&self, _: Routing) -> Option<Exchange> {
        let shared = self.0.clone();
        let is_first = shared.state().pending.take_unsolicited();
        is_first.then(|| {
            Exchange::generate(|sender| async move {
                while let Some(next) =
                    poll_fn(|cx| shared.state().pending.poll_unsolicited(cx)).await
                {
                    sender.send(next?).await;
                }
                Ok(())
            })
        })
    }

    fn close(&self, _: Routing, _: Duration) -> BoxFuture<'static, ()> {
        self.0.end("the connection was closed");
        Box::pin(std::future::ready(()))
    }
}

impl Drop for QueueTransport {
    fn drop(&mut self) {
        self.0.end("the connection was dropped");
    }
}

/// What the exchanges, the transport and the reader hold together.
#[derive(Clone)]
struct Shared(Arc<Mutex<State>>);

struct State {
    /// Gone once the connection is over; the server sees the end of its queue.
    out: Option<SyncSender<String>>,
    pending: Pending,
}

impl Shared {
    /// Writes a message, with a place for what comes back.
    fn place(&self, mut envelope: Envelope) -> Result<Place, TransportError> {
        let mut state = self.state();
        state.pending.open(&envelope)?;
        let message = std::mem::take(&mut envelope.message);
        let written = state.write(message);
        drop(state);
        // From here on the place is given back, whatever happens.
        let place = Place { shared: self.clone(), envelope, written: written.is_ok() };
        written.map(|()| place)
    }

    fn read(&self, lines: &Receiver<String>) {
        for line in lines {
            // What is no message is skipped: nobody knows whom it concerned.
            let Ok(message) = Message::parse(line) else { continue };
            // The lock is let go of before anybody is woken.
            let route = self.state().pending.deliver(message);
            if let Route::Delivered(Some(reader)) = route {
                reader.wake();
            }
        }
        self.end("the server ended the connection");
    }

    fn end(&self, why: &str) {
        let mut state = self.state();
        state.out = None;
        let readers = state.pending.close(TransportError::new(TransportFault::Closed, why));
        drop(state);
        readers.into_iter().for_each(Waker::wake);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn write(&mut self, line: String) -> Result<(), TransportError> {
        let written = self.out.as_ref().map(|out| out.try_send(line));
        if matches!(written, Some(Ok(()))) {
            return Ok(());
        }
        let why = "the server reads no more, or too slowly";
        Err(TransportError::new(TransportFault::Connect, why).not_processed())
    }
}

/// The place of a message in the table. Dropped before the answer, it gives the message up.
struct Place {
    shared: Shared,
    envelope: Envelope,
    written: bool,
}

impl Drop for Place {
    fn drop(&mut self) {
        let Some(id) = self.envelope.id else { return };
        let mut state = self.shared.state();
        let is_unfinished = state.pending.forget(id);
        let notice = self.envelope.abandon.as_ref().filter(|_| is_unfinished && self.written);
        if let Some(notice) = notice {
            // A server that cannot be told goes on in vain.
            let _ = state.write(notice.message(id));
        }
    }
}

/// How many lines may wait in a queue.
const LINES: usize = 1024;

#[expect(clippy::print_stdout, reason = "an example shows what it got")]
fn main() -> Result<(), TransportError> {
    /// Answers every request with the same word.
    fn greet(requests: Receiver<String>, answers: SyncSender<String>) {
        for id in requests.iter().filter_map(|line| Message::parse(line).ok()?.id().cloned()) {
            let answer = Message::result(&id, r#"{"said":"hello"}"#);
            // A client that is gone has no use for it.
            let _ = answers.send(answer.into_text());
        }
    }
    let transport = wait(Queues::new(greet).connect())?;
    let mut asking = transport.exchange(Message::request(&1.into(), "greet", None).into());
    if let Some(Incoming::Message(message)) = wait(asking.next()).transpose()?
        && let snodo_types::Body::Result { result, .. } = message.body()
    {
        println!("{result}");
    }
    Ok(())
}

/// Runs a future to its end in this thread: any executor will do.
fn wait<T>(future: impl Future<Output = T>) -> T {
    struct Unpark(thread::Thread);
    impl std::task::Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = std::pin::pin!(future);
    loop {
        let polled = future.as_mut().poll(&mut std::task::Context::from_waker(&waker));
        if let std::task::Poll::Ready(value) = polled {
            return value;
        }
        thread::park();
    }
}
