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
use snodo_engine::Limits;
use snodo_types::{Cause, Error, ErrorObject, Kind, Message, Outcome, Progress, Raw};

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
    progress: Option<ProgressSink>,
    answer: PhantomData<fn() -> T>,
}

impl<T> Request<T> {
    pub(crate) fn new(core: &Arc<Core>, request: Result<snodo_dialect::Request, Error>) -> Self {
        let limits = core.options.limits();
        Self { core: Arc::clone(core), request, limits, progress: None, answer: PhantomData }
    }

    /// How long to wait for the answer, in place of the client's timeout; `None` waits for ever.
    ///
    /// It counts from the await: queueing, connecting, sending and reading are all within. In
    /// process there is no timeout.
    pub fn timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.limits.timeout = timeout.into();
        self
    }

    /// Calls a function with each piece of progress, in the caller's task, before the answer.
    pub fn progress(mut self, function: impl FnMut(Progress) + Send + 'static) -> Self {
        self.progress = Some(ProgressSink::new(function));
        if let Ok(request) = &mut self.request {
            request.progress = true;
        }
        self
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

    fn start(self) -> Running {
        match self.request {
            Ok(request) => Running::Driven(Box::new(Driver::new(
                self.core,
                request,
                self.limits,
                self.progress,
            ))),
            Err(error) => {
                let target = &self.core.connection.target;
                Running::Refused(Some(error.at("writing the request", target)))
            }
        }
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
