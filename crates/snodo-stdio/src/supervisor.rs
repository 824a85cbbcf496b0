//! The task that owns a connection: it notices the end, tells why, and cleans up.

use std::future::Future;
use std::io;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use snodo_types::{TransportError, TransportFault};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::pipe::closed_here;
use crate::process::{Process, ending};
use crate::shared::Shared;
use crate::shutdown::Shutdown;
use crate::stderr::Tail;
use crate::{reader, writer};

/// What a connection is made of, beside its two streams.
pub(crate) struct Parts {
    pub(crate) shared: Arc<Shared>,
    pub(crate) process: Option<Arc<Process>>,
    pub(crate) tail: Tail,
    /// Drains the error stream of the process.
    pub(crate) stderr: Option<Drain>,
    pub(crate) shutdown: Shutdown,
}

/// What drains an error stream.
pub(crate) type Drain = std::pin::Pin<Box<dyn Future<Output = ()> + Send>>;

/// Starts the tasks of a connection. One owns the others and ends by itself, within the waits of
/// the shutdown, once it is asked to or the peer is gone.
pub(crate) fn start(
    runtime: &Handle,
    mut parts: Parts,
    source: impl AsyncRead + Send + Unpin + 'static,
    sink: impl AsyncWrite + Send + Unpin + 'static,
    max_line_bytes: usize,
) -> Closer {
    let stderr = parts.stderr.take();
    let mut tasks = Tasks { set: JoinSet::new(), stderr: stderr.is_some(), writer: true };
    if let Some(drain) = stderr {
        let draining = async {
            drain.await;
            Ended::Stderr
        };
        tasks.set.spawn_on(draining, runtime);
    }
    let reading = reader::read(Arc::clone(&parts.shared), source, max_line_bytes);
    tasks.set.spawn_on(async { Ended::Reader(reading.await) }, runtime);
    let writing = writer::write(Arc::clone(&parts.shared), sink);
    tasks.set.spawn_on(async { Ended::Writer(writing.await) }, runtime);
    let (ask, asked) = watch::channel(None);
    let (done, is_done) = watch::channel(false);
    runtime.spawn(Supervisor { parts, tasks, asked, done }.run());
    Closer { ask: Arc::new(ask), done: is_done }
}

/// Asks for the end of a connection and waits for it.
#[derive(Clone, Debug)]
pub(crate) struct Closer {
    ask: Arc<watch::Sender<Option<Ask>>>,
    done: watch::Receiver<bool>,
}

/// A wish to end, in how much time at most.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ask {
    limit: Option<Duration>,
}

impl Closer {
    /// Of a connection that never was.
    pub(crate) fn closed() -> Self {
        Self { ask: Arc::new(watch::Sender::new(None)), done: watch::channel(true).1 }
    }

    /// Asks; the first to ask sets the limit.
    pub(crate) fn ask(&self, limit: Option<Duration>) {
        self.ask.send_if_modified(|ask| {
            let first = ask.is_none();
            ask.get_or_insert(Ask { limit });
            first
        });
    }

    /// Asks, and says whether it was done within the limit.
    pub(crate) async fn close(&self, limit: Duration) -> bool {
        self.ask(Some(limit));
        Handle::try_current().is_ok() && timeout(limit, self.ended()).await.is_ok()
    }

    /// Waits a moment for a process that was killed to be reaped.
    pub(crate) async fn settled(&self) {
        if Handle::try_current().is_ok() {
            let _ = timeout(GRACE, self.ended()).await;
        }
    }

    async fn ended(&self) {
        // An error says that the task is gone, which is an end too.
        let _ = self.done.clone().wait_for(|done| *done).await;
    }
}

struct Supervisor {
    parts: Parts,
    tasks: Tasks,
    asked: watch::Receiver<Option<Ask>>,
    done: watch::Sender<bool>,
}

/// The tasks of a connection, and which of them still run.
struct Tasks {
    set: JoinSet<Ended>,
    stderr: bool,
    writer: bool,
}

/// A task that came to its end.
enum Ended {
    Reader(io::Result<()>),
    Stderr,
    Writer(io::Result<()>),
}

/// Why a connection is over.
enum End {
    /// This side wants no more.
    Asked(Option<Duration>),
    /// The process ended, though its output may be open still.
    Exited(Option<ExitStatus>),
    /// Nothing more comes.
    Output(io::Result<()>),
}

impl Supervisor {
    async fn run(mut self) {
        let end = self.watch().await;
        let mut waits = self.parts.shutdown;
        let verdict = match end {
            End::Asked(limit) => {
                if let Some(limit) = limit {
                    waits = waits.within(limit);
                }
                closed_here()
            }
            End::Exited(status) => {
                // What it said last may wait in the pipe still, or be held open by its children.
                let _ = timeout(GRACE, self.tasks.reader_ended()).await;
                self.verdict_on_exit(status).await
            }
            End::Output(result) => self.verdict_on_output(result).await,
        };
        tracing::debug!(reason = %verdict, "a connection is over");
        self.parts.shared.begin_close(&verdict);
        self.shut_down(waits).await;
        self.parts.shared.end(verdict);
        self.tasks.set.shutdown().await;
        self.done.send_replace(true);
    }

