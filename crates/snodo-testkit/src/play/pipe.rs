//! A transcript at the end of a byte pipe.

use std::sync::PoisonError;

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::sync::mpsc;

use super::outlet::{Event, Outlet};
use super::{PipeEnd, Tasks};

/// Makes byte pipes to a [`Play`](super::Play), one for each connection of a client.
///
/// ```
/// use snodo_testkit::{Play, Transcript, Wire};
///
/// # async fn open() -> Result<(), snodo_testkit::TranscriptError> {
/// let play = Play::new(Transcript::parse("x", "? ping")?, Wire::Pipe);
/// let end: tokio::io::DuplexStream = play.pipe().open();
/// # let _ = end;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct PipeEnds {
    events: mpsc::Sender<Event>,
    tasks: Tasks,
}

impl PipeEnds {
    pub(super) fn new(events: mpsc::Sender<Event>, tasks: Tasks) -> Self {
        Self { events, tasks }
    }

    /// Makes a pipe and gives the client's end of it; dropping that end ends the connection. It
    /// has to be called on a tokio runtime.
    #[must_use]
    pub fn open(&self) -> PipeEnd {
        let (ours, theirs) = tokio::io::duplex(PIPE_BYTES);
        let (read, mut write) = tokio::io::split(ours);
        let (lines, mut waiting) = mpsc::channel::<String>(LINES_WAITING);
        let events = self.events.clone();
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        tasks.spawn(async move {
            // A play that is gone hears nothing; its tasks end with it.
            let _ = events.send(Event::Opened(Outlet::Pipe(lines))).await;
            let mut lines = BufReader::new(read).lines();
            while let Ok(Some(text)) = lines.next_line().await {
                let _ = events.send(Event::Message { text, stream: 0, headers: None }).await;
            }
            let _ = events.send(Event::Ended).await;
        });
        tasks.spawn(async move {
            while let Some(line) = waiting.recv().await {
                if write.write_all(format!("{line}\n").as_bytes()).await.is_err() {
                    return;
                }
            }
            // The server hangs up; the client sees the end of the pipe.
            let _ = write.shutdown().await;
        });
        theirs
    }
}

/// What fits into a pipe before the writer waits: as much as into a pipe of Linux.
const PIPE_BYTES: usize = 64 * 1024;

/// How many lines of the server may wait for the pipe.
const LINES_WAITING: usize = 256;
