//! A subscription that has a stream of its own (2026-07-28).

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::Stream;
use snodo_engine::{Ending, Tidings};
use snodo_transport::{Exchange, Incoming};
use snodo_types::{Error, SubscriptionFilter};

use super::listen::Options;
use super::{Closed, Event, Notification};
use crate::Client;
use crate::client::Core;
use crate::timer::{self, Timer};

/// The stream and what it means. Events wait in the transport's bounded inbox.
pub(super) struct Streamed {
    core: Arc<Core>,
    machine: snodo_engine::Subscription,
    exchange: Option<Exchange>,
    timer: Timer,
}

enum Told {
    Accepted(Box<SubscriptionFilter>),
    Event(Event),
}

impl Streamed {
    pub(super) async fn open(
        client: Client,
        filter: &SubscriptionFilter,
        options: Options,
    ) -> Result<(Self, SubscriptionFilter), Error> {
        let core = Arc::clone(client.core());
        let same_task = core.connection.transport.abilities().same_task;
        let timeout = options.timeout.filter(|_| !same_task);
        let mut machine = snodo_engine::Subscription::new(filter, timeout)?;
        let request = machine.request_mut();
        request.meta = options.meta;
        request.trace = options.trace.or_else(|| core.options.trace_context.as_ref()?.context());
        request.inbox.capacity = options.max_buffer;
        request.inbox.overflow = options.overflow;
        let mut streamed = Self { core, machine, exchange: None, timer: Timer::default() };
        match poll_fn(|cx| streamed.poll_told(cx)).await {
            Told::Accepted(accepted) => Ok((streamed, *accepted)),
            Told::Event(Event::Closed(Closed::Failed(error))) => Err(error),
            Told::Event(_) => Err(Error::decode("a subscription began without an acknowledgement")),
        }
    }

    pub(super) fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Event> {
        loop {
            match std::task::ready!(self.poll_told(cx)) {
                Told::Event(event) => return Poll::Ready(event),
                Told::Accepted(_) => {}
            }
        }
    }

    fn poll_told(&mut self, cx: &mut Context<'_>) -> Poll<Told> {
        let core = Arc::clone(&self.core);
        let connection = &core.connection;
        loop {
            let tidings = self.machine.poll(|| core.next_id(), &connection.terms(), timer::now());
            match tidings {
                Some(Tidings::Send(envelope)) => {
                    self.exchange = Some(connection.transport.exchange(envelope));
                }
                Some(Tidings::Accepted(filter)) => return Poll::Ready(Told::Accepted(filter)),
                Some(Tidings::Event(message)) => {
                    let event = Event::Notification(Notification::new(message));
                    return Poll::Ready(Told::Event(event));
                }
                Some(Tidings::Closed(ending)) => {
                    self.exchange = None;
                    return Poll::Ready(Told::Event(Event::Closed(closed(
                        ending,
                        &connection.target,
                    ))));
                }
                None => {}
            }
            let Some(exchange) = &mut self.exchange else {
                if self.machine.deadline().is_none() {
                    return Poll::Pending;
                }
                continue;
            };
            match Pin::new(exchange).poll_next(cx) {
                Poll::Ready(Some(Ok(Incoming::Message(message)))) => {
                    self.machine.handle_message(message, &connection.terms());
                }
                Poll::Ready(Some(Ok(Incoming::Dropped(lost)))) => {
                    return Poll::Ready(Told::Event(Event::Dropped(lost)));
                }
                Poll::Ready(Some(Ok(Incoming::Held))) => self.machine.handle_held(timer::now()),
                Poll::Ready(Some(Ok(Incoming::Released))) => {
                    self.machine.handle_released(timer::now());
                }
                Poll::Ready(Some(Ok(_))) => {}
                Poll::Ready(Some(Err(error))) => {
                    self.exchange = None;
                    self.machine.handle_closed(Some(error));
                }
                Poll::Ready(None) => {
                    self.exchange = None;
                    self.machine.handle_closed(None);
                }
                Poll::Pending => {
                    let waited = std::task::ready!(self.timer.poll(self.machine.deadline(), cx));
                    if let Err(error) = waited {
                        let event = Event::Closed(Closed::Failed(error));
                        return Poll::Ready(Told::Event(event));
                    }
                    self.machine.handle_timeout(timer::now());
                }
            }
        }
    }
}

fn closed(ending: Ending, target: &str) -> Closed {
    match ending {
        Ending::Cancelled => Closed::Cancelled,
        Ending::Failed(error) => Closed::Failed(error.at("subscriptions/listen", target)),
        _ => Closed::Complete,
    }
}
