//! Waiting until a task is over.

mod clock;

use std::collections::BTreeSet;
use std::fmt;
use std::future::IntoFuture;
use std::time::Duration;

use serde_json::json;
use snodo::Error;
use snodo::transport::BoxFuture;
use snodo::types::{
    CallToolResult, Cause, InputRequired, InputResponses, Kind as ErrorKind, Raw, ResultType,
    TaskParams, TaskStatus,
};

use crate::client::read;
use crate::extension::RESULT;
use crate::kind::Kind;
use crate::{TaskClient, TaskHandle, TaskState};
use clock::Clock;

/// A wait for the end of a task that begins when it is awaited.
///
/// The server is asked how the task stands, as often as it wants to be asked (told anew with each
/// answer; 1 s where it says nothing, never less than 50 ms). What the task asks for, the client's
/// handlers answer; each question is answered once in a wait, however often it comes back.
///
/// ```
/// # use snodo_tasks::{TaskClient, TaskHandle};
/// # use std::time::Duration;
/// # async fn wait(tasks: TaskClient, task: TaskHandle) -> Result<(), snodo::Error> {
/// let outcome = tasks
///     .wait(&task)
///     .limit(Duration::from_secs(600))
///     .watch(|state| println!("{}", state.status_message().unwrap_or_default()))
///     .await?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// - -32001 (`Transport`): the task was not over within the limit; `taskId` and `timeoutMs` are in
///   the data. It goes on, and can be waited for again.
/// - -32602: the server does not know the task, or no more; the handle is of the other kind.
/// - -32000 (`Transport`): what came of the task is no result of a tool; what it asks cannot be
///   answered, or it asked more often than was allowed ([`Cause::MaxInputRounds`]).
/// - -32603 (`Execution`): a handler failed; no tokio runtime is in reach.
/// - whatever else a [`Request`](snodo::Request) may end with.
///
/// # Cancel safety
///
/// Dropping the future does nothing to the task.
#[must_use = "a wait begins when it is awaited"]
pub struct Wait {
    tasks: TaskClient,
    task: TaskHandle,
    limit: Option<Duration>,
    interval: Duration,
    input: Input,
    max_input_rounds: usize,
    rounds: usize,
    answered: BTreeSet<String>,
    watch: Option<Watch>,
}

type Watch = Box<dyn FnMut(&TaskState) + Send>;

/// Who answers what the task asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Input {
    Caller,
    Handlers,
}

/// How a wait ended.
///
/// Closed on purpose: whoever handles each arm has handled all there is. `Debug` leaves out the
/// metadata of a result, which may name the task.
///
/// ```
/// use snodo_tasks::TaskOutcome;
///
/// fn text(outcome: &TaskOutcome) -> Option<String> {
///     match outcome {
///         TaskOutcome::Complete(result) => Some(result.text()),
///         _ => None,
///     }
/// }
/// # let _ = text;
/// ```
#[derive(Clone)]
#[expect(clippy::exhaustive_enums, reason = "a caller has to handle each of them")]
pub enum TaskOutcome {
    /// Somebody gave it up.
    Cancelled(TaskState),
    /// The tool's result. One whose `is_error` is true is complete too: the tool ran, and reports a
    /// failure.
    Complete(CallToolResult),
    /// The request that became the task failed with this error of the server's.
    Failed(Error),
    /// It waits for something that nobody here answers. Answer it
    /// ([`update`](TaskClient::update)) and wait again ([`Wait::answered`]).
    InputRequired(TaskState),
}

impl Wait {
    pub(crate) fn new(tasks: TaskClient, task: TaskHandle) -> Self {
        Self {
            tasks,
            task,
            limit: Some(LIMIT),
            interval: INTERVAL,
            input: Input::Handlers,
            max_input_rounds: MAX_INPUT_ROUNDS,
            rounds: 0,
            answered: BTreeSet::new(),
            watch: None,
        }
    }

    /// How long to wait; 60 s unless set, `None` for ever. The time in which handlers of the client
    /// are at work does not count.
    pub fn limit(mut self, limit: impl Into<Option<Duration>>) -> Self {
        self.limit = limit.into();
        self
    }

