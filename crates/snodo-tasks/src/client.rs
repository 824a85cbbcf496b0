//! The verbs of tasks.

use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use snodo::dialect::Extension;
use snodo::types::{
    DetailedTask, InputResponses, Raw, SubscriptionFilter, Task, TaskId, TaskParams,
    UpdateTaskParams,
};
use snodo::{Client, Error, Listen, Request, ToolRef};

use crate::extension::{CANCEL, GET, UPDATE};
use crate::kind::Kind;
use crate::{CallTool, TaskHandle, TaskState, Tasks, Wait};

/// A client that may be answered with tasks.
///
/// It is made from any [`Client`], and as cheap to clone. Every request of its own declares the
/// extension, whether or not that is registered on the client.
///
/// ```
/// use snodo::Client;
/// use snodo_tasks::{Called, TaskClient};
///
/// # async fn run(client: Client) -> Result<(), snodo::Error> {
/// let tasks = TaskClient::new(&client);
/// if let Called::Task(task) = tasks.call_tool("report", ()).await? {
///     let state = tasks.get(&task).await?;
///     println!("{:?} {}", state.status(), state.status_message().unwrap_or_default());
///     tasks.cancel(&task).await?;
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct TaskClient {
    client: Client,
    extension: Arc<dyn Extension>,
}

impl TaskClient {
    /// Tasks of this client's server.
    #[must_use]
    pub fn new(client: &Client) -> Self {
        Self { client: client.clone(), extension: Arc::new(Tasks) }
    }

    /// The client below.
    #[must_use]
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Calls a tool, by name or with its definition from a list, and takes a task for an answer.
    ///
    /// Core tasks have to be asked for, where the definition allows it: with the name alone, the
    /// tools are listed first.
    pub fn call_tool<'t>(
        &self,
        tool: impl Into<ToolRef<'t>>,
        arguments: impl Serialize,
    ) -> CallTool {
        let tool = tool.into();
        let name = tool.name().to_owned();
        let support = tool.definition().map(|tool| tool.execution().task_support());
        let request = self.extended(self.client.call_tool(tool, arguments));
        CallTool::new(self.clone(), request, name, support)
    }

    /// A task whose id is known from elsewhere. A handle that was stored needs no such thing.
    ///
    /// # Errors
    ///
    /// The negotiated version has no tasks (-32602).
    pub fn task(&self, id: impl Into<TaskId>) -> Result<TaskHandle, Error> {
        Ok(TaskHandle::new(id.into(), self.kind()?))
    }

    /// Asks how a task stands. A task that was just made can be asked after at once.
    ///
    /// # Errors
    ///
    /// The server does not know the task, or no more (-32602); the handle is of the other kind of
    /// tasks, or the version has none (-32602); whatever else a [`Request`] may end with.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future does nothing to the task.
    pub async fn get(&self, task: &TaskHandle) -> Result<TaskState, Error> {
        let reply = self.ask(GET, task, &TaskParams::new(task.id().clone()))?.await?;
        match task.kind() {
            Kind::Core => Ok(read::<Task>(&reply)?.into()),
            Kind::Extension => Ok(read::<DetailedTask>(&reply)?.into()),
        }
    }

    /// Answers what a task of the extension asks, all of it or a part. That it was taken is all that
    /// is told: the task may go on asking for a while.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get). Core tasks are answered by the client's handlers alone: -32601.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves open whether the answers were taken.
    pub async fn update(&self, task: &TaskHandle, answers: InputResponses) -> Result<(), Error> {
        self.ask(UPDATE, task, &UpdateTaskParams::new(task.id().clone(), answers))?.await?;
        Ok(())
    }

    /// Asks the server to give a task up. It may come to its end all the same; there is no need to
    /// ask after it any more.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get). A core task that is over cannot be cancelled: -32602.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves open whether the server was asked.
    pub async fn cancel(&self, task: &TaskHandle) -> Result<(), Error> {
        self.ask(CANCEL, task, &TaskParams::new(task.id().clone()))?.await?;
        Ok(())
    }

    /// Waits until a task is over, and answers what it asks with the client's handlers.
    pub fn wait(&self, task: &TaskHandle) -> Wait {
        Wait::new(self.clone(), task.clone())
    }

    /// Listens to how these tasks stand: [`TaskState::of`] reads what comes. The subscription tells
    /// which of them the server agreed to. It only ever tells what [`get`](Self::get) tells, and a
    /// server need not push at all.
    ///
    /// On versions that begin with `initialize` nothing is accepted: where a server tells of core tasks,
    /// it does so unasked, to the function of the client's builder for notifications.
    pub fn listen<'h>(&self, tasks: impl IntoIterator<Item = &'h TaskHandle>) -> Listen {
        let filter = tasks
            .into_iter()
            .fold(SubscriptionFilter::new(), |filter, task| filter.task(task.id().clone()));
        self.client.listen(filter).extension(Arc::clone(&self.extension))
    }

    /// A request about a task.
    pub(crate) fn ask(
        &self,
        method: &'static str,
        task: &TaskHandle,
        params: &impl Serialize,
    ) -> Result<Request<Raw>, Error> {
        if task.kind() != self.kind()? {
            let text =
                format!("protocol version {} has other tasks than this", self.client.protocol());
            return Err(Error::usage(text));
        }
        Ok(self.extended(self.client.request(method, params)))
    }

    fn kind(&self) -> Result<Kind, Error> {
        Kind::of(&self.client).ok_or_else(|| {
            Error::usage(format!("protocol version {} has no tasks", self.client.protocol()))
        })
    }

    /// Versions without extensions pay no heed to it.
    fn extended<T>(&self, request: Request<T>) -> Request<T> {
        request.extension(Arc::clone(&self.extension))
    }
}

/// Reads an answer that came as text.
pub(crate) fn read<T: DeserializeOwned>(answer: &Raw) -> Result<T, Error> {
    answer.decode().map_err(|error| Error::decode(error.to_string()))
}
