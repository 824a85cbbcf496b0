//! Answering the server beside a call, where it runs in the caller's own task.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll};

use futures_core::Stream;
use snodo_engine::{Duty, Refusal};
use snodo_transport::{BoxFuture, Exchange, Transport};
use snodo_types::{Message, Raw};

use crate::connection::Connection;

/// What a call does for a server that asks in the caller's task: no task is spawned, the call's own
/// future polls the handlers and writes their answers. The bounds are the attendant's.
pub(crate) struct Aside {
    machine: snodo_engine::Attendant,
    handlers: Vec<(u64, BoxFuture<'static, Result<Raw, Refusal>>)>,
    replies: Vec<Exchange>,
}

/// The most replies on their way at once.
const MAX_REPLIES: usize = 64;

impl Aside {
    pub(crate) fn new(connection: &Connection) -> Self {
        Self { machine: connection.context.machine(), handlers: Vec::new(), replies: Vec::new() }
    }

    /// Takes what the server asked.
    pub(crate) fn take(&mut self, message: Message, connection: &Connection) {
        let opened = &connection.opened;
        self.machine.handle_message(message, opened.dialect.asks(), &opened.outfit);
        self.act(connection);
    }

    /// Goes on with what is under way.
    pub(crate) fn poll(&mut self, connection: &Connection, cx: &mut TaskContext<'_>) {
        let mut answered = Vec::new();
        self.handlers.retain_mut(|(key, handler)| {
            // A handler's panic is the server's error, not that of the call it runs beside. The
            // future is dropped with it, so that nothing broken is seen again.
            match catch_unwind(AssertUnwindSafe(|| handler.as_mut().poll(cx))) {
                Ok(Poll::Pending) => return true,
                Ok(Poll::Ready(answer)) => answered.push((*key, answer)),
                Err(_) => answered.push((*key, Err(Refusal::Failed))),
            }
            false
        });
        for (key, answer) in answered {
            self.machine.handle_answer(key, answer, &connection.opened.outfit);
        }
        self.act(connection);
        self.replies.retain_mut(|exchange| {
            loop {
                match Pin::new(&mut *exchange).poll_next(cx) {
                    Poll::Ready(Some(Ok(_))) => {}
                    Poll::Ready(Some(Err(_)) | None) => return false,
                    Poll::Pending => return true,
                }
            }
        });
    }

    fn act(&mut self, connection: &Connection) {
        let transport: &Arc<dyn Transport> = &connection.transport;
        while let Some(duty) = self.machine.poll() {
            match duty {
                Duty::Ask(key, question) => {
                    self.handlers
                        .push((key, Box::pin(connection.context.clone().answer(question))));
                }
                Duty::Fault(error) => connection.context.fault(error),
                Duty::Notify(message) => connection.context.tell(message),
                Duty::Send(envelope) if self.replies.len() < MAX_REPLIES => {
                    self.replies.push(transport.exchange(envelope));
                }
                Duty::Send(_) => tracing::warn!(
                    limit = MAX_REPLIES,
                    "the server asks faster than it reads answers"
                ),
                Duty::Stop(key) => self.handlers.retain(|(running, _)| *running != key),
            }
        }
    }
}
