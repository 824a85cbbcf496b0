//! One message out, and what it causes back.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use futures_core::Stream;
use snodo_types::{Fingerprint, Message, TransportError};

/// Everything a peer says because of one message: a stream that ends after the response.
///
/// # Drop behavior
///
/// Dropping it before its end gives the message up; see
/// [`Transport::exchange`](crate::Transport::exchange).
///
/// ```
/// use snodo_transport::{Exchange, Incoming};
/// use snodo_types::Message;
///
/// # async fn read() {
/// let mut exchange = Exchange::ready(Message::result(&1.into(), "{}"));
/// assert!(matches!(exchange.next().await, Some(Ok(Incoming::Message(_)))));
/// assert!(exchange.next().await.is_none());
/// # }
/// ```
pub struct Exchange(Pin<Box<dyn Stream<Item = Result<Incoming, TransportError>> + Send>>);

/// What comes on an [`Exchange`].
///
/// ```
/// # use snodo_transport::Incoming;
/// assert_eq!(format!("{:?}", Incoming::Dropped(3)), "Dropped(3)");
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Incoming {
    /// For whom the message is sent, where its envelope asked for that: said before anything is
    /// written, and again where it is sent once more as somebody else. Nothing is written until
    /// the exchange is polled again.
    Caller(Fingerprint),
    /// So many messages were lost here, because the reader was too slow.
    Dropped(u64),
    /// The transport waits for a person (a login): the clock of the call stands.
    Held,
    /// The peer said something.
    Message(Message),
    /// The wait for a person is over.
    Released,
    /// The message was handed to the peer. It ends the exchange of a message without an id; for a
    /// request it may come late or never. On an unsolicited exchange it may come again: the peer's
    /// stream was opened anew, and something may have been missed.
    Sent,
}

impl Exchange {
    /// An exchange that reads from a stream.
    #[must_use]
    pub fn new(
        stream: impl Stream<Item = Result<Incoming, TransportError>> + Send + 'static,
    ) -> Self {
        Self(Box::pin(stream))
    }

    /// An exchange that gives one message and ends.
    #[must_use]
    pub fn ready(message: Message) -> Self {
        Self::new(Once(Some(Ok(Incoming::Message(message)))))
    }

    /// An exchange for a message that nothing answers: it says `Sent` and ends.
    #[must_use]
    pub fn sent() -> Self {
        Self::new(Once(Some(Ok(Incoming::Sent))))
    }

    /// An exchange that fails.
    #[must_use]
    pub fn failed(error: TransportError) -> Self {
        Self::new(Once(Some(Err(error))))
    }

    /// An exchange that is written as one async function, which gives what came to a [`Sender`]
    /// and ends the exchange by returning.
    ///
    /// The function runs in the reader's task, whenever the exchange is polled, and is dropped
    /// with it. [`Sender::send`] waits until the reader took what was given before; it may be
    /// called from anywhere, another task included.
    ///
    /// ```
    /// use snodo_transport::{Exchange, Incoming};
    /// use snodo_types::Message;
    ///
    /// let exchange = Exchange::generate(|sender| async move {
    ///     let progress = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}"#;
    ///     sender.send(Incoming::Message(Message::parse(progress).expect("a message"))).await;
    ///     sender.send(Incoming::Message(Message::result(&1.into(), "{}"))).await;
    ///     Ok(())
    /// });
    /// # drop(exchange);
    /// ```
    #[must_use]
    pub fn generate<F, G>(function: F) -> Self
    where
        F: FnOnce(Sender) -> G,
        G: Future<Output = Result<(), TransportError>> + Send + 'static,
    {
        let cell = Arc::new(Mutex::new(Cell::default()));
        let future = Box::pin(function(Sender(Arc::clone(&cell))));
        Self::new(Generated { state: GeneratedState::Running(future), cell })
    }

    /// The next thing that came; `None` after the end.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when the future is dropped before it gave something.
    ///
    /// # Errors
    ///
    /// The transport failed; the exchange is over.
    pub async fn next(&mut self) -> Option<Result<Incoming, TransportError>> {
        poll_fn(|cx| self.0.as_mut().poll_next(cx)).await
    }
}

impl Stream for Exchange {
    type Item = Result<Incoming, TransportError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.as_mut().poll_next(cx)
    }
}

impl fmt::Debug for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Exchange")
    }
}

/// Where the function of [`Exchange::generate`] puts what came.
///
/// ```
/// # use snodo_transport::{Exchange, Incoming};
/// let exchange = Exchange::generate(|sender| async move {
///     sender.send(Incoming::Sent).await;
///     Ok(())
/// });
/// # drop(exchange);
/// ```
#[derive(Debug)]
pub struct Sender(Arc<Mutex<Cell>>);

