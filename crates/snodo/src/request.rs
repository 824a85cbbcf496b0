//! One request: its options, then its answer.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use snodo_engine::{Answering, Call, Limits};
use snodo_types::{
    Cause, Error, ErrorObject, InputRequired, InputResponses, Kind, Message, Outcome, Progress, Raw,
};

use crate::Reply;
use crate::client::Core;
use crate::driver::Driver;
use crate::progress::ProgressSink;

/// A request that is sent when it is awaited.
///
/// Awaiting gives the complete result; [`outcome`](Self::outcome) gives a complete result or the
/// server's questions as a value.
///
/// ```
/// # use snodo::Client;
/// # use std::time::Duration;
/// # async fn ask(client: Client) -> Result<(), snodo::Error> {
/// let reply = client
///     .call_tool("report", serde_json::json!({ "year": 2026 }))
///     .timeout(Duration::from_secs(60))
///     .progress(|progress| println!("{}", progress.progress))
///     .await?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// What awaiting it may give: the server's own error (its code; kinds `JsonRpc`, `Protocol`,
/// `Execution`); -32000 when it could not be delivered or the answer cannot be read; -32001 when
/// no answer came in time (both `Transport`); -32601 when the negotiated version has no such
/// request; -32602 when the parameters cannot be written, or when the server asks for input
/// ([`Cause::InputRequired`]).
///
/// # Cancel safety
///
/// Dropping the future cancels the request: not yet written, it is never sent; else the server is
/// told as the version and the transport want it, and a late answer is ignored.
#[must_use = "a request is sent when it is awaited"]
pub struct Request<T> {
    core: Arc<Core>,
    request: Result<snodo_dialect::Request, Error>,
    limits: Limits,
    resets: Resets,
    max_total_timeout: Duration,
    answering: Answering,
    max_input_rounds: usize,
    progress: Option<ProgressSink>,
    answer: PhantomData<fn() -> T>,
}

/// What progress does to the timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Resets {
    Never,
    OnProgress,
}

/// How far progress may move a timeout unless the caller says otherwise.
const MAX_TOTAL_TIMEOUT: Duration = Duration::from_secs(600);

impl<T> Request<T> {
    pub(crate) fn new(core: &Arc<Core>, request: Result<snodo_dialect::Request, Error>) -> Self {
        Self {
            core: Arc::clone(core),
            request,
            limits: core.options.limits(),
            resets: Resets::Never,
            max_total_timeout: MAX_TOTAL_TIMEOUT,
            answering: core.connection.context.handlers.answering(),
            max_input_rounds: core.options.max_input_rounds,
            progress: None,
            answer: PhantomData,
        }
    }

    /// How long to wait for the answer, in place of the client's timeout; `None` waits for ever.
    ///
    /// It counts from the await: queueing, connecting, sending and reading are all within. In
    /// process there is no timeout.
    pub fn timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.limits.timeout = timeout.into();
        self
    }

    /// Lets each piece of progress restart the timeout, up to
    /// [`max_total_timeout`](Self::max_total_timeout) after the sending. It asks the server for
    /// progress, whether or not there is a function for it.
    pub fn reset_timeout_on_progress(mut self) -> Self {
        self.resets = Resets::OnProgress;
        self.edit(|request| request.progress = true)
    }

    /// How far progress may move the timeout, counted from the sending; 600 s unless set. Stopped by
    /// that, a request fails with -32001 and `maxTotalTimeoutMs` in the data.
    pub fn max_total_timeout(mut self, limit: Duration) -> Self {
        self.max_total_timeout = limit;
        self
    }

    /// Bounds the whole request: every round, the handlers between them, and any pause. None unless
    /// set.
    pub fn deadline(mut self, limit: Duration) -> Self {
        self.limits.deadline = Some(limit);
        self
    }

    /// Answers an earlier input-required result: its questions by their ids, and the state it gave.
    pub fn answer(self, asked: &InputRequired, answers: InputResponses) -> Self {
        let state = asked.request_state.clone();
        self.edit(|request| {
            request.input_responses = (!answers.is_empty()).then_some(answers);
            request.request_state = state;
        })
    }

    /// Leaves the server's questions to the caller, although the client has handlers.
    pub fn leave_input(mut self) -> Self {
        self.answering = Answering::default();
        self
    }

    /// The most rounds of questions that handlers answer, in place of the client's limit.
    pub fn max_input_rounds(mut self, rounds: usize) -> Self {
        self.max_input_rounds = rounds;
        self
    }

    /// Calls a function with each piece of progress, in the caller's task, before the answer.
    pub fn progress(mut self, function: impl FnMut(Progress) + Send + 'static) -> Self {
        self.progress = Some(ProgressSink::new(function));
        self.edit(|request| request.progress = true)
    }

    /// Adds a member to the request's `_meta`. It wins over the version's own and over one of the
    /// same name in the parameters.
    pub fn meta(mut self, name: impl Into<String>, value: impl Serialize) -> Self {
        if let Ok(request) = &mut self.request {
            match Raw::of(&value) {
                Ok(value) => request.meta.push((name.into(), value)),
                Err(error) => self.request = Err(Error::usage(format!("`_meta`: {error}"))),
            }
        }
        self
    }

    /// Awaits a complete result or the server's questions, whichever comes.
    pub fn outcome(self) -> OutcomeResponse<T> {
        OutcomeResponse { running: self.start(), answer: PhantomData }
    }

    fn edit(mut self, change: impl FnOnce(&mut snodo_dialect::Request)) -> Self {
        if let Ok(request) = &mut self.request {
            change(request);
        }
        self
    }

    fn start(self) -> Running {
        let Self { core, request, mut limits, .. } = self;
        let request = match request {
            Ok(request) => request,
            Err(error) => {
                let target = &core.connection.target;
                return Running::Refused(Some(error.at("writing the request", target)));
            }
        };
        if self.resets == Resets::OnProgress {
            limits.max_total_timeout = Some(self.max_total_timeout);
        }
        // A peer in the caller's own task is waited for like any function.
        let same_task = core.connection.transport.abilities().same_task;
        let limits = if same_task { Limits::default() } else { limits };
        let call = Call::new(request, limits).answering(self.answering, self.max_input_rounds);
        Running::Driven(Box::new(Driver::new(core, call, self.progress)))
    }
}

