//! Peers that never stop talking hide no deadline, and what a call needs on its way ends with it.

use std::future::{IntoFuture, pending};
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use snodo_transport::Abilities;

use super::{Call, Peer, SECOND, once, session, settle, stateless, text, timed};
use crate::Client;

const MOMENT: Duration = Duration::from_millis(1);

/// Says something each millisecond, without ever resting.
async fn flood(call: &Call) {
    for number in 0..20_000 {
        tokio::time::advance(MOMENT).await;
        match number % 3 {
            0 => call.progress(number).await,
            1 => {
                call.say(json!({ "jsonrpc": "2.0", "method": "notifications/message" })).await;
            }
            _ => call.tell(snodo_transport::Incoming::Dropped(1)).await,
        }
    }
}

// S-41, CAN-06
#[tokio::test(start_paused = true)]
async fn a_call_that_is_flooded_ends_in_time_all_the_same() {
    for own_stream in [true, false] {
        let abilities = Abilities { own_stream, ..Abilities::default() };
        let peer = Peer::with(abilities, |call: Call| async move {
            if !call.greet().await {
                flood(&call).await;
            }
            Ok(())
        });
        for builder in [stateless(), session()] {
            let client = builder.connect(peer.clone()).await.expect("connected");
            let (waited, result) =
                timed(client.call_tool("x", ()).timeout(2 * SECOND).into_future()).await;
            assert!(result.expect_err("never answered").is_timeout());
            assert!(waited < 3 * SECOND, "{waited:?}");
            let capped = client.call_tool("x", ()).timeout(2 * SECOND);
            let capped = capped.reset_timeout_on_progress().max_total_timeout(4 * SECOND);
            let (waited, result) = timed(capped.into_future()).await;
            assert!(result.expect_err("never answered").is_timeout());
            assert!((3 * SECOND..5 * SECOND).contains(&waited), "{waited:?}");
            let bounded = client.call_tool("x", ()).timeout(None).deadline(3 * SECOND);
            let (waited, result) = timed(bounded.into_future()).await;
            assert!(result.expect_err("never answered").is_timeout());
            assert!(waited < 4 * SECOND, "{waited:?}");
        }
    }
}

// S-14, S-20
#[tokio::test(start_paused = true)]
async fn a_connect_that_is_flooded_ends_in_time_all_the_same() {
    let peer = Peer::own_stream(|call: Call| async move {
        flood(&call).await;
        Ok(())
    });
    let (waited, result) = timed(session().timeout(2 * SECOND).connect(peer.clone())).await;
    assert!(result.expect_err("never answered").is_timeout());
    assert!(waited < 3 * SECOND, "{waited:?}");
    let builder = Client::builder().probe_timeout(2 * SECOND);
    let (waited, result) = timed(builder.connect(peer.clone())).await;
    assert!(result.expect_err("never answered").is_timeout());
    assert!(waited < 3 * SECOND, "{waited:?}");
    settle().await;
    assert_eq!(peer.alive(), (0, 0));
}

// S-40, PROG-04, PROG-05
#[tokio::test(start_paused = true)]
async fn every_piece_of_progress_is_told_in_order_before_the_answer_and_none_behind_it() {
    let peer = Peer::new(|call: Call| async move {
        if call.greet().await {
            return Ok(());
        }
        for step in 0..1000 {
            call.progress(step).await;
        }
        call.answer(text("done")).await;
        call.progress(1000).await;
        Ok(())
    });
    for builder in [stateless(), session()] {
        let client = builder.connect(peer.clone()).await.expect("connected");
        let seen = Arc::new(std::sync::Mutex::new(Vec::new()));
        let told = Arc::clone(&seen);
        let call = client
            .call_tool("x", ())
            .progress(move |step| told.lock().expect("no panic").push(step.progress.to_string()));
        call.await.expect("answered");
        settle().await;
        let steps: Vec<_> = (0..1000).map(|step| step.to_string()).collect();
        assert_eq!(*seen.lock().expect("no panic"), steps);
    }
}

/// A server behind something like HTTP that refuses a call for its headers, and lists for ever.
fn refuses_headers() -> Peer {
    Peer::own_stream(|call: Call| async move {
        if call.method == "tools/list" {
            pending::<()>().await;
        }
        call.refuse(json!({ "code": -32020, "message": "headers" })).await;
        Ok(())
    })
}

// S-31, S-39
#[tokio::test(start_paused = true)]
async fn a_list_for_the_definition_of_a_tool_is_given_up_with_its_call() {
    let peer = refuses_headers();
    let client = stateless().connect(peer.clone()).await.expect("connected");
    let mut call = client.call_tool("x", ()).into_future();
    assert!(once(&mut call).await.is_pending());
    assert_eq!(
        (peer.methods(), peer.alive().1),
        (vec!["tools/call".into(), "tools/list".into()], 1)
    );
    drop(call);
    assert_eq!(peer.alive(), (1, 0));

    let mut call = client.call_tool("x", ()).deadline(3 * SECOND).into_future();
    let (waited, result) = timed(&mut call).await;
    assert!(result.expect_err("too late").is_timeout());
    assert_eq!((waited, peer.alive()), (3 * SECOND, (1, 0)));

    let (waited, result) = timed(client.call_tool("x", ()).into_future()).await;
    assert_eq!(result.expect_err("refused").code(), -32020, "the first error stands");
    assert_eq!(waited, 30 * SECOND);
}

// S-23
#[tokio::test(start_paused = true)]
async fn in_process_no_clock_ends_a_call() {
    let same_task = Abilities { same_task: true, own_stream: true, ..Abilities::default() };
    let peer = Peer::with(same_task, |call: Call| async move {
        tokio::time::sleep(3600 * SECOND).await;
        call.answer(text("at last")).await;
        Ok(())
    });
    let client = stateless().timeout(SECOND).connect(peer.clone()).await.expect("connected");
    let call = client.call_tool("x", ()).timeout(SECOND).deadline(SECOND).into_future();
    let (waited, result) = timed(call).await;
    assert_eq!((waited, result.expect("answered").text()), (3600 * SECOND, "at last".into()));
}
