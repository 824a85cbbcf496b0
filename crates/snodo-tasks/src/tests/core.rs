//! Tasks of the core, as the version before the extension has them.

use std::time::Duration;

use serde_json::{Value, json};
use snodo::types::{InputResponses, Meta, TaskStatus, Tool};

use super::server::{CORE, Server, core_task, text};
use crate::{Called, TaskClient, TaskHandle, TaskOutcome};

fn tool(support: Option<&str>) -> Tool {
    let mut tool = json!({ "name": "slow", "inputSchema": { "type": "object" } });
    if let Some(support) = support {
        tool["execution"] = json!({ "taskSupport": support });
    }
    serde_json::from_value(tool).expect("a tool")
}

fn made(more: Value) -> Value {
    json!({ "task": core_task("working", more) })
}

async fn tasks(server: &Server) -> (TaskClient, TaskHandle) {
    let tasks = TaskClient::new(&server.connect(CORE).await);
    let task = tasks.task("t-1").expect("a version with tasks");
    (tasks, task)
}

// TASKL-01, TASKL-02, TASKL-03
#[tokio::test]
async fn a_task_is_asked_for_where_the_server_and_the_tool_allow_it() {
    let declared = json!({ "tasks": { "requests": { "tools": { "call": {} } } } });
    for (capabilities, support, asked) in [
        (declared.clone(), Some("optional"), true),
        (declared.clone(), Some("required"), true),
        (declared.clone(), Some("forbidden"), false),
        (declared.clone(), Some("com.example/odd"), false),
        (declared, None, false),
        (json!({ "tasks": { "requests": {} } }), Some("required"), false),
        (json!({}), Some("optional"), false),
    ] {
        let answer = if asked { made(json!({})) } else { text("done") };
        let server = Server::declaring(capabilities.clone()).says("tools/call", answer);
        let tasks = TaskClient::new(&server.connect(CORE).await);
        let call = tasks.call_tool(&tool(support), ()).ttl(Duration::from_secs(90));
        let called = call.await.expect("an answer");
        assert_eq!(matches!(called, Called::Task(_)), asked, "{capabilities} {support:?}");
        let wanted = if asked { json!({ "ttl": 90000 }) } else { Value::Null };
        assert_eq!(server.seen()[0].params["task"], wanted, "{capabilities} {support:?}");
    }
}

// TASKL-01, TASKL-02
#[tokio::test]
async fn by_its_name_alone_a_tool_is_looked_up_first() {
    let server = Server::new()
        .says("tools/list", json!({ "tools": [tool(Some("required"))] }))
        .says("tools/call", made(json!({})))
        .says("tools/list", json!({ "tools": [tool(Some("required"))] }))
        .says("tools/call", text("done"));
    let tasks = TaskClient::new(&server.connect(CORE).await);
    let called = tasks.call_tool("slow", ()).await.expect("a task");
    assert!(matches!(called, Called::Task(_)), "{called:?}");
    let called = tasks.call_tool("unlisted", ()).await.expect("a result");
    assert!(matches!(called, Called::Complete(_)), "{called:?}");
    assert_eq!(server.seen()[1].params["task"], json!({}));
    assert_eq!(server.seen()[3].params["task"], Value::Null);
}

// TASKL-03
#[tokio::test]
async fn what_is_said_of_the_making_is_kept_and_an_answer_at_once_is_one() {
    let told = json!({
        "task": core_task("working", json!({ "pollInterval": 500, "statusMessage": "soon" })),
        "_meta": { "io.modelcontextprotocol/model-immediate-response": "It takes a while." },
    });
    let server = Server::new().says("tools/call", told).says("tools/call", text("done"));
    let tasks = TaskClient::new(&server.connect(CORE).await);
    let tool = tool(Some("optional"));
    let called = tasks.call_tool(&tool, ()).await.expect("a task");
    let Called::Task(task) = called else { panic!("{called:?}") };
    let state = task.created().expect("what was said of it");
    assert_eq!(state.status_message(), Some("soon"));
    assert_eq!(state.poll_interval(), Some(Duration::from_millis(500)));
    assert_eq!(state.ttl(), Some(Duration::from_secs(60)));
    let say = state.meta().read::<String>(Meta::MODEL_IMMEDIATE_RESPONSE);
    assert_eq!(say.as_deref(), Some("It takes a while."));
    let called = tasks.call_tool(&tool, ()).await.expect("a result");
    assert!(matches!(called, Called::Complete(reply) if reply.text() == "done"));
}

// TASKL-04, TASKL-06, TASKL-09
#[tokio::test(start_paused = true)]
async fn a_task_is_asked_after_at_its_interval_and_then_for_its_result() {
    let related = json!({ "io.modelcontextprotocol/related-task": { "taskId": "t-1" } });
    let server = Server::new()
        .says("tasks/get", core_task("working", json!({ "pollInterval": 2000 })))
        .says("tasks/get", core_task("working", json!({})))
        .says("tasks/get", core_task("failed", json!({})))
        .says("tasks/result", json!({ "content": [], "isError": true, "_meta": related }));
    let (tasks, task) = tasks(&server).await;
    let outcome = tasks.wait(&task).await.expect("an outcome");
    let TaskOutcome::Complete(result) = outcome else { panic!("{outcome:?}") };
    assert!(result.is_error());
    assert_eq!(result.meta().related_task().expect("named").task_id.as_str(), "t-1");
    assert_eq!(server.times("tasks/get"), [0, 2000, 3000]);
    assert_eq!(server.times("tasks/result"), [3000]);
}

