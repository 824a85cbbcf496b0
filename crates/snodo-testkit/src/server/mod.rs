//! Servers on the wires of the protocol, for tests.

mod fault;
mod http;
mod pipe;

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use snodo_transport::Connect;
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream};
use tokio::task::JoinSet;

use crate::{Answers, Loopback, Replay, TranscriptError};
use fault::Faults;

pub use fault::Fault;

/// A server that speaks Streamable HTTP, or newline-delimited messages, for whatever a [`Connect`]
/// leads to; a [`Replay`] most of the time.
///
/// ```
/// use std::time::Duration;
///
/// use snodo_testkit::{Answers, Fault, Server};
///
/// # async fn serve() -> Result<(), Box<dyn std::error::Error>> {
/// let server = Server::load("tests/weather.txt")?
///     .fault(Fault::delay(Duration::from_secs(2)).on("tools/call").nth(1))
///     .fault(Fault::status(502, "<h1>Bad Gateway</h1>").on("tools/list"));
/// let listening = server.http(Answers::Events).await?;
/// println!("{}", listening.url());
/// # Ok(())
/// # }
/// ```
///
/// A request's id has to be a number that is not negative, as all of this library's are.
pub struct Server<C> {
    connect: Arc<C>,
    faults: Faults,
    tasks: Arc<Mutex<JoinSet<()>>>,
}

impl Server<Replay> {
    /// Serves the transcript in a file, as [`Replay::load`] reads it.
    ///
    /// # Errors
    ///
    /// As [`Transcript::load`](crate::Transcript::load).
    pub fn load(path: impl AsRef<Path>) -> Result<Self, TranscriptError> {
        Replay::load(path).map(Self::new)
    }
}

impl<C: Connect> Server<C> {
    /// Serves what this leads to: each connection of a client's is made anew.
    #[must_use]
    pub fn new(connect: C) -> Self {
        Self { connect: Arc::new(connect), faults: Faults::default(), tasks: Arc::default() }
    }

    /// Adds something that goes wrong; what was put on a wire before goes on without it.
    #[must_use]
    pub fn fault(mut self, fault: Fault) -> Self {
        self.faults.add(fault);
        self
    }

    /// What is served.
    #[must_use]
    pub fn served(&self) -> &C {
        &self.connect
    }

    /// Listens on the loopback interface, until what it gives is dropped.
    ///
    /// A request is answered as JSON or as an event stream, as `answers` says; GET is given what
    /// concerns no request, and refused with 405 where there is no such thing. Each `initialize`
    /// begins a new connection, unless it is the first message of all; a request belongs to the
    /// connection that opened its session, and without one to the latest.
    ///
    /// # Errors
    ///
    /// No port can be had.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves nothing behind.
    pub async fn http(&self, answers: Answers) -> io::Result<Loopback> {
        http::serve(Arc::clone(&self.connect), self.faults.clone(), answers).await
    }

    /// Speaks newline-delimited messages over a pipe, until either side ends it.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the pipe.
    pub async fn pipe(&self, pipe: impl AsyncRead + AsyncWrite + Send) {
        pipe::serve(&*self.connect, &self.faults, pipe).await;
    }

    /// Speaks over the standard input and output of this process, as a server that is started by
    /// its client does.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the conversation: what was read and not answered is lost.
    pub async fn stdio(&self) {
        self.pipe(tokio::io::join(tokio::io::stdin(), tokio::io::stdout())).await;
    }

    /// The client's end of a new pipe in memory, whose other end is served. It has to be called on
    /// a tokio runtime, and ends with the last clone of this.
    #[must_use]
    pub fn open(&self) -> DuplexStream {
        let (near, far) = tokio::io::duplex(PIPE_BYTES);
        let server = Self { tasks: Arc::default(), ..self.clone() };
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        tasks.spawn(async move { server.pipe(far).await });
        near
    }
}

impl<C> Clone for Server<C> {
    fn clone(&self) -> Self {
        Self {
            connect: Arc::clone(&self.connect),
            faults: self.faults.clone(),
            tasks: Arc::clone(&self.tasks),
        }
    }
}

impl<C> fmt::Debug for Server<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("faults", &self.faults).finish_non_exhaustive()
    }
}

/// What fits into a pipe before the writer waits: as much as into a pipe of Linux.
const PIPE_BYTES: usize = 64 * 1024;

#[cfg(test)]
mod tests;
