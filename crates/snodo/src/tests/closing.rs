//! The end: politely, once, and nothing behind it.

use std::future::{IntoFuture, pending};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde_json::{Value, json};
use snodo_types::ElicitResult;

use super::far::question_of;
use super::peer::status;
use super::{Call, Far, Peer, SECOND, asks, form, once, session, settle, stateless, text, timed};
use crate::types::{SubscriptionFilter, TransportError};
use crate::{Client, direct};

/// A server with streams of its own for calls, and a session.
fn with_session() -> Peer {
    Peer::own_stream(|call: Call| async move {
        if call.method == "initialize" {
            call.open_session("s-1").await;
        } else if !call.greet().await {
            call.say(question_of(1, &form())).await;
            pending::<()>().await;
        }
        Ok(())
    })
}

fn prompt() -> Peer {
    Peer::new(|call: Call| async move {
        if !call.greet().await {
            call.answer(text("done")).await;
        }
        Ok(())
    })
}

// S-06
#[tokio::test(start_paused = true)]
async fn a_client_is_closed_once_within_five_seconds_or_its_timeout() {
    let table = [(None, 5 * SECOND), (Some(30 * SECOND), 5 * SECOND), (Some(SECOND), SECOND)];
    for (timeout, limit) in table {
        let peer = prompt();
        let client = session().timeout(timeout).connect(peer.clone()).await.expect("a session");
        client.close().await;
        client.clone().close().await;
        assert_eq!(peer.closed(), [limit]);
    }
}

// S-06
#[tokio::test(start_paused = true)]
async fn who_closes_at_the_same_time_waits_for_the_same_end() {
    let peer = prompt().closing_slowly(2 * SECOND);
    let client = session().connect(peer.clone()).await.expect("a session");
    let (first, second) = tokio::join!(timed(client.close()), timed(client.close()));
    assert_eq!((first.0, second.0), (2 * SECOND, 2 * SECOND));
    assert_eq!(peer.closed().len(), 1);

    let client = session().connect(peer.clone()).await.expect("a session");
    let mut closing = Box::pin(client.close());
    for _ in 0..2 {
        // First whoever listens on this side ends, then the connection.
        assert!(once(&mut closing).await.is_pending());
        settle().await;
    }
    drop(closing);
    let (waited, ()) = timed(client.close()).await;
    assert_eq!((waited, peer.closed().len()), (2 * SECOND, 3), "given up, and begun again");
}

// S-06
#[tokio::test(start_paused = true)]
async fn after_the_end_everything_fails_and_nothing_is_sent() {
    let peer = prompt();
    let client = session().connect(peer.clone()).await.expect("a session");
    let before = client.call_tool("early", ()).into_future();
    client.close().await;
    let sent = peer.sent().len();
    let mut errors = vec![before.await.expect_err("closed")];
    errors.push(client.call_tool("late", ()).await.expect_err("closed"));
    errors.push(client.list_tools().await.expect_err("closed"));
    errors.push(client.list_prompts().pages().next().await.expect("one").expect_err("closed"));
    errors.push(client.ping().await.expect_err("closed"));
    errors.push(client.request("tools/list", ()).await.expect_err("closed"));
    for error in errors {
        assert_eq!(error.code(), -32000, "{error}");
        assert!(error.is_closed(), "{error:?}");
    }
    settle().await;
    assert_eq!(peer.sent().len(), sent);
}

// S-06, S-23
#[tokio::test]
async fn in_process_closing_does_nothing() {
    let client = Client::direct(direct::Server::new("demo", "1")).await.expect("connected");
    client.close().await;
    client.discover().await.expect("still there");
}

#[tokio::test(start_paused = true)]
async fn a_call_on_a_pipe_ends_with_the_connection() {
    let (client, mut far) = Far::plain().await;
    let call = tokio::spawn(client.call_tool("slow", ()).into_future());
    far.read().await;
    let ((), over) = tokio::join!(client.close(), far.is_over());
    assert!(over, "and without a notice that it was given up");
    let error = call.await.expect("no panic").expect_err("closed");
    assert!(error.is_closed(), "{error:?}");
}

// S-06, S-59
#[tokio::test(start_paused = true)]
async fn a_handler_at_work_is_dropped_at_the_end_and_answers_nothing_behind_it() {
    let guard = Arc::new(());
    let held = Arc::clone(&guard);
    let builder = session().on_form(move |_| {
        let held = Arc::clone(&held);
        async move {
            tokio::time::sleep(3 * SECOND).await;
            drop(held);
            Ok(ElicitResult::cancel())
        }
    });
    let peer = with_session();
    let client = builder.connect(peer.clone()).await.expect("a session");
    let mut call = client.call_tool("ask", ()).into_future();
    assert!(once(&mut call).await.is_pending());
    settle().await;
    assert_eq!(Arc::strong_count(&guard), 3);
    client.close().await;
    settle().await;
    assert_eq!(Arc::strong_count(&guard), 2);
    tokio::time::sleep(5 * SECOND).await;
    assert_eq!(peer.answers(), Vec::<Value>::new());
}

