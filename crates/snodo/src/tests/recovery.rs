//! Connections that are doubted, lost and made anew, with callers that come and go meanwhile.

use std::future::{IntoFuture, pending};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{from_value, json};

use super::peer::status;
use super::{Call, Peer, SECOND, once, session, settle, tasks, text, timed};
use crate::{Client, KeepAlive, Verdict};

/// An older server that takes its time, whatever it is asked.
fn slow_and_old() -> Peer {
    Peer::new(|call: Call| async move {
        tokio::time::sleep(SECOND).await;
        match call.message["params"]["_meta"].is_null() {
            // A stateless request.
            false => call.refuse(json!({ "code": -32600, "message": "initialize first" })).await,
            true if call.greet().await => {}
            true => call.answer(text("done")).await,
        }
        Ok(())
    })
}

async fn wrongly_believed(peer: &Peer) -> Client {
    let verdict: Verdict = from_value(json!("2026-07-28")).expect("a verdict");
    Client::builder().verdict(verdict).connect(peer.clone()).await.expect("believed")
}

// VER-10
#[tokio::test(start_paused = true)]
async fn calls_at_the_same_time_share_one_doubt_of_a_verdict_that_is_wrong() {
    let peer = slow_and_old();
    let client = wrongly_believed(&peer).await;
    let calls: Vec<_> =
        (0..10).map(|_| tokio::spawn(client.call_tool("x", ()).into_future())).collect();
    for call in calls {
        assert_eq!(call.await.expect("no panic").expect("answered").text(), "done");
    }
    let opened = peer.methods().iter().filter(|method| *method == "initialize").count();
    assert_eq!(opened, 1);
}

// VER-10
#[tokio::test(start_paused = true)]
async fn a_doubt_whose_caller_went_away_is_taken_up_by_the_next() {
    for polls in [1, 3, 4, 5] {
        let peer = slow_and_old();
        let client = wrongly_believed(&peer).await;
        let mut first = client.call_tool("x", ()).into_future();
        for _ in 0..polls {
            assert!(once(&mut first).await.is_pending());
            tokio::time::sleep(SECOND).await;
        }
        drop(first);
        let second = client.call_tool("x", ()).await;
        assert_eq!(second.expect("answered").text(), "done", "after {polls} seconds");
    }
}

/// A server behind something like HTTP whose first session is lost at once.
fn forgetful(initialize_takes: Duration) -> Peer {
    Peer::own_stream(move |call: Call| async move {
        match (call.method.as_str(), call.connection) {
            ("initialize", connection) => {
                if connection > 1 {
                    tokio::time::sleep(initialize_takes).await;
                }
                call.open_session(&format!("s-{connection}")).await;
            }
            ("tools/call", 1) => return Err(status(404)),
            ("tools/call", _) => call.answer(text("done")).await,
            _ => drop(call.greet().await),
        }
        Ok(())
    })
}

// HTTPL-15, HTTPL-21
#[tokio::test(start_paused = true)]
async fn a_renewal_whose_caller_went_away_is_taken_over_by_who_waits() {
    let peer = forgetful(10 * SECOND);
    let client = session().connect(peer.clone()).await.expect("a session");
    let mut leader = client.call_tool("x", ()).into_future();
    assert!(once(&mut leader).await.is_pending());
    let waiting = tokio::spawn(client.call_tool("x", ()).into_future());
    tokio::time::sleep(5 * SECOND).await;
    drop(leader);
    let (waited, reply) = timed(waiting).await;
    assert_eq!(reply.expect("no panic").expect("answered").text(), "done");
    assert_eq!((waited, peer.connections()), (10 * SECOND, 3));
    settle().await;
    assert_eq!(peer.alive(), (1, 0), "the first session and the one begun are gone");
}

// HTTPL-21, S-39
#[tokio::test(start_paused = true)]
async fn a_renewal_is_waited_for_within_the_deadline_and_holds_up_nobody_behind_a_kept_future() {
    let peer = forgetful(10 * SECOND);
    let client = session().timeout(60 * SECOND).connect(peer.clone()).await.expect("a session");
    let mut leader = client.call_tool("x", ()).deadline(3 * SECOND).into_future();
    let (waited, result) = timed(&mut leader).await;
    assert!(result.expect_err("too late").is_timeout());
    assert_eq!(waited, 3 * SECOND);
    let (waited, result) = timed(client.call_tool("x", ()).into_future()).await;
    assert_eq!(result.expect("answered").text(), "done");
    assert_eq!(waited, 10 * SECOND);
    drop(leader);
}

// S-10
#[tokio::test(start_paused = true)]
async fn a_client_that_is_dropped_while_a_sign_of_life_is_awaited_is_gone_when_that_is_over() {
    let before = tasks();
    let mute = Arc::new(AtomicBool::new(false));
    let silent = Arc::clone(&mute);
    let peer = Peer::new(move |call: Call| {
        let silent = Arc::clone(&silent);
        async move {
            if silent.load(Ordering::SeqCst) {
                pending::<()>().await;
            }
            call.greet().await;
            Ok(())
        }
    });
    let builder = session().keep_alive(KeepAlive::every(30 * SECOND));
    let client = builder.connect(peer.clone()).await.expect("a session");
    mute.store(true, Ordering::SeqCst);
    tokio::time::sleep(31 * SECOND).await;
    assert_eq!(peer.methods().last().expect("asked"), "ping");
    drop(client);
    tokio::time::sleep(30 * SECOND).await;
    settle().await;
    assert_eq!((peer.alive(), tasks()), ((0, 0), before));
}

// S-06, VER-10
#[tokio::test(start_paused = true)]
async fn a_closed_client_doubts_nothing_and_connects_no_more() {
    let peer = slow_and_old();
    let client = wrongly_believed(&peer).await;
    client.close().await;
    let error = client.call_tool("x", ()).await.expect_err("closed");
    assert!(error.is_closed(), "{error:?}");
    assert_eq!((peer.sent().len(), peer.connections()), (0, 1));
}

// S-39, VER-10
#[tokio::test(start_paused = true)]
async fn a_doubt_takes_no_longer_than_the_deadline_of_its_call() {
    let peer = Peer::new(|_| pending());
    let client = wrongly_believed(&peer).await;
    let call = client.call_tool("x", ()).timeout(3 * SECOND).deadline(8 * SECOND);
    let (waited, result) = timed(call.into_future()).await;
    assert_eq!(waited, 8 * SECOND);
    assert!(result.expect_err("no answer").is_timeout());
    let call = client.call_tool("x", ()).timeout(30 * SECOND).deadline(8 * SECOND);
    let (waited, _) = timed(call.into_future()).await;
    assert_eq!((waited, peer.connections()), (8 * SECOND, 1));
}
