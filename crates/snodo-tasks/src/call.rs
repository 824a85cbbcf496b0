//! Calling a tool that may become a task.

use std::fmt;
use std::future::IntoFuture;
use std::time::Duration;

use snodo::transport::BoxFuture;
use snodo::types::{
    CallToolResult, CreateTaskResult, DetailedTask, Outcome, ResultType, TaskMetadata, TaskSupport,
};
use snodo::{Error, Reply, Request};

use crate::kind::Kind;
use crate::{TaskClient, TaskHandle, TaskOutcome, TaskState, Wait};

/// A call of a tool that is made when it is awaited.
///
/// Awaiting gives the tool's result or a task, whichever the server chose. What the server asks
/// before that, the client's handlers answer as in any call.
///
/// ```
/// # use snodo_tasks::TaskClient;
/// # use std::time::Duration;
/// # async fn call(tasks: TaskClient) -> Result<(), snodo::Error> {
/// let called = tasks
///     .call_tool("report", serde_json::json!({ "year": 2026 }))
///     .ttl(Duration::from_secs(3600))
///     .with(|request| request.timeout(Duration::from_secs(5)).header("x-request-id", "7"))
///     .await?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Those of a [`Request`]; where the tools have to be listed first, also those of that.
///
/// # Cancel safety
///
/// Dropping the future before it is answered cancels the call, as far as the version can: a core
/// task whose id did not arrive yet cannot be cancelled, and is left to end by itself.
#[must_use = "a call is made when it is awaited"]
pub struct CallTool {
    tasks: TaskClient,
    request: Request<CallToolResult>,
    name: String,
    /// What the definition says, where there is one.
    support: Option<TaskSupport>,
    ttl: Option<Duration>,
}

/// What came of a call.
///
/// Closed on purpose: whoever handles both arms has handled all there is.
///
/// ```
/// use snodo_tasks::Called;
///
/// fn say(called: Called) -> String {
///     match called {
///         Called::Complete(reply) => reply.text(),
///         Called::Task(_) => "it takes a while".to_owned(),
///     }
/// }
/// # let _ = say;
/// ```
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_enums, reason = "a call is answered, or has become a task")]
pub enum Called {
    /// The tool's result.
    Complete(Reply<CallToolResult>),
    /// The result is to come.
    Task(TaskHandle),
}

impl CallTool {
    pub(crate) fn new(
        tasks: TaskClient,
        request: Request<CallToolResult>,
        name: String,
        support: Option<TaskSupport>,
    ) -> Self {
        Self { tasks, request, name, support, ttl: None }
    }

    /// For how long after its making a task should be kept; the server has the last word. Tasks of
    /// the extension cannot be asked for it, and keep as long as the server likes.
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.ttl = Some(ttl);
        self
    }

    /// Sets options of the call itself: its timeout, progress, headers and so on. They are about the
    /// call, not about the task that may come of it.
    pub fn with(
        mut self,
        options: impl FnOnce(Request<CallToolResult>) -> Request<CallToolResult>,
    ) -> Self {
        self.request = options(self.request);
        self
    }

    /// Awaits what came of the call, or the server's questions, whichever comes.
    ///
    /// # Errors
    ///
    /// Those of a [`Request`].
    ///
    /// # Cancel safety
    ///
    /// As that of the whole.
    pub async fn outcome(self) -> Result<Outcome<Called>, Error> {
        let kind = Kind::of(self.tasks.client());
        match kind {
            Some(Kind::Core) if self.may_ask_for_task().await? => {
                let mut wanted = TaskMetadata::default();
                wanted.ttl = self.ttl.map(|ttl| u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX));
                called(self.request.param("task", &wanted).outcome().await?, as_core_task)
            }
            Some(Kind::Extension) => called(self.request.outcome().await?, as_extended_task),
            _ => called(self.request.outcome().await?, |_| Ok(None)),
        }
    }

    /// Awaits the end of it, whether or not the call becomes a task; `options` are those of the wait.
    ///
    /// ```
    /// # use snodo_tasks::{TaskClient, TaskOutcome};
    /// # async fn call(tasks: TaskClient) -> Result<(), snodo::Error> {
    /// if let TaskOutcome::Complete(result) =
    ///     tasks.call_tool("report", ()).finish(|wait| wait.limit(None)).await?
    /// {
    ///     println!("{}", result.text());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of the call, and of a [`Wait`].
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves a task that was made to itself, and its handle is lost with it.
    pub async fn finish(self, options: impl FnOnce(Wait) -> Wait) -> Result<TaskOutcome, Error> {
        let tasks = self.tasks.clone();
        match self.await? {
            Called::Complete(reply) => Ok(TaskOutcome::Complete(reply.into_inner())),
            Called::Task(task) => options(tasks.wait(&task)).await,
        }
    }

    /// 2025-11-25, tasks, "Tool-Level Negotiation": the server and the tool have both to allow it.
    async fn may_ask_for_task(&self) -> Result<bool, Error> {
        let client = self.tasks.client();
        if !client.server().capabilities().is_some_and(|theirs| theirs.task("tools/call")) {
            return Ok(false);
        }
        let support = match &self.support {
            Some(support) => support.clone(),
            None => {
                let tools = client.list_tools().await?;
                let tool = tools.iter().find(|tool| tool.name == self.name);
                tool.map_or(TaskSupport::Forbidden, |tool| tool.execution().task_support())
            }
        };
        Ok(matches!(support, TaskSupport::Optional | TaskSupport::Required))
    }

    async fn complete(self) -> Result<Called, Error> {
        match self.outcome().await? {
            Outcome::Complete(called) => Ok(called),
            Outcome::InputRequired(asked) => {
                let text = "the server asks for input first: await `outcome()` and answer it";
                let cause = snodo::types::Cause::InputRequired(Box::new(asked));
                Err(Error::usage(text).with_cause(cause))
            }
        }
    }
}

impl IntoFuture for CallTool {
    type Output = Result<Called, Error>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.complete())
    }
}

impl fmt::Debug for CallTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallTool")
            .field("request", &self.request)
            .field("support", &self.support)
            .field("ttl", &self.ttl)
            .finish_non_exhaustive()
    }
}

/// Tells a task from a result.
fn called(
    outcome: Outcome<Reply<CallToolResult>>,
    task: fn(&Reply<CallToolResult>) -> Result<Option<TaskState>, Error>,
) -> Result<Outcome<Called>, Error> {
    Ok(match outcome {
        Outcome::Complete(reply) => Outcome::Complete(match task(&reply)? {
            Some(state) => Called::Task(TaskHandle::of(state)),
            None => Called::Complete(reply),
        }),
        Outcome::InputRequired(asked) => Outcome::InputRequired(asked),
    })
}

fn as_extended_task(reply: &Reply<CallToolResult>) -> Result<Option<TaskState>, Error> {
    if reply.result_type != Some(ResultType::Task) {
        return Ok(None);
    }
    let task = serde_json::from_str::<DetailedTask>(reply.raw());
    task.map(|task| Some(task.into())).map_err(|error| Error::decode(error.to_string()))
}

/// A server may answer at once what it was asked to make a task of.
fn as_core_task(reply: &Reply<CallToolResult>) -> Result<Option<TaskState>, Error> {
    if reply.other.get("task").is_none() {
        return Ok(None);
    }
    let made = serde_json::from_str::<CreateTaskResult>(reply.raw());
    let CreateTaskResult { mut task, meta, .. } =
        made.map_err(|error| Error::decode(error.to_string()))?;
    // What is said of the making stands beside the task.
    task.meta = task.meta.or(meta);
    Ok(Some(task.into()))
}
