//! Tasks over real transports: the extension over HTTP, those of the core over a pipe.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use snodo::{Client, Closed, Error, Event};
use snodo_http::Http;
use snodo_tasks::{Called, TaskClient, TaskHandle, TaskOutcome, TaskState, Tasks};
use snodo_testkit::{Loopback, Reply, Request};
use snodo_types::{SubscriptionFilter, TaskStatus, Tool, UpdateTaskParams};

use crate::script::{Far, form, session, stateless, text};

/// A server with one task of the extension, as its schema and its page of the specification have it.
struct Server {
    /// Bodies are JSON, or streams of events.
    events: bool,
    asked: usize,
    answer: Option<Value>,
    cancelled: bool,
}

impl Server {
    async fn serve(events: bool) -> Loopback {
        let server =
            Arc::new(Mutex::new(Self { events, asked: 0, answer: None, cancelled: false }));
        let served = Loopback::serve(move |request| {
            let reply = server.lock().expect("no panic").reply(&request);
            async move { reply }
        });
        served.await.expect("a port")
    }

    fn reply(&mut self, request: &Request) -> Reply {
        let message = request.json().expect("JSON");
        let mut body = json!({ "jsonrpc": "2.0", "id": message["id"] });
        let status = match self.answer(request, &message) {
            Ok(result) => {
                body["result"] = result;
                200
            }
            Err((status, code)) => {
                body["error"] = json!({ "code": code, "message": "no" });
                status
            }
        };
        match self.events && status == 200 {
            true => Reply::new(status).events([body.to_string().as_str()]),
            false => Reply::new(status).json(body.to_string()),
        }
    }

    fn answer(&mut self, request: &Request, message: &Value) -> Result<Value, (u16, i64)> {
        let (method, params) = (message["method"].as_str().expect("a method"), &message["params"]);
        let capabilities = &params["_meta"]["io.modelcontextprotocol/clientCapabilities"];
        if capabilities["extensions"]["io.modelcontextprotocol/tasks"] != json!({}) {
            return Err((400, -32021));
        }
        let name = match method {
            "tools/call" => "slow",
            _ if params["taskId"] == TASK => TASK_IN_A_HEADER,
            _ => return Err((200, -32602)),
        };
        let headers = (request.header("mcp-method"), request.header("mcp-name"));
        if headers != (Some(method), Some(name)) {
            return Err((400, -32020));
        }
        match method {
            "tools/call" => Ok(self.task("task")),
            "tasks/get" => {
                self.asked += 1;
                Ok(self.task("complete"))
            }
            "tasks/update" => {
                self.answer = Some(params["inputResponses"]["who"].clone());
                Ok(json!({ "resultType": "complete" }))
            }
            "tasks/cancel" => {
                self.cancelled = true;
                Ok(json!({ "resultType": "complete" }))
            }
            _ => Err((404, -32601)),
        }
    }

    fn task(&self, result_type: &str) -> Value {
        let mut task = json!({
            "resultType": result_type, "taskId": TASK, "ttlMs": 60000, "pollIntervalMs": 50,
            "createdAt": "2026-07-28T10:00:00Z", "lastUpdatedAt": "2026-07-28T10:00:00Z",
        });
        match &self.answer {
            _ if self.cancelled => task["status"] = json!("cancelled"),
            Some(answer) => {
                task["status"] = json!("completed");
                task["result"] = text(answer["content"]["name"].as_str().unwrap_or_default());
            }
            None if self.asked < 2 => task["status"] = json!("working"),
            None => {
                task["status"] = json!("input_required");
                task["inputRequests"] = json!({ "who": form() });
            }
        }
        task
    }
}

/// An id that is no value of a header as it is.
const TASK: &str = "t\u{e2}che 1";
const TASK_IN_A_HEADER: &str = "=?base64?dMOiY2hlIDE=?=";

async fn begin(client: &Client) -> Result<(TaskClient, TaskHandle), Error> {
    let tasks = TaskClient::new(client);
    match tasks.call_tool("slow", ()).await? {
        Called::Task(task) => Ok((tasks, task)),
        Called::Complete(reply) => panic!("{reply:?}"),
    }
}

/// A server that pushes how its tasks stand, and knows one of them.
async fn pushing() -> Loopback {
    let served = Loopback::serve(|request| async move {
        let message = request.json().expect("JSON");
        let params = &message["params"];
        let capabilities = &params["_meta"]["io.modelcontextprotocol/clientCapabilities"];
        if capabilities["extensions"]["io.modelcontextprotocol/tasks"] != json!({}) {
            let error = json!({ "code": -32021, "message": "tasks are not declared" });
            let body = json!({ "jsonrpc": "2.0", "id": message["id"], "error": error });
            return Reply::new(400).json(body.to_string());
        }
        let meta = json!({ "io.modelcontextprotocol/subscriptionId": message["id"] });
        let granted: Vec<_> = params["notifications"]["taskIds"]
            .as_array()
            .into_iter()
            .flatten()
            .filter(|id| *id == TASK)
            .cloned()
            .collect();
        let note = |method: &str, mut params: Value| {
            params["_meta"] = meta.clone();
            json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string()
        };
        let task = |status: &str| {
            json!({
                "taskId": TASK, "status": status, "ttlMs": null,
                "createdAt": "2026-07-28T10:00:00Z", "lastUpdatedAt": "2026-07-28T10:00:00Z",
            })
        };
        let mut done = task("completed");
        done["result"] = text("done");
        let told = [
            note("notifications/subscriptions/acknowledged", json!({ "notifications": { "taskIds": granted } })),
            note("notifications/tasks", task("working")),
            note("notifications/tasks", done),
            json!({ "jsonrpc": "2.0", "id": message["id"], "result": { "resultType": "complete" } }).to_string(),
        ];
        Reply::new(200).events(told.iter().map(String::as_str))
    });
    served.await.expect("a port")
}

