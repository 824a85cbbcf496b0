//! One request: its options, then its answer.

use std::borrow::Cow;
use std::fmt;
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use snodo_dialect::{Extension, LogLevel};
use snodo_engine::Answering;
use snodo_types::{
    Cause, Error, ErrorObject, InputRequired, InputResponses, Kind, LoggingLevel, Outcome,
    Progress, Tool, TraceContext,
};

use crate::call::{Call, Doubts, Renews, Resets};
use crate::client::Core;
use crate::options::Repeats;
use crate::progress::ProgressSink;
use crate::running::{Running, Stack};
use crate::{CacheMode, Client, Reply};

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
    call: Result<Call, Error>,
    stack: Option<Stack>,
    finish: Finish<T>,
}

/// What is done to a typed answer before the caller gets it.
pub(crate) type Finish<T> = fn(&mut T, &Core);

impl<T> Request<T> {
    pub(crate) fn new(client: &Client, request: Result<snodo_dialect::Request, Error>) -> Self {
        let core = client.core();
        let call = request.map(|request| Call::new(core, request));
        let call = call.map_err(|error| error.at("writing the request", &core.target));
        Self { call, stack: client.stack().cloned(), finish: |_, _| {} }
    }

    /// Gives the definition of the tool that a generic `tools/call` calls; see
    /// [`ToolRef`](crate::ToolRef). A schema that breaks the rules for headers is refused.
    pub fn definition(mut self, tool: &Tool) -> Self {
        let Ok(call) = &mut self.call else { return self };
        let connection = call.core.connection();
        let trusted = call.core.options.repeats == Repeats::IdempotentTools;
        call.idempotent = trusted && tool.annotations().idempotent_hint == Some(true);
        call.check = call.core.checks().map(|checks| checks.learn(tool));
        if !connection.transport.abilities().routing {
            return self;
        }
        match connection.opened.dialect.param_headers(&tool.input_schema) {
            None => {}
            Some(Ok(plan)) => call.request.param_headers = Some(plan),
            Some(Err(reason)) => {
                let text = format!("the tool's schema breaks the rules for headers: {reason}");
                self.call = Err(Error::usage(text));
            }
        }
        self
    }

    pub(crate) fn of_call(client: &Client, call: Result<Call, Error>) -> Self {
        Self { call, stack: client.stack().cloned(), finish: |_, _| {} }
    }

    /// A session that is lost is not renewed for this request: it is part of a renewal.
    pub(crate) fn in_this_session(self) -> Self {
        self.edit(|call| call.renews = Renews::Never)
    }

    /// A failure of this request casts no doubt on the version: it is the question itself.
    pub(crate) fn beyond_doubt(self) -> Self {
        self.edit(|call| call.doubts = Doubts::Never)
    }

    /// Does something to the answer before the caller gets it.
    pub(crate) fn finish(mut self, finish: Finish<T>) -> Self {
        self.finish = finish;
        self
    }

    /// How long to wait for the answer, in place of the client's timeout; `None` waits for ever.
    ///
    /// It counts from the await: queueing, connecting, sending and reading are all within. In
    /// process there is no timeout.
    pub fn timeout(self, timeout: impl Into<Option<Duration>>) -> Self {
        self.pace(|call| call.limits.timeout = timeout.into())
    }

    /// Lets each piece of progress restart the timeout, up to
    /// [`max_total_timeout`](Self::max_total_timeout) after the sending. It asks the server for
    /// progress, whether or not there is a function for it.
    pub fn reset_timeout_on_progress(self) -> Self {
        self.edit(|call| {
            call.resets = Resets::OnProgress;
            call.request.progress = true;
        })
    }

    /// How far progress may move the timeout, counted from the sending, and with it any question of
    /// the server's that is being answered meanwhile; 600 s unless set. Stopped by that, a request
    /// fails with -32001 and `maxTotalTimeoutMs` in the data.
    pub fn max_total_timeout(self, limit: Duration) -> Self {
        self.pace(|call| call.max_total_timeout = limit)
    }