    /// How long to leave the server alone where it does not say so itself; 1 s unless set, at least
    /// 50 ms.
    pub fn poll_interval(mut self, interval: Duration) -> Self {
        self.interval = interval;
        self
    }

    /// Leaves what the task asks to the caller, although the client has handlers.
    pub fn leave_input(mut self) -> Self {
        self.input = Input::Caller;
        self
    }

    /// The most rounds of questions that handlers answer in this wait; 10 unless set.
    pub fn max_input_rounds(mut self, rounds: usize) -> Self {
        self.max_input_rounds = rounds;
        self
    }

    /// Tells what was answered already: a server may go on asking for a while.
    pub fn answered(mut self, answers: &InputResponses) -> Self {
        self.answered.extend(answers.iter().map(|(id, _)| id.to_owned()));
        self
    }

    /// Calls a function with each state that the server tells, in the caller's task.
    pub fn watch(mut self, function: impl FnMut(&TaskState) + Send + 'static) -> Self {
        self.watch = Some(Box::new(function));
        self
    }

    async fn run(mut self) -> Result<TaskOutcome, Error> {
        let mut clock = Clock::start(self.limit)?;
        let mut next = self.task.first_question();
        loop {
            if let Some(next) = next {
                clock.within(tokio::time::sleep_until(next)).await.ok_or_else(|| self.late())?;
            }
            let state = self.ask(&clock).await?;
            let interval = state.poll_interval().unwrap_or(self.interval).max(MIN_INTERVAL);
            next = Some(clock.after(interval));
            if let Some(outcome) = self.go_on(state, &mut clock).await? {
                return Ok(outcome);
            }
        }
    }

    async fn ask(&mut self, clock: &Clock) -> Result<TaskState, Error> {
        let state = clock.within(self.tasks.get(&self.task)).await.ok_or_else(|| self.late())??;
        if let Some(watch) = &mut self.watch {
            watch(&state);
        }
        Ok(state)
    }

    /// Does what this state wants; gives the outcome where it is the last one.
    async fn go_on(
        &mut self,
        state: TaskState,
        clock: &mut Clock,
    ) -> Result<Option<TaskOutcome>, Error> {
        let core = state.kind() == Kind::Core;
        match state.status() {
            TaskStatus::Cancelled => Ok(Some(TaskOutcome::Cancelled(state))),
            TaskStatus::InputRequired if self.input == Input::Caller => Ok(self.left(state)),
            TaskStatus::Completed | TaskStatus::Failed | TaskStatus::InputRequired if core => {
                self.core_result(state, clock).await.map(Some)
            }
            TaskStatus::Completed => completed(&state).map(Some),
            TaskStatus::Failed => failed(&state).map(Some),
            TaskStatus::InputRequired => self.answer(state, clock).await,
            // It goes on; a status that is not known may still change.
            _ => Ok(None),
        }
    }

    /// The caller answers: a question that was answered already is not told again.
    fn left(&self, state: TaskState) -> Option<TaskOutcome> {
        let all_answered = !self.answered.is_empty() && self.asked(&state).is_none();
        (!all_answered).then_some(TaskOutcome::InputRequired(state))
    }

    fn asked(&self, state: &TaskState) -> Option<InputRequired> {
        state.asked(|id| self.answered.contains(id))
    }

    /// Tasks, "Task Update Requests": each question is answered once; it may stand in some more
    /// states until the server has caught up.
    async fn answer(
        &mut self,
        state: TaskState,
        clock: &mut Clock,
    ) -> Result<Option<TaskOutcome>, Error> {
        let Some(asked) = self.asked(&state) else { return Ok(None) };
        if self.rounds >= self.max_input_rounds {
            return Err(too_many_rounds(self.max_input_rounds, asked));
        }
        self.rounds += 1;
        let begun = clock.now();
        let answers = match self.tasks.client().answer_input(&asked).await {
            Ok(answers) => answers,
            Err(error) if matches!(error.cause(), Some(Cause::NoInputHandler { .. })) => {
                return Ok(Some(TaskOutcome::InputRequired(state)));
            }
            Err(error) => return Err(error),
        };
        clock.stood_since(begun);
        self.answered.extend(answers.iter().map(|(id, _)| id.to_owned()));
        let update = self.tasks.update(&self.task, answers);
        clock.within(update).await.ok_or_else(|| self.late())??;
        Ok(None)
    }

