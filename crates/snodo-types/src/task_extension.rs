//! Tasks as an extension of 2026-07-28, `io.modelcontextprotocol/tasks`.
//!
//! The names are those of the tasks of 2025-11-25, the shapes are not.

use serde::de::DeserializeOwned;

use crate::object::object;
use crate::{
    ErrorObject, InputRequest, InputRequests, InputResponses, Members, Meta, Raw, ResultType,
    TaskId, TaskStatus,
};

/// A task and how it stands: the result that creates it, what came of `tasks/get`, and the
/// params of `notifications/tasks`. Everything stands side by side, nothing in a member `task`.
///
/// How it stands is told by its status, not by the type of the result: both `task` and `complete`
/// occur.
///
/// ```
/// use snodo_types::{DetailedTask, TaskStatus};
///
/// let task: DetailedTask = serde_json::from_str(
///     r#"{"resultType":"task","taskId":"t1","status":"working","ttlMs":null,
///         "createdAt":"2026-07-28T10:00:00Z","lastUpdatedAt":"2026-07-28T10:00:00Z"}"#,
/// )?;
/// assert_eq!(task.status, TaskStatus::Working);
/// assert_eq!(task.ttl_ms, None);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DetailedTask {
    /// What it is asked after by.
    pub task_id: TaskId,
    /// How it stands.
    pub status: TaskStatus,
    /// How it stands, for people.
    pub status_message: Option<String>,
    /// When it was made (ISO 8601).
    pub created_at: Option<String>,
    /// When it last changed (ISO 8601).
    pub last_updated_at: Option<String>,
    /// For how many milliseconds after its making it is kept; `None` is without limit.
    pub ttl_ms: Option<u64>,
    /// How many milliseconds to wait before asking again; it may change.
    pub poll_interval_ms: Option<u64>,
    /// Waiting for an input: what is asked for. An id stays with its request for the task's life.
    pub input_requests: Option<InputRequests>,
    /// Completed: the result, as it came; read by [`result`](Self::result).
    pub result: Option<Raw>,
    /// Failed: the error.
    pub error: Option<ErrorObject>,
    /// What kind of answer it is; absent means complete.
    pub result_type: Option<ResultType>,
    /// `_meta`, as it came; read by [`meta`](Self::meta).
    pub meta: Option<Raw>,
    /// Members without a name here.
    pub other: Members,
}

/// The params of `tasks/update`: answers to what a task asked for.
///
/// ```
/// use snodo_types::{ElicitResult, InputResponses, UpdateTaskParams};
///
/// let answers = InputResponses::new().with("q", &ElicitResult::decline());
/// assert_eq!(
///     serde_json::to_string(&UpdateTaskParams::new("t1", answers))?,
///     r#"{"taskId":"t1","inputResponses":{"q":{"action":"decline"}}}"#
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UpdateTaskParams {
    /// Which task.
    pub task_id: TaskId,
    /// The answers; not all at once, if need be.
    pub input_responses: InputResponses,
    /// `_meta`, as it came; read by [`meta`](Self::meta).
    pub meta: Option<Raw>,
    /// Members without a name here.
    pub other: Members,
}

impl DetailedTask {
    /// The id of the extension, as capabilities name it.
    pub const EXTENSION: &'static str = "io.modelcontextprotocol/tasks";

    /// What is asked for: ids and requests, in the order of the characters of the ids.
    pub fn requests(&self) -> impl Iterator<Item = (&str, &InputRequest)> {
        self.input_requests.iter().flat_map(InputRequests::iter)
    }

    /// The result as a `T`, once the task is completed.
    ///
    /// # Errors
    ///
    /// It is no `T`.
    pub fn result<T: DeserializeOwned>(&self) -> Result<Option<T>, serde_json::Error> {
        self.result.as_ref().map(Raw::decode).transpose()
    }

    /// What is known of `_meta`.
    #[must_use]
    pub fn meta(&self) -> Meta<'_> {
        Meta::of(self.meta.as_ref())
    }
}

impl UpdateTaskParams {
    /// Answers what this task asked for.
    #[must_use]
    pub fn new(task_id: impl Into<TaskId>, input_responses: InputResponses) -> Self {
        Self { task_id: task_id.into(), input_responses, meta: None, other: Members::new() }
    }

    /// What is known of `_meta`.
    #[must_use]
    pub fn meta(&self) -> Meta<'_> {
        Meta::of(self.meta.as_ref())
    }
}

object! {
    impl DetailedTask {
        required task_id: "taskId",
        required status: "status",
        optional status_message: "statusMessage",
        optional created_at: "createdAt",
        optional last_updated_at: "lastUpdatedAt",
        nullable ttl_ms: "ttlMs",
        optional poll_interval_ms: "pollIntervalMs",
        optional input_requests: "inputRequests",
        optional result: "result",
        optional error: "error",
        optional result_type: "resultType",
        optional meta: "_meta";
        other
    }
}

object! {
    impl UpdateTaskParams {
        required task_id: "taskId",
        required input_responses: "inputResponses",
        optional meta: "_meta";
        other
    }
}