    /// Bounds the whole request, counted from the await: every round, the handlers between them, and
    /// any pause. None unless set. In process there is no deadline.
    pub fn deadline(self, limit: Duration) -> Self {
        self.pace(|call| call.limits.deadline = Some(limit))
    }

    /// Answers an earlier input-required result: its questions by their ids, and the state it gave.
    pub fn answer(self, asked: &InputRequired, answers: InputResponses) -> Self {
        let state = asked.request_state.clone();
        self.edit(|call| {
            call.request.input_responses = (!answers.is_empty()).then_some(answers);
            call.request.request_state = state;
        })
    }

    /// Leaves the server's questions to the caller, although the client has handlers.
    pub fn leave_input(self) -> Self {
        self.edit(|call| call.answering = Answering::default())
    }

    /// The most rounds of questions that handlers answer, in place of the client's limit.
    pub fn max_input_rounds(self, rounds: usize) -> Self {
        self.edit(|call| call.max_input_rounds = rounds)
    }

    /// Calls a function with each piece of progress, in the caller's task, before the answer.
    pub fn progress(self, function: impl FnMut(Progress) + Send + 'static) -> Self {
        self.edit(|call| {
            call.progress = Some(ProgressSink::new(function));
            call.request.progress = true;
        })
    }

    /// Adds a member to the request's `_meta`. It wins over the version's own and over one of the
    /// same name in the parameters. What stands under `traceparent`, `tracestate` and `baggage` has
    /// to be of that format, else the request is refused when it is awaited.
    pub fn meta(mut self, name: impl Into<Cow<'static, str>>, value: impl Serialize) -> Self {
        if let Ok(call) = &mut self.call
            && let Err(error) = call.add_meta(name, value)
        {
            self.call = Err(error);
        }
        self
    }

    /// Sends a W3C trace context in the request's `_meta`; it wins over [`meta`](Self::meta) and over
    /// the client's own hook ([`Builder::trace_context`](crate::Builder::trace_context)).
    pub fn trace_context(self, context: TraceContext) -> Self {
        self.edit(|call| call.request.trace = Some(context))
    }

    /// Asks for log messages of this request from a level on, on the version in which each request
    /// says so; elsewhere it has no effect, see
    /// [`Client::set_log_level`](crate::Client::set_log_level).
    pub fn log_level(self, level: LoggingLevel) -> Self {
        self.edit(|call| {
            let dialect = call.core.connection().opened.dialect;
            if let LogLevel::Meta(name, value) = dialect.log_level(level) {
                call.request.meta.push((name, value));
            }
        })
    }

    /// Adds a parameter beside those that the method has, as an extension or a version may want it.
    /// Its name is none that is there already.
    pub fn param(mut self, name: &'static str, value: impl Serialize) -> Self {
        if let Ok(call) = &mut self.call {
            match std::mem::take(&mut call.request.params).with(name, &value) {
                Ok(params) => {
                    call.request.params = params;
                    call.plain = false;
                }
                Err(error) => self.call = Err(error),
            }
        }
        self
    }

    /// Names the extension that this request is of, or may be answered by. One that the client does
    /// not speak otherwise is declared for this request alone.
    pub fn extension(self, extension: Arc<dyn Extension>) -> Self {
        self.edit(|call| call.request.extension = Some(extension))
    }

    /// Sends a header with this request, where the transport has headers; elsewhere it is checked
    /// and left out. One of the same name that the transport sends always gives way.
    ///
    /// A name that the protocol or the transport sets itself is refused when the request is awaited,
    /// and so is a value with anything but visible ASCII, spaces and tabs.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        if let Ok(call) = &mut self.call
            && let Err(error) = call.add_header(name.into(), value.into())
        {
            self.call = Err(error);
        }
        self
    }

    /// Awaits a complete result or the server's questions, whichever comes.
    pub fn outcome(self) -> OutcomeResponse<T> {
        OutcomeResponse(self.start())
    }

    /// What the request does about the client's cache; [`CacheMode::Use`] unless set. It has no
    /// effect on a client without one, nor on a request with any option besides its clocks.
    pub fn cache(self, mode: CacheMode) -> Self {
        self.pace(|call| call.cache = mode)
    }

    /// Sets an option that may decide the answer.
    pub(crate) fn edit(self, change: impl FnOnce(&mut Call)) -> Self {
        self.pace(|call| {
            change(call);
            call.plain = false;
        })
    }

    /// Sets an option that does not.
    fn pace(mut self, change: impl FnOnce(&mut Call)) -> Self {
        if let Ok(call) = &mut self.call {
            change(call);
        }
        self
    }

    fn start(self) -> Response<T> {
        let core = self.call.as_ref().ok().map(|call| Arc::clone(&call.core));
        let running = Running::start(self.call, self.stack.as_ref());
        Response { running, core, finish: self.finish }
    }
}

