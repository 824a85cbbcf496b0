//! Clocks: what ends a call, what does not, and what it is told then.

use std::future::{IntoFuture, pending};
use std::time::Duration;

use serde_json::{Value, json};
use snodo_transport::Incoming;

use super::{Call, Peer, SECOND, asks, form, session, stateless, text, timed};
use crate::types::{Cause, Kind};
use crate::{Client, Error};

/// A stateless peer that does this with every request.
fn peer<G>(act: impl Fn(Call) -> G + Send + Sync + 'static) -> Peer
where
    G: Future<Output = ()> + Send + 'static,
{
    Peer::new(move |call| {
        let acting = act(call);
        async {
            acting.await;
            Ok(())
        }
    })
}

async fn connect(peer: &Peer) -> Client {
    stateless().connect(peer.clone()).await.expect("connected")
}

fn data(error: &Error) -> Value {
    error.data().expect("data").decode().expect("JSON")
}

// S-05, S-14, S-41, CAN-06
#[tokio::test(start_paused = true)]
async fn a_silent_peer_is_waited_for_thirty_seconds_and_no_longer() {
    let peer = peer(|_| pending());
    let client = connect(&peer).await;
    let (waited, result) = timed(client.call_tool("slow", ()).into_future()).await;
    let error = result.expect_err("no answer");
    assert_eq!(waited, 30 * SECOND);
    assert_eq!((error.code(), error.kind()), (-32001, Kind::Transport));
    assert_eq!(data(&error), json!({ "timeoutMs": 30_000 }));
    assert!(error.is_timeout() && matches!(error.cause(), Some(Cause::Timeout)));
}

// S-39
#[tokio::test(start_paused = true)]
async fn a_timeout_of_nothing_still_sends_and_ends_at_once() {
    let peer = peer(|_| pending());
    let client = connect(&peer).await;
    let call = client.call_tool("slow", ()).timeout(Duration::ZERO).into_future();
    let (waited, result) = timed(call).await;
    assert!(result.expect_err("no answer").is_timeout());
    assert!(waited < Duration::from_millis(10));
    assert_eq!((peer.sent().len(), peer.given_up().len()), (1, 1));
}

// S-14, S-39
#[tokio::test(start_paused = true)]
async fn without_a_timeout_a_call_waits_for_a_week_and_longest_times_do_not_overflow() {
    let week = 7 * 24 * 3600 * SECOND;
    let peer = peer(move |call| async move {
        tokio::time::sleep(week).await;
        call.progress(1).await;
        call.answer(text("at last")).await;
    });
    let client = connect(&peer).await;
    let call = client.call_tool("slow", ()).timeout(None).max_total_timeout(SECOND);
    let (waited, result) = timed(call.reset_timeout_on_progress().into_future()).await;
    assert_eq!((waited, result.expect("answered").text()), (week, "at last".into()));
    let call = client.call_tool("slow", ()).timeout(Duration::MAX).deadline(Duration::MAX);
    let call = call.max_total_timeout(Duration::MAX).reset_timeout_on_progress();
    assert_eq!(call.await.expect("answered").text(), "at last");
}

/// Progress each eight seconds, for ever.
async fn keep_progressing(call: Call) {
    for step in 1.. {
        tokio::time::sleep(8 * SECOND).await;
        call.progress(step).await;
    }
}

// S-40, S-41
#[tokio::test(start_paused = true)]
async fn progress_moves_the_timeout_only_where_it_was_asked_to() {
    let peer = peer(keep_progressing);
    let client = connect(&peer).await;
    let call = client.call_tool("slow", ()).timeout(10 * SECOND).progress(|_| {});
    let (waited, result) = timed(call.into_future()).await;
    assert_eq!(waited, 10 * SECOND);
    assert_eq!(data(&result.expect_err("no answer")), json!({ "timeoutMs": 10_000 }));

    let call = client.call_tool("slow", ()).timeout(10 * SECOND).reset_timeout_on_progress();
    let (waited, result) = timed(call.max_total_timeout(50 * SECOND).into_future()).await;
    let error = result.expect_err("no answer");
    assert_eq!((waited, error.code()), (50 * SECOND, -32001));
    assert_eq!(error.message(), "Maximum total timeout exceeded");
    assert_eq!(data(&error), json!({ "maxTotalTimeoutMs": 50_000 }));
    assert!(error.is_timeout() && matches!(error.cause(), Some(Cause::MaxTotalTimeout)));

    let call = client.call_tool("slow", ()).timeout(10 * SECOND).reset_timeout_on_progress();
    let (waited, _) = timed(call.into_future()).await;
    assert_eq!(waited, 600 * SECOND, "the cap unless another is set");
}

// S-40, PROG-04
#[tokio::test(start_paused = true)]
async fn progress_of_other_tokens_moves_nothing_and_is_told_to_nobody() {
    let peer = peer(|call| async move {
        for token in [json!("x1"), json!(999), json!(null), json!({}), json!(-1), json!(1.5)] {
            tokio::time::sleep(3 * SECOND).await;
            let params = json!({ "progressToken": token, "progress": 1 });
            call.say(
                json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params }),
            )
            .await;
        }
        pending().await
    });
    let client = connect(&peer).await;
    let told = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let count = std::sync::Arc::clone(&told);
    let call = client.call_tool("slow", ()).timeout(10 * SECOND).reset_timeout_on_progress();
    let call = call.progress(move |_| {
        count.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
    });
    let (waited, _) = timed(call.into_future()).await;
    assert_eq!((waited, told.load(std::sync::atomic::Ordering::SeqCst)), (10 * SECOND, 0));
}

