//! The one timer of a driver.

use std::future::{Future, poll_fn};
use std::panic::catch_unwind;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use snodo_types::{Error, Kind};
use tokio::runtime::Handle;
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