    /// Waits until the connection is over.
    async fn watch(&mut self) -> End {
        loop {
            let ended = tokio::select! {
                biased;
                limit = asked(&mut self.asked) => return End::Asked(limit),
                ended = self.tasks.next() => ended,
                status = exited(self.parts.process.as_deref()) => return End::Exited(status),
            };
            match ended {
                Some(Ended::Reader(result)) => return End::Output(result),
                None => return End::Output(Ok(())),
                Some(Ended::Writer(Err(error))) => {
                    if let Some(end) = self.writing_failed(error).await {
                        return end;
                    }
                }
                Some(Ended::Stderr | Ended::Writer(Ok(()))) => {}
            }
        }
    }

    /// A peer that takes no input is mostly one that has just ended. Then that is the reason; if
    /// not, it may still answer what it has read.
    async fn writing_failed(&mut self, error: io::Error) -> Option<End> {
        let end = tokio::select! {
            biased;
            limit = asked(&mut self.asked) => Some(End::Asked(limit)),
            result = self.tasks.reader_ended() => Some(End::Output(result)),
            status = exited(self.parts.process.as_deref()) => Some(End::Exited(status)),
            () = tokio::time::sleep(GRACE) => None,
        };
        if end.is_none() {
            let text = format!("the {} takes no input any more: {error}", self.peer());
            let error = TransportError::new(TransportFault::Closed, text).with_source(error);
            self.parts.shared.refuse(error);
        }
        end
    }

    async fn verdict_on_output(&mut self, result: io::Result<()>) -> TransportError {
        if let Some(process) = self.parts.process.clone() {
            // Mostly the output ends because the process does: wait for how.
            if let Ok(status) = timeout(GRACE, process.exited()).await {
                return self.verdict_on_exit(status).await;
            }
        }
        let mut text = match &result {
            Ok(()) => format!("the {} closed the connection", self.peer()),
            Err(error) => format!("reading from the {} failed: {error}", self.peer()),
        };
        text.push_str(&self.parts.tail.last_words());
        let verdict = TransportError::new(TransportFault::Closed, text);
        match result {
            Ok(()) => verdict,
            Err(error) => verdict.with_source(error),
        }
    }

    async fn verdict_on_exit(&mut self, status: Option<ExitStatus>) -> TransportError {
        // Its last words may stand in the pipe still; grandchildren may hold that open for ever.
        let _ = timeout(GRACE / 5, self.tasks.stderr_ended()).await;
        let (ending, note) = ending(status);
        let text = format!("the server process {ending}{}", self.parts.tail.last_words());
        let verdict = TransportError::new(TransportFault::Exited, text);
        match note {
            Some(note) => verdict.with_exit(note),
            None => verdict,
        }
    }

    /// Closes the input, then waits, asks and kills.
    async fn shut_down(&mut self, waits: Shutdown) {
        let Some(process) = self.parts.process.clone() else {
            let _ = timeout(waits.after_stdin, self.tasks.writer_ended()).await;
            return;
        };
        if timeout(waits.after_stdin, process.gone()).await.is_err() {
            process.terminate();
            if timeout(waits.after_terminate, process.gone()).await.is_err() {
                process.kill();
                let _ = timeout(GRACE, process.gone()).await;
            }
        }
        process.reap_others();
    }

    fn peer(&self) -> &'static str {
        if self.parts.process.is_some() { "server" } else { "peer" }
    }
}

impl Tasks {
    /// The next that ends. One that panicked counts as the end of the output.
    async fn next(&mut self) -> Option<Ended> {
        let ended = self.set.join_next().await?;
        let ended = ended.unwrap_or_else(|error| Ended::Reader(Err(io::Error::other(error))));
        match &ended {
            Ended::Reader(_) => {}
            Ended::Stderr => self.stderr = false,
            Ended::Writer(_) => self.writer = false,
        }
        Some(ended)
    }

    async fn reader_ended(&mut self) -> io::Result<()> {
        loop {
            match self.next().await {
                Some(Ended::Reader(result)) => return result,
                Some(_) => {}
                None => return Ok(()),
            }
        }
    }

    async fn stderr_ended(&mut self) {
        while self.stderr && self.next().await.is_some() {}
    }

    async fn writer_ended(&mut self) {
        while self.writer && self.next().await.is_some() {}
    }
}

impl Drop for Supervisor {
    /// The runtime goes away before the end: then there is no time for manners.
    fn drop(&mut self) {
        if *self.done.borrow() {
            return;
        }
        if let Some(process) = &self.parts.process {
            process.kill_and_reap();
        }
        let text = "the runtime of the connection was shut down";
        self.parts.shared.end(TransportError::new(TransportFault::Closed, text));
    }
}

/// Waits until the connection is to end; gives the limit. Without a handle left there is nobody
/// to want it.
async fn asked(asked: &mut watch::Receiver<Option<Ask>>) -> Option<Duration> {
    match asked.wait_for(Option::is_some).await {
        Ok(ask) => ask.and_then(|ask| ask.limit),
        Err(_) => None,
    }
}

/// Waits for a process; for ever, if there is none.
async fn exited(process: Option<&Process>) -> Option<ExitStatus> {
    match process {
        Some(process) => process.exited().await,
        None => std::future::pending().await,
    }
}

/// How long one sign of the end is given to be followed by the others.
const GRACE: Duration = Duration::from_millis(500);