// TASKL-05
#[tokio::test(start_paused = true)]
async fn a_task_that_needs_input_is_asked_for_its_result_at_once() {
    let server = Server::new()
        .says("tasks/get", core_task("input_required", json!({})))
        .says("tasks/result", text("done"));
    let (tasks, task) = tasks(&server).await;
    let outcome = tasks.wait(&task).await.expect("an outcome");
    assert!(matches!(outcome, TaskOutcome::Complete(result) if result.text() == "done"));
}

// TASKL-05
#[tokio::test(start_paused = true)]
async fn the_result_is_waited_for_longer_than_any_request_and_no_longer_than_the_limit() {
    let server = Server::new()
        .says("tasks/get", core_task("input_required", json!({})))
        .keeps_silent_on("tasks/result");
    let (tasks, task) = tasks(&server).await;
    let begun = tokio::time::Instant::now();
    let error = tasks.wait(&task).limit(Duration::from_secs(300)).await.expect_err("too late");
    assert_eq!((error.code(), begun.elapsed()), (-32001, Duration::from_secs(300)));
    let data: Value = error.data().expect("data").decode().expect("JSON");
    assert_eq!(data, json!({ "taskId": "t-1", "timeoutMs": 300_000 }));
}

#[tokio::test]
async fn a_caller_may_see_that_input_is_needed() {
    let server = Server::new().says("tasks/get", core_task("input_required", json!({})));
    let (tasks, task) = tasks(&server).await;
    let outcome = tasks.wait(&task).leave_input().await.expect("an outcome");
    assert!(matches!(outcome, TaskOutcome::InputRequired(_)), "{outcome:?}");
}

// TASKL-06
#[tokio::test(start_paused = true)]
async fn the_error_of_a_task_is_told_from_an_error_about_it() {
    let server = Server::new()
        .says("tasks/get", core_task("failed", json!({})))
        .fails("tasks/result", -32603)
        .says("tasks/get", core_task("input_required", json!({})))
        .fails("tasks/result", -32099)
        .says("tasks/get", core_task("failed", json!({})))
        .says("tasks/get", core_task("input_required", json!({})))
        .fails("tasks/result", -32098)
        .says("tasks/get", core_task("cancelled", json!({})))
        .says("tasks/get", core_task("completed", json!({})))
        .fails("tasks/result", -32602);
    let (tasks, task) = tasks(&server).await;
    for code in [-32603, -32099] {
        let outcome = tasks.wait(&task).await.expect("an outcome");
        assert!(matches!(&outcome, TaskOutcome::Failed(error) if error.code() == code));
    }
    let outcome = tasks.wait(&task).await.expect("an outcome");
    assert!(matches!(outcome, TaskOutcome::Cancelled(_)), "{outcome:?}");
    let error = tasks.wait(&task).await.expect_err("it is not kept any more");
    assert_eq!(error.code(), -32602);
    assert!(server.is_done());
}

#[tokio::test(start_paused = true)]
async fn a_broken_connection_is_not_the_error_of_the_task() {
    let server =
        Server::new().says("tasks/get", core_task("failed", json!({}))).breaks("tasks/result");
    let (tasks, task) = tasks(&server).await;
    assert!(tasks.wait(&task).await.expect_err("nobody told").is_closed());
}

// TASKL-07
#[tokio::test(start_paused = true)]
async fn questions_about_a_task_do_not_name_it_twice() {
    let server = Server::new()
        .says("tasks/get", core_task("completed", json!({})))
        .says("tasks/result", text("done"))
        .says("tasks/cancel", core_task("cancelled", json!({})));
    let (tasks, task) = tasks(&server).await;
    tasks.wait(&task).await.expect("an outcome");
    tasks.cancel(&task).await.expect("taken");
    for seen in server.seen() {
        assert_eq!(seen.params, json!({ "taskId": "t-1" }), "{}", seen.method);
    }
}

// TASKL-08
#[tokio::test(start_paused = true)]
async fn a_task_is_given_up_by_its_own_request_alone() {
    let server = Server::new()
        .keeps_silent_on("tools/call")
        .says("tasks/cancel", core_task("cancelled", json!({})))
        .fails("tasks/cancel", -32602)
        .says("tasks/get", core_task("cancelled", json!({})));
    let (tasks, task) = tasks(&server).await;
    let call = tasks.call_tool(&tool(Some("required")), ());
    let call = call.with(|request| request.timeout(Duration::from_secs(1)));
    call.await.expect_err("no answer");
    assert!(!server.seen()[0].cancellable, "a notification would cancel the request that made it");
    tasks.cancel(&task).await.expect("taken");
    assert_eq!(tasks.cancel(&task).await.expect_err("it is over").code(), -32602);
    let outcome = tasks.wait(&task).await.expect("an outcome");
    let TaskOutcome::Cancelled(state) = outcome else { panic!("{outcome:?}") };
    assert_eq!(*state.status(), TaskStatus::Cancelled);
}

#[tokio::test]
async fn a_core_task_is_not_answered_by_an_update() {
    let server = Server::new();
    let (tasks, task) = tasks(&server).await;
    let error = tasks.update(&task, InputResponses::new()).await.expect_err("no such request");
    assert_eq!(error.code(), -32601);
    assert!(server.methods().is_empty());
}
