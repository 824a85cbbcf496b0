//! A tool that takes its time: its call becomes a task, which asks a question before it is done.
//!
//! ```text
//! a task was made
//! Working: reading
//! InputRequired: which year?
//! Completed: done
//! the report of 2026
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what it got")]

use std::sync::Mutex;

use serde_json::{Value, json};
use snodo::transport::{Connect, from_fn};
use snodo::types::{Body, Message};
use snodo::{Client, Error, ProtocolVersion};
use snodo_tasks::{Called, TaskClient, TaskHandle, TaskOutcome};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let client = Client::builder()
        .protocol([ProtocolVersion::V2026_07_28])
        .on_form(|form| async move { form.accept(json!({ "year": 2026 })) })
        .connect(server())
        .await?;
    let tasks = TaskClient::new(&client);

    let Called::Task(task) = tasks.call_tool("report", ()).await? else { return Ok(()) };
    println!("a task was made");

    // Kept where only this program reads it, the handle outlives the program.
    let stored = serde_json::to_string(&task).map_err(|error| Error::usage(error.to_string()))?;
    let task: TaskHandle =
        serde_json::from_str(&stored).map_err(|error| Error::usage(error.to_string()))?;

    // The handlers of the client answer what the task asks.
    let wait = tasks.wait(&task).watch(|state| {
        println!("{:?}: {}", state.status(), state.status_message().unwrap_or_default());
    });
    match wait.await? {
        TaskOutcome::Complete(result) => println!("{}", result.text()),
        other => println!("{other:?}"),
    }
    Ok(())
}

/// A server with one task, which goes on a step each time that it is asked after.
fn server() -> impl Connect {
    let progress = Mutex::new((0, None));
    from_fn(move |envelope| {
        let answer = Message::parse(envelope.message).map(|message| {
            let Body::Request { id, method, params } = message.body() else { return None };
            let mut progress = progress.lock().expect("no panic");
            let result = match method {
                "tools/call" => task("task", json!({ "status": "working" })),
                "tasks/update" => {
                    let params: Value = serde_json::from_str(params?).ok()?;
                    progress.1 = params["inputResponses"]["year"]["content"]["year"].as_i64();
                    json!({ "resultType": "complete" })
                }
                _ => {
                    progress.0 += 1;
                    task("complete", state(progress.0, progress.1))
                }
            };
            Some(Message::result(id, &result.to_string()))
        });
        async move { Ok(answer?) }
    })
}

fn state(asked: usize, year: Option<i64>) -> Value {
    match year {
        _ if asked == 1 => json!({ "status": "working", "statusMessage": "reading" }),
        None => {
            json!({ "status": "input_required", "statusMessage": "which year?", "inputRequests": {
                "year": { "method": "elicitation/create", "params": {
                    "message": "Which year?",
                    "requestedSchema": { "type": "object", "properties": { "year": { "type": "integer" } } },
                }},
            }})
        }
        Some(year) => json!({ "status": "completed", "statusMessage": "done", "result": {
            "content": [{ "type": "text", "text": format!("the report of {year}") }],
        }}),
    }
}

fn task(result_type: &str, state: Value) -> Value {
    let mut task = json!({
        "resultType": result_type, "taskId": "t-1", "ttlMs": null, "pollIntervalMs": 50,
        "createdAt": "20260801T100000Z", "lastUpdatedAt": "20260801T100000Z",
    });
    for (name, value) in state.as_object().into_iter().flatten() {
        task[name] = value.clone();
    }
    task
}
