//! Drops, at every moment: what is sent, what is told, what is left behind.

use std::future::{IntoFuture, pending};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;

use serde_json::json;
use snodo_transport::Abilities;

use super::{Far, Peer, SECOND, asks, form, once, session, settle, stateless, tasks, text, timed};
use crate::{Client, ProtocolVersion};

/// A server that greets, and never answers anything else.
fn silent(abilities: Abilities) -> Peer {
    Peer::with(abilities, |call| async move {
        if !call.greet().await {
            pending::<()>().await;
        }
        Ok(())
    })
}

// CAN-03, INIT-20
#[tokio::test(start_paused = true)]
async fn a_request_that_is_dropped_before_its_first_poll_sends_nothing() {
    let peer = silent(Abilities::default());
    let client = session().connect(peer.clone()).await.expect("a session");
    let before = peer.methods();
    drop(client.call_tool("slow", ()));
    drop(client.call_tool("slow", ()).into_future());
    drop(client.call_tool("slow", ()).outcome());
    drop(client.list_tools().into_future());
    drop(client.list_tools().pages());
    assert_eq!(peer.methods(), before);
    assert_eq!(peer.given_up(), Vec::<serde_json::Value>::new());
    assert_eq!(peer.alive(), (1, 0));
}

// S-42, CAN-01, CAN-02, CAN-03, INIT-20, HTTPL-07
#[tokio::test(start_paused = true)]
async fn a_dropped_request_is_told_once_as_version_and_carrier_want_it() {
    let own_stream = Abilities { own_stream: true, routing: true, ..Abilities::default() };
    let table = [
        (ProtocolVersion::V2026_07_28, Abilities::default(), true),
        (ProtocolVersion::V2026_07_28, own_stream, false),
        (ProtocolVersion::V2025_11_25, Abilities::default(), true),
        (ProtocolVersion::V2025_11_25, own_stream, true),
        (ProtocolVersion::V2025_06_18, Abilities::default(), true),
        (ProtocolVersion::V2025_06_18, own_stream, true),
    ];
    for (version, abilities, told) in table {
        let peer = silent(abilities);
        let client = Client::builder().protocol([version]).connect(peer.clone()).await;
        let client = client.expect("connected");
        let mut call = client.call_tool("slow", ()).into_future();
        assert!(once(&mut call).await.is_pending());
        assert!(once(&mut call).await.is_pending());
        drop(call);
        let sent = peer.sent();
        let id = &sent.last().expect("the call")["id"];
        let notices = peer.given_up();
        assert_eq!(notices.len(), usize::from(told), "{version} {abilities:?}");
        for notice in notices {
            assert_eq!(notice["method"], "notifications/cancelled", "{version}");
            assert_eq!(&notice["params"]["requestId"], id, "{version}");
            assert!(notice.get("id").is_none(), "{version}");
        }
        assert_eq!(peer.alive(), (1, 0), "{version} {abilities:?}");
    }
}

// S-42, CAN-06, INIT-20
#[tokio::test(start_paused = true)]
async fn a_request_that_timed_out_is_told_once_while_its_future_still_lives() {
    for builder in [stateless(), session()] {
        let peer = silent(Abilities::default());
        let client = builder.connect(peer.clone()).await.expect("connected");
        let mut call = client.call_tool("slow", ()).timeout(3 * SECOND).into_future();
        let (waited, result) = timed(&mut call).await;
        assert_eq!(waited, 3 * SECOND);
        assert!(result.expect_err("no answer").is_timeout());
        assert_eq!((peer.given_up().len(), peer.alive()), (1, (1, 0)));
        drop(call);
        assert_eq!(peer.given_up().len(), 1);
    }
}

// CAN-03, CAN-04
#[tokio::test(start_paused = true)]
async fn a_request_that_was_answered_is_not_told_however_its_future_ends() {
    let peer = Peer::new(|call| async move {
        if !call.greet().await {
            call.answer(text("done")).await;
        }
        Ok(())
    });
    let client = session().connect(peer.clone()).await.expect("a session");
    let mut call = client.call_tool("quick", ()).into_future();
    (&mut call).await.expect("answered");
    drop(call);
    assert_eq!((peer.given_up().len(), peer.alive()), (0, (1, 0)));
}

