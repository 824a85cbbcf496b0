//! Clocks and ends of calls that layers hold back.

use std::future::{IntoFuture, pending};
use std::sync::Arc;
use std::task::{Context, Poll};

use snodo_transport::BoxFuture;

use super::{Call, Peer, SECOND, once, stateless, text, timed};
use crate::layers::{Calls, Erased};
use crate::running::Answer;
use crate::{Builder, Client};

/// What a layer does with a call.
type Doing = dyn Fn(Calls, crate::Call) -> BoxFuture<'static, Answer> + Send + Sync;

/// A layer written as a function.
struct Hand {
    inner: Calls,
    doing: Arc<Doing>,
}

impl Erased for Hand {
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), crate::Error>> {
        self.inner.0.poll_ready(cx)
    }

    fn call(&mut self, call: crate::Call) -> BoxFuture<'static, Answer> {
        (self.doing)(self.inner.clone(), call)
    }

    fn again(&self) -> Calls {
        Calls(Box::new(Self { inner: self.inner.clone(), doing: Arc::clone(&self.doing) }))
    }
}

async fn layered<G>(
    peer: &Peer,
    doing: impl Fn(Calls, crate::Call) -> G + Send + Sync + 'static,
) -> Client
where
    G: Future<Output = Answer> + Send + 'static,
{
    let doing: Arc<Doing> = Arc::new(move |inner, call| Box::pin(doing(inner, call)));
    let mut builder: Builder = stateless();
    builder
        .layers
        .0
        .push(Arc::new(move |inner| Calls(Box::new(Hand { inner, doing: Arc::clone(&doing) }))));
    builder.connect(peer.clone()).await.expect("connected")
}

fn silent() -> Peer {
    Peer::new(|_| pending())
}

// S-39
#[tokio::test(start_paused = true)]
async fn a_call_that_is_never_let_through_ends_by_the_first_of_its_clocks() {
    let guard = Arc::new(());
    let held = Arc::clone(&guard);
    let client = layered(&silent(), move |_, _| {
        let held = Arc::clone(&held);
        async move {
            pending::<()>().await;
            drop(held);
            unreachable!("it is dropped before")
        }
    })
    .await;
    let call = || client.call_tool("x", ());
    let calls = [
        (call(), 30),
        (call().timeout(5 * SECOND), 5),
        (call().timeout(5 * SECOND).deadline(3 * SECOND), 3),
        (call().timeout(5 * SECOND).deadline(9 * SECOND), 5),
        (call().timeout(None).deadline(7 * SECOND), 7),
    ];
    for (call, seconds) in calls {
        let mut call = call.into_future();
        let (waited, result) = timed(&mut call).await;
        let error = result.expect_err("never let through");
        assert!(error.is_timeout(), "{error:?}");
        assert_eq!(waited, seconds * SECOND);
        assert_eq!(Arc::strong_count(&guard), 2, "its place in the queue is free");
        assert!(once(&mut call).await.is_pending(), "over, and never a panic");
    }
}

// S-39
#[tokio::test(start_paused = true)]
async fn the_deadline_bounds_a_call_that_a_layer_sends_again_and_again() {
    let peer = silent();
    let client = layered(&peer, |mut inner: Calls, call: crate::Call| async move {
        loop {
            let answer = inner.0.call(call.clone()).await;
            if answer.is_ok() {
                return answer;
            }
        }
    })
    .await;
    let call = client.call_tool("x", ()).timeout(4 * SECOND).deadline(10 * SECOND);
    let (waited, result) = timed(call.into_future()).await;
    assert!(result.expect_err("too late").is_timeout());
    assert_eq!((waited, peer.sent().len(), peer.alive().1), (10 * SECOND, 3, 0));
}

// S-39
#[tokio::test(start_paused = true)]
async fn the_time_in_a_queue_counts_and_an_answer_behind_it_is_the_answer() {
    let peer = Peer::new(|call: Call| async move {
        tokio::time::sleep(4 * SECOND).await;
        call.answer(text("done")).await;
        Ok(())
    });
    let client = layered(&peer, |mut inner: Calls, call: crate::Call| async move {
        tokio::time::sleep(5 * SECOND).await;
        inner.0.call(call).await
    })
    .await;
    let call = client.call_tool("x", ()).timeout(8 * SECOND).into_future();
    let (waited, result) = timed(call).await;
    assert!(result.expect_err("too late").is_timeout());
    assert_eq!((waited, peer.given_up().len()), (8 * SECOND, 1));
    let mut call = client.call_tool("x", ()).timeout(10 * SECOND).into_future();
    assert_eq!((&mut call).await.expect("answered").text(), "done");
    assert!(once(&mut call).await.is_pending());
}