// TASK-21, TASK-22
#[tokio::test]
async fn how_tasks_stand_is_told_to_who_listens() -> Result<(), Error> {
    let server = pushing().await;
    let client = stateless().connect(Http::new(server.url())?).await?;
    let undeclared = client.listen(SubscriptionFilter::new().task(TASK)).await;
    assert_eq!(undeclared.expect_err("it was not declared").code(), -32021);

    let registered = stateless().extension(Tasks).connect(Http::new(server.url())?).await?;
    let tasks = TaskClient::new(&client);
    let (known, unknown) = (tasks.task(TASK)?, tasks.task("another")?);
    for listen in [
        tasks.listen([&known, &unknown]),
        registered.listen(SubscriptionFilter::new().task(TASK).task("another")),
    ] {
        let mut events = listen.await?;
        assert_eq!(events.accepted(), &SubscriptionFilter::new().task(TASK));
        let mut states = Vec::new();
        let ended = loop {
            match events.next().await.expect("an end") {
                Event::Notification(told) => states.push(TaskState::of(&told).expect("a task")),
                end => break end,
            }
        };
        assert!(matches!(ended, Event::Closed(Closed::Complete)), "{ended:?}");
        let told: Vec<_> = states.iter().map(TaskState::status).collect();
        assert_eq!(told, [&TaskStatus::Working, &TaskStatus::Completed]);
        assert!(states.iter().all(|state| state.task_id().as_str() == TASK));
        assert!(states[1].result().is_some_and(|result| result.text().contains("done")));
    }
    Ok(())
}

#[tokio::test]
async fn how_tasks_of_the_core_stand_is_told_unasked_to_who_wants_to_know() -> Result<(), Error> {
    let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
    let builder = session().on_notification(move |notice| {
        let _ = tell.send(TaskState::of(&notice));
    });
    let (client, mut far) = Far::open(builder).await;
    let tasks = TaskClient::new(&client);
    let events = tasks.listen([&tasks.task("t-1")?]).await?;
    assert_eq!(events.accepted(), &SubscriptionFilter::new(), "there is nothing to ask for");
    let status = json!({
        "taskId": "t-1", "status": "working", "ttl": 60000,
        "createdAt": "2025-11-25T10:00:00Z", "lastUpdatedAt": "2025-11-25T10:00:00Z",
    });
    let note = |method: &str| json!({ "jsonrpc": "2.0", "method": method, "params": status });
    far.say(note("notifications/tasks/status")).await;
    far.say(note("notifications/message")).await;
    let state = told.recv().await.expect("told").expect("a task");
    assert_eq!((state.task_id().as_str(), state.status()), ("t-1", &TaskStatus::Working));
    assert!(told.recv().await.expect("told").is_none(), "it tells of something else");
    Ok(())
}

// TASK-01, TASK-03, TASK-09, TASK-14, TASK-16, TASK-24, TASK-25, HDR-07
#[tokio::test]
async fn a_task_of_the_extension_goes_its_way_over_http() -> Result<(), Error> {
    for (events, registered) in [(false, false), (true, false), (false, true), (true, true)] {
        let server = Server::serve(events).await;
        let mut builder =
            stateless().on_form(|form| async move { form.accept(json!({ "name": "Ada" })) });
        if registered {
            builder = builder.extension(Tasks);
        }
        let client = builder.connect(Http::new(server.url())?).await?;
        let (tasks, task) = begin(&client).await?;
        let outcome = tasks.wait(&task).await?;
        assert!(
            matches!(&outcome, TaskOutcome::Complete(result) if result.text() == "Ada"),
            "{outcome:?}"
        );
        tasks.cancel(&task).await?;
        let outcome = tasks.wait(&task).await?;
        assert!(matches!(outcome, TaskOutcome::Cancelled(_)), "{outcome:?}");
        let unknown = tasks.get(&tasks.task("another")?).await.expect_err("unknown");
        assert_eq!(unknown.code(), -32602);
    }
    Ok(())
}

// TASK-24
#[tokio::test]
async fn a_request_that_does_not_declare_the_extension_is_told_so() -> Result<(), Error> {
    let server = Server::serve(false).await;
    let client = stateless().connect(Http::new(server.url())?).await?;
    let params = UpdateTaskParams::new(TASK, Default::default());
    let error = client.request("tasks/update", &params).await.expect_err("not declared");
    assert_eq!(error.code(), -32021);
    Ok(())
}

