//! Playing a transcript: the server's side of it is done, the client's side is held to it.

mod director;
mod error;
mod http;
mod memory;
mod outlet;
mod pipe;

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::DuplexStream;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::{Step, Transcript, Wire};
use director::Director;
use outlet::Event;

pub use error::PlayError;
pub use http::Answers;
pub use memory::{ScriptedConnect, ScriptedTransport};
pub use pipe::PipeEnds;

/// One performance of a [`Transcript`].
///
/// It is put on a wire with [`memory`](Self::memory), [`pipe`](Self::pipe) or
/// [`http`](Self::http), a client is connected to that, and [`run`](Self::run) goes through the
/// lines one after the other: it checks what the client writes and writes what the server says.
/// What the client is told to do, and what comes of it, is handed to the test's own function.
///
/// ```
/// use snodo_testkit::{Play, Step, Transcript, Wire};
/// use snodo_transport::{Connect, Incoming, Transport};
/// use snodo_types::Envelope;
///
/// # async fn play() -> Result<(), Box<dyn std::error::Error>> {
/// let text = r#"
/// ? ping
/// > {"id":"$ping","method":"ping"}
/// < {"jsonrpc":"2.0","id":"$ping","result":{}}
/// = answered
/// "#;
/// let mut play = Play::new(Transcript::parse("ping", text)?, Wire::Pipe);
/// let transport = play.memory().connect().await?;
/// let request = Envelope::request(1, r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#.to_owned());
/// let mut exchange = transport.exchange(request);
/// let mut asking = Some(tokio::spawn(async move { exchange.next().await }));
/// play.run(async |step| match step {
///     Step::Outcome(_) => match asking.take().expect("one outcome").await {
///         Ok(Some(Ok(Incoming::Message(_)))) => Ok(()),
///         other => Err(format!("no answer, but {other:?}")),
///     },
///     _ => Ok(()),
/// })
/// .await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Play {
    transcript: Arc<Transcript>,
    wire: Wire,
    patience: Duration,
    sender: mpsc::Sender<Event>,
    director: Director,
    tasks: Tasks,
}

/// The tasks of a play; they end with it.
type Tasks = Arc<Mutex<JoinSet<()>>>;

impl Play {
    /// Prepares to play the lines for one wire.
    #[must_use]
    pub fn new(transcript: Transcript, wire: Wire) -> Self {
        let (sender, events) = mpsc::channel(EVENTS_WAITING);
        Self {
            transcript: Arc::new(transcript),
            wire,
            patience: Duration::from_secs(10),
            sender,
            director: Director::new(events),
            tasks: Tasks::default(),
        }
    }

    /// How long to wait for the client at each line; 10 s unless set.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// A transport that hands messages over in memory, as a pipe would.
    #[must_use]
    pub fn memory(&self) -> ScriptedConnect {
        ScriptedConnect::new(self.sender.clone())
    }

    /// Byte pipes, a fresh one for each connection the client makes.
    #[must_use]
    pub fn pipe(&self) -> PipeEnds {
        PipeEnds::new(self.sender.clone(), Arc::clone(&self.tasks))
    }

    /// A Streamable HTTP endpoint; gives its URL. It serves until the play is dropped.
    ///
    /// GET and DELETE are refused with 405 unless the transcript has a line for them.
    ///
    /// # Errors
    ///
    /// No port can be had.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves nothing behind.
    pub async fn http(&self, answers: Answers) -> io::Result<String> {
        let expected = |wanted: &str| {
            let mut lines = self.transcript.lines(self.wire);
            lines.any(|line| matches!(line.step(), Step::Method(method) if method == wanted))
        };
        let methods = http::Methods { get: expected("GET"), delete: expected("DELETE") };
        http::serve(self.sender.clone(), &self.tasks, answers, methods).await
    }

    /// Goes through the lines. `client` is called for each [`Step::Act`], which it starts without
    /// waiting for what comes of it, and for each [`Step::Outcome`], which it waits for and
    /// compares.
    ///
    /// # Errors
    ///
    /// The client wrote something else, or nothing in time, or `client` failed; the error names
    /// the line.
    ///
    /// # Cancel safety
    ///
    /// Dropped half way, the play is over: to run it again would begin with the first line.
    pub async fn run(
        &mut self,
        mut client: impl AsyncFnMut(&Step) -> Result<(), String>,
    ) -> Result<(), PlayError> {
        for line in self.transcript.lines(self.wire) {
            let step = line.step();
            let done = tokio::time::timeout(self.patience, async {
                match step {
                    Step::Act(_) | Step::Outcome(_) => client(step).await,
                    _ => self.director.step(step).await,
                }
            });
            let outcome = done.await.unwrap_or_else(|_| {
                Err(format!("nothing happened for {:?}{}", self.patience, self.director.heard()))
            });
            outcome.map_err(|reason| PlayError::new(&self.transcript, line, reason))?;
        }
        Ok(())
    }

    /// Waits until the client ended its connection and says whether it wrote anything more; over
    /// HTTP, where there is no such end, it only looks at what came so far.
    ///
    /// # Errors
    ///
    /// It wrote something after the last line, or does not end its connection in time.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the play.
    pub async fn nothing_more(mut self) -> Result<(), PlayError> {
        let rest = self.director.rest(self.wire);
        let rest = tokio::time::timeout(self.patience, rest).await;
        rest.unwrap_or_else(|_| Err("the client does not end its connection".to_owned()))
            .map_err(|reason| PlayError::after_the_end(&self.transcript, reason))
    }
}

/// The client's end of a byte pipe.
pub(crate) type PipeEnd = DuplexStream;

/// How many things that the client did may wait for the transcript to come to them.
const EVENTS_WAITING: usize = 4096;

#[cfg(test)]
mod tests;
