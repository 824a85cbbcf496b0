//! The task that takes what comes while nobody calls.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context as TaskContext, Poll};
use std::time::{Duration, Instant};

use futures_core::Stream;
use snodo_dialect::Outfit;
use snodo_engine::{Duty, Question, Refusal};
use snodo_transport::{BoxFuture, Exchange, Incoming, Transport};
use snodo_types::{Body, Envelope, Message, Raw, TransportError, TransportFault};
use tokio::runtime::Handle;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot};
use tokio::task::{AbortHandle, Id, JoinHandle, JoinSet, coop};

use crate::context::Context;
use crate::timer::{self, Timer};

/// The handle of a connection's attendant. Dropping it ends the task and every handler it runs.
///
/// The task holds the transport, never the connection, and waits for nothing but its inputs:
/// handlers run beside it, as many as the client allows, and so do the replies it writes,
/// [`MAX_REPLIES`] at most.
#[derive(Debug)]
pub(crate) struct Attendant {
    handed: mpsc::Sender<Handed>,
    task: Option<AbortHandle>,
    /// Taken by who ends the task: it tells what was read, and is over.
    running: Mutex<Option<(oneshot::Sender<()>, JoinHandle<Handlers>)>>,
}

/// What a caller's functions are at work on. Dropping it ends them.
type Handlers = JoinSet<Result<Raw, Refusal>>;

/// The most replies on their way at once; what the server asks past them is not answered. Twice
/// what a pipe keeps unread, so that no burst alone comes to that.
const MAX_REPLIES: usize = 512;

/// The most messages that calls may have handed over and the task has not taken yet.
const MAX_HANDED: usize = 64;

/// The most that is still told when the task ends: twice what a pipe keeps unread, and so all that
/// was read before.
const MAX_LAST: usize = 512;

impl Attendant {
    /// Starts the task, on the runtime in reach. Without one, nothing is attended.
    pub(crate) fn spawn(
        transport: Arc<dyn Transport>,
        outfit: Outfit,
        context: Context,
        unsolicited: Option<Exchange>,
    ) -> Self {
        let (handed, inbox) = mpsc::channel(MAX_HANDED);
        let (stop, stopped) = oneshot::channel();
        let machine = context.machine();
        let post = Post {
            transport,
            outfit,
            context,
            machine,
            unsolicited,
            inbox,
            stopped,
            replies: JoinSet::new(),
            handlers: JoinSet::new(),
            keys: Vec::new(),
        };
        let running = match Handle::try_current() {
            Ok(runtime) => {
                let scope = post.context.scope.clone();
                Some((stop, runtime.spawn(scope.of(post.attend()))))
            }
            Err(_) => {
                tracing::warn!(
                    "no tokio runtime is in reach: what the server asks is not answered"
                );
                None
            }
        };
        let task = running.as_ref().map(|(_, task)| task.abort_handle());
        Self { handed, task, running: Mutex::new(running) }
    }

    /// Hands something over. Where there is no room, the future waits for it: a question that is
    /// lost may be one that its call waits for.
    pub(crate) fn hand(&self, handed: Handed) -> Option<BoxFuture<'static, ()>> {
        match self.handed.try_send(handed) {
            Ok(()) => None,
            Err(TrySendError::Full(handed)) => {
                let sender = self.handed.clone();
                Some(Box::pin(async move { drop(sender.send(handed).await) }))
            }
            Err(TrySendError::Closed(_)) => {
                tracing::warn!("a connection has no attendant any more: something was given up");
                None
            }
        }
    }

    /// Ends the task, by the deadline; the handlers that it ran are given back. What was read before
    /// is told first; nothing is sent any more, and what is handed over afterwards is given up.
    async fn end(&self, deadline: Option<Instant>) -> Option<Handlers> {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner).take();
        let (stop, mut task) = running?;
        drop(stop);
        let mut timer = Timer::default();
        let handlers = poll_fn(|cx| match Pin::new(&mut task).poll(cx) {
            Poll::Ready(ended) => Poll::Ready(ended.ok()),
            Poll::Pending => timer.poll(deadline, cx).map(|_| None),
        });
        let handlers = handlers.await;
        task.abort();
        handlers
    }
}

/// What is left of attendants that were ended.
pub(crate) struct Dismissed {
    /// The rest of the time that their end was given.
    pub(crate) left: Duration,
    /// Kept for as long as the end of the connection takes: one of them may be who waits for it.
    _handlers: [Option<Handlers>; 2],
}

/// Ends attendants within this time.
pub(crate) async fn dismiss(attendants: [Option<&Attendant>; 2], limit: Duration) -> Dismissed {
    let begun = timer::now();
    let mut handlers = [None, None];
    for (handlers, attendant) in handlers.iter_mut().zip(attendants) {
        if let Some(attendant) = attendant {
            *handlers = attendant.end(begun.checked_add(limit)).await;
        }
    }
    let left = limit.saturating_sub(timer::now().saturating_duration_since(begun));
    Dismissed { left, _handlers: handlers }
}

/// What may be handed to an attendant.
#[derive(Debug)]
pub(crate) enum Handed {
    /// What came on the stream of a call and is not about it.
    Message(Message),
    /// To be sent, whatever comes of it.
    Send(Envelope),
    /// The server's own stream.
    Stream(Exchange),
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
    context: Context,
    machine: snodo_engine::Attendant,
    unsolicited: Option<Exchange>,
    inbox: mpsc::Receiver<Handed>,
    stopped: oneshot::Receiver<()>,
    replies: JoinSet<()>,
    handlers: Handlers,
    /// Which task works on which question; bounded by the machine.
    keys: Vec<(Id, u64, AbortHandle)>,
}

