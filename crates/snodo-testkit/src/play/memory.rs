//! A transcript as a transport of its own.

use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use snodo_transport::{
    Abilities, BoxFuture, Connect, Exchange, Incoming, Pending, Route, Transport,
};
use snodo_types::{Envelope, Message, Routing, TransportError, TransportFault};
use tokio::sync::mpsc;

use super::outlet::{Event, Outlet};

/// How a client reaches a [`Play`](super::Play) in memory.
///
/// ```
/// use snodo_testkit::{Play, Transcript, Wire};
///
/// let play = Play::new(Transcript::parse("x", "? ping")?, Wire::Pipe);
/// let connect = play.memory();
/// # let _ = connect;
/// # Ok::<(), snodo_testkit::TranscriptError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ScriptedConnect {
    events: mpsc::Sender<Event>,
}

/// A connection to a [`Play`](super::Play) in memory: messages share it as they share a pipe.
///
/// # Drop behavior
///
/// Dropping it ends the connection. An exchange that is dropped after it was written sends its
/// notice, if it has one.
///
/// ```
/// # async fn connect() -> Result<(), Box<dyn std::error::Error>> {
/// use snodo_testkit::{Play, Transcript, Wire};
/// use snodo_transport::{Connect, Transport};
///
/// let play = Play::new(Transcript::parse("x", "? ping")?, Wire::Pipe);
/// let transport = play.memory().connect().await?;
/// assert!(transport.abilities().listen);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct ScriptedTransport {
    shelf: Shelf,
}

impl ScriptedConnect {
    pub(super) fn new(events: mpsc::Sender<Event>) -> Self {
        Self { events }
    }
}

impl Connect for ScriptedConnect {
    type Transport = ScriptedTransport;

    async fn connect(&self) -> Result<ScriptedTransport, TransportError> {
        let shelf = Shelf(Arc::new(Inner {
            events: self.events.clone(),
            pending: Mutex::new(Pending::new()),
            ended: AtomicBool::new(false),
        }));
        shelf.tell(Event::Opened(Outlet::Memory(shelf.clone())))?;
        Ok(ScriptedTransport { shelf })
    }

    fn target(&self) -> std::borrow::Cow<'_, str> {
        "a transcript".into()
    }
}

impl Transport for ScriptedTransport {
    fn exchange(&self, envelope: Envelope) -> Exchange {
        let shelf = self.shelf.clone();
        Exchange::generate(|sender| async move {
            shelf.pending().open(&envelope)?;
            let mut place = Place { shelf: shelf.clone(), envelope, written: false };
            place.write()?;
            let Some(id) = place.envelope.id else {
                sender.send(Incoming::Sent).await;
                return Ok(());
            };
            while let Some(next) = poll_fn(|cx| shelf.pending().poll(id, cx)).await {
                sender.send(next?).await;
            }
            Ok(())
        })
    }

    fn abilities(&self) -> Abilities {
        Abilities { listen: true, ..Abilities::default() }
    }

    fn unsolicited(&self, _routing: Routing) -> Option<Exchange> {
        let first = self.shelf.pending().take_unsolicited();
        let shelf = self.shelf.clone();
        first.then(|| {
            Exchange::generate(|sender| async move {
                while let Some(next) = poll_fn(|cx| shelf.pending().poll_unsolicited(cx)).await {
                    sender.send(next?).await;
                }
                Ok(())
            })
        })
    }

    fn close(&self, _routing: Routing, _limit: Duration) -> BoxFuture<'static, ()> {
        let shelf = self.shelf.clone();
        Box::pin(async move { shelf.end() })
    }
}

impl Drop for ScriptedTransport {
    fn drop(&mut self) {
        self.shelf.end();
    }
}

/// What both sides of a connection hold.
#[derive(Clone, Debug)]
pub(crate) struct Shelf(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    events: mpsc::Sender<Event>,
    pending: Mutex<Pending>,
    ended: AtomicBool,
}

impl Shelf {
    pub(super) fn say(&self, text: &str) {
        // What is no message is skipped, as on a pipe.
        let Ok(message) = Message::parse(text) else { return };
        // The guard is gone before anybody is woken.
        let route = self.pending().deliver(message);
        if let Route::Delivered(Some(waker)) = route {
            waker.wake();
        }
    }

    pub(super) fn hang_up(&self) {
        self.close("the server ended the connection");
    }

    /// Ends the connection from the client's side, once.
    fn end(&self) {
        if !self.0.ended.swap(true, Ordering::SeqCst) {
            self.close("the connection is closed");
            // A full or forgotten play learns of it by its own silence.
            let _ = self.0.events.try_send(Event::Ended);
        }
    }

    fn close(&self, why: &str) {
        let wakers = self.pending().close(TransportError::new(TransportFault::Closed, why));
        wakers.into_iter().for_each(std::task::Waker::wake);
    }

    fn tell(&self, event: Event) -> Result<(), TransportError> {
        self.0.events.try_send(event).map_err(|_| {
            TransportError::new(TransportFault::Closed, "nobody plays the transcript")
                .not_processed()
        })
    }

    fn pending(&self) -> MutexGuard<'_, Pending> {
        self.0.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The place of an exchange in the table, given back when the exchange is dropped.
struct Place {
    shelf: Shelf,
    envelope: Envelope,
    written: bool,
}

impl Place {
    fn write(&mut self) -> Result<(), TransportError> {
        let text = std::mem::take(&mut self.envelope.message);
        self.shelf.tell(Event::Message { text, stream: 0, headers: None })?;
        self.written = true;
        Ok(())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let Some(id) = self.envelope.id else { return };
        let unfinished = self.shelf.pending().forget(id);
        let Some(abandon) = self.envelope.abandon.as_ref().filter(|_| unfinished && self.written)
        else {
            return;
        };
        let notice = Event::Message { text: abandon.message(id), stream: 0, headers: None };
        // Nobody plays any more: nobody has to be told.
        let _ = self.shelf.tell(notice);
    }
}
