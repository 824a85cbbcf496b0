//! Where there is no runtime, or one without time: an error, and never a panic.

use std::future::{IntoFuture, pending};

use serde_json::json;

use super::{Peer, asks, form, run_without_a_runtime, session, stateless, text};
use crate::Client;
use crate::types::Kind;

fn prompt() -> Peer {
    Peer::new(|call| async move {
        if !call.greet().await {
            call.answer(text("done")).await;
        }
        Ok(())
    })
}

fn silent() -> Peer {
    Peer::new(|_| pending())
}

#[test]
fn without_a_runtime_a_call_that_has_to_wait_fails_and_one_without_clocks_works() {
    let client = stateless().connect(silent());
    let client = run_without_a_runtime(client).expect("connected");
    let error = run_without_a_runtime(client.call_tool("slow", ()).into_future());
    let error = error.expect_err("nobody keeps the time");
    assert_eq!((error.kind(), error.code()), (Kind::Execution, -32603));
    assert!(
        error.to_string().starts_with("tools/call \"slow\" at the peer: no tokio runtime "),
        "{error}"
    );

    let client = session().timeout(None).connect(prompt());
    let client = run_without_a_runtime(client).expect("a session");
    let reply = run_without_a_runtime(client.call_tool("quick", ()).into_future());
    assert_eq!(reply.expect("answered").text(), "done");
    run_without_a_runtime(client.close());
}

#[test]
fn without_a_runtime_a_paced_round_fails_and_a_handler_still_answers() {
    let peer = Peer::new(|call| async move {
        if call.message["params"]["name"] == "paces" {
            call.answer(json!({ "resultType": "input_required", "requestState": "s" })).await;
        } else if call.message["params"].get("inputResponses").is_none() {
            call.answer(asks(json!({ "q": form() }), None)).await;
        } else {
            call.answer(text("done")).await;
        }
        Ok(())
    });
    let client = stateless().timeout(None).on_form(|form| async move { form.decline() });
    let client = run_without_a_runtime(client.connect(peer)).expect("connected");
    let reply = run_without_a_runtime(client.call_tool("asks", ()).into_future());
    assert_eq!(reply.expect("answered").text(), "done");
    let error = run_without_a_runtime(client.call_tool("paces", ()).into_future());
    assert_eq!(error.expect_err("nobody keeps the time").kind(), Kind::Execution);
}

#[test]
fn without_a_runtime_a_connect_that_has_to_wait_fails() {
    let error = run_without_a_runtime(Client::connect(silent())).expect_err("no time");
    assert_eq!(error.kind(), Kind::Execution);
    let error = run_without_a_runtime(session().connect(silent())).expect_err("no time");
    assert_eq!(error.kind(), Kind::Execution);
}

#[test]
fn on_a_runtime_without_time_a_call_that_has_to_wait_fails() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(async {
        let client = stateless().connect(silent()).await.expect("connected");
        let error = client.call_tool("slow", ()).await.expect_err("nobody keeps the time");
        assert_eq!(error.kind(), Kind::Execution);
        let client = session().timeout(None).connect(prompt()).await.expect("a session");
        assert_eq!(client.call_tool("quick", ()).await.expect("answered").text(), "done");
    });
}
