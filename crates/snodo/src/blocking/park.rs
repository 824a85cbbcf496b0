//! Waiting for a future in a thread.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

/// The thread that polls, and whether its future was woken.
///
/// The flag tells apart what the thread's own token cannot: within a poll the same thread may wait
/// for another future, and use up a token that was meant for this one.
struct Sleeper {
    thread: Thread,
    woken: AtomicBool,
}

impl Wake for Sleeper {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.woken.store(true, Ordering::Release);
        self.thread.unpark();
    }
}

/// Polls the future in this thread, which sleeps in between.
pub(super) fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let sleeper = Arc::new(Sleeper { thread: thread::current(), woken: AtomicBool::new(false) });
    let waker = Waker::from(Arc::clone(&sleeper));
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        while !sleeper.woken.swap(false, Ordering::Acquire) {
            thread::park();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::sync::mpsc;
    use std::task::Poll;
    use std::thread;
    use std::time::Duration;

    use super::block_on;

    /// Is woken so often before it is ready, and each time uses up the thread's token.
    async fn woken(mut times: u32) {
        poll_fn(|cx| {
            if times == 0 {
                return Poll::Ready(());
            }
            times -= 1;
            cx.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
    }

    #[test]
    fn who_waits_within_a_wait_takes_no_wake_from_it() {
        let (done, over) = mpsc::channel();
        thread::spawn(move || {
            let mut polled = false;
            block_on(poll_fn(|cx| {
                if std::mem::replace(&mut polled, true) {
                    return Poll::Ready(());
                }
                cx.waker().wake_by_ref();
                block_on(woken(3));
                Poll::Pending
            }));
            // The test may be over.
            let _ = done.send(());
        });
        over.recv_timeout(Duration::from_secs(10)).expect("the outer wait goes on");
    }
}
