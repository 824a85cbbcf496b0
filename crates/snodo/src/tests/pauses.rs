//! The clocks of calls while the server's own questions are being answered.

use std::future::{IntoFuture, pending};
use std::time::Duration;

use serde_json::json;
use snodo_types::ElicitResult;

use super::far::question_of;
use super::{Call, Far, Peer, SECOND, form, session, text, timed};
use crate::types::Cause;
use crate::{Builder, Error};

/// A client whose user takes so long to fill a form in.
fn slow_user(time: Duration) -> Builder {
    session().on_form(move |form| async move {
        tokio::time::sleep(time).await;
        form.accept(json!({ "name": "Ada" }))
    })
}

/// Whether something took as long as it should, to within the glances at the clock.
fn about(waited: Duration, wanted: Duration) -> bool {
    (wanted..wanted + Duration::from_millis(120)).contains(&waited)
}

fn total(error: &Error) -> String {
    assert!(matches!(error.cause(), Some(Cause::MaxTotalTimeout)), "{error:?}");
    error.data().expect("data").to_string()
}

/// A peer with a stream for each call, which asks on it at once and then says nothing more.
fn asks_and_falls_silent() -> Peer {
    Peer::own_stream(|call: Call| async move {
        if !call.greet().await {
            call.say(question_of(1, &form())).await;
            pending::<()>().await;
        }
        Ok(())
    })
}

// S-59, CAN-12
#[tokio::test(start_paused = true)]
async fn two_calls_on_a_pipe_outlive_a_question_and_have_all_their_time_after_it() {
    let (client, mut far) = Far::open(slow_user(100 * SECOND)).await;
    let first = client.call_tool("first", ()).into_future();
    let second = client.call_tool("second", ()).timeout(10 * SECOND).into_future();
    let server = async {
        let asked = far.read().await;
        far.read().await;
        tokio::time::sleep(5 * SECOND).await;
        far.ask(1, &form()).await;
        assert_eq!(far.read().await["result"]["action"], "accept");
        tokio::time::sleep(24 * SECOND).await;
        far.answer(&asked, text("first")).await;
    };
    let (first, second, ()) = tokio::join!(timed(first), timed(second), server);
    assert_eq!(first.1.expect("answered").text(), "first");
    assert!(about(second.0, 110 * SECOND), "{:?}", second.0);
    assert!(second.1.expect_err("no answer").is_timeout());
}

// S-59, CAN-12
#[tokio::test(start_paused = true)]
async fn on_a_call_s_own_stream_the_clock_runs_on_from_the_answer() {
    let client = slow_user(200 * SECOND).connect(asks_and_falls_silent()).await;
    let client = client.expect("a session");
    let (waited, result) = timed(client.call_tool("ask", ()).into_future()).await;
    assert!(about(waited, 230 * SECOND), "{waited:?}");
    let error = result.expect_err("no answer");
    assert!(matches!(error.cause(), Some(Cause::Timeout)), "{error:?}");
}

// S-41, S-59
#[tokio::test(start_paused = true)]
async fn a_user_who_never_answers_ends_a_call_at_its_cap_whichever_way_that_is_set() {
    let client = session().on_form(|_| async {
        pending::<()>().await;
        Ok(ElicitResult::cancel())
    });
    let client = client.connect(asks_and_falls_silent()).await.expect("a session");
    let (waited, result) = timed(client.call_tool("ask", ()).into_future()).await;
    assert_eq!(waited, 600 * SECOND);
    assert_eq!(total(&result.expect_err("no answer")), r#"{"maxTotalTimeoutMs":600000}"#);

    let capped = client.call_tool("ask", ()).max_total_timeout(45 * SECOND);
    let (waited, result) = timed(capped.into_future()).await;
    assert_eq!(waited, 45 * SECOND);
    assert_eq!(total(&result.expect_err("no answer")), r#"{"maxTotalTimeoutMs":45000}"#);

    let capped = client.call_tool("ask", ()).max_total_timeout(45 * SECOND);
    let (waited, result) = timed(capped.reset_timeout_on_progress().into_future()).await;
    assert_eq!(waited, 45 * SECOND);
    assert_eq!(total(&result.expect_err("no answer")), r#"{"maxTotalTimeoutMs":45000}"#);

    let bounded = client.call_tool("ask", ()).deadline(40 * SECOND);
    let (waited, result) = timed(bounded.into_future()).await;
    assert_eq!(waited, 40 * SECOND);
    assert!(result.expect_err("no answer").is_timeout());
}

// S-59
#[tokio::test(start_paused = true)]
async fn a_word_at_the_very_moment_of_the_timeout_does_not_end_a_call_whose_clock_stands() {
    let peer = Peer::own_stream(|call: Call| async move {
        if call.greet().await {
            return Ok(());
        }
        call.say(question_of(1, &form())).await;
        tokio::time::sleep(30 * SECOND).await;
        call.say(json!({ "jsonrpc": "2.0", "method": "notifications/message" })).await;
        tokio::time::sleep(80 * SECOND).await;
        call.answer(text("done")).await;
        Ok(())
    });
    let client = slow_user(100 * SECOND).connect(peer.clone()).await.expect("a session");
    let (waited, result) = timed(client.call_tool("ask", ()).into_future()).await;
    assert_eq!((waited, result.expect("answered").text()), (110 * SECOND, "done".into()));
}

// S-59
#[tokio::test(start_paused = true)]
async fn a_call_that_begins_while_a_question_is_open_counts_from_its_own_sending() {
    let (client, mut far) = Far::open(slow_user(50 * SECOND)).await;
    far.ask(1, &form()).await;
    tokio::time::sleep(20 * SECOND).await;
    let (waited, result) =
        timed(client.call_tool("slow", ()).timeout(10 * SECOND).into_future()).await;
    assert!(about(waited, 40 * SECOND), "{waited:?}");
    assert!(result.expect_err("no answer").is_timeout());
    let (waited, _) = timed(client.call_tool("slow", ()).timeout(10 * SECOND).into_future()).await;
    assert_eq!(waited, 10 * SECOND, "nothing is open any more");
}