impl<T: DeserializeOwned> IntoFuture for Request<T> {
    type Output = Result<Reply<T>, Error>;
    type IntoFuture = Response<T>;

    fn into_future(self) -> Response<T> {
        Response { running: self.start(), answer: PhantomData }
    }
}

impl<T> fmt::Debug for Request<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("request", &self.request)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

/// The future of a [`Request`]: its complete answer. Dropping it cancels the request.
///
/// ```
/// # async fn ask(client: snodo::Client) -> Result<(), snodo::Error> {
/// let pong = client.ping().into_future();
/// pong.await?;
/// # use std::future::IntoFuture;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[must_use = "a request is sent when it is awaited"]
pub struct Response<T> {
    running: Running,
    answer: PhantomData<fn() -> T>,
}

impl<T: DeserializeOwned> Future for Response<T> {
    type Output = Result<Reply<T>, Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let outcome = ready!(self.running.poll(cx));
        let reply = match outcome {
            Ok(Outcome::Complete(message)) => Reply::read(message),
            Ok(Outcome::InputRequired(asked)) => {
                let text = "the server asks for input first: await `outcome()` and answer it";
                let error = Error::new(Kind::Protocol, ErrorObject::INVALID_PARAMS, text);
                Err(error.with_cause(Cause::InputRequired(Box::new(asked))))
            }
            Err(error) => Err(error),
        };
        Poll::Ready(reply.map_err(|error| self.running.explain(error)))
    }
}

/// The future of [`Request::outcome`]. Dropping it cancels the request.
///
/// ```
/// use snodo::types::Outcome;
///
/// # async fn ask(client: snodo::Client) -> Result<(), snodo::Error> {
/// match client.call_tool("book", ()).outcome().await? {
///     Outcome::Complete(reply) => println!("{}", reply.text()),
///     Outcome::InputRequired(asked) => println!("{asked:?}"),
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[must_use = "a request is sent when it is awaited"]
pub struct OutcomeResponse<T> {
    running: Running,
    answer: PhantomData<fn() -> T>,
}

impl<T: DeserializeOwned> Future for OutcomeResponse<T> {
    type Output = Result<Outcome<Reply<T>>, Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let outcome = ready!(self.running.poll(cx));
        let outcome = match outcome {
            Ok(Outcome::Complete(message)) => Reply::read(message).map(Outcome::Complete),
            Ok(Outcome::InputRequired(asked)) => Ok(Outcome::InputRequired(asked)),
            Err(error) => Err(error),
        };
        Poll::Ready(outcome.map_err(|error| self.running.explain(error)))
    }
}

#[derive(Debug)]
enum Running {
    Driven(Box<Driver>),
    Refused(Option<Error>),
}

impl Running {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<Outcome<Message>, Error>> {
        match self {
            Self::Driven(driver) => driver.poll(cx),
            Self::Refused(error) => match error.take() {
                Some(error) => Poll::Ready(Err(error)),
                None => Poll::Pending,
            },
        }
    }

    fn explain(&self, error: Error) -> Error {
        match self {
            Self::Driven(driver) => driver.explain(error),
            Self::Refused(_) => error,
        }
    }
}
