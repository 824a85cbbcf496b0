//! Tasks of 2025-11-25: experimental there, gone from the core since.

use crate::object::object;
use crate::{Members, Meta, Raw, TaskId};

/// A request whose answer is asked for later, 2025-11-25: what came of `tasks/get` and
/// `tasks/cancel`, and the params of `notifications/tasks/status`.
///
/// ```
/// use snodo_types::{Task, TaskStatus};
///
/// let task: Task = serde_json::from_str(
///     r#"{"taskId":"t1","status":"working","createdAt":"2025-11-25T10:30:00Z",
///         "lastUpdatedAt":"2025-11-25T10:30:00Z","ttl":null,"pollInterval":5000}"#,
/// )?;
/// assert_eq!(task.status, TaskStatus::Working);
/// assert!(!task.status.is_final());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Task {
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
    pub ttl: Option<u64>,
    /// How many milliseconds to wait before asking again.
    pub poll_interval: Option<u64>,
    /// `_meta`, as it came; read by [`meta`](Self::meta).
    pub meta: Option<Raw>,
    /// Members without a name here.
    pub other: Members,
}

/// How a task stands, in 2025-11-25 as in the extension.
///
/// ```
/// use snodo_types::TaskStatus;
/// assert!(TaskStatus::from("failed").is_final());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TaskStatus {
    /// It was given up.
    Cancelled,
    /// It is done.
    Completed,
    /// It went wrong.
    Failed,
    /// It waits for an input.
    InputRequired,
    /// It goes on.
    Working,
    /// A status that the protocol does not know, as it came.
    Other(Box<str>),
}

/// A request has become a task, 2025-11-25. The extension has
/// [`DetailedTask`](crate::DetailedTask) instead.
///
/// ```
/// use snodo_types::CreateTaskResult;
///
/// let made: CreateTaskResult =
///     serde_json::from_str(r#"{"task":{"taskId":"t1","status":"working","ttl":60000}}"#)?;
/// assert_eq!(made.task.ttl, Some(60_000));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CreateTaskResult {
    /// The task.
    pub task: Task,
    /// `_meta`, as it came; read by [`meta`](Self::meta).
    pub meta: Option<Raw>,
    /// Members without a name here.
    pub other: Members,
}

/// How a task should be kept: the member `task` of params, 2025-11-25.
///
/// ```
/// use snodo_types::TaskMetadata;
/// assert_eq!(serde_json::to_string(&TaskMetadata::default())?, "{}");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskMetadata {
    /// For how many milliseconds after its making.
    pub ttl: Option<u64>,
    /// Members without a name here.
    pub other: Members,
}

/// A task is meant, and nothing else said of it: the params of `tasks/get`, `tasks/result` and
/// `tasks/cancel`.
///
/// ```
/// use snodo_types::TaskParams;
/// assert_eq!(serde_json::to_string(&TaskParams::new("t1"))?, r#"{"taskId":"t1"}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskParams {
    /// Which task.
    pub task_id: TaskId,
    /// `_meta`, as it came; read by [`meta`](Self::meta).
    pub meta: Option<Raw>,
    /// Members without a name here.
    pub other: Members,
}

/// Which task a message belongs to: the value under
/// [`Meta::RELATED_TASK`](crate::Meta::RELATED_TASK).
///
/// ```
/// use snodo_types::RelatedTask;
///
/// let related: RelatedTask = serde_json::from_str(r#"{"taskId":"t1"}"#)?;
/// assert_eq!(related.task_id.as_str(), "t1");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RelatedTask {
    /// Which task.
    pub task_id: TaskId,
    /// Members without a name here.
    pub other: Members,
}

impl Task {
    /// What is known of `_meta`.
    #[must_use]
    pub fn meta(&self) -> Meta<'_> {
        Meta::of(self.meta.as_ref())
    }
}

impl TaskStatus {
    /// Whether it stays like this for good. A status that is not known may still change.
    #[must_use]
    pub fn is_final(&self) -> bool {
        matches!(self, Self::Cancelled | Self::Completed | Self::Failed)
    }
}

impl CreateTaskResult {
    /// What is known of `_meta`.
    #[must_use]
    pub fn meta(&self) -> Meta<'_> {
        Meta::of(self.meta.as_ref())
    }
}

impl TaskParams {
    /// This task.
    #[must_use]
    pub fn new(task_id: impl Into<TaskId>) -> Self {
        Self { task_id: task_id.into(), meta: None, other: Members::new() }
    }

    /// What is known of `_meta`.
    #[must_use]
    pub fn meta(&self) -> Meta<'_> {
        Meta::of(self.meta.as_ref())
    }
}

object! {
    impl Task {
        required task_id: "taskId",
        required status: "status",
        optional status_message: "statusMessage",
        optional created_at: "createdAt",
        optional last_updated_at: "lastUpdatedAt",
        nullable ttl: "ttl",
        optional poll_interval: "pollInterval",
        optional meta: "_meta";
        other
    }
}

object! {
    words TaskStatus {
        Cancelled: "cancelled",
        Completed: "completed",
        Failed: "failed",
        InputRequired: "input_required",
        Working: "working",
    }
}

object! {
    impl CreateTaskResult {
        required task: "task",
        optional meta: "_meta";
        other
    }
}

object! {
    impl TaskMetadata {
        optional ttl: "ttl";
        other
    }
}

object! {
    impl TaskParams {
        required task_id: "taskId",
        optional meta: "_meta";
        other
    }
}

object! {
    impl RelatedTask {
        required task_id: "taskId";
        other
    }
}
