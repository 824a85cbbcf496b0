//! Driving one call: feed it, drain it, arm its timer, sleep.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::Stream;
use snodo_engine::{Call, Limits, Step};
use snodo_transport::{Exchange, Incoming};
use snodo_types::{Error, Message, Outcome, TransportError, TransportFault};

use crate::client::Core;
use crate::progress::ProgressSink;
use crate::timer::{self, Timer};

/// One running call. The caller's own future polls it; dropping it drops the exchange, and the
/// transport tells the server as the version wants it.
pub(crate) struct Driver {
    core: Arc<Core>,
    call: Call,
    exchange: Option<Exchange>,
    /// Replies to what the server asked in the caller's own task; see [`MAX_ASIDE`].
    aside: Vec<Exchange>,
    timer: Timer,
    progress: Option<ProgressSink>,
}

/// The most replies on their way beside one call, where the peer runs in the caller's task.
const MAX_ASIDE: usize = 16;

/// After so many messages in one poll the task lets others run.
const BUDGET: usize = 128;

impl Driver {
    pub(crate) fn new(
        core: Arc<Core>,
        request: snodo_dialect::Request,
        limits: Limits,
        progress: Option<ProgressSink>,
    ) -> Self {
        // A peer in the caller's own task is waited for like any function.
        let same_task = core.connection.transport.abilities().same_task;
        let limits = if same_task { Limits::default() } else { limits };
        let call = Call::new(request, limits);
        Self { core, call, exchange: None, aside: Vec::new(), timer: Timer::default(), progress }
    }

    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<Outcome<Message>, Error>> {
        for _ in 0..BUDGET {
            if let Some(result) = self.drain() {
                self.exchange = None;
                return Poll::Ready(result.map_err(|error| self.explain(error)));
            }
            self.poll_aside(cx);
            if self.poll_exchange(cx).is_ready() {
                continue;
            }
            match self.timer.poll(self.call.deadline(), cx) {
                Poll::Ready(Ok(())) => self.call.handle_timeout(timer::now()),
                Poll::Ready(Err(error)) => return Poll::Ready(Err(self.explain(error))),
                Poll::Pending => return Poll::Pending,
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Does what the call asks for, until it wants to wait or is over.
    fn drain(&mut self) -> Option<Result<Outcome<Message>, Error>> {
        let core = Arc::clone(&self.core);
        let connection = &core.connection;
        while let Some(step) = self.call.poll(|| core.next_id(), &connection.terms(), timer::now())
        {
            match step {
                Step::Done(result) => return Some(result),
                Step::Send(_) if core.is_closed() => {
                    let closed =
                        TransportError::new(TransportFault::Closed, "this client is closed");
                    return Some(Err(closed.not_processed().into()));
                }
                Step::Send(envelope) => {
                    self.exchange = Some(connection.transport.exchange(envelope))
                }
                Step::Progress(message) => {
                    if let Some(sink) = &mut self.progress {
                        sink.tell(&message);
                    }
                }
                Step::Serve(message) | Step::Notify(message) => self.serve(message),
                Step::Reopen => {}
            }
        }
        None
    }

    /// What the server said on this call's stream, and is not about this call.
    fn serve(&mut self, message: Message) {
        let connection = &self.core.connection;
        if !connection.transport.abilities().same_task {
            return connection.attend(message);
        }
        let mut attendant = snodo_engine::Attendant::new();
        attendant.handle_message(message, &connection.opened.outfit);
        while let Some(step) = attendant.poll() {
            if let Step::Send(envelope) = step {
                if self.aside.len() == MAX_ASIDE {
                    tracing::warn!(
                        limit = MAX_ASIDE,
                        "the server asks faster than it reads answers"
                    );
                    continue;
                }
                self.aside.push(connection.transport.exchange(envelope));
            }
        }
    }

    fn poll_aside(&mut self, cx: &mut Context<'_>) {
        self.aside.retain_mut(|exchange| {
            loop {
                match Pin::new(&mut *exchange).poll_next(cx) {
                    Poll::Ready(Some(Ok(_))) => {}
                    Poll::Ready(Some(Err(_)) | None) => return false,
                    Poll::Pending => return true,
                }
            }
        });
    }

    fn poll_exchange(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(exchange) = &mut self.exchange else { return Poll::Pending };
        let polled = Pin::new(exchange).poll_next(cx);
        let connection = &self.core.connection;
        match polled {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(Some(Ok(Incoming::Message(message)))) => {
                self.call.handle_message(message, &connection.terms(), timer::now());
            }
            Poll::Ready(Some(Ok(Incoming::Held))) => self.call.handle_held(timer::now()),
            Poll::Ready(Some(Ok(Incoming::Released))) => self.call.handle_released(timer::now()),
            Poll::Ready(Some(Ok(Incoming::Dropped(count)))) => {
                tracing::warn!(count, "messages of a call were lost: its reader was too slow");
            }
            Poll::Ready(Some(Ok(_))) => {}
            Poll::Ready(Some(Err(error))) => {
                self.exchange = None;
                self.call.handle_closed(Some(error));
            }
            Poll::Ready(None) => {
                self.exchange = None;
                self.call.handle_closed(None);
            }
        }
        Poll::Ready(())
    }

    pub(crate) fn explain(&self, error: Error) -> Error {
        error.at(&self.call.request().method, &self.core.connection.target)
    }
}

impl fmt::Debug for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Driver")
            .field("method", &self.call.request().method)
            .finish_non_exhaustive()
    }
}
