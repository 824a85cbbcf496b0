//! What the exchanges of a connection and its two tasks share.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use snodo_transport::{Incoming, Pending, Route};
use snodo_types::{Envelope, Message, TransportError, TransportFault};
use tokio::sync::{mpsc, oneshot};

/// A message on its way to the writer, who takes the text out of it. A text that is still there when
/// its exchange is dropped is never written.
#[derive(Debug)]
pub(crate) struct Letter {
    text: Arc<Mutex<Option<String>>>,
    written: oneshot::Sender<()>,
}

impl Letter {
    /// The text, unless its exchange was dropped.
    pub(crate) fn open(&self) -> Option<String> {
        lock(&self.text).take()
    }

    pub(crate) fn was_written(self) {
        // Only those look who have nothing else to wait for.
        let _ = self.written.send(());
    }
}

/// The table of the connection, under its lock.
#[derive(Clone, Debug)]
pub(crate) struct Shared {
    pending: Arc<Mutex<Pending>>,
    /// Notices about requests that were given up. It has no bound of its own: there is at most one
    /// for each request that was written, and none is written while the peer does not read.
    notices: mpsc::UnboundedSender<String>,
}

impl Shared {
    pub(crate) fn new(notices: mpsc::UnboundedSender<String>) -> Self {
        Self { pending: Arc::default(), notices }
    }

    pub(crate) fn deliver(&self, message: Message) {
        // The lock is let go of before anybody is woken.
        let route = self.pending().deliver(message);
        if let Route::Delivered(Some(reader)) = route {
            reader.wake();
        }
    }

    /// Ends everything that waits, and what comes later. The first reason stays.
    pub(crate) fn end(&self, why: impl Into<String>) {
        let error = TransportError::new(TransportFault::Closed, why);
        let readers = self.pending().close(error);
        readers.into_iter().for_each(Waker::wake);
    }

    pub(crate) fn poll(
        &self,
        id: u64,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Incoming, TransportError>>> {
        self.pending().poll(id, cx)
    }

    pub(crate) fn take_unsolicited(&self) -> bool {
        self.pending().take_unsolicited()
    }

    pub(crate) fn poll_unsolicited(
        &self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Incoming, TransportError>>> {
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
    text: Arc<Mutex<Option<String>>>,
}

impl Place {
    pub(crate) fn open(shared: Shared, mut envelope: Envelope) -> Result<Self, TransportError> {
        shared.pending().open(&envelope)?;
        let text = Arc::new(Mutex::new(Some(std::mem::take(&mut envelope.message))));
        Ok(Self { shared, envelope, text })
    }

    pub(crate) fn id(&self) -> Option<u64> {
        self.envelope.id
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }

    /// The message for the writer, and how to learn that it was written.
    pub(crate) fn letter(&mut self) -> (Letter, oneshot::Receiver<()>) {
        let (written, hears) = oneshot::channel();
        (Letter { text: Arc::clone(&self.text), written }, hears)
    }

    pub(crate) fn why_closed(&self) -> TransportError {
        let pending = self.shared.pending();
        let known = pending.closed().cloned();
        known.unwrap_or_else(|| TransportError::new(TransportFault::Closed, "the connection ended"))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let was_written = lock(&self.text).take().is_none();
        let Some(id) = self.envelope.id else { return };
        let is_unfinished = self.shared.pending().forget(id);
        if let Some(notice) =
            self.envelope.abandon.as_ref().filter(|_| was_written && is_unfinished)
        {
            // A connection that is over has nobody to tell.
            let _ = self.shared.notices.send(notice.message(id));
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
