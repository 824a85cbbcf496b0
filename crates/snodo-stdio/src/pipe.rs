//! The transport: one pipe that many exchanges share.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use snodo_transport::{Abilities, BoxFuture, Exchange, Transport};
use snodo_types::{Envelope, Routing, TransportError, TransportFault};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::runtime::Handle;

use crate::exchange::{PipeExchange, Unsolicited};
use crate::process::Process;
use crate::shared::{Counts, Shared};
use crate::shutdown::Shutdown;
use crate::stderr::Tail;
use crate::supervisor::{Closer, Parts, start};

/// A connection of newline-delimited messages: to a child process, made by
/// [`Stdio`](crate::Stdio), or over any pair of byte streams (TCP, a Unix socket, a tunnel).
///
/// It runs on the tokio runtime it was made on, which needs time (and IO, for a process) enabled.
/// Reading goes on whatever callers do: the reader waits for nobody, and what nobody fetches is
/// bounded by each exchange's [`InboxLimits`](snodo_types::InboxLimits). A caller who is alone
/// writes by itself where the pipe allows it; the messages of several gather and are written
/// together, in the order in which their exchanges were first polled. A message that waits to be
/// written belongs to its exchange, whose deadline runs and whose drop takes it out again, so that
/// a peer that does not read holds up writers and nobody else.
///
/// # Drop behavior
///
/// The connection ends with the `Pipe`: exchanges that are still there fail, whoever holds them.
/// What was queued is written, the input is closed, and a process that does not end by itself is
/// ended as [`Shutdown`] says; all that happens in the background. Dropped outside a runtime it
/// kills the process and its group at once, and so does a runtime that goes away.
/// [`close`](Transport::close) waits for all of it.
///
/// ```
/// use snodo_stdio::Pipe;
/// use snodo_transport::{Incoming, Transport};
/// use snodo_types::Envelope;
/// use tokio::io::{AsyncReadExt, AsyncWriteExt};
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
/// # runtime.block_on(async {
/// let (near, mut far) = tokio::io::duplex(1024);
/// let (reader, writer) = tokio::io::split(near);
/// let pipe = Pipe::new(reader, writer);
/// let mut exchange = pipe.exchange(Envelope::request(1, r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#.to_owned()));
/// far.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n").await?;
/// assert!(matches!(exchange.next().await, Some(Ok(Incoming::Message(_)))));
/// # Ok::<(), std::io::Error>(())
/// # })?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Pipe {
    shared: Arc<Shared>,
    process: Option<Arc<Process>>,
    closer: Closer,
}

impl Pipe {
    /// The longest line that is read unless another limit is set: 16 MiB.
    pub const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;

    /// Makes a connection of a source and a sink of bytes.
    ///
    /// Outside a tokio runtime there is nobody to run it: then every exchange fails and says so.
    #[must_use]
    pub fn new(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        Self::with_max_line_bytes(reader, writer, Self::MAX_LINE_BYTES)
    }

    /// The same with another limit on the length of a line. A longer one is skipped without being
    /// kept; where it answers a call, that call fails with
    /// [`TooLarge`](TransportFault::TooLarge).
    #[must_use]
    pub fn with_max_line_bytes(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
        max_line_bytes: usize,
    ) -> Self {
        let parts = Parts {
            shared: Arc::new(Shared::new(None)),
            process: None,
            tail: Tail::default(),
            stderr: None,
            shutdown: Shutdown::default(),
        };
        Self::run(parts, reader, writer, max_line_bytes)
    }

    pub(crate) fn run(
        parts: Parts,
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
        max_line_bytes: usize,
    ) -> Self {
        let (shared, process) = (Arc::clone(&parts.shared), parts.process.clone());
        let closer = match Handle::try_current() {
            Ok(runtime) => start(&runtime, parts, reader, writer, max_line_bytes),
            Err(_) => {
                shared.end(no_runtime());
                Closer::closed()
            }
        };
        Self { shared, process, closer }
    }

    /// What happened so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.shared.counts()
    }

    /// The id of the process, if this is one and it has not ended.
    #[must_use]
    pub fn process_id(&self) -> Option<u32> {
        self.process.as_ref().and_then(|process| process.id())
    }
}

impl Transport for Pipe {
    fn exchange(&self, envelope: Envelope) -> Exchange {
        Exchange::new(PipeExchange::new(Arc::clone(&self.shared), envelope))
    }

    fn abilities(&self) -> Abilities {
        Abilities { notify: true, listen: true, one_caller: true, ..Abilities::default() }
    }

    fn unsolicited(&self, _routing: Routing) -> Option<Exchange> {
        let first = self.shared.take_unsolicited();
        first.then(|| Exchange::new(Unsolicited(Arc::clone(&self.shared))))
    }

    /// Closes the input and waits until the peer is gone; see [`Shutdown`]. Where `limit` is
    /// shorter than the two waits of a process they shrink in proportion, and at `limit` the
    /// process and its group are killed. May be called any number of times.
    fn close(&self, _routing: Routing, limit: Duration) -> BoxFuture<'static, ()> {
        let (closer, process) = (self.closer.clone(), self.process.clone());
        Box::pin(async move {
            let in_time = closer.close(limit).await;
            if let (false, Some(process)) = (in_time, process) {
                process.kill();
                closer.settled().await;
            }
        })
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        if let (Some(process), Err(_)) = (&self.process, Handle::try_current()) {
            // Nobody may ever run the background task again.
            process.kill_and_reap();
        }
        self.shared.begin_close(&closed_here());
        self.closer.ask(None);
    }
}

impl fmt::Debug for Pipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pipe")
            .field("process", &self.process_id())
            .field("counts", &self.counts())
            .finish_non_exhaustive()
    }
}

/// What exchanges get that outlive their connection.
pub(crate) fn closed_here() -> TransportError {
    TransportError::new(TransportFault::Closed, "the connection was closed by this side")
}

/// What callers get who have no tokio runtime.
pub(crate) fn no_runtime() -> TransportError {
    let text = "a byte pipe needs a tokio runtime with IO and time, and there is none here";
    TransportError::new(TransportFault::Usage, text).not_processed()
}

#[cfg(test)]
#[path = "pipe_tests.rs"]
mod tests;
