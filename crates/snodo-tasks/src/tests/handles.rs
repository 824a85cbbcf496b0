//! What a task is known by.

use serde_json::json;

use super::server::{CORE, NEW, OLD, Server, created, task, text};
use crate::{Called, TaskClient, TaskHandle, TaskOutcome};

async fn slow(tasks: &TaskClient) -> TaskHandle {
    match tasks.call_tool("slow", ()).await.expect("a task") {
        Called::Task(task) => task,
        Called::Complete(reply) => panic!("{reply:?}"),
    }
}

// TASK-08, BASE-13
#[tokio::test(start_paused = true)]
async fn a_handle_that_was_stored_is_waited_for_by_another_client() {
    let server =
        Server::new().says("tools/call", created("working", json!({ "pollIntervalMs": 60000 })));
    let task = slow(&TaskClient::new(&server.connect(NEW).await)).await;
    let stored = serde_json::to_string(&task).expect("text");
    assert_eq!(stored, r#"{"taskId":"t-1","kind":"extension"}"#);
    let restored: TaskHandle = serde_json::from_str(&stored).expect("a handle");
    assert_eq!(restored, task);
    assert!(restored.created().is_none());

    let server = Server::new().says("tasks/get", task_done());
    let tasks = TaskClient::new(&server.connect(NEW).await);
    let outcome = tasks.wait(&restored).await.expect("an outcome");
    assert!(matches!(outcome, TaskOutcome::Complete(result) if result.text() == "done"));
    assert_eq!(server.times("tasks/get"), [0], "nobody knows when it was asked after last");
}

fn task_done() -> serde_json::Value {
    task("completed", json!({ "result": text("done") }))
}

// TASK-31
#[tokio::test]
async fn no_debug_output_shows_an_id() {
    let secret = json!({ "taskId": "secret", "_meta": { "id": "secret" }, "x": "secret" });
    let server = Server::new()
        .says("tools/call", created("working", secret.clone()))
        .says("tasks/get", task("working", secret.clone()))
        .says("tasks/get", task("completed", json!({ "result": {
            "content": [], "_meta": { "io.modelcontextprotocol/related-task": { "taskId": "secret" } },
        } })));
    let tasks = TaskClient::new(&server.connect(NEW).await);
    let task = slow(&tasks).await;
    let state = tasks.get(&task).await.expect("a state");
    let wait = format!("{:?}", tasks.wait(&task));
    let outcome = tasks.wait(&task).await.expect("an outcome");
    let call = format!("{:?}", tasks.call_tool("slow", ()));
    for shown in [format!("{task:?}{state:?}{outcome:?}"), wait, call] {
        assert!(!shown.contains("secret"), "{shown}");
    }
}

// TASK-27
#[tokio::test]
async fn the_two_kinds_of_tasks_do_not_mix() {
    let (newer, core) = (Server::new(), Server::new());
    let newer_tasks = TaskClient::new(&newer.connect(NEW).await);
    let core_tasks = TaskClient::new(&core.connect(CORE).await);
    let task = newer_tasks.task("t-1").expect("a version with tasks");
    let other = core_tasks.task("t-1").expect("a version with tasks");
    assert_ne!(task, other);
    assert_eq!(core_tasks.get(&task).await.expect_err("the other kind").code(), -32602);
    assert_eq!(newer_tasks.wait(&other).await.expect_err("the other kind").code(), -32602);
    assert!(newer.methods().is_empty() && core.methods().is_empty());
}

#[tokio::test]
async fn a_version_without_tasks_calls_plainly_and_has_no_handles() {
    let server = Server::new().says("tools/call", text("done"));
    let tasks = TaskClient::new(&server.connect(OLD).await);
    assert_eq!(tasks.task("t-1").expect_err("no tasks").code(), -32602);
    let called = tasks.call_tool("quick", ()).await.expect("a result");
    assert!(matches!(called, Called::Complete(reply) if reply.text() == "done"));
    assert_eq!(server.seen()[0].params, json!({ "name": "quick" }));
}