enum Event {
    Answered(Id, Result<Raw, Refusal>),
    Arrived(Message),
    /// The server's own stream broke and was opened anew.
    Back,
    Lost(u64),
    /// The connection is gone, or to go.
    Over,
    Post(Envelope),
    StreamOver(Option<TransportError>),
}

impl Post {
    async fn attend(mut self) -> Handlers {
        loop {
            match poll_fn(|cx| self.poll_event(cx)).await {
                Event::Answered(task, answer) => self.answered(task, answer),
                Event::Arrived(message) => self.arrived(message),
                Event::Back => self.context.reopened(),
                Event::Lost(count) => self.context.miss(count),
                Event::Over => return coop::unconstrained(self.tell_last()).await,
                Event::Post(envelope) => self.act(Duty::Send(envelope)),
                Event::StreamOver(why) => {
                    self.unsolicited = None;
                    let why = why.unwrap_or_else(|| {
                        TransportError::new(
                            TransportFault::StreamEnded,
                            "the server's own stream ended",
                        )
                    });
                    tracing::debug!(error = %why, "nothing comes unasked any more");
                    self.context.bridge.lose(self.context.epoch, why);
                }
            }
            while let Some(duty) = self.machine.poll() {
                self.act(duty);
            }
            // A server that always has something to say must not keep the thread to itself.
            coop::consume_budget().await;
        }
    }

    /// Tells what was read before the end, as far as that is known without waiting.
    async fn tell_last(mut self) -> Handlers {
        for _ in 0..MAX_LAST {
            match poll_fn(|cx| Poll::Ready(self.poll_arrival(cx))).await {
                Poll::Ready(Event::Arrived(message)) => self.arrived(message),
                Poll::Ready(Event::Lost(count)) => self.context.miss(count),
                Poll::Ready(Event::Post(_)) => {}
                Poll::Ready(_) | Poll::Pending => break,
            }
            while let Some(duty) = self.machine.poll() {
                if matches!(duty, Duty::Notify(_) | Duty::Fault(_)) {
                    self.act(duty);
                }
            }
        }
        self.handlers
    }

    fn arrived(&mut self, message: Message) {
        if matches!(message.body(), Body::Request { .. }) && !self.context.answers() {
            return tracing::warn!(?message, "the server asks, which its version does not allow");
        }
        self.machine.handle_message(message, self.context.asks(), &self.outfit);
    }

    fn act(&mut self, duty: Duty) {
        match duty {
            Duty::Ask(key, question) => self.ask(key, question),
            Duty::Fault(error) => self.context.fault(error),
            Duty::Notify(message) => self.context.tell(message),
            Duty::Send(envelope) if self.replies.len() < MAX_REPLIES => {
                let reply = deliver(self.transport.exchange(envelope));
                self.replies.spawn(self.context.scope.of(reply));
            }
            Duty::Send(_) => {
                tracing::warn!(limit = MAX_REPLIES, "the server asks faster than it reads answers")
            }
            Duty::Stop(key) => {
                if let Some(place) = self.keys.iter().position(|(_, running, _)| *running == key) {
                    self.keys.swap_remove(place).2.abort();
                }
            }
        }
    }

    fn ask(&mut self, key: u64, question: Question) {
        let answering = self.context.clone().answer(question);
        let task = self.handlers.spawn(self.context.scope.of(answering));
        self.keys.push((task.id(), key, task));
    }

    fn answered(&mut self, task: Id, answer: Result<Raw, Refusal>) {
        if let Some(place) = self.keys.iter().position(|(running, ..)| *running == task) {
            let (_, key, _) = self.keys.swap_remove(place);
            self.machine.handle_answer(key, answer, &self.outfit);
        }
    }

    fn poll_event(&mut self, cx: &mut TaskContext<'_>) -> Poll<Event> {
        while let Poll::Ready(Some(_)) = self.replies.poll_join_next(cx) {}
        match self.handlers.poll_join_next_with_id(cx) {
            Poll::Ready(Some(Ok((task, answer)))) => {
                return Poll::Ready(Event::Answered(task, answer));
            }
            // It panicked, or was stopped: then its key is gone already.
            Poll::Ready(Some(Err(error))) => {
                return Poll::Ready(Event::Answered(error.id(), Err(Refusal::Failed)));
            }
            Poll::Ready(None) | Poll::Pending => {}
        }
        if Pin::new(&mut self.stopped).poll(cx).is_ready() {
            return Poll::Ready(Event::Over);
        }
        self.poll_arrival(cx)
    }

    fn poll_arrival(&mut self, cx: &mut TaskContext<'_>) -> Poll<Event> {
        loop {
            let event = match self.inbox.poll_recv(cx) {
                Poll::Ready(Some(Handed::Message(message))) => Event::Arrived(message),
                Poll::Ready(Some(Handed::Send(envelope))) => Event::Post(envelope),
                Poll::Ready(Some(Handed::Stream(stream))) => {
                    self.unsolicited = Some(stream);
                    // Nothing wakes this task for the next one unless it is asked for.
                    continue;
                }
                Poll::Ready(None) => Event::Over,
                Poll::Pending => return self.poll_unsolicited(cx),
            };
            return Poll::Ready(event);
        }
    }

    fn poll_unsolicited(&mut self, cx: &mut TaskContext<'_>) -> Poll<Event> {
        let Some(unsolicited) = &mut self.unsolicited else { return Poll::Pending };
        loop {
            let event = match Pin::new(&mut *unsolicited).poll_next(cx) {
                Poll::Ready(Some(Ok(Incoming::Message(message)))) => Event::Arrived(message),
                Poll::Ready(Some(Ok(Incoming::Dropped(count)))) => Event::Lost(count),
                Poll::Ready(Some(Ok(Incoming::Sent))) => Event::Back,
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