// INIT-08
#[tokio::test(start_paused = true)]
async fn initialize_is_never_cancelled_by_a_drop_or_by_time() {
    let peer = Peer::new(|_| async {
        pending::<()>().await;
        Ok(())
    });
    let (waited, result) = timed(session().timeout(2 * SECOND).connect(peer.clone())).await;
    assert!(result.expect_err("no answer").is_timeout());
    assert_eq!(waited, 2 * SECOND);
    {
        let mut connecting = pin!(session().connect(peer.clone()));
        assert!(once(&mut connecting.as_mut()).await.is_pending());
    }
    settle().await;
    assert_eq!(peer.methods(), ["initialize", "initialize"]);
    assert_eq!((peer.given_up().len(), peer.alive()), (0, (0, 0)));
}

/// A server that an older client would know: it refuses the probe slowly and greets slowly.
fn slow_and_old() -> Peer {
    Peer::new(|call| async move {
        for _ in 0..3 {
            tokio::task::yield_now().await;
        }
        if call.method == "server/discover" {
            call.refuse(json!({ "code": -32601, "message": "unknown" })).await;
        } else if call.method == "initialize" {
            call.say(json!({ "jsonrpc": "2.0", "method": "notifications/message" })).await;
            call.say(json!({ "jsonrpc": "2.0", "id": 9, "method": "ping" })).await;
            tokio::task::yield_now().await;
            call.greet().await;
        } else {
            call.greet().await;
        }
        Ok(())
    })
}

// S-17
#[tokio::test(start_paused = true)]
async fn a_connect_that_is_dropped_at_any_step_leaves_nothing_behind() {
    let before = tasks();
    let mut steps = 0;
    loop {
        let peer = slow_and_old();
        let builder = Client::builder().on_roots(|_| async { Ok(crate::types::Roots::new()) });
        let mut connecting: Pin<Box<_>> = Box::pin(builder.connect(peer.clone()));
        let mut done = false;
        for _ in 0..steps {
            if once(&mut connecting).await.is_ready() {
                done = true;
                break;
            }
            tokio::task::yield_now().await;
        }
        drop(connecting);
        settle().await;
        assert_eq!((peer.alive(), tasks()), ((0, 0), before), "dropped after {steps} polls");
        if done {
            break;
        }
        steps += 1;
        assert!(steps < 200, "it never connects");
    }
    assert!(steps > 8, "the drops hit {steps} steps");
}

// S-10
#[tokio::test(start_paused = true)]
async fn the_last_clone_and_the_last_call_end_the_connection_and_its_tasks() {
    let before = tasks();
    let peer = Peer::new(|call| async move {
        if call.method == "tools/call" {
            tokio::time::sleep(SECOND).await;
            call.answer(text("late")).await;
        } else {
            call.greet().await;
        }
        Ok(())
    });
    let client = session().connect(peer.clone()).await.expect("a session");
    let second = client.clone();
    drop(client);
    let call = second.call_tool("slow", ()).into_future();
    drop(second);
    settle().await;
    assert_eq!((peer.alive().0, tasks()), (1, before + 1), "a call and the attendant");
    assert_eq!(call.await.expect("answered").text(), "late");
    settle().await;
    assert_eq!((peer.alive(), tasks()), ((0, 0), before));
}

// S-54, MRTR-12
#[tokio::test(start_paused = true)]
async fn a_drop_while_a_handler_thinks_drops_the_handler_and_sends_nothing() {
    let peer = Peer::new(|call| async move {
        call.answer(asks(json!({ "q": form() }), Some("s"))).await;
        Ok(())
    });
    let guard = Arc::new(());
    let held = Arc::clone(&guard);
    let client = stateless().on_form(move |form| {
        let held = Arc::clone(&held);
        async move {
            pending::<()>().await;
            drop(held);
            form.decline()
        }
    });
    let client = client.connect(peer.clone()).await.expect("connected");
    let mut call = client.call_tool("book", ()).into_future();
    assert!(once(&mut call).await.is_pending());
    assert_eq!((Arc::strong_count(&guard), peer.alive()), (3, (1, 0)));
    drop(call);
    assert_eq!(Arc::strong_count(&guard), 2);
    settle().await;
    assert_eq!((peer.sent().len(), peer.given_up().len()), (1, 0));
}

// S-55
#[tokio::test(start_paused = true)]
async fn a_drop_while_a_round_is_paced_sends_nothing_more() {
    let peer = Peer::new(|call| async move {
        call.answer(json!({ "resultType": "input_required", "requestState": "s" })).await;
        Ok(())
    });
    let client = stateless().on_form(|form| async move { form.decline() });
    let client = client.connect(peer.clone()).await.expect("connected");
    let mut call = client.call_tool("busy", ()).into_future();
    assert!(once(&mut call).await.is_pending());
    drop(call);
    tokio::time::sleep(SECOND).await;
    assert_eq!((peer.sent().len(), peer.given_up().len()), (1, 0));
}

