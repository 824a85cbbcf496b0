//! A stream that is read whether or not its reader looks.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use futures_core::Stream;
use snodo_transport::{Inbox, Incoming};
use snodo_types::{Body, InboxLimits, TransportError, TransportFault};
use tokio::runtime::Handle;
use tokio::task::AbortHandle;

use crate::fault;

/// Reads a stream in a task of its own into a bounded inbox, from the first poll on.
///
/// # Drop behavior
///
/// Ends the task, and with it the stream.
pub(crate) struct Pump<S> {
    source: Option<S>,
    mailbox: Arc<Mutex<Mailbox>>,
    task: Option<AbortHandle>,
}

struct Mailbox {
    /// What is no message: that the peer took the request, that a person is waited for. It comes
    /// before the first message, and a handful of times at most.
    signals: VecDeque<Incoming>,
    inbox: Inbox,
    /// The source ended; what waits is still handed out.
    over: bool,
    reader: Option<Waker>,
}

type Item = Result<Incoming, TransportError>;

impl<S: Stream<Item = Item> + Send + Unpin + 'static> Pump<S> {
    pub(crate) fn new(source: S, limits: InboxLimits) -> Self {
        let inbox = Inbox::new(limits);
        let mailbox = Mailbox { signals: VecDeque::new(), inbox, over: false, reader: None };
        Self { source: Some(source), mailbox: Arc::new(Mutex::new(mailbox)), task: None }
    }
}

impl<S: Stream<Item = Item> + Send + Unpin + 'static> Stream for Pump<S> {
    type Item = Item;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Item>> {
        if let Some(source) = self.source.take() {
            let Ok(runtime) = Handle::try_current() else {
                lock(&self.mailbox).over = true;
                return Poll::Ready(Some(Err(fault::no_runtime())));
            };
            let task = runtime.spawn(fill(source, Arc::clone(&self.mailbox)));
            self.task = Some(task.abort_handle());
        }
        let mut mailbox = lock(&self.mailbox);
        if let Some(signal) = mailbox.signals.pop_front() {
            return Poll::Ready(Some(Ok(signal)));
        }
        match mailbox.inbox.take() {
            Some(item) => Poll::Ready(Some(item)),
            None if mailbox.over => Poll::Ready(None),
            None => {
                mailbox.reader = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl<S> Drop for Pump<S> {
    fn drop(&mut self) {
        if let Some(task) = self.task.take() {
            task.abort();
        }
    }
}

/// Closes the mailbox whatever ends the task, a runtime that stops included.
struct Over(Arc<Mutex<Mailbox>>);

impl Drop for Over {
    fn drop(&mut self) {
        let mut mailbox = lock(&self.0);
        if !std::mem::replace(&mut mailbox.over, true) {
            let why = "the runtime that read the stream has ended";
            mailbox.inbox.fail(TransportError::new(TransportFault::Closed, why));
        }
        let reader = mailbox.reader.take();
        drop(mailbox);
        wake(reader);
    }
}

async fn fill(mut source: impl Stream<Item = Item> + Unpin, mailbox: Arc<Mutex<Mailbox>>) {
    let over = Over(mailbox);
    while let Some(item) = poll_fn(|cx| Pin::new(&mut source).poll_next(cx)).await {
        let reader = {
            let mut mailbox = lock(&over.0);
            mailbox.put(item);
            mailbox.reader.take()
        };
        wake(reader);
    }
    lock(&over.0).over = true;
}

impl Mailbox {
    fn put(&mut self, item: Item) {
        match item {
            Ok(Incoming::Message(message)) => match message.body() {
                // A response comes out of a source only as its last word.
                Body::Error { .. } | Body::Result { .. } => self.inbox.finish(message),
                Body::Notification { .. } | Body::Request { .. } => self.inbox.push(message),
            },
            // Waiting that began and ended while nobody looked is past; a stream that is taken up
            // again and again may bring many of them.
            Ok(Incoming::Released) if self.signals.len() >= MOST_SIGNALS => {
                self.signals.pop_back();
            }
            Ok(Incoming::Sent) if matches!(self.signals.back(), Some(Incoming::Sent)) => {}
            Ok(signal) => self.signals.push_back(signal),
            Err(error) => self.inbox.fail(error),
        }
    }
}

fn wake(reader: Option<Waker>) {
    if let Some(reader) = reader {
        reader.wake();
    }
}

fn lock(mailbox: &Mutex<Mailbox>) -> MutexGuard<'_, Mailbox> {
    mailbox.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How many signals may wait, but for the last that begins a wait.
const MOST_SIGNALS: usize = 16;

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::pin::Pin;
    use std::task::{Context, Poll};

    use futures_core::Stream;
    use snodo_transport::Incoming;
    use snodo_types::InboxLimits;

    use super::{Item, MOST_SIGNALS, Pump};

    /// Says so many times that a person is waited for, and no longer.
    struct Flickering(u32);

    impl Stream for Flickering {
        type Item = Item;

        fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Item>> {
            let Some(left) = self.0.checked_sub(1) else { return Poll::Ready(None) };
            self.0 = left;
            Poll::Ready(Some(Ok(if left % 2 == 1 { Incoming::Held } else { Incoming::Released })))
        }
    }

    #[tokio::test]
    async fn waiting_that_ended_while_nobody_looked_does_not_pile_up() {
        let mut pump = Pump::new(Flickering(1000), InboxLimits::default());
        let mut told = Vec::new();
        while let Some(item) = poll_fn(|cx| Pin::new(&mut pump).poll_next(cx)).await {
            told.push(format!("{:?}", item.expect("a signal")));
        }
        let expected: Vec<_> =
            ["Held", "Released"].into_iter().cycle().take(MOST_SIGNALS).collect();
        assert_eq!(told, expected);
    }
}