    /// A core task has to be asked for its result, which waits until there is one. Questions of the
    /// server come meanwhile as requests of its own (2025-11-25, tasks, "Input Required Status").
    async fn core_result(&mut self, state: TaskState, clock: &Clock) -> Result<TaskOutcome, Error> {
        let params = TaskParams::new(self.task.id().clone());
        let request = self.tasks.ask(RESULT, &self.task, &params)?;
        // The client stands its own clock while it answers the server, so this one is left to it.
        let error = match request.timeout(clock.left()).await {
            Ok(result) => return Ok(TaskOutcome::Complete(read(&result)?)),
            Err(error) if error.is_timeout() => return Err(self.late()),
            Err(error) if error.cause().is_some() => return Err(error),
            Err(error) => error,
        };
        // The server's own error: that of the task, or about the task.
        let state = if state.status().is_final() { state } else { self.ask(clock).await? };
        match state.status() {
            TaskStatus::Cancelled => Ok(TaskOutcome::Cancelled(state)),
            TaskStatus::Failed => Ok(TaskOutcome::Failed(error)),
            _ => Err(error),
        }
    }

    fn late(&self) -> Error {
        let limit = self.limit.unwrap_or_default();
        let millis = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
        let text = format!("the task was not over within {limit:?}");
        Error::new(ErrorKind::Transport, Error::TIMEOUT, text)
            .with_data(json!({ "taskId": self.task.id(), "timeoutMs": millis }))
            .with_cause(Cause::Timeout)
    }
}

impl IntoFuture for Wait {
    type Output = Result<TaskOutcome, Error>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl fmt::Debug for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wait")
            .field("task", &self.task)
            .field("limit", &self.limit)
            .field("interval", &self.interval)
            .field("input", &self.input)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for TaskOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cancelled(state) => f.debug_tuple("Cancelled").field(state).finish(),
            Self::Complete(result) => f
                .debug_struct("Complete")
                .field("content", &result.content)
                .field("structured_content", &result.structured_content)
                .field("is_error", &result.is_error)
                .finish_non_exhaustive(),
            Self::Failed(error) => f.debug_tuple("Failed").field(error).finish(),
            Self::InputRequired(state) => f.debug_tuple("InputRequired").field(state).finish(),
        }
    }
}

/// The result stands in the state. Nothing follows on it, so it can only be complete.
fn completed(state: &TaskState) -> Result<TaskOutcome, Error> {
    let result =
        state.result().ok_or_else(|| Error::decode("a completed task without its result"))?;
    match ResultType::of(result) {
        ResultType::Complete => Ok(TaskOutcome::Complete(read::<CallToolResult>(result)?)),
        other => Err(Error::decode(format!("the result of a task is of type {other:?}"))),
    }
}

fn failed(state: &TaskState) -> Result<TaskOutcome, Error> {
    let error = state.error().ok_or_else(|| Error::decode("a failed task without its error"))?;
    Ok(TaskOutcome::Failed(error.clone().into()))
}

fn too_many_rounds(limit: usize, asked: InputRequired) -> Error {
    let text = format!("the task still asks for input after {limit} rounds");
    Error::new(ErrorKind::Transport, Error::TRANSPORT, text)
        .with_data(Raw::from(json!({ "maxInputRounds": limit })))
        .with_cause(Cause::MaxInputRounds { asked: Box::new(asked) })
}

/// How long a wait takes unless it says otherwise.
const LIMIT: Duration = Duration::from_secs(60);
/// How long a server is left alone that does not say how long.
const INTERVAL: Duration = Duration::from_secs(1);
/// No server is asked more often, whatever it says.
const MIN_INTERVAL: Duration = Duration::from_millis(50);
/// As many rounds as a client answers for one request.
const MAX_INPUT_ROUNDS: usize = 10;
