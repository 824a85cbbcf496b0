//! A subscription that has a stream of its own (2026-07-28).

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use futures_core::Stream;
use snodo_engine::{Ending, Tidings};
use snodo_transport::{BoxFuture, Exchange, Incoming};
use snodo_types::{Error, SubscriptionFilter};

use super::listen::Options;
use super::{Closed, Event, Notification, reopen};
use crate::client::Core;
use crate::connection::{Connection, closed as closed_here};
use crate::timer::{self, Timer};
use crate::{Client, renewal};

/// The stream and what it means. Events wait in the transport's bounded inbox.
pub(super) struct Streamed {
    core: Arc<Core>,
    filter: SubscriptionFilter,
    options: Options,
    machine: snodo_engine::Subscription,
    exchange: Option<Exchange>,
    timer: Timer,
    life: Life,
    /// A process on its way to be started again.
    renewing: Option<BoxFuture<'static, Result<(), Error>>>,
    /// The connection that it was sent on.
    epoch: u64,
    /// Attempts to come back since the last acknowledgement.
    attempts: u32,
    /// Ready when the client is closed.
    closing: BoxFuture<'static, ()>,
}

/// After so many messages in one poll the task lets others run.
const BUDGET: usize = 128;

/// Where the subscription stands in coming and coming back.
#[derive(Clone, Copy)]
enum Life {
    /// It was never acknowledged: a failure is the caller's to know.
    New,
    Open,
    /// Lost; asked for again then.
    Pausing(Instant),
    /// Asked for again.
    Returning,
}

enum Told {
    Accepted(Box<SubscriptionFilter>),
    Event(Event),
}

impl Streamed {
    pub(super) async fn open(
        client: Client,
        filter: SubscriptionFilter,
        options: Options,
    ) -> Result<(Self, SubscriptionFilter), Error> {
        let core = Arc::clone(client.core());
        let machine = machine(&core, &filter, &options)?;
        let closing = core.closing();
        let mut streamed = Self {
            core,
            filter,
            options,
            machine,
            exchange: None,
            timer: Timer::default(),
            life: Life::New,
            renewing: None,
            epoch: 0,
            attempts: 0,
            closing,
        };
        match poll_fn(|cx| streamed.poll_told(cx)).await {
            Told::Accepted(accepted) => Ok((streamed, *accepted)),
            Told::Event(Event::Closed(Closed::Failed(error))) => Err(error),
            Told::Event(_) => Err(Error::decode("a subscription began without an acknowledgement")),
        }
    }

    pub(super) fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Event> {
        self.poll_told(cx).map(|told| match told {
            Told::Event(event) => event,
            Told::Accepted(accepted) => Event::Resumed { accepted, may_have_missed: true },
        })
    }

    /// Whether a subscription that ended so is asked for again, and when. A stream that was cut is;
    /// a pipe that is over, or the server's own word, is the end.
    fn comes_back(&mut self, ending: &Ending) -> bool {
        let Ending::Failed(error) = ending else { return false };
        !matches!(self.life, Life::New) && self.pauses(error)
    }

    fn pauses(&mut self, error: &Error) -> bool {
        let why = error.transport();
        let own_stream = self.core.connection().transport.abilities().own_stream;
        if !own_stream && why.is_some() {
            self.core.note_end(self.epoch);
        }
        let restarts = why.is_some_and(|why| self.core.options.restart.follows(why));
        if self.core.is_closed() || !(own_stream || restarts) || !reopen::follows(error) {
            return false;
        }
        let Some(pause) = self.options.reopen.pause(self.attempts) else { return false };
        let Ok(machine) = machine(&self.core, &self.filter, &self.options) else { return false };
        tracing::info!(server = self.core.target, %error, ?pause, "a subscription was lost");
        self.attempts = self.attempts.saturating_add(1);
        self.machine = machine;
        if !own_stream {
            let renewing = renewal::renew(Arc::clone(&self.core), self.epoch, why.cloned());
            self.renewing = Some(Box::pin(renewing));
        }
        self.life = timer::now().checked_add(pause).map_or(Life::Returning, Life::Pausing);
        true
    }

