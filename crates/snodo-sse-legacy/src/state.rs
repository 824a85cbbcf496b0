//! What the exchanges of a connection and its two tasks share.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use snodo_transport::{Incoming, Pending, Route};
use snodo_types::{Envelope, Message, Routing, TransportError, TransportFault};
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

/// What comes of a post.
pub(crate) type News = Result<Incoming, TransportError>;

/// A message on its way to the writer, who takes the text out of it. A text that is still there when
/// its exchange is dropped is never posted.
#[derive(Debug)]
pub(crate) struct Letter {
    text: Text,
    pub(crate) routing: Routing,
    /// Who wants to hear of it; nobody of a notice.
    pub(crate) news: Option<mpsc::Sender<News>>,
}

type Text = Arc<Mutex<Option<String>>>;

impl Letter {
    /// A notice that a request was given up.
    fn notice(text: String, routing: Routing) -> Self {
        Self { text: Arc::new(Mutex::new(Some(text))), routing, news: None }
    }

    /// The text, unless its exchange was dropped.
    pub(crate) fn open(&self) -> Option<String> {
        lock(&self.text).take()
    }
}

/// The table of the connection, under its lock.
#[derive(Clone, Debug)]
pub(crate) struct Shared {
    pending: Arc<Mutex<Pending>>,
    notices: mpsc::Sender<Letter>,
}

impl Shared {
    pub(crate) fn new(notices: mpsc::Sender<Letter>) -> Self {
        Self { pending: Arc::default(), notices }
    }

    pub(crate) fn deliver(&self, text: String) {
        let reader = match Message::parse(text) {
            // The lock is let go of before anybody is woken.
            Ok(message) => match self.pending().deliver(message) {
                Route::Delivered(reader) => reader,
                Route::Late => None,
            },
            Err(malformed) => {
                tracing::debug!(%malformed, "an event of the stream is no message");
                let id = malformed.id().and_then(snodo_types::RequestId::as_ours);
                id.and_then(|id| self.pending().fail(id, malformed.into()))
            }
        };
        if let Some(reader) = reader {
            reader.wake();
        }
    }

    /// Ends everything that waits, and what comes later. The first reason stays.
    pub(crate) fn end(&self, error: TransportError) {
        let readers = self.pending().close(error);
        readers.into_iter().for_each(Waker::wake);
    }

    pub(crate) fn poll(&self, id: u64, cx: &Context<'_>) -> Poll<Option<News>> {
        self.pending().poll(id, cx)
    }

    pub(crate) fn take_unsolicited(&self) -> bool {
        self.pending().take_unsolicited()
    }

    pub(crate) fn poll_unsolicited(&self, cx: &Context<'_>) -> Poll<Option<News>> {
        self.pending().poll_unsolicited(cx)
    }

    fn pending(&self) -> MutexGuard<'_, Pending> {
        lock(&self.pending)
    }
}

/// The place of an exchange in the table, given back when the exchange is dropped or over.
pub(crate) struct Place {
    shared: Shared,
    envelope: Envelope,
    text: Text,
    has_failed: bool,
}

impl Place {
    pub(crate) fn open(shared: Shared, mut envelope: Envelope) -> Result<Self, TransportError> {
        shared.pending().open(&envelope)?;
        let text = Arc::new(Mutex::new(Some(std::mem::take(&mut envelope.message))));
        Ok(Self { shared, envelope, text, has_failed: false })
    }

    pub(crate) fn id(&self) -> Option<u64> {
        self.envelope.id
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }

    /// The message for the writer, and how to hear of it.
    pub(crate) fn letter(&mut self) -> (Letter, mpsc::Receiver<News>) {
        let (news, hears) = mpsc::channel(NEWS_WAITING);
        let routing = std::mem::take(&mut self.envelope.routing);
        (Letter { text: Arc::clone(&self.text), routing, news: Some(news) }, hears)
    }

    /// The post failed: the server is told nothing more about it.
    pub(crate) fn failed(&mut self, error: TransportError) -> TransportError {
        self.has_failed = true;
        error
    }

    pub(crate) fn why_closed(&self) -> TransportError {
        let known = self.shared.pending().closed().cloned();
        known.unwrap_or_else(|| closed("the connection ended"))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let was_posted = lock(&self.text).take().is_none();
        let Some(id) = self.envelope.id else { return };
        let is_unfinished = self.shared.pending().forget(id) && !self.has_failed;
        let abandon = self.envelope.abandon.as_ref();
        if let Some(abandon) = abandon.filter(|_| was_posted && is_unfinished) {
            let notice = Letter::notice(abandon.message(id), abandon.routing().clone());
            if let Err(TrySendError::Full(_)) = self.shared.notices.try_send(notice) {
                tracing::debug!(id, "too many requests given up at once: the server is not told");
            }
        }
    }
}

pub(crate) fn closed(why: &str) -> TransportError {
    TransportError::new(TransportFault::Closed, why)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How much of what comes of a post waits for its exchange: that it was taken, that it failed, that
/// a person is waited for.
const NEWS_WAITING: usize = 4;