impl<T: DeserializeOwned> IntoFuture for Request<T> {
    type Output = Result<Reply<T>, Error>;
    type IntoFuture = Response<T>;

    fn into_future(self) -> Response<T> {
        self.start()
    }
}

impl<T> fmt::Debug for Request<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request").field("call", &self.call).finish_non_exhaustive()
    }
}

/// The future of a [`Request`]: its complete answer.
///
/// ```
/// # async fn ask(client: snodo::Client) -> Result<(), snodo::Error> {
/// let pong = client.ping().into_future();
/// pong.await?;
/// # use std::future::IntoFuture;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Those of a [`Request`].
///
/// # Cancel safety
///
/// Dropping it cancels the request, as dropping a [`Request`] that is awaited does.
#[must_use = "a request is sent when it is awaited"]
pub struct Response<T> {
    running: Running,
    /// There is none where the request was refused before it began.
    core: Option<Arc<Core>>,
    finish: Finish<T>,
}

impl<T: DeserializeOwned> Response<T> {
    fn poll_outcome(&mut self, cx: &mut Context<'_>) -> Poll<Result<Outcome<Reply<T>>, Error>> {
        let outcome = ready!(self.running.poll(cx)).and_then(|outcome| match outcome {
            Outcome::Complete(message) => Reply::<T>::read(message).map(Outcome::Complete),
            Outcome::InputRequired(asked) => Ok(Outcome::InputRequired(asked)),
        });
        Poll::Ready(match outcome {
            Ok(Outcome::Complete(mut reply)) => {
                if let Some(core) = &self.core {
                    (self.finish)(reply.value_mut(), core);
                }
                Ok(Outcome::Complete(reply))
            }
            Ok(asked) => Ok(asked),
            Err(error) => Err(self.running.explain(error)),
        })
    }
}

impl<T> Response<T> {
    /// The epoch of the connection that it was answered on, where that is known.
    pub(crate) fn epoch(&self) -> Option<u64> {
        self.running.epoch()
    }
}

impl<T: DeserializeOwned> Future for Response<T> {
    type Output = Result<Reply<T>, Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let outcome = ready!(self.poll_outcome(cx));
        Poll::Ready(outcome.and_then(|outcome| match outcome {
            Outcome::Complete(reply) => Ok(reply),
            Outcome::InputRequired(asked) => {
                let text = "the server asks for input first: await `outcome()` and answer it";
                let error = Error::new(Kind::Protocol, ErrorObject::INVALID_PARAMS, text);
                let error = error.with_cause(Cause::InputRequired(Box::new(asked)));
                Err(self.running.explain(error))
            }
        }))
    }
}

impl<T> fmt::Debug for Response<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Response").field("running", &self.running).finish_non_exhaustive()
    }
}

/// The future of [`Request::outcome`].
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
///
/// # Errors
///
/// Those of a [`Request`].
///
/// # Cancel safety
///
/// Dropping it cancels the request, as dropping a [`Request`] that is awaited does.
#[derive(Debug)]
#[must_use = "a request is sent when it is awaited"]
pub struct OutcomeResponse<T>(Response<T>);

impl<T: DeserializeOwned> Future for OutcomeResponse<T> {
    type Output = Result<Outcome<Reply<T>>, Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.poll_outcome(cx)
    }
}