// CAN-05, S-42
#[tokio::test(start_paused = true)]
async fn over_a_pipe_the_notice_follows_the_request_and_a_late_answer_harms_nobody() {
    let (client, mut far) = Far::plain().await;
    let mut call = client.call_tool("slow", ()).into_future();
    assert!(once(&mut call).await.is_pending());
    let asked = far.read().await;
    drop(call);
    let notice = far.read().await;
    assert_eq!(notice["method"], "notifications/cancelled");
    assert_eq!(notice["params"]["requestId"], asked["id"]);
    far.answer(&asked, text("late")).await;
    let next = async {
        let asked = far.read().await;
        far.answer(&asked, text("in time")).await;
    };
    let (reply, ()) = tokio::join!(client.call_tool("quick", ()).into_future(), next);
    assert_eq!(reply.expect("answered").text(), "in time");
    assert!(far.is_silent().await);
}

// CAN-03
#[tokio::test(start_paused = true)]
async fn a_call_that_still_waits_to_be_written_is_taken_back_without_a_word() {
    let (near, mut far) = Far::new(256);
    let client = stateless().connect(near).await.expect("connected");
    let mut first = client.call_tool("first", json!({ "text": "x".repeat(2000) })).into_future();
    let mut second = client.call_tool("second", ()).into_future();
    assert!(once(&mut first).await.is_pending());
    assert!(once(&mut second).await.is_pending());
    settle().await;
    drop(second);
    drop(first);
    let asked = far.read().await;
    assert_eq!(asked["params"]["name"], "first");
    let notice = far.read().await;
    assert_eq!(notice["params"]["requestId"], asked["id"]);
    assert!(far.is_silent().await);
}

// S-40
#[tokio::test(start_paused = true)]
async fn a_progress_function_that_panics_gives_up_its_own_call_and_no_other() {
    let peer = Peer::new(|call| async move {
        if call.greet().await {
            return Ok(());
        }
        call.progress(1).await;
        tokio::time::sleep(SECOND).await;
        call.answer(text("done")).await;
        Ok(())
    });
    let client = session().connect(peer.clone()).await.expect("a session");
    let other = tokio::spawn({
        let client = client.clone();
        async move { client.call_tool("other", ()).await.map(|reply| reply.text().to_string()) }
    });
    let call = client.call_tool("loud", ()).progress(|_| panic!("a caller's mistake"));
    let failed = tokio::spawn(call.into_future()).await;
    assert!(failed.expect_err("it panicked").is_panic());
    assert_eq!(other.await.expect("no panic").expect("answered"), "done");
    assert_eq!((peer.given_up().len(), peer.alive()), (1, (1, 0)));
}

// S-57
#[tokio::test(start_paused = true)]
async fn a_handler_of_a_round_that_panics_reaches_the_caller_and_sends_nothing() {
    let peer = Peer::new(|call| async move {
        if call.message["params"]["name"] == "book" {
            call.answer(asks(json!({ "q": form() }), None)).await;
        } else {
            call.answer(text("fine")).await;
        }
        Ok(())
    });
    let client = stateless().on_form(|_| async { panic!("a handler's mistake") });
    let client = client.connect(peer.clone()).await.expect("connected");
    let failed = tokio::spawn(client.call_tool("book", ()).into_future()).await;
    assert!(failed.expect_err("it panicked").is_panic());
    assert_eq!((peer.sent().len(), peer.alive()), (1, (1, 0)));
    assert_eq!(client.call_tool("other", ()).await.expect("answered").text(), "fine");
}

#[tokio::test(start_paused = true)]
async fn a_future_that_is_polled_after_its_end_waits_and_panics_never() {
    let peer = Peer::new(|call| async move {
        call.answer(text("done")).await;
        Ok(())
    });
    let client = stateless().connect(peer.clone()).await.expect("connected");
    let mut call = client.call_tool("quick", ()).into_future();
    (&mut call).await.expect("answered");
    assert!(matches!(once(&mut call).await, Poll::Pending));
    let mut refused = client.call_tool("quick", 5).into_future();
    (&mut refused).await.expect_err("no object");
    assert!(matches!(once(&mut refused).await, Poll::Pending));
    assert_eq!(peer.sent().len(), 1);
}
