//! Waiting for tasks of the extension.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use snodo::Builder;
use snodo::types::{Cause, ElicitResult, InputResponses};

use super::server::{NEW, Server, created, form, task, text};
use crate::{Called, TaskClient, TaskHandle, TaskOutcome};

fn done(said: &str) -> Value {
    task("completed", json!({ "result": text(said) }))
}

fn asks(requests: Value) -> Value {
    task("input_required", json!({ "inputRequests": requests, "pollIntervalMs": 100 }))
}

async fn tasks(server: &Server) -> (TaskClient, TaskHandle) {
    with(server, |builder| builder).await
}

async fn with(
    server: &Server,
    options: impl FnOnce(Builder) -> Builder,
) -> (TaskClient, TaskHandle) {
    let tasks = TaskClient::new(&server.connect_with(NEW, options).await);
    let task = tasks.task("t-1").expect("a version with tasks");
    (tasks, task)
}

/// Fills in forms with the message they came with, and takes `time` for it.
fn fills_in(builder: Builder, time: Duration) -> Builder {
    builder.on_form(move |form| async move {
        tokio::time::sleep(time).await;
        form.accept(json!({ "name": form.message() }))
    })
}

// TASK-07, TASK-09, TASK-11
#[tokio::test(start_paused = true)]
async fn the_server_s_interval_is_read_anew_from_each_answer() {
    let failed = json!({ "content": [], "isError": true });
    let server = Server::new()
        .says("tasks/get", task("working", json!({ "pollIntervalMs": 5000 })))
        .says("tasks/get", task("working", json!({ "pollIntervalMs": 200 })))
        .says("tasks/get", task("working", json!({})))
        .says("tasks/get", task("working", json!({ "pollIntervalMs": 0 })))
        .says("tasks/get", task("paused", json!({ "pollIntervalMs": 50 })))
        .says("tasks/get", task("completed", json!({ "result": failed })));
    let (tasks, task) = tasks(&server).await;
    let states = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&states);
    let wait = tasks.wait(&task).watch(move |state| {
        kept.lock().expect("no panic").push(format!("{:?}", state.status()));
    });
    let outcome = wait.await.expect("an outcome");
    assert!(matches!(outcome, TaskOutcome::Complete(result) if result.is_error()));
    assert_eq!(server.times("tasks/get"), [0, 5000, 5200, 6200, 6250, 6300]);
    assert_eq!(states.lock().expect("no panic").len(), 6);
}

