//! One renewal at a time, shared by all who wait for it.

use std::future::Future;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;
use tokio::task::AbortHandle;

use crate::error::{Error, ErrorKind};

/// At most one piece of work that goes on though whoever began it is gone: a refresh token that was
/// spent must not be lost because a call was given up.
///
/// # Drop behavior
///
/// The work is aborted.
#[derive(Debug, Default)]
pub(crate) struct Flight(Mutex<Option<Running>>);

#[derive(Debug)]
struct Running {
    outcome: watch::Receiver<Option<Outcome>>,
    task: AbortHandle,
}

type Outcome = Result<(), Error>;

/// What a caller got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Share {
    /// The outcome of work that another began, or of none.
    Others,
    Own,
}

impl Flight {
    /// Waits for what is under way, or begins it if it is still `needed`.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves the work alone.
    pub(crate) async fn join<W>(
        &self,
        needed: impl FnOnce() -> bool,
        work: impl FnOnce() -> W,
    ) -> Result<Share, Error>
    where
        W: Future<Output = Outcome> + Send + 'static,
    {
        let (mut outcome, share) = {
            let mut running = self.running();
            let under_way = running.as_ref().filter(|running| running.is_under_way());
            match under_way {
                Some(running) => (running.outcome.clone(), Share::Others),
                None if !needed() => return Ok(Share::Others),
                None => (begin(&mut running, work())?, Share::Own),
            }
        };
        let ended = outcome.wait_for(Option::is_some).await;
        match ended.as_deref() {
            Ok(Some(outcome)) => outcome.clone().map(|()| share),
            // The sender went without a word: aborted, or panicked.
            _ => Err(Error::new(ErrorKind::Unreachable, "getting credentials was broken off")),
        }
    }

    /// Ends what is under way.
    pub(crate) fn abort(&self) {
        if let Some(running) = self.running().take() {
            running.task.abort();
        }
    }

    fn running(&self) -> MutexGuard<'_, Option<Running>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        self.abort();
    }
}

impl Running {
    fn is_under_way(&self) -> bool {
        self.outcome.has_changed().is_ok() && self.outcome.borrow().is_none()
    }
}

fn begin(
    running: &mut Option<Running>,
    work: impl Future<Output = Outcome> + Send + 'static,
) -> Result<watch::Receiver<Option<Outcome>>, Error> {
    let (tell, outcome) = watch::channel(None);
    let runtime = tokio::runtime::Handle::try_current();
    let runtime = runtime.map_err(|_| Error::new(ErrorKind::Usage, "there is no tokio runtime"))?;
    let task = runtime.spawn(async move {
        let ended = work.await;
        let _ = tell.send(Some(ended));
    });
    *running = Some(Running { outcome: outcome.clone(), task: task.abort_handle() });
    Ok(outcome)
}

#[cfg(test)]
mod tests {
    use std::future::pending;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::sync::Notify;

    use super::{Flight, Share};
    use crate::error::Error;

    // AUTH-143
    #[tokio::test]
    async fn who_comes_while_work_is_under_way_shares_its_outcome() {
        let (flight, go) = (Arc::new(Flight::default()), Arc::new(Notify::new()));
        let begun = Arc::new(AtomicUsize::new(0));
        let join = |fails: bool| {
            let (flight, go, begun) = (flight.clone(), go.clone(), begun.clone());
            tokio::spawn(async move {
                let work = || async move {
                    begun.fetch_add(1, Ordering::SeqCst);
                    go.notified().await;
                    if fails { Err(Error::person("no")) } else { Ok(()) }
                };
                flight.join(|| true, work).await.map_err(|error| error.message().to_owned())
            })
        };
        for fails in [false, true] {
            let calls: Vec<_> = (0..5).map(|_| join(fails)).collect();
            tokio::task::yield_now().await;
            go.notify_one();
            let mut own = 0;
            for call in calls {
                match call.await.expect("no panic") {
                    Ok(share) => own += usize::from(share == Share::Own),
                    Err(why) => assert!(fails && why == "no"),
                }
            }
            assert_eq!(own, usize::from(!fails));
        }
        assert_eq!(begun.load(Ordering::SeqCst), 2);
    }

    #[tokio::test]
    async fn work_outlives_who_began_it_and_ends_with_its_flight() {
        let flight = Flight::default();
        let (done, told) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let (go, tell) = (done.clone(), told.clone());
        let work = async move {
            go.notified().await;
            tell.notify_one();
            Ok(())
        };
        let mut joined = Box::pin(flight.join(|| true, || work));
        let waker = std::task::Waker::noop();
        let polled = joined.as_mut().poll(&mut std::task::Context::from_waker(waker));
        assert!(polled.is_pending());
        drop(joined);
        done.notify_one();
        told.notified().await;

        let dropped = Arc::new(());
        let held = dropped.clone();
        let endless = async move {
            let _held = held;
            pending().await
        };
        let mut joined = Box::pin(flight.join(|| true, || endless));
        assert!(joined.as_mut().poll(&mut std::task::Context::from_waker(waker)).is_pending());
        drop(joined);
        drop(flight);
        while Arc::strong_count(&dropped) > 1 {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn what_is_not_needed_any_more_is_not_begun() {
        let flight = Flight::default();
        let joined = flight.join(|| false, || async { Err(Error::person("not to be begun")) });
        assert_eq!(joined.await.expect("nothing was done"), Share::Others);
    }
}