// S-55, CAN-12
#[tokio::test(start_paused = true)]
async fn each_round_has_the_whole_timeout_and_handlers_have_all_the_time() {
    let peer = peer(|call| async move {
        tokio::time::sleep(9 * SECOND).await;
        match call.message["params"]["requestState"].as_str() {
            None => call.answer(asks(json!({ "q": form() }), Some("1"))).await,
            Some("1") => call.answer(asks(json!({ "q": form() }), Some("2"))).await,
            Some(_) => call.answer(text("done")).await,
        }
    });
    let client = stateless().timeout(10 * SECOND).on_form(|form| async move {
        tokio::time::sleep(3600 * SECOND).await;
        form.accept(json!({ "name": "Ada" }))
    });
    let client = client.connect(peer.clone()).await.expect("connected");
    let (waited, result) = timed(client.call_tool("book", ()).into_future()).await;
    assert_eq!(result.expect("answered").text(), "done");
    assert_eq!(waited, 7227 * SECOND);
}

// S-39
#[tokio::test(start_paused = true)]
async fn a_deadline_bounds_rounds_pauses_and_a_handler_that_never_answers() {
    let thinks = |call: Call| async move { call.answer(asks(json!({ "q": form() }), None)).await };
    let paces = |call: Call| async move {
        call.answer(json!({ "resultType": "input_required", "requestState": "s" })).await;
    };
    for peer in [peer(thinks), peer(paces), peer(|_| pending())] {
        let client = stateless().timeout(None).max_input_rounds(1000).on_form(|_| pending());
        let client = client.connect(peer.clone()).await.expect("connected");
        let call = client.call_tool("book", ()).deadline(20 * SECOND);
        let (waited, result) = timed(call.into_future()).await;
        let error = result.expect_err("too late");
        assert_eq!((waited, error.code()), (20 * SECOND, -32001));
        assert_eq!(data(&error), json!({ "timeoutMs": 20_000 }));
    }
}

#[tokio::test(start_paused = true)]
async fn while_a_transport_waits_for_a_person_the_clock_stands_but_not_the_deadline() {
    let peer = peer(|call| async move {
        tokio::time::sleep(9 * SECOND).await;
        call.tell(Incoming::Held).await;
        tokio::time::sleep(250 * SECOND).await;
        call.tell(Incoming::Held).await;
        call.tell(Incoming::Released).await;
        call.tell(Incoming::Released).await;
        pending().await
    });
    let client = connect(&peer).await;
    let (waited, _) = timed(client.call_tool("x", ()).timeout(10 * SECOND).into_future()).await;
    assert_eq!(waited, 260 * SECOND);
    let call = client.call_tool("x", ()).timeout(10 * SECOND).deadline(60 * SECOND);
    let (waited, _) = timed(call.into_future()).await;
    assert_eq!(waited, 60 * SECOND);
}

// S-16, S-17
#[tokio::test(start_paused = true)]
async fn a_silent_probe_means_an_old_server_on_a_pipe_and_a_failure_on_streams() {
    async fn act(call: Call) -> Result<(), crate::types::TransportError> {
        if !call.greet().await {
            pending::<()>().await;
        }
        Ok(())
    }
    let pipe = Peer::new(act);
    let (waited, client) =
        timed(Client::builder().probe_timeout(4 * SECOND).connect(pipe.clone())).await;
    assert_eq!(client.expect("a session").protocol(), super::SESSION);
    assert_eq!((waited, pipe.connections()), (4 * SECOND, 2));
    assert_eq!(pipe.methods(), ["server/discover", "initialize", "notifications/initialized"]);
    super::settle().await;
    assert_eq!(pipe.alive(), (0, 0));

    let streams = Peer::own_stream(act);
    let (waited, client) = timed(Client::connect(streams.clone())).await;
    let error = client.expect_err("no answer");
    assert_eq!((waited, error.code(), streams.connections()), (10 * SECOND, -32001, 1));
    assert!(error.to_string().starts_with("server/discover at the peer: "), "{error}");
}

// S-20
#[tokio::test(start_paused = true)]
async fn a_notice_that_cannot_be_delivered_holds_up_connect_no_longer_than_the_timeout() {
    let peer = Peer::new(|call| async move {
        if call.method == "notifications/initialized" {
            pending::<()>().await;
        }
        call.greet().await;
        Ok(())
    });
    let (waited, client) = timed(session().timeout(6 * SECOND).connect(peer.clone())).await;
    assert!(client.expect_err("never delivered").is_timeout());
    super::settle().await;
    assert_eq!((waited, peer.alive()), (6 * SECOND, (0, 0)));
}
