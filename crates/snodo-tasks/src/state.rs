//! How a task stands.

use std::fmt;
use std::time::Duration;

use snodo::Notification;
use snodo::types::{
    DetailedTask, ErrorObject, InputRequest, InputRequests, InputRequired, Meta, Raw, Task, TaskId,
    TaskStatus,
};

use crate::kind::Kind;

/// How a task stands, as the server told it, of either kind.
///
/// `Debug` shows the status and what the server says of it; results, questions and the id may be
/// private.
///
/// ```
/// use snodo_tasks::TaskState;
/// use snodo::types::{DetailedTask, TaskStatus};
///
/// let told: DetailedTask = serde_json::from_str(
///     r#"{"taskId":"t1","status":"working","pollIntervalMs":5000,"ttlMs":null}"#,
/// )?;
/// let state = TaskState::from(told);
/// assert_eq!(*state.status(), TaskStatus::Working);
/// assert_eq!(state.poll_interval(), Some(std::time::Duration::from_secs(5)));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct TaskState(Told);

/// As it stands in the message.
#[derive(Clone, PartialEq, Eq)]
enum Told {
    Core(Box<Task>),
    Extension(Box<DetailedTask>),
}

impl TaskState {
    /// What a notification tells of a task, of either kind; `None` where it tells of something else or
    /// cannot be read.
    ///
    /// ```
    /// use snodo::Event;
    /// use snodo_tasks::{TaskClient, TaskHandle, TaskState};
    ///
    /// # async fn follow(tasks: TaskClient, task: TaskHandle) -> Result<(), snodo::Error> {
    /// let mut events = tasks.listen([&task]).await?;
    /// while let Some(event) = events.next().await {
    ///     if let Event::Notification(told) = event
    ///         && let Some(state) = TaskState::of(&told)
    ///     {
    ///         println!("{:?}: {:?}", state.task_id(), state.status());
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn of(told: &Notification) -> Option<Self> {
        match told.method() {
            "notifications/tasks" => told.params::<DetailedTask>().ok().map(Self::from),
            "notifications/tasks/status" => told.params::<Task>().ok().map(Self::from),
            _ => None,
        }
    }

    /// The id.
    #[must_use]
    pub fn task_id(&self) -> &TaskId {
        match &self.0 {
            Told::Core(task) => &task.task_id,
            Told::Extension(task) => &task.task_id,
        }
    }

    /// How it stands.
    #[must_use]
    pub fn status(&self) -> &TaskStatus {
        match &self.0 {
            Told::Core(task) => &task.status,
            Told::Extension(task) => &task.status,
        }
    }

    /// How it stands, for people. It is the server's text.
    #[must_use]
    pub fn status_message(&self) -> Option<&str> {
        match &self.0 {
            Told::Core(task) => task.status_message.as_deref(),
            Told::Extension(task) => task.status_message.as_deref(),
        }
    }

    /// When it was made (ISO 8601, the server's clock).
    #[must_use]
    pub fn created_at(&self) -> Option<&str> {
        match &self.0 {
            Told::Core(task) => task.created_at.as_deref(),
            Told::Extension(task) => task.created_at.as_deref(),
        }
    }

    /// When it last changed (ISO 8601, the server's clock).
    #[must_use]
    pub fn last_updated_at(&self) -> Option<&str> {
        match &self.0 {
            Told::Core(task) => task.last_updated_at.as_deref(),
            Told::Extension(task) => task.last_updated_at.as_deref(),
        }
    }

    /// For how long after its making the server keeps it; `None` is without limit. It may change.
    #[must_use]
    pub fn ttl(&self) -> Option<Duration> {
        match &self.0 {
            Told::Core(task) => task.ttl,
            Told::Extension(task) => task.ttl_ms,
        }
        .map(Duration::from_millis)
    }

    /// How long the server wants to be left alone before it is asked again. It may change.
    #[must_use]
    pub fn poll_interval(&self) -> Option<Duration> {
        match &self.0 {
            Told::Core(task) => task.poll_interval,
            Told::Extension(task) => task.poll_interval_ms,
        }
        .map(Duration::from_millis)
    }

    /// What it waits for: ids and questions, in the order of the characters of the ids. An id stays
    /// with its question for the task's life. Core tasks ask by other ways.
    pub fn requests(&self) -> impl Iterator<Item = (&str, &InputRequest)> {
        self.extension().into_iter().flat_map(DetailedTask::requests)
    }

    /// The result of a completed task of the extension, as it came. A core task is asked for it.
    #[must_use]
    pub fn result(&self) -> Option<&Raw> {
        self.extension()?.result.as_ref()
    }

    /// The error of a failed task of the extension. A core task is asked for it.
    #[must_use]
    pub fn error(&self) -> Option<&ErrorObject> {
        self.extension()?.error.as_ref()
    }

    /// What is known of `_meta`.
    #[must_use]
    pub fn meta(&self) -> Meta<'_> {
        match &self.0 {
            Told::Core(task) => task.meta(),
            Told::Extension(task) => task.meta(),
        }
    }

    /// All that was told, where it is a task of the core.
    #[must_use]
    pub fn core(&self) -> Option<&Task> {
        match &self.0 {
            Told::Core(task) => Some(task),
            Told::Extension(_) => None,
        }
    }

    /// All that was told, where it is a task of the extension.
    #[must_use]
    pub fn extension(&self) -> Option<&DetailedTask> {
        match &self.0 {
            Told::Core(_) => None,
            Told::Extension(task) => Some(task),
        }
    }

    pub(crate) fn kind(&self) -> Kind {
        match &self.0 {
            Told::Core(_) => Kind::Core,
            Told::Extension(_) => Kind::Extension,
        }
    }

    /// What it waits for, without what was `answered`; `None` where nothing is left.
    pub(crate) fn asked(&self, answered: impl Fn(&str) -> bool) -> Option<InputRequired> {
        let left = self.requests().filter(|(id, _)| !answered(id));
        let left =
            left.fold(InputRequests::new(), |left, (id, request)| left.with(id, request.clone()));
        let nothing = left.is_empty();
        let mut asked = InputRequired::new(left);
        // Questions that cannot be read are for those to refuse who answer.
        match self.extension().and_then(|task| task.other.get(REQUESTS)) {
            Some(unreadable) => asked.other.insert(REQUESTS, unreadable.clone()),
            None if nothing => return None,
            None => {}
        }
        Some(asked)
    }
}

impl From<DetailedTask> for TaskState {
    fn from(task: DetailedTask) -> Self {
        Self(Told::Extension(Box::new(task)))
    }
}

impl From<Task> for TaskState {
    fn from(task: Task) -> Self {
        Self(Told::Core(Box::new(task)))
    }
}

impl fmt::Debug for TaskState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskState")
            .field("status", self.status())
            .field("status_message", &self.status_message())
            .finish_non_exhaustive()
    }
}

/// The member that holds what a task asks.
const REQUESTS: &str = "inputRequests";
