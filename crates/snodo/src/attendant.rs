//! The task that takes what comes while nobody calls.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::Stream;
use snodo_dialect::Outfit;
use snodo_engine::Step;
use snodo_transport::{Exchange, Incoming, Transport};
use snodo_types::{Message, TransportError};
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};

/// The handle of a connection's attendant. Dropping it ends the task.
///
/// The task holds the transport, never the connection, and waits for nothing but its inputs: the
/// replies it writes run beside it, [`MAX_REPLIES`] at most.
#[derive(Debug)]
pub(crate) struct Attendant {
    handed: mpsc::Sender<Message>,
    task: Option<AbortHandle>,
}

/// The most replies on their way at once; what the server asks past them is not answered.
const MAX_REPLIES: usize = 64;

/// The most messages that calls may have handed over and the task has not taken yet.
const MAX_HANDED: usize = 64;

impl Attendant {
    /// Starts the task, on the runtime in reach. Without one, nothing is attended.
    pub(crate) fn spawn(
        transport: Arc<dyn Transport>,
        outfit: Outfit,
        unsolicited: Option<Exchange>,
    ) -> Self {
        let (handed, inbox) = mpsc::channel(MAX_HANDED);
        let post = Post { transport, outfit, unsolicited, inbox, replies: JoinSet::new() };
        let task = match Handle::try_current() {
            Ok(runtime) => Some(runtime.spawn(post.attend()).abort_handle()),
            Err(_) => {
                tracing::warn!(
                    "no tokio runtime is in reach: what the server asks is not answered"
                );
                None
            }
        };
        Self { handed, task }
    }

    /// Hands over what came on the stream of a call.
    pub(crate) fn hand(&self, message: Message) {
        if let Err(error) = self.handed.try_send(message) {
            tracing::warn!(%error, "what the server asked could not be attended");
        }
    }
}

impl Drop for Attendant {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.abort();
        }
    }
}

/// What the task owns.
struct Post {
    transport: Arc<dyn Transport>,
    outfit: Outfit,
    unsolicited: Option<Exchange>,
    inbox: mpsc::Receiver<Message>,
    replies: JoinSet<()>,
}

enum Event {
    Arrived(Message),
    Lost(u64),
    StreamOver(Option<TransportError>),
    /// The connection is gone.
    Over,
}

impl Post {
    async fn attend(mut self) {
        let mut machine = snodo_engine::Attendant::new();
        loop {
            match poll_fn(|cx| self.poll_event(cx)).await {
                Event::Arrived(message) => machine.handle_message(message, &self.outfit),
                Event::Lost(count) => {
                    tracing::warn!(count, "the server sent faster than it was attended")
                }
                Event::StreamOver(why) => {
                    self.unsolicited = None;
                    tracing::debug!(
                        error = why.map(tracing::field::display),
                        "the server's own stream is over"
                    );
                }
                Event::Over => return,
            }
            while let Some(step) = machine.poll() {
                self.act(step);
            }
        }
    }

    fn act(&mut self, step: Step<std::convert::Infallible>) {
        match step {
            Step::Send(envelope) if self.replies.len() < MAX_REPLIES => {
                self.replies.spawn(deliver(self.transport.exchange(envelope)));
            }
            Step::Send(_) => {
                tracing::warn!(limit = MAX_REPLIES, "the server asks faster than it reads answers")
            }
            Step::Notify(message) => {
                tracing::trace!(?message, "nobody listens to this notification")
            }
            Step::Done(_) | Step::Progress(_) | Step::Reopen | Step::Serve(_) => {}
        }
    }

    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Event> {
        while let Poll::Ready(Some(_)) = self.replies.poll_join_next(cx) {}
        match self.inbox.poll_recv(cx) {
            Poll::Ready(Some(message)) => return Poll::Ready(Event::Arrived(message)),
            Poll::Ready(None) => return Poll::Ready(Event::Over),
            Poll::Pending => {}
        }
        let Some(unsolicited) = &mut self.unsolicited else { return Poll::Pending };
        loop {
            let event = match Pin::new(&mut *unsolicited).poll_next(cx) {
                Poll::Ready(Some(Ok(Incoming::Message(message)))) => Event::Arrived(message),
                Poll::Ready(Some(Ok(Incoming::Dropped(count)))) => Event::Lost(count),
                Poll::Ready(Some(Ok(_))) => continue,
                Poll::Ready(Some(Err(error))) => Event::StreamOver(Some(error)),
                Poll::Ready(None) => Event::StreamOver(None),
                Poll::Pending => return Poll::Pending,
            };
            return Poll::Ready(event);
        }
    }
}

async fn deliver(mut exchange: Exchange) {
    while let Some(incoming) = exchange.next().await {
        if let Err(error) = incoming {
            tracing::warn!(%error, "an answer to the server could not be delivered");
            return;
        }
    }
}
