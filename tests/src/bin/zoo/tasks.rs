//! Tasks of a real server: `simulate-research-query` of server-everything, which takes some seconds and
//! asks on its way.

use std::sync::{Arc, Mutex};

use serde_json::json;
use snodo::types::TaskStatus;
use snodo::{Builder, Client};
use snodo_tasks::{Called, TaskClient, TaskHandle, TaskOutcome};

use crate::visit::explain;

/// Whether a server makes tasks of calls.
pub(crate) fn are_made_by(client: &Client) -> bool {
    let server = client.server();
    let theirs = server.capabilities();
    TaskClient::new(client).task("").is_ok()
        && theirs.is_some_and(|theirs| theirs.task("tools/call"))
}

/// A client that knows what the research is about.
pub(crate) fn answering(builder: Builder) -> Builder {
    builder.on_form(|form| async move { form.accept(json!({ "interpretation": "snake" })) })
}

/// Gives two tasks: one is waited for from its stored handle, one is given up.
pub(crate) async fn give(client: &Client) -> Result<(), String> {
    let tasks = TaskClient::new(client);
    let stored = serde_json::to_string(&begin(&tasks).await?);
    let task: TaskHandle = stored
        .and_then(|stored| serde_json::from_str(&stored))
        .map_err(|error| format!("the handle cannot be stored: {error}"))?;
    let told = Arc::new(Mutex::new(Vec::new()));
    let telling = Arc::clone(&told);
    let wait = tasks.wait(&task).watch(move |state| {
        telling.lock().expect("no panic while it is held").push(state.status().clone());
    });
    match wait.await.map_err(|error| explain("wait", &error))? {
        TaskOutcome::Complete(done) if done.text().contains("Research Report: python (snake)") => {}
        other => return Err(format!("the research ended as {other:?}")),
    }
    let told = told.lock().expect("no panic while it is held").clone();
    if !told.contains(&TaskStatus::InputRequired) {
        return Err(format!("the research asked nothing: {told:?}"));
    }
    let task = begin(&tasks).await?;
    tasks.cancel(&task).await.map_err(|error| explain("cancel", &error))?;
    match tasks.wait(&task).await.map_err(|error| explain("wait", &error))? {
        TaskOutcome::Cancelled(_) => Ok(()),
        other => Err(format!("what was given up ended as {other:?}")),
    }
}

/// By the name alone: what the tool allows is looked up.
async fn begin(tasks: &TaskClient) -> Result<TaskHandle, String> {
    let arguments = json!({ "topic": "python", "ambiguous": true });
    let called = tasks.call_tool("simulate-research-query", arguments).await;
    match called.map_err(|error| explain("task", &error))? {
        Called::Task(task) => Ok(task),
        Called::Complete(reply) => Err(format!("no task, but {:?}", reply.text())),
    }
}