fn tool() -> Tool {
    let tool = json!({
        "name": "slow",
        "inputSchema": { "type": "object" },
        "execution": { "taskSupport": "required" },
    });
    serde_json::from_value(tool).expect("a tool")
}

fn core_task(status: &str) -> Value {
    json!({
        "taskId": "t-1", "status": status, "ttl": null, "pollInterval": 100,
        "createdAt": "2025-11-25T10:00:00Z", "lastUpdatedAt": "2025-11-25T10:00:00Z",
    })
}

fn makes_tasks() -> Value {
    json!({ "tasks": { "cancel": {}, "requests": { "tools": { "call": {} } } } })
}

fn related() -> Value {
    json!({ "io.modelcontextprotocol/related-task": { "taskId": "t-1" } })
}

// TASKL-05, TASKL-07, TASKL-09, TASKL-10, TASKL-11, TASKL-12
#[tokio::test(start_paused = true)]
async fn a_core_task_asks_while_its_result_is_waited_for() -> Result<(), Error> {
    let minute = Duration::from_secs(60);
    let builder = session().on_form(move |form| async move {
        tokio::time::sleep(minute).await;
        form.accept(json!({ "name": "Ada" }))
    });
    let (client, mut far) = Far::offering(makes_tasks(), builder).await;
    assert_eq!(far.initialize["params"]["capabilities"], json!({ "elicitation": { "form": {} } }));
    let told = Arc::new(Mutex::new(Vec::new()));
    let telling = Arc::clone(&told);
    let tasks = TaskClient::new(&client);
    let call = tasks.call_tool(&tool(), ()).with(|request| {
        request.progress(move |progress| {
            telling.lock().expect("no panic").push(progress.message);
        })
    });
    let waits = async {
        let called = call.await?;
        let Called::Task(task) = called else { panic!("{called:?}") };
        // Long enough for the task, not for the person who is asked.
        tasks.wait(&task).limit(Duration::from_secs(10)).await
    };
    let serves = async {
        let call = far.read().await;
        assert_eq!(call["params"]["task"], json!({}));
        let progress = |message: &str| {
            let token = &call["params"]["_meta"]["progressToken"];
            let params = json!({ "progressToken": token, "progress": 1, "message": message });
            json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params })
        };
        far.say(progress("begun")).await;
        far.answer(&call, json!({ "task": core_task("working") })).await;
        // Progress goes on under the call's token; what is said of the status is not relied on.
        far.say(progress("half")).await;
        let mut status = core_task("cancelled");
        status["_meta"] = json!({});
        let status =
            json!({ "jsonrpc": "2.0", "method": "notifications/tasks/status", "params": status });
        far.say(status).await;
        let get = far.read().await;
        assert_eq!(
            (&get["method"], &get["params"]),
            (&json!("tasks/get"), &json!({ "taskId": "t-1" }))
        );
        far.answer(&get, core_task("input_required")).await;
        let result = far.read().await;
        assert_eq!(result["method"], "tasks/result");
        assert_eq!(result["params"], json!({ "taskId": "t-1" }));
        let mut question = form();
        question["params"]["_meta"] = related();
        // The client takes no tasks: it answers as if it had not been asked to make one.
        question["params"]["task"] = json!({ "ttl": 1000 });
        let said = far.ask(question).await;
        let answer =
            json!({ "action": "accept", "content": { "name": "Ada" }, "_meta": related() });
        assert_eq!(said["result"], answer);
        let mut done = text("done");
        done["_meta"] = related();
        far.answer(&result, done).await;
    };
    let (outcome, ()) = tokio::join!(waits, serves);
    let outcome = outcome?;
    assert!(
        matches!(&outcome, TaskOutcome::Complete(result) if result.text() == "done"),
        "{outcome:?}"
    );
    assert_eq!(*told.lock().expect("no panic"), [Some("begun".to_owned())]);
    Ok(())
}

// TASKL-08, CAN-02
#[tokio::test(start_paused = true)]
async fn a_call_for_a_core_task_that_is_dropped_is_not_cancelled_by_a_notification() {
    let (client, mut far) = Far::offering(makes_tasks(), session()).await;
    let tasks = TaskClient::new(&client);
    for (call, cancelled) in [
        (tasks.call_tool(&tool(), ()).into_future(), false),
        (tasks.call_tool(&Tool::new("quick", json!({ "type": "object" })), ()).into_future(), true),
    ] {
        let call = tokio::spawn(call);
        let sent = far.read().await;
        call.abort();
        let _ = call.await;
        let ping = tokio::spawn(client.ping().into_future());
        let mut next = far.read().await;
        if cancelled {
            assert_eq!(next["method"], "notifications/cancelled");
            assert_eq!(next["params"]["requestId"], sent["id"]);
            next = far.read().await;
        }
        assert_eq!(next["method"], "ping", "{next}");
        far.answer(&next, json!({})).await;
        ping.await.expect("no panic").expect("an answer");
    }
}
