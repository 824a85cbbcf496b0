//! A call under way, through layers or without.

use std::fmt;
use std::future::{Future, pending};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use snodo_transport::BoxFuture;
use snodo_types::{Error, Message, Outcome};

use crate::cache::{Cached, Plan};
use crate::call::Call;
use crate::checked::Checked;
use crate::driver::Driver;
use crate::timer::{self, Timer};

/// What a call comes to.
pub(crate) type Answer = Result<Outcome<Message>, Error>;

/// The layers of a client: takes a call, gives the future of its answer.
pub(crate) type Stack = Arc<dyn Fn(Call) -> BoxFuture<'static, Answer> + Send + Sync>;

/// Tells when the layers let a call through: from then on the driver keeps the time.
#[derive(Debug)]
pub(crate) struct Gate {
    since: Instant,
    passed: AtomicBool,
}

impl Gate {
    /// How long the call was held back; it is through now. A second sending has its own time.
    pub(crate) fn pass(&self) -> Duration {
        match self.passed.swap(true, Ordering::AcqRel) {
            false => timer::now().saturating_duration_since(self.since),
            true => Duration::ZERO,
        }
    }
}

/// A call that was refused before anything was done, runs, or goes through layers.
pub(crate) enum Running {
    Cached(Box<Cached>),
    Checked(Box<Checked>),
    Driven(Box<Driver>),
    Layered(Box<Layered>),
    Refused(Option<Error>),
}

/// A call that goes through layers.
pub(crate) struct Layered {
    /// Behind a lock only to be shared between threads; it is never waited for.
    future: Mutex<BoxFuture<'static, Answer>>,
    gate: Arc<Gate>,
    timeout: Option<Duration>,
    /// Of the whole call, however often the layers send it.
    deadline: Option<Duration>,
    timer: Timer,
    method: String,
    target: String,
}

impl Running {
    pub(crate) fn start(call: Result<Call, Error>, stack: Option<&Stack>) -> Self {
        match (call, stack) {
            (Err(error), _) => Self::Refused(Some(error)),
            (Ok(call), None) => Self::unlayered(call, Duration::ZERO),
            (Ok(call), Some(stack)) => Self::Layered(Box::new(Layered::new(call, stack))),
        }
    }

    /// What stands behind every layer. `held` of the call's time was spent before it.
    pub(crate) fn unlayered(call: Call, held: Duration) -> Self {
        if let Some(plan) = Plan::of(&call) {
            return Self::Cached(Box::new(Cached::new(call, plan, held)));
        }
        match Checked::tool(&call) {
            Some(tool) => Self::Checked(Box::new(Checked::new(call, tool, held))),
            None => Self::Driven(Box::new(call.start(held))),
        }
    }

    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Answer> {
        match self {
            Self::Cached(cached) => cached.poll(cx),
            Self::Checked(checked) => checked.poll(cx),
            Self::Driven(driver) => driver.poll(cx),
            Self::Layered(layered) => layered.poll(cx),
            Self::Refused(error) => match error.take() {
                Some(error) => Poll::Ready(Err(error)),
                None => Poll::Pending,
            },
        }
    }

    /// The epoch of the connection that it was answered on, where that is known.
    pub(crate) fn epoch(&self) -> Option<u64> {
        match self {
            Self::Driven(driver) => Some(driver.connection().epoch),
            Self::Cached(_) | Self::Checked(_) | Self::Layered(_) | Self::Refused(_) => None,
        }
    }

    pub(crate) fn explain(&self, error: Error) -> Error {
        match self {
            Self::Cached(cached) => cached.explain(error),
            Self::Checked(checked) => checked.explain(error),
            Self::Driven(driver) => driver.explain(error),
            Self::Layered(layered) => error.at(&layered.method, &layered.target),
            Self::Refused(_) => error,
        }
    }
}

impl fmt::Debug for Running {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cached(_) => "Cached",
            Self::Checked(_) => "Checked",
            Self::Driven(_) => "Driven",
            Self::Layered(_) => "Layered",
            Self::Refused(_) => "Refused",
        })
    }
}

impl Layered {
    fn new(mut call: Call, stack: &Stack) -> Self {
        let gate = Arc::new(Gate { since: timer::now(), passed: AtomicBool::new(false) });
        let same_task = call.core.connection().transport.abilities().same_task;
        let timeout = call.limits.timeout.filter(|_| !same_task);
        let deadline = call.limits.deadline.filter(|_| !same_task);
        let (method, target) = (call.method().to_owned(), call.target().to_owned());
        call.gate = Some(Arc::clone(&gate));
        let future = Mutex::new(stack(call));
        Self { future, gate, timeout, deadline, timer: Timer::default(), method, target }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Answer> {
        let future = self.future.get_mut().unwrap_or_else(PoisonError::into_inner);
        let answer = match Future::poll(Pin::new(future), cx) {
            Poll::Ready(answer) => answer,
            Poll::Pending => Err(ready!(self.poll_time(cx))),
        };
        // What is over is not polled again, and its place in a queue is given back.
        self.future = Mutex::new(Box::pin(pending()));
        (self.timeout, self.deadline) = (None, None);
        Poll::Ready(answer.map_err(|error| error.at(&self.method, &self.target)))
    }

    /// Until the layers let the call through the timeout runs here, from then on in the driver; the
    /// deadline always does. Both count from the await.
    fn poll_time(&mut self, cx: &mut Context<'_>) -> Poll<Error> {
        let queueing = self.timeout.filter(|_| !self.gate.passed.load(Ordering::Acquire));
        let Some(limit) = queueing.into_iter().chain(self.deadline).min() else {
            return Poll::Pending;
        };
        let waited = self.timer.poll(self.gate.since.checked_add(limit), cx);
        waited.map(|waited| waited.err().unwrap_or_else(|| Error::timeout(limit)))
    }
}
