//! The extension itself: declared, routed, listened to.

use serde_json::{Value, json};
use snodo::types::{InputResponses, TaskStatus};

use super::server::{NEW, OLD, Server, created, task, text};
use crate::{Called, TaskClient, Tasks};

fn declared(params: &Value) -> &Value {
    &params["_meta"]["io.modelcontextprotocol/clientCapabilities"]["extensions"]["io.modelcontextprotocol/tasks"]
}

// TASK-01, TASK-02, TASK-24, TASK-27
#[tokio::test]
async fn every_request_of_its_own_declares_the_extension_and_asks_for_nothing_else() {
    let server = Server::new()
        .says("tools/call", created("working", json!({})))
        .says("tasks/get", task("working", json!({})))
        .says("tasks/update", json!({ "resultType": "complete" }))
        .says("tasks/cancel", json!({ "resultType": "complete" }));
    let tasks = TaskClient::new(&server.connect(NEW).await);
    let called = tasks.call_tool("slow", json!({ "a": 1 })).await.expect("a task");
    let Called::Task(task) = called else { panic!("{called:?}") };
    tasks.get(&task).await.expect("its state");
    tasks.update(&task, InputResponses::new().with("q", &json!({}))).await.expect("taken");
    tasks.cancel(&task).await.expect("taken");
    for seen in server.seen() {
        assert_eq!(*declared(&seen.params), json!({}), "{}", seen.method);
    }
    assert_eq!(server.seen()[0].params["task"], Value::Null, "the server alone decides");
    assert_eq!(server.seen()[2].params["inputResponses"], json!({ "q": {} }));
}

// TASK-01
#[tokio::test]
async fn registered_on_the_client_it_is_declared_with_every_request() {
    let server = Server::new()
        .says("tools/list", json!({ "tools": [], "resultType": "complete" }))
        .says("tasks/get", task("working", json!({})));
    let client = server.connect_with(NEW, |builder| builder.extension(Tasks)).await;
    client.list_tools().await.expect("a list");
    let tasks = TaskClient::new(&client);
    tasks.get(&tasks.task("t-1").expect("a version with tasks")).await.expect("its state");
    for seen in server.seen() {
        assert_eq!(*declared(&seen.params), json!({}), "{}", seen.method);
    }
}

// TASK-03, TASK-05
#[tokio::test]
async fn a_call_is_answered_with_a_result_or_a_task() {
    let more = json!({ "ttlMs": 60000, "pollIntervalMs": 10, "statusMessage": "soon" });
    let server =
        Server::new().says("tools/call", text("done")).says("tools/call", created("working", more));
    let tasks = TaskClient::new(&server.connect(NEW).await);
    let called = tasks.call_tool("quick", ()).await.expect("a result");
    let Called::Complete(reply) = called else { panic!("{called:?}") };
    assert_eq!(reply.text(), "done");
    let called = tasks.call_tool("slow", ()).await.expect("a task");
    let Called::Task(task) = called else { panic!("{called:?}") };
    let state = task.created().expect("what was said of it");
    assert_eq!((task.id().as_str(), state.status()), ("t-1", &TaskStatus::Working));
    assert_eq!(state.status_message(), Some("soon"));
    assert_eq!(state.ttl().map(|ttl| ttl.as_secs()), Some(60));
    assert_eq!(state.poll_interval().map(|interval| interval.as_millis()), Some(10));
}

// TASK-04
#[tokio::test]
async fn a_task_for_an_answer_is_invalid_for_everything_but_calls_of_tools() {
    let server = Server::new()
        .says("prompts/get", created("working", json!({})))
        .says("resources/read", created("working", json!({})))
        .says("tasks/update", created("working", json!({})));
    let client = server.connect_with(NEW, |builder| builder.extension(Tasks)).await;
    let tasks = TaskClient::new(&client);
    let task = tasks.task("t-1").expect("a version with tasks");
    let prompt = client.get_prompt("p", ()).await.expect_err("no prompt");
    let resource = client.read_resource("file:///a").await.expect_err("no resource");
    let update = tasks.update(&task, InputResponses::new()).await.expect_err("no word");
    assert_eq!([prompt.code(), resource.code(), update.code()], [-32000; 3]);
}

// TASK-04
#[tokio::test]
async fn a_task_that_was_not_declared_for_is_invalid() {
    let server = Server::new().says("tools/call", created("working", json!({})));
    let client = server.connect(NEW).await;
    let error = client.call_tool("slow", ()).await.expect_err("nobody declared it");
    assert_eq!(error.code(), -32000);
}

// VER-19
#[tokio::test]
async fn where_one_side_alone_has_the_extension_calls_are_plain_and_its_verbs_refused_by_name() {
    // The server knows nothing of it, and answers as its core does.
    let server = Server::new().says("tools/call", text("done")).fails("tasks/get", -32601);
    let tasks = TaskClient::new(&server.connect(NEW).await);
    let called = tasks.call_tool("slow", ()).await.expect("a result");
    assert!(matches!(called, Called::Complete(reply) if reply.text() == "done"));
    let task = tasks.task("t-1").expect("a version with tasks");
    let error = tasks.get(&task).await.expect_err("the server has no tasks");
    assert_eq!(error.code(), -32601);
    assert!(error.to_string().contains("tasks/get"), "{error}");

    // The version knows nothing of it.
    let server = Server::new().says("tools/call", text("done"));
    let tasks = TaskClient::new(&server.connect(OLD).await);
    let called = tasks.call_tool("slow", ()).await.expect("a result");
    assert!(matches!(called, Called::Complete(_)), "{called:?}");
    let error = tasks.task("t-1").expect_err("no tasks");
    assert_eq!(error.code(), -32602);
    assert!(error.to_string().contains("2025-06-18 has no tasks"), "{error}");

    // The client knows nothing of it, and the server answers with it all the same.
    let server = Server::new()
        .says("tools/call", created("working", json!({})))
        .says("tools/call", text("done"));
    let client = server.connect(NEW).await;
    let error = client.call_tool("slow", ()).await.expect_err("nobody declared it");
    assert!(error.to_string().contains(r#""task", which nobody announced"#), "{error}");
    assert_eq!(client.call_tool("quick", ()).await.expect("a result").text(), "done");
}

// TASK-10
#[tokio::test]
async fn a_state_may_be_of_the_type_of_a_creation() {
    let server = Server::new()
        .says("tasks/get", created("failed", json!({ "error": { "code": 1, "message": "m" } })));
    let tasks = TaskClient::new(&server.connect(NEW).await);
    let state =
        tasks.get(&tasks.task("t-1").expect("a version with tasks")).await.expect("a state");
    assert_eq!(*state.status(), TaskStatus::Failed);
    assert_eq!(state.error().map(|error| error.code), Some(1));
}

// TASK-24
#[tokio::test]
async fn a_task_that_the_server_does_not_know_is_its_error() {
    let server = Server::new().fails("tasks/get", -32602).fails("tasks/cancel", -32602);
    let tasks = TaskClient::new(&server.connect(NEW).await);
    let task = tasks.task("t-1").expect("a version with tasks");
    assert_eq!(tasks.get(&task).await.expect_err("unknown").code(), -32602);
    assert_eq!(tasks.cancel(&task).await.expect_err("unknown").code(), -32602);
}
