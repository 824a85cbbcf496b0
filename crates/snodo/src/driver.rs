//! Driving one call: feed it, drain it, arm its timer, sleep.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use futures_core::Stream;
use snodo_dialect::ParamHeaders;
use snodo_engine::{Call, HandlerFailure, Step};
use snodo_transport::{BoxFuture, Exchange, Incoming};
use snodo_types::{
    Error, Fingerprint, InputResponses, Message, Outcome, TransportError, TransportFault,
};

use crate::aside::Aside;
use crate::call::Doubts;
use crate::client::Core;
use crate::connection::{Connection, closed};
use crate::doing::doing;
use crate::handlers::answer_all;
use crate::progress::ProgressSink;
use crate::renewal;
use crate::running::Answer;
use crate::timer::{self, Timer};
use crate::tools;
use crate::trace::CallSpan;
use crate::verdict;

/// One running call. The caller's own future polls it; dropping it drops the exchange, and the
/// transport tells the server as the version wants it.
pub(crate) struct Driver {
    core: Arc<Core>,
    /// The one it was sent on, or is to be.
    connection: Arc<Connection>,
    call: Call,
    exchange: Option<Exchange>,
    /// Handlers at work on what the server wants to know before it answers.
    answering: Option<BoxFuture<'static, Result<InputResponses, HandlerFailure>>>,
    /// The list of tools on its way, for the definition of one.
    defining: Option<BoxFuture<'static, Option<ParamHeaders>>>,
    /// Something for the attendant, which has no room for it now. Nothing is read meanwhile.
    handing: Option<BoxFuture<'static, ()>>,
    /// A new connection on its way, shared with whoever else needs it.
    renewing: Option<BoxFuture<'static, Result<(), Error>>>,
    /// The first failure under a verdict that nothing has confirmed, and the question after it.
    doubts: Doubts,
    doubted: Option<Error>,
    doubting: Option<BoxFuture<'static, bool>>,
    /// Why the exchange failed, where it did.
    lost: Option<TransportError>,
    /// Only where the peer runs in the caller's task, and once it asked.
    aside: Option<Box<Aside>>,
    timer: Timer,
    /// The time of this poll, once somebody asked for it.
    now: Option<Instant>,
    /// How long the connection had been busy with the server's questions when this was sent.
    served: Duration,
    progress: Option<ProgressSink>,
    naming: Naming,
    span: CallSpan,
}

/// Whether somebody wants to know for whom the request is sent.
enum Naming {
    Nobody,
    /// Nothing is written until he lets it go on.
    Somebody(Option<(Exchange, Fingerprint)>),
}

/// How soon a call looks again whether the server's questions are still being answered.
const GLANCE: Duration = Duration::from_millis(50);

/// After so many messages in one poll the task lets others run.
const BUDGET: usize = 128;

impl Driver {
    pub(crate) fn new(
        core: Arc<Core>,
        call: Call,
        progress: Option<ProgressSink>,
        doubts: Doubts,
        span: CallSpan,
    ) -> Self {
        let connection = core.connection();
        Self {
            core,
            connection,
            call,
            exchange: None,
            answering: None,
            defining: None,
            handing: None,
            renewing: None,
            lost: None,
            doubts,
            doubted: None,
            doubting: None,
            aside: None,
            timer: Timer::default(),
            now: None,
            served: Duration::ZERO,
            progress,
            naming: Naming::Nobody,
            span,
        }
    }

    /// Lets the request stop before it is written, to tell for whom that is done.
    pub(crate) fn naming_caller(mut self) -> Self {
        self.naming = Naming::Somebody(None);
        self
    }

    /// For whom the request is about to be sent, where it stopped for that.
    pub(crate) fn told_caller(&self) -> Option<Fingerprint> {
        match &self.naming {
            Naming::Somebody(Some((_, caller))) => Some(*caller),
            _ => None,
        }
    }

    /// Goes on where it stopped to tell for whom the request is sent.
    pub(crate) fn go_on(&mut self) {
        if let Naming::Somebody(stopped) = &mut self.naming
            && let Some((exchange, _)) = stopped.take()
        {
            self.exchange = Some(exchange);
        }
    }

