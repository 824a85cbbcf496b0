//! The one timer of a driver.

use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use snodo_types::{Error, Kind};
use tokio::runtime::{Handle, Id};
use tokio::task::coop;
use tokio::time::Sleep;

/// Sleeps until a deadline that may move. Nothing is made until the first deadline is waited for.
#[derive(Debug, Default)]
pub(crate) struct Timer {
    sleep: Option<Pin<Box<Sleep>>>,
}

impl Timer {
    /// Ready when the deadline has come; never without one.
    ///
    /// The clock is tokio's, so that paused time moves every deadline.
    pub(crate) fn poll(
        &mut self,
        deadline: Option<Instant>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), Error>> {
        let Some(deadline) = deadline else { return Poll::Pending };
        let deadline = deadline.into();
        let sleep = match &mut self.sleep {
            Some(sleep) => {
                if sleep.deadline() != deadline {
                    sleep.as_mut().reset(deadline);
                }
                sleep
            }
            None => match sleep_until(deadline) {
                Some(sleep) => self.sleep.insert(Box::pin(sleep)),
                None => return Poll::Ready(Err(no_runtime())),
            },
        };
        sleep.as_mut().poll(cx).map(Ok)
    }
}

/// Timers whose calls are over, for the calls to come.
///
/// A new timer is an allocation and two turns of the lock of the runtime's clock, which is a tenth of a call over a pipe. One
/// that is set anew, to a later time, is next to nothing. A timer belongs to its runtime and is used again there alone.
#[derive(Debug, Default)]
pub(crate) struct Timers(Mutex<Vec<(Id, Pin<Box<Sleep>>)>>);

/// The most timers that are kept.
const KEPT: usize = 64;

impl Timers {
    /// Gives a call that has no timer one that was kept, if there is one of this runtime.
    pub(crate) fn lend(&self, timer: &mut Timer) {
        if timer.sleep.is_some() {
            return;
        }
        let Ok(runtime) = Handle::try_current() else { return };
        let kept = self.kept().pop_if(|(home, _)| *home == runtime.id());
        timer.sleep = kept.map(|(_, sleep)| sleep);
    }

    /// Takes the timer of a call that is over.
    pub(crate) fn keep(&self, timer: &mut Timer) {
        let (Some(mut sleep), Ok(runtime)) = (timer.sleep.take(), Handle::try_current()) else {
            return;
        };
        // It shall wake nobody, and hold nobody's task. A runtime that is ending panics here.
        let rests = coop::has_budget_remaining()
            && catch_unwind(AssertUnwindSafe(|| {
                sleep.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending()
            }))
            .unwrap_or(false);
        let mut kept = self.kept();
        if rests && kept.len() < KEPT {
            kept.push((runtime.id(), sleep));
        }
    }

    fn kept(&self) -> MutexGuard<'_, Vec<(Id, Pin<Box<Sleep>>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits for so long.
///
/// # Errors
///
/// Nobody here keeps the time.
pub(crate) async fn sleep(time: Duration) -> Result<(), Error> {
    let mut timer = Timer::default();
    let deadline = now().checked_add(time);
    poll_fn(|cx| timer.poll(deadline, cx)).await
}

/// Now, by tokio's clock.
pub(crate) fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

/// A timer of the runtime in reach; `None` where there is none, or one without time.
fn sleep_until(deadline: tokio::time::Instant) -> Option<Sleep> {
    Handle::try_current().ok()?;
    // Whether a runtime keeps the time is told by nothing but a panic.
    catch_unwind(|| tokio::time::sleep_until(deadline)).ok()
}

fn no_runtime() -> Error {
    let text = "no tokio runtime that keeps the time is in reach: call from within one (with time enabled), or set no timeout";
    Error::new(Kind::Execution, snodo_types::ErrorObject::INTERNAL_ERROR, text)
}