// S-06, S-59
#[tokio::test(start_paused = true)]
async fn what_was_read_before_the_end_is_told_and_its_questions_are_not_answered() {
    let told = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&told);
    let builder = session().on_form(|form| async move { form.decline() });
    let builder = builder.on_notification(move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
    });
    let peer = prompt();
    let client = builder.connect(peer.clone()).await.expect("a session");
    settle().await;
    for id in 1..=3 {
        peer.say(json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": { "level": "info", "data": id } }));
        peer.say(question_of(id, &form()));
    }
    client.close().await;
    assert_eq!(told.load(Ordering::SeqCst), 3);
    settle().await;
    assert_eq!(peer.answers(), Vec::<Value>::new());
}

// S-06
#[tokio::test(start_paused = true)]
async fn a_handler_that_closes_its_own_client_ends_the_connection() {
    let own = Arc::new(OnceLock::<Client>::new());
    let held = Arc::clone(&own);
    let builder = session().on_form(move |form| {
        let client = held.get().cloned();
        async move {
            client.expect("it is set").close().await;
            form.decline()
        }
    });
    let peer = prompt().closing_slowly(2 * SECOND);
    let client = builder.connect(peer.clone()).await.expect("a session");
    own.set(client.clone()).expect("once");
    peer.say(question_of(1, &form()));
    tokio::time::sleep(3 * SECOND).await;
    let (waited, ()) = timed(client.close()).await;
    assert_eq!((waited, peer.closed().len()), (Duration::ZERO, 1), "it is closed already");
    assert_eq!(peer.answers(), Vec::<Value>::new());
}

// S-06
#[tokio::test(start_paused = true)]
async fn a_server_that_always_has_something_to_say_does_not_hold_up_the_end() {
    let peer = prompt();
    let client = session().on_notification(drop).connect(peer.clone()).await.expect("a session");
    settle().await;
    let before = peer.unasked_count();
    peer.flood(usize::MAX);
    peer.say(json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": { "level": "info", "data": 1 } }));
    let (waited, ()) = timed(client.close()).await;
    assert_eq!(waited, Duration::ZERO);
    let more = peer.unasked_count() - before;
    assert!((256..=1024).contains(&more), "{more}");
}

// S-06
#[tokio::test(start_paused = true)]
async fn a_round_whose_questions_came_before_the_end_is_not_sent_behind_it() {
    let peer = Peer::new(|call: Call| async move {
        call.answer(asks(json!({ "q": form() }), None)).await;
        Ok(())
    });
    let client = stateless().on_form(|form| async move {
        tokio::time::sleep(SECOND).await;
        form.decline()
    });
    let client = client.connect(peer.clone()).await.expect("connected");
    let call = tokio::spawn(client.call_tool("book", ()).into_future());
    settle().await;
    client.close().await;
    let error = call.await.expect("no panic").expect_err("closed");
    assert!(error.is_closed(), "{error:?}");
    assert_eq!(peer.sent().len(), 1);
}

// S-64
#[tokio::test(start_paused = true)]
async fn a_subscription_ends_with_the_client() {
    let peer = Peer::own_stream(|call: Call| async move {
        call.greet().await;
        Ok::<(), TransportError>(())
    });
    let client = session().connect(peer.clone()).await.expect("a session");
    let events = client.listen(SubscriptionFilter::new().tools_list_changed());
    let mut events = events.await.expect("a subscription");
    client.close().await;
    let ended = tokio::time::timeout(60 * SECOND, events.next()).await.expect("it ends");
    assert!(matches!(ended, Some(crate::Event::Closed(_))), "{ended:?}");
    assert!(events.next().await.is_none());
}

// S-06, HTTPL-15, HTTPL-17
#[tokio::test(start_paused = true)]
async fn a_client_that_is_closed_while_its_session_is_renewed_ends_the_new_one_too() {
    let peer = Peer::own_stream(|call: Call| async move {
        match (call.method.as_str(), call.connection) {
            ("initialize", connection) => {
                tokio::time::sleep(SECOND).await;
                call.open_session(&format!("s-{connection}")).await;
            }
            ("tools/call", 1) => return Err(status(404)),
            _ => drop(call.greet().await),
        }
        Ok(())
    });
    let client = session().connect(peer.clone()).await.expect("a session");
    let call = tokio::spawn(client.call_tool("x", ()).into_future());
    settle().await;
    client.close().await;
    let error = call.await.expect("no panic").expect_err("closed");
    assert!(error.is_closed(), "{error:?}");
    assert_eq!(peer.closed_sessions(), ["s-1", "s-2"]);
    assert_eq!(peer.sent().last().expect("sent")["method"], "notifications/initialized");
}

// S-39
#[tokio::test(start_paused = true)]
async fn a_call_that_is_over_holds_nothing_though_its_future_is_kept() {
    let peer = Peer::new(|call: Call| async move {
        call.answer(asks(json!({ "q": form() }), None)).await;
        Ok(())
    });
    let guard = Arc::new(());
    let held = Arc::clone(&guard);
    let client = stateless().on_form(move |_| {
        let held = Arc::clone(&held);
        async move {
            pending::<()>().await;
            drop(held);
            Ok(ElicitResult::cancel())
        }
    });
    let client = client.connect(peer).await.expect("connected");
    let mut call = client.call_tool("book", ()).deadline(Duration::from_secs(3)).into_future();
    (&mut call).await.expect_err("too late");
    assert_eq!(Arc::strong_count(&guard), 2);
    drop(call);
}