// TASK-06, TASK-07
#[tokio::test(start_paused = true)]
async fn a_new_task_is_left_alone_for_as_long_as_its_server_said() {
    for (made, first) in [
        (created("working", json!({ "pollIntervalMs": 3000 })), 3000),
        (created("working", json!({})), 0),
        (created("completed", json!({ "pollIntervalMs": 3000 })), 0),
    ] {
        let server = Server::new().says("tools/call", made).says("tasks/get", done("x"));
        let tasks = TaskClient::new(&server.connect(NEW).await);
        let called = tasks.call_tool("slow", ()).await.expect("a task");
        let Called::Task(task) = called else { panic!("{called:?}") };
        tasks.wait(&task).await.expect("an outcome");
        assert_eq!(server.times("tasks/get"), [first]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_that_takes_longer_than_the_limit_is_a_timeout_that_names_it() {
    let server = Server::new()
        .says("tasks/get", task("working", json!({ "pollIntervalMs": 40000 })))
        .says("tasks/get", task("working", json!({ "pollIntervalMs": u64::MAX })));
    let (tasks, task) = tasks(&server).await;
    let begun = tokio::time::Instant::now();
    let error = tasks.wait(&task).await.expect_err("too late");
    assert_eq!(begun.elapsed(), Duration::from_secs(60));
    assert_eq!((error.code(), error.is_timeout()), (-32001, true));
    let data: Value = error.data().expect("data").decode().expect("JSON");
    assert_eq!(data, json!({ "taskId": "t-1", "timeoutMs": 60000 }));
    assert!(!error.to_string().contains("t-1"), "{error}");
    // TASK-18: the task is not given up for it.
    assert_eq!(server.methods(), ["tasks/get", "tasks/get"]);
}

#[tokio::test(start_paused = true)]
async fn the_limit_holds_while_a_question_is_not_answered() {
    let server = Server::new().keeps_silent_on("tasks/get");
    let (tasks, task) = tasks(&server).await;
    let begun = tokio::time::Instant::now();
    let error = tasks.wait(&task).limit(Duration::from_secs(2)).await.expect_err("too late");
    assert_eq!((error.code(), begun.elapsed()), (-32001, Duration::from_secs(2)));
}

#[tokio::test(start_paused = true)]
async fn a_wait_without_a_limit_waits_for_days() {
    let day = json!({ "pollIntervalMs": 86_400_000 });
    let server = Server::new()
        .says("tasks/get", task("working", day.clone()))
        .says("tasks/get", task("working", day))
        .says("tasks/get", done("x"));
    let (tasks, task) = tasks(&server).await;
    tasks.wait(&task).limit(None).await.expect("an outcome");
    assert_eq!(server.times("tasks/get"), [0, 86_400_000, 172_800_000]);
}

// TASK-11
#[tokio::test(start_paused = true)]
async fn a_task_ends_with_its_own_error_or_cancelled() {
    let error = json!({ "code": -32603, "message": "boom", "data": { "why": 1 } });
    let server = Server::new()
        .says("tasks/get", task("failed", json!({ "error": error })))
        .says("tasks/get", task("cancelled", json!({})));
    let (tasks, task) = tasks(&server).await;
    let outcome = tasks.wait(&task).await.expect("an outcome");
    let TaskOutcome::Failed(error) = outcome else { panic!("{outcome:?}") };
    assert_eq!((error.code(), error.message()), (-32603, "boom"));
    assert_eq!(error.data().expect("data").text(), r#"{"why":1}"#);
    let outcome = tasks.wait(&task).await.expect("an outcome");
    assert!(matches!(outcome, TaskOutcome::Cancelled(_)), "{outcome:?}");
}

// TASK-12
#[tokio::test(start_paused = true)]
async fn a_result_that_is_not_complete_is_invalid() {
    for result in [
        json!({ "content": [], "resultType": "input_required" }),
        json!({ "content": [], "resultType": "task" }),
        json!({ "content": [], "resultType": "com.example/other" }),
        json!([1]),
        Value::Null,
    ] {
        let server =
            Server::new().says("tasks/get", task("completed", json!({ "result": result })));
        let (tasks, task) = tasks(&server).await;
        let error = tasks.wait(&task).await.expect_err("no result");
        assert_eq!(error.code(), -32000, "{result}");
    }
    let server = Server::new().says(
        "tasks/get",
        task("completed", json!({ "result": { "content": [], "resultType": "complete" } })),
    );
    let (tasks, task) = tasks(&server).await;
    tasks.wait(&task).await.expect("an outcome");
}

#[tokio::test(start_paused = true)]
async fn a_failed_task_without_an_error_is_invalid() {
    let server = Server::new().says("tasks/get", task("failed", json!({ "error": "text" })));
    let (tasks, task) = tasks(&server).await;
    assert_eq!(tasks.wait(&task).await.expect_err("no error").code(), -32000);
}

// TASK-13, TASK-14, TASK-15, TASK-16, TASK-17
#[tokio::test(start_paused = true)]
async fn handlers_answer_each_question_once_however_often_it_comes_back() {
    let server = Server::new()
        .says("tasks/get", asks(json!({ "a": form("first") })))
        .says("tasks/update", json!({ "resultType": "complete" }))
        .says("tasks/get", asks(json!({ "a": form("first") })))
        .says("tasks/get", asks(json!({ "a": form("first"), "b": form("second") })))
        .says("tasks/update", json!({ "resultType": "complete" }))
        .says("tasks/get", done("Ada"));
    let (tasks, task) = with(&server, |builder| fills_in(builder, Duration::ZERO)).await;
    let outcome = tasks.wait(&task).await.expect("an outcome");
    assert!(matches!(outcome, TaskOutcome::Complete(_)), "{outcome:?}");
    let updates = server.seen().into_iter().filter(|seen| seen.method == "tasks/update");
    let answers: Vec<_> = updates.map(|seen| seen.params["inputResponses"].clone()).collect();
    let answer = |message: &str| json!({ "action": "accept", "content": { "name": message } });
    assert_eq!(answers, [json!({ "a": answer("first") }), json!({ "b": answer("second") })]);
    assert!(server.is_done());
}

#[tokio::test(start_paused = true)]
async fn the_time_of_handlers_does_not_count() {
    let server = Server::new()
        .says("tasks/get", asks(json!({ "a": form("first") })))
        .says("tasks/update", json!({ "resultType": "complete" }))
        .says("tasks/get", task("working", json!({ "pollIntervalMs": 500 })))
        .says("tasks/get", done("x"));
    let hour = Duration::from_secs(3600);
    let (tasks, task) = with(&server, |builder| fills_in(builder, hour)).await;
    tasks.wait(&task).limit(Duration::from_secs(1)).await.expect("an outcome");
}

// TASK-30
#[tokio::test(start_paused = true)]
async fn what_nobody_here_answers_is_given_back_and_answered_by_hand() {
    let two = json!({ "a": form("first"), "r": { "method": "roots/list" } });
    let server = Server::new()
        .says("tasks/get", asks(two.clone()))
        .says("tasks/update", json!({ "resultType": "complete" }))
        .says("tasks/get", asks(two))
        .says("tasks/get", done("x"));
    let (tasks, task) = with(&server, |builder| fills_in(builder, Duration::ZERO)).await;
    let outcome = tasks.wait(&task).await.expect("an outcome");
    let TaskOutcome::InputRequired(state) = outcome else { panic!("{outcome:?}") };
    assert_eq!(state.requests().map(|(id, _)| id).collect::<Vec<_>>(), ["a", "r"]);
    let answers = InputResponses::new()
        .with("a", &ElicitResult::decline())
        .with("r", &json!({ "roots": [] }));
    tasks.update(&task, answers.clone()).await.expect("taken");
    let outcome = tasks.wait(&task).answered(&answers).await.expect("an outcome");
    assert!(matches!(outcome, TaskOutcome::Complete(_)), "{outcome:?}");
}

#[tokio::test(start_paused = true)]
async fn questions_are_left_to_a_caller_who_wants_them() {
    let question = asks(json!({ "a": form("first") }));
    let server = Server::new()
        .says("tasks/get", question.clone())
        .says("tasks/get", question)
        .says("tasks/get", done("x"));
    let (tasks, task) = with(&server, |builder| fills_in(builder, Duration::ZERO)).await;
    let outcome = tasks.wait(&task).leave_input().await.expect("an outcome");
    assert!(matches!(outcome, TaskOutcome::InputRequired(_)), "{outcome:?}");
    let answers = InputResponses::new().with("a", &ElicitResult::decline());
    let wait = tasks.wait(&task).leave_input().answered(&answers);
    let outcome = wait.await.expect("an outcome");
    assert!(matches!(outcome, TaskOutcome::Complete(_)), "{outcome:?}");
}

// TASK-13
#[tokio::test(start_paused = true)]
async fn questions_of_a_task_are_checked_like_any_other() {
    let page = json!({ "method": "elicitation/create", "params": {
        "mode": "url", "message": "m", "url": "http://example.com/", "elicitationId": "e",
    }});
    let server = Server::new()
        .says("tasks/get", asks(json!({ "u": page })))
        .says("tasks/get", asks(json!({ "u": { "method": "elicitation/create" } })))
        .says("tasks/get", asks(json!({ "u": 5 })));
    let (tasks, task) = with(&server, |builder| {
        builder
            .on_url(|_| async { panic!("a page that is not safe to show") })
            .on_form(|_| async { panic!("a form without its schema") })
    })
    .await;
    for _ in 0..3 {
        let error = tasks.wait(&task).await.expect_err("malformed");
        assert!(matches!(error.cause(), Some(Cause::MalformedInput { .. })), "{error:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_that_asks_without_end_is_stopped() {
    let mut server = Server::new();
    for round in 0..3 {
        server = server.says("tasks/get", asks(json!({ format!("q{round}"): form("again") })));
        if round < 2 {
            server = server.says("tasks/update", json!({ "resultType": "complete" }));
        }
    }
    let (tasks, task) = with(&server, |builder| fills_in(builder, Duration::ZERO)).await;
    let error = tasks.wait(&task).max_input_rounds(2).await.expect_err("too many");
    assert_eq!(error.data().expect("data").text(), r#"{"maxInputRounds":2}"#);
    assert!(matches!(error.cause(), Some(Cause::MaxInputRounds { .. })));
}

// TASK-18
#[tokio::test(start_paused = true)]
async fn a_task_is_given_up_by_its_own_request_and_may_end_all_the_same() {
    let server = Server::new()
        .says("tasks/get", task("working", json!({})))
        .says("tasks/cancel", json!({ "resultType": "complete" }))
        .says("tasks/get", done("too late"));
    let (tasks, task) = tasks(&server).await;
    // A wait that is dropped gives nothing up.
    let wait = tokio::time::timeout(Duration::from_millis(500), tasks.wait(&task).into_future());
    wait.await.expect_err("still working");
    tasks.cancel(&task).await.expect("taken");
    let outcome = tasks.wait(&task).await.expect("an outcome");
    assert!(matches!(outcome, TaskOutcome::Complete(_)), "{outcome:?}");
    assert_eq!(server.methods(), ["tasks/get", "tasks/cancel", "tasks/get"]);
}

#[test]
fn a_wait_without_a_runtime_says_so() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("one");
    let server = Server::new();
    let (tasks, task) = runtime.block_on(tasks(&server));
    let mut wait = tasks.wait(&task).into_future();
    let waker = std::task::Waker::noop();
    let polled = wait.as_mut().poll(&mut std::task::Context::from_waker(waker));
    assert!(matches!(polled, std::task::Poll::Ready(Err(error)) if error.code() == -32603));
}