    fn poll_told(&mut self, cx: &mut Context<'_>) -> Poll<Told> {
        for _ in 0..BUDGET {
            if self.core.is_closed() {
                return Poll::Ready(self.closed());
            }
            match self.poll_step(cx) {
                Poll::Ready(Some(told)) => return Poll::Ready(told),
                Poll::Ready(None) => {}
                // Who waits for the server waits for this end too.
                Poll::Pending => return self.closing.as_mut().poll(cx).map(|()| self.closed()),
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// The client was closed.
    fn closed(&mut self) -> Told {
        self.exchange = None;
        failed(closed_here().into(), &self.core.target)
    }

    /// One step: something to tell, or nothing to tell yet.
    fn poll_step(&mut self, cx: &mut Context<'_>) -> Poll<Option<Told>> {
        if let Life::Pausing(until) = self.life {
            return self.poll_pause(until, cx);
        }
        let core = Arc::clone(&self.core);
        let connection = core.connection();
        let next = match self.machine.is_waiting() {
            true => None,
            false => self.machine.poll(|| core.next_id(), &connection.terms(), timer::now()),
        };
        match next {
            Some(Tidings::Send(envelope)) => {
                self.epoch = connection.epoch;
                self.exchange = Some(connection.transport.exchange(envelope));
            }
            Some(Tidings::Accepted(filter)) => {
                if !matches!(self.life, Life::New) {
                    connection.context.missed();
                }
                (self.life, self.attempts) = (Life::Open, 0);
                return Poll::Ready(Some(Told::Accepted(filter)));
            }
            Some(Tidings::Event(message)) => {
                connection.context.hear(&message);
                let event = Event::Notification(Notification::new(message));
                return Poll::Ready(Some(Told::Event(event)));
            }
            Some(Tidings::Closed(ending)) => {
                self.exchange = None;
                let over = !self.comes_back(&ending);
                let closed = over.then(|| Event::Closed(closed(ending, &core.target)));
                return Poll::Ready(closed.map(Told::Event));
            }
            None => {}
        }
        self.poll_exchange(&connection, cx)
    }

    fn poll_pause(&mut self, until: Instant, cx: &mut Context<'_>) -> Poll<Option<Told>> {
        if let Err(error) = ready!(self.timer.poll(Some(until), cx)) {
            return Poll::Ready(Some(failed(error, &self.core.target)));
        }
        if let Some(renewing) = &mut self.renewing {
            let renewed = ready!(renewing.as_mut().poll(cx));
            self.renewing = None;
            if let Err(error) = renewed {
                let over = !self.pauses(&error);
                return Poll::Ready(over.then(|| failed(error, &self.core.target)));
            }
        }
        self.life = Life::Returning;
        Poll::Ready(None)
    }

    fn poll_exchange(
        &mut self,
        connection: &Connection,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Told>> {
        let Some(exchange) = &mut self.exchange else { return Poll::Pending };
        match Pin::new(exchange).poll_next(cx) {
            Poll::Ready(Some(Ok(Incoming::Message(message)))) => {
                self.machine.handle_message(message, &connection.terms());
                if let Some(deadline) = self.machine.deadline() {
                    // Whatever else it says does not put the acknowledgement off.
                    let now = timer::now();
                    if deadline <= now {
                        self.machine.handle_timeout(now);
                    }
                }
            }
            Poll::Ready(Some(Ok(Incoming::Dropped(lost)))) => {
                connection.context.missed();
                return Poll::Ready(Some(Told::Event(Event::Dropped(lost))));
            }
            Poll::Ready(Some(Ok(Incoming::Held))) => self.machine.handle_held(timer::now()),
            Poll::Ready(Some(Ok(Incoming::Released))) => self.machine.handle_released(timer::now()),
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
                if let Err(error) = ready!(self.timer.poll(self.machine.deadline(), cx)) {
                    return Poll::Ready(Some(failed(error, &self.core.target)));
                }
                self.machine.handle_timeout(timer::now());
            }
        }
        Poll::Ready(None)
    }
}

/// What is asked, not sent yet.
fn machine(
    core: &Core,
    filter: &SubscriptionFilter,
    options: &Options,
) -> Result<snodo_engine::Subscription, Error> {
    let same_task = core.connection().transport.abilities().same_task;
    let timeout = options.timeout.filter(|_| !same_task);
    let mut machine = snodo_engine::Subscription::new(filter, timeout)?;
    let request = machine.request_mut();
    request.meta.clone_from(&options.meta);
    request.extension.clone_from(&options.extension);
    request.trace =
        options.trace.clone().or_else(|| core.options.trace_context.as_ref()?.context());
    request.inbox.capacity = options.max_buffer;
    request.inbox.overflow = options.overflow;
    Ok(machine)
}

fn failed(error: Error, target: &str) -> Told {
    Told::Event(Event::Closed(closed(Ending::Failed(error), target)))
}

fn closed(ending: Ending, target: &str) -> Closed {
    match ending {
        Ending::Cancelled => Closed::Cancelled,
        Ending::Failed(error) => Closed::Failed(error.at("subscriptions/listen", target)),
        _ => Closed::Complete,
    }
}