    /// When the call is given up as things stand.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.call.deadline()
    }

    /// Whether the server asked for input before it answered.
    pub(crate) fn was_inquired(&self) -> bool {
        self.call.was_inquired()
    }

    /// What the call comes to, where somebody else than the server answered it.
    pub(crate) fn answered(&mut self, answer: &Answer) {
        self.span.ended(answer);
    }

    /// The connection it was sent on.
    pub(crate) fn connection(&self) -> &Connection {
        &self.connection
    }

    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<Outcome<Message>, Error>> {
        self.now = None;
        if self.span.is_silent() { self.poll_answer(cx) } else { self.poll_told(cx) }
    }

    /// The same where somebody listens; apart, so that who does not pays nothing for it.
    #[cold]
    fn poll_told(&mut self, cx: &mut Context<'_>) -> Poll<Answer> {
        let entered = self.span.entered();
        let answer = ready!(self.poll_answer(cx));
        drop(entered);
        self.span.ended(&answer);
        Poll::Ready(answer)
    }

    fn poll_answer(&mut self, cx: &mut Context<'_>) -> Poll<Result<Outcome<Message>, Error>> {
        for _ in 0..BUDGET {
            match self.drain().map(|result| self.judge(result)) {
                Some(Some(result)) => {
                    self.over();
                    return Poll::Ready(result.map_err(|error| self.explain(error)));
                }
                Some(None) => continue,
                None if self.poll_doubt(cx).is_ready() => continue,
                None => {}
            }
            if let Some(aside) = &mut self.aside {
                aside.poll(&self.connection, cx);
            }
            if self.poll_answers(cx).is_ready() || self.poll_exchange(cx).is_ready() {
                continue;
            }
            let doubting = self.doubting.as_ref().and_then(|_| self.call.ends());
            let deadline = self.call.deadline().or(doubting);
            if deadline.is_some() {
                self.core.timers.lend(&mut self.timer);
            }
            match self.timer.poll(deadline, cx) {
                Poll::Ready(Ok(())) => self.timed_out(),
                Poll::Ready(Err(error)) => return Poll::Ready(Err(self.explain(error))),
                Poll::Pending => return Poll::Pending,
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// A failure under a verdict that nothing has confirmed is doubted once; anything else is the end,
    /// and a success confirms.
    fn judge(
        &mut self,
        result: Result<Outcome<Message>, Error>,
    ) -> Option<Result<Outcome<Message>, Error>> {
        match result {
            Err(error) if self.may_doubt() => {
                let doubt = verdict::doubt(Arc::clone(&self.core), self.connection.epoch);
                self.exchange = None;
                self.doubted = Some(error);
                self.doubting = Some(Box::pin(doubt));
                None
            }
            Err(error) => Some(Err(error)),
            Ok(outcome) => {
                self.core.believed.store(false, Ordering::Release);
                Some(Ok(outcome))
            }
        }
    }

    /// Calls that fail while another one is doubting join in.
    fn may_doubt(&self) -> bool {
        let wrong = || self.core.revised.load(Ordering::Acquire) && self.connection.epoch == 0;
        let open = self.core.believed.load(Ordering::Acquire) || wrong();
        open && self.doubts == Doubts::Once
            && self.doubted.is_none()
            && self.call.ends().is_none_or(|end| timer::now() < end)
    }

    fn poll_doubt(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(doubting) = &mut self.doubting else { return Poll::Pending };
        let revised = ready!(doubting.as_mut().poll(cx));
        self.doubting = None;
        self.connection = self.core.connection();
        match (revised, self.doubted.clone()) {
            (false, Some(error)) => self.call.stop(error),
            _ => self.call.again(),
        }
        Poll::Ready(())
    }

    /// Lets go of everything under way: whoever keeps the future keeps none of it.
    fn over(&mut self) {
        (self.exchange, self.answering, self.defining) = (None, None, None);
        (self.renewing, self.doubting) = (None, None);
    }

    /// Does what the call asks for, until it wants to wait or is over.
    fn drain(&mut self) -> Option<Result<Outcome<Message>, Error>> {
        if self.call.is_waiting() {
            return None;
        }
        let core = Arc::clone(&self.core);
        let connection = Arc::clone(&self.connection);
        loop {
            let now = self.now();
            let step = self.call.poll(|| core.next_id(), &connection.terms(), now)?;
            match step {
                Step::Done(result) => return Some(result),
                Step::Send(_) if core.is_closed() => return Some(Err(closed().into())),
                Step::Send(mut envelope) => {
                    self.span.sent(envelope.id, &connection);
                    envelope.names_caller = matches!(self.naming, Naming::Somebody(_));
                    self.served = connection.context.served.total().0;
                    self.exchange = Some(connection.transport.exchange(envelope));
                }
                Step::Ask(questions) => {
                    self.exchange = None;
                    let context = &connection.context;
                    // A server that was never asked who it is may say so with what it asks.
                    let tells = || self.call.asked()?.meta().server_info();
                    let server = context.server.get().cloned().or_else(tells);
                    let answers = answer_all(Arc::clone(&context.handlers), questions, server);
                    self.answering = Some(Box::pin(answers));
                }
                Step::Define(name) => {
                    self.exchange = None;
                    self.defining = Some(Box::pin(tools::define(Arc::clone(&core), name)));
                }
                Step::Progress(message) => {
                    if let Some(sink) = &self.progress {
                        sink.tell(&message);
                        self.now = None;
                    }
                }
                Step::Notify(message) => {
                    connection.context.tell(message);
                    self.now = None;
                }
                Step::Serve(_) if core.is_closed() => {
                    tracing::debug!("a closed client answers nothing that a server asks");
                }
                Step::Serve(message) => self.serve(message),
                Step::Reopen => {
                    self.exchange = None;
                    let renewing =
                        renewal::renew(Arc::clone(&core), connection.epoch, self.lost.take());
                    self.renewing = Some(Box::pin(renewing));
                }
            }
        }
    }

    /// Now, looked up once for each poll: a poll takes no time, but for the caller's own functions.
    fn now(&mut self) -> Instant {
        *self.now.get_or_insert_with(timer::now)
    }

    /// What the server said on this call's stream, and is not about this call.
    fn serve(&mut self, message: Message) {
        let connection = &self.connection;
        if !connection.transport.abilities().same_task {
            self.handing = connection.attend(message);
            return;
        }
        self.aside
            .get_or_insert_with(|| Box::new(Aside::new(connection)))
            .take(message, connection);
    }

    /// Puts a deadline off that has come: the time in which the server's own questions were being
    /// answered is not the server's; while they still are, look again in a while.
    fn put_off(&mut self) {
        let Some(deadline) = self.call.deadline() else { return };
        if self.now() < deadline {
            return;
        }
        let (total, busy) = self.connection.context.served.total();
        let served = total.saturating_sub(self.served);
        if !served.is_zero() {
            self.served = total;
            self.call.handle_served(if busy { served.max(GLANCE) } else { served });
        }
    }

    /// The deadline has come, if it is not put off. There is no time left for a doubt.
    fn timed_out(&mut self) {
        if let (Some(_), Some(error)) = (self.doubting.take(), &self.doubted) {
            return self.call.stop(error.clone());
        }
        // The timer has just looked at the clock.
        self.now = None;
        self.put_off();
        let now = self.now();
        self.call.handle_timeout(now);
    }

    fn poll_answers(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if let Some(renewing) = &mut self.renewing {
            let renewed = ready!(renewing.as_mut().poll(cx));
            self.renewing = None;
            self.connection = self.core.connection();
            self.call.handle_reopened(renewed);
            return Poll::Ready(());
        }
        if let Some(defining) = &mut self.defining {
            let plan = ready!(defining.as_mut().poll(cx));
            self.defining = None;
            self.call.handle_definition(plan);
            return Poll::Ready(());
        }
        let Some(answering) = &mut self.answering else { return Poll::Pending };
        let answers = ready!(answering.as_mut().poll(cx));
        self.answering = None;
        self.call.handle_answers(answers);
        Poll::Ready(())
    }

    fn poll_exchange(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if let Some(handing) = &mut self.handing {
            ready!(handing.as_mut().poll(cx));
            self.handing = None;
        }
        let Some(exchange) = &mut self.exchange else { return Poll::Pending };
        let polled = ready!(Pin::new(exchange).poll_next(cx));
        self.put_off();
        let now = self.now();
        let connection = &self.connection;
        match polled {
            Some(Ok(Incoming::Message(message))) => {
                self.call.handle_message(message, &connection.terms(), now);
            }
            Some(Ok(Incoming::Held)) => self.call.handle_held(now),
            Some(Ok(Incoming::Released)) => self.call.handle_released(now),
            Some(Ok(Incoming::Dropped(count))) => {
                tracing::warn!(count, "messages of a call were lost: its reader was too slow");
            }
            Some(Ok(Incoming::Caller(caller))) => {
                if let Naming::Somebody(stopped) = &mut self.naming {
                    *stopped = self.exchange.take().map(|exchange| (exchange, caller));
                }
            }
            Some(Ok(_)) => {}
            Some(Err(error)) => {
                self.exchange = None;
                self.notice(&error);
                self.call.handle_failure(error, now);
            }
            None => {
                self.exchange = None;
                self.call.handle_closed(None);
            }
        }
        Poll::Ready(())
    }

    /// Remembers why the exchange failed, and whether that was the end of the connection.
    fn notice(&mut self, error: &TransportError) {
        let over = matches!(error.fault(), TransportFault::Closed | TransportFault::Exited);
        if over && !self.connection.transport.abilities().own_stream {
            self.core.note_end(self.connection.epoch);
        }
        self.lost = Some(error.clone());
    }

    pub(crate) fn explain(&self, error: Error) -> Error {
        error.at(&doing(self.call.request()), &self.core.target)
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.core.timers.keep(&mut self.timer);
    }
}

impl fmt::Debug for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Driver")
            .field("method", &self.call.request().method)
            .finish_non_exhaustive()
    }
}