impl Sender {
    /// Hands something to the reader, once it took what was given before. Once the exchange is
    /// over or dropped, nobody takes it, and nothing waits.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is ready, the thing was not handed over.
    pub async fn send(&self, incoming: Incoming) {
        let mut waiting = Some(incoming);
        poll_fn(|cx| self.poll_send(&mut waiting, cx)).await;
    }

    fn poll_send(&self, waiting: &mut Option<Incoming>, cx: &Context<'_>) -> Poll<()> {
        let mut cell = lock(&self.0);
        if cell.incoming.is_some() && !cell.over {
            if !cell.writers.iter().any(|writer| writer.will_wake(cx.waker())) {
                cell.writers.push(cx.waker().clone());
            }
            return Poll::Pending;
        }
        if !cell.over {
            cell.incoming = waiting.take();
        }
        let reader = cell.reader.take();
        drop(cell);
        if let Some(reader) = reader {
            reader.wake();
        }
        Poll::Ready(())
    }
}

/// What lies between a [`Sender`] and the reader: one thing, and who waits for it or for room.
#[derive(Debug, Default)]
struct Cell {
    incoming: Option<Incoming>,
    /// Set while the reader waits, and by nobody inside of the function that it polls.
    reader: Option<Waker>,
    /// One for each task that waits in [`Sender::send`].
    writers: Vec<Waker>,
    /// Nobody reads any more.
    over: bool,
}

fn lock(cell: &Mutex<Cell>) -> MutexGuard<'_, Cell> {
    cell.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A stream of one item.
struct Once(Option<Result<Incoming, TransportError>>);

impl Stream for Once {
    type Item = Result<Incoming, TransportError>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(self.0.take())
    }
}

/// A stream that is fed by a future.
struct Generated<G> {
    state: GeneratedState<G>,
    cell: Arc<Mutex<Cell>>,
}

enum GeneratedState<G> {
    Running(Pin<Box<G>>),
    /// The function failed; what it gave before comes first.
    Failed(TransportError),
    Ended,
}

impl<G> Generated<G> {
    /// Takes what was given, and makes room.
    fn take(&self, cx: &Context<'_>) -> Option<Incoming> {
        let mut cell = lock(&self.cell);
        cell.reader = None;
        let incoming = cell.incoming.take()?;
        let writers = std::mem::take(&mut cell.writers);
        drop(cell);
        // The reader's own task comes back by itself, having been given something.
        for writer in writers.into_iter().filter(|writer| !writer.will_wake(cx.waker())) {
            writer.wake();
        }
        Some(incoming)
    }

    /// Takes what was given, or asks to be woken for it.
    fn poll_take(&self, cx: &Context<'_>) -> Poll<Incoming> {
        let mut cell = lock(&self.cell);
        if cell.incoming.is_none() {
            cell.reader = Some(cx.waker().clone());
            return Poll::Pending;
        }
        drop(cell);
        // Nobody else takes anything out.
        self.take(cx).map_or(Poll::Pending, Poll::Ready)
    }

    /// Lets nobody wait for a reader that will not come.
    fn end(&self) {
        let mut cell = lock(&self.cell);
        cell.over = true;
        let writers = std::mem::take(&mut cell.writers);
        drop(cell);
        writers.into_iter().for_each(Waker::wake);
    }
}

impl<G: Future<Output = Result<(), TransportError>>> Stream for Generated<G> {
    type Item = Result<Incoming, TransportError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Some(incoming) = self.take(cx) {
            return Poll::Ready(Some(Ok(incoming)));
        }
        if let GeneratedState::Running(future) = &mut self.state {
            self.state = match future.as_mut().poll(cx) {
                Poll::Pending => return self.poll_take(cx).map(|incoming| Some(Ok(incoming))),
                Poll::Ready(Ok(())) => GeneratedState::Ended,
                Poll::Ready(Err(error)) => GeneratedState::Failed(error),
            };
            self.end();
            if let Some(incoming) = self.take(cx) {
                return Poll::Ready(Some(Ok(incoming)));
            }
        }
        match std::mem::replace(&mut self.state, GeneratedState::Ended) {
            GeneratedState::Failed(error) => Poll::Ready(Some(Err(error))),
            _ => Poll::Ready(None),
        }
    }
}

impl<G> Drop for Generated<G> {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(test)]
#[path = "exchange_tests.rs"]
mod tests;
