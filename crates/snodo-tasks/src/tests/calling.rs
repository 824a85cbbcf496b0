//! Calls on their way to a task.

use std::time::Duration;

use serde_json::json;
use snodo::types::{Cause, InputResponses, Outcome};

use super::server::{NEW, Server, created, form, task, text};
use crate::{Called, TaskClient, TaskOutcome};

// TASK-28
#[tokio::test(start_paused = true)]
async fn one_chain_goes_from_a_question_to_a_task_to_a_question_to_a_result() {
    let asks = json!({ "resultType": "input_required", "requestState": "s", "inputRequests": { "q": form("one") } });
    let server = Server::new()
        .says("tools/call", asks)
        .says("tools/call", created("working", json!({})))
        .says("tasks/get", task("input_required", json!({ "inputRequests": { "q": form("two") } })))
        .says("tasks/update", json!({ "resultType": "complete" }))
        .says("tasks/get", task("completed", json!({ "result": text("done") })));
    let client = server
        .connect_with(NEW, |builder| {
            builder.on_form(|form| async move { form.accept(json!({ "name": form.message() })) })
        })
        .await;
    let tasks = TaskClient::new(&client);
    let called = tasks.call_tool("book", json!({ "to": "Rome" })).await.expect("a task");
    let Called::Task(task) = called else { panic!("{called:?}") };
    let outcome = tasks.wait(&task).await.expect("an outcome");
    assert!(matches!(outcome, TaskOutcome::Complete(result) if result.text() == "done"));
    let seen = server.seen();
    assert_eq!(seen[1].params["requestState"], "s");
    assert_eq!(seen[1].params["inputResponses"]["q"]["content"]["name"], "one");
    assert_eq!(seen[3].params["inputResponses"]["q"]["content"]["name"], "two");
}

// TASK-28
#[tokio::test]
async fn questions_before_a_task_may_be_answered_by_hand() {
    let asks = json!({ "resultType": "input_required", "inputRequests": { "q": form("one") } });
    let server = Server::new()
        .says("tools/call", asks.clone())
        .says("tools/call", created("working", json!({})))
        .says("tools/call", asks);
    let tasks = TaskClient::new(&server.connect(NEW).await);
    let outcome = tasks.call_tool("book", ()).outcome().await.expect("questions");
    let Outcome::InputRequired(asked) = outcome else { panic!("{outcome:?}") };
    let answers = InputResponses::new().with("q", &json!({ "action": "decline" }));
    let call = tasks.call_tool("book", ()).with(|request| request.answer(&asked, answers));
    let called = call.await.expect("a task");
    assert!(matches!(called, Called::Task(_)), "{called:?}");
    let error = tasks.call_tool("book", ()).await.expect_err("nobody answers");
    assert_eq!(error.code(), -32602);
    assert!(matches!(error.cause(), Some(Cause::InputRequired(_))));
}

// TASK-29
#[tokio::test(start_paused = true)]
async fn one_call_gives_the_end_of_it_whether_or_not_it_took_a_task() {
    let server = Server::new()
        .says("tools/call", text("at once"))
        .says("tools/call", created("working", json!({})))
        .says("tasks/get", task("completed", json!({ "result": text("later") })))
        .says("tools/call", created("working", json!({})))
        .says("tasks/get", task("working", json!({})));
    let tasks = TaskClient::new(&server.connect(NEW).await);
    for said in ["at once", "later"] {
        let outcome = tasks.call_tool("slow", ()).finish(|wait| wait).await.expect("an outcome");
        assert!(matches!(outcome, TaskOutcome::Complete(result) if result.text() == said));
    }
    let limit = Duration::from_millis(300);
    let error = tasks.call_tool("slow", ()).finish(|wait| wait.limit(limit)).await;
    assert_eq!(error.expect_err("too late").code(), -32001);
}

#[tokio::test(start_paused = true)]
async fn options_of_a_call_are_those_of_any_request() {
    let server = Server::new().keeps_silent_on("tools/call");
    let tasks = TaskClient::new(&server.connect(NEW).await);
    let call = tasks
        .call_tool("slow", ())
        .with(|request| request.timeout(Duration::from_secs(2)).meta("com.example/t", 1));
    let error = call.await.expect_err("no answer");
    assert_eq!((error.code(), error.is_timeout()), (-32001, true));
    assert_eq!(server.seen()[0].params["_meta"]["com.example/t"], 1);
}
