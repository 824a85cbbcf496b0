//! What a task is known by.

use std::fmt;
use std::hash::{Hash, Hasher};

use serde::{Deserialize, Serialize};
use snodo::types::{TaskId, TaskStatus};
use tokio::time::Instant;

use crate::TaskState;
use crate::kind::Kind;

/// What a task is known by, here and in a store.
///
/// Written as JSON it is `{"taskId": …, "kind": …}`, and it is read again by whoever goes on with
/// the task. Whoever knows the id may be able to read the task: keep it like a password. `Debug`
/// shows the id's length only. Two handles are equal when they are of the same task.
///
/// ```
/// use snodo_tasks::TaskHandle;
///
/// let stored = r#"{"taskId":"786512e2","kind":"extension"}"#;
/// let task: TaskHandle = serde_json::from_str(stored)?;
/// assert_eq!(serde_json::to_string(&task)?, stored);
/// assert!(!format!("{task:?}").contains("786512e2"));
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// # Drop behavior
///
/// Dropping it does nothing to the task.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskHandle {
    task_id: TaskId,
    kind: Kind,
    #[serde(skip)]
    created: Option<Created>,
}

/// What the server said when it made the task, and when that was.
#[derive(Clone)]
struct Created {
    state: TaskState,
    at: Instant,
}

impl TaskHandle {
    pub(crate) fn new(task_id: TaskId, kind: Kind) -> Self {
        Self { task_id, kind, created: None }
    }

    pub(crate) fn of(state: TaskState) -> Self {
        let created = Created { at: Instant::now(), state };
        Self {
            task_id: created.state.task_id().clone(),
            kind: created.state.kind(),
            created: Some(created),
        }
    }

    /// The id.
    #[must_use]
    pub fn id(&self) -> &TaskId {
        &self.task_id
    }

    /// How the task stood when the server made it; `None` for a handle that was stored.
    #[must_use]
    pub fn created(&self) -> Option<&TaskState> {
        self.created.as_ref().map(|created| &created.state)
    }

    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    /// When it may be asked after first: at once, unless the server said how long to wait.
    pub(crate) fn first_question(&self) -> Option<Instant> {
        let Created { state, at } = self.created.as_ref()?;
        let pause = state.poll_interval().filter(|_| *state.status() == TaskStatus::Working)?;
        at.checked_add(pause)
    }
}

impl PartialEq for TaskHandle {
    fn eq(&self, other: &Self) -> bool {
        (self.kind, &self.task_id) == (other.kind, &other.task_id)
    }
}

impl Eq for TaskHandle {}

impl Hash for TaskHandle {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.kind, &self.task_id).hash(state);
    }
}

impl fmt::Debug for TaskHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskHandle")
            .field("task_id", &self.task_id)
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}
