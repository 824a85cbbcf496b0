//! The client's side of a transcript.

use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;

use serde_json::Value;
use snodo::{Builder, Client, Error};
use snodo_testkit::{Bindings, Pattern, Step};
use tokio::task::JoinHandle;

use crate::act::{self, Act};

/// Does what the `?` lines of a transcript say with a [`Client`], and compares what comes of it
/// with the `=` lines.
///
/// | line | meaning |
/// |---|---|
/// | `? connect [VERSION…] [CAPABILITIES]` | connects, with these versions alone |
/// | `? call TOOL ARGUMENTS [within TIME]` | calls a tool |
/// | `? progress TOOL ARGUMENTS` | the same; the outcome has `progress` and `result` |
/// | `? tools`, `? resources`, `? templates`, `? prompts` | fetches a whole list |
/// | `? page CURSOR` | one page of the tools, `-` for the first |
/// | `? read URI`, `? prompt NAME ARGUMENTS`, `? complete PARAMS` | the requests of these names |
/// | `? discover`, `? ping`, `? request METHOD PARAMS` | likewise |
/// | `? drop` | drops the request that was begun last |
/// | `? leave` | drops the client |
/// | `? close` | closes it |
/// | `= PATTERN` | what was begun first and is not compared yet has come to this |
/// | `= error CODE KIND [PATTERN]` | it failed so, with this data |
///
/// ```
/// use snodo::Client;
/// use snodo_tests::{Actor, Pipes};
///
/// let actor = Actor::new(|builder: snodo::Builder| {
///     builder.connect(Pipes::new(|| tokio::io::duplex(1024).0))
/// });
/// # let _ = actor;
/// ```
pub struct Actor {
    connect: Connect,
    client: Option<Client>,
    running: VecDeque<JoinHandle<Finished>>,
    bindings: Bindings,
}

type Connect = Box<dyn Fn(Builder) -> Pin<Box<dyn Future<Output = Result<Client, Error>> + Send>>>;

/// What came of an action: its value, and the client where it made one.
type Finished = Result<(Value, Option<Client>), Error>;

impl Actor {
    /// `connect` makes the client of a builder, connected to what the transcript is played on.
    pub fn new<F, G>(connect: F) -> Self
    where
        F: Fn(Builder) -> G + 'static,
        G: Future<Output = Result<Client, Error>> + Send + 'static,
    {
        Self {
            connect: Box::new(move |builder| Box::pin(connect(builder))),
            client: None,
            running: VecDeque::new(),
            bindings: Bindings::default(),
        }
    }

    /// Does one step.
    ///
    /// # Errors
    ///
    /// The step makes no sense, or the outcome is another one.
    pub async fn step(&mut self, step: &Step) -> Result<(), String> {
        match step {
            Step::Act(text) => self.act(Act::read(text)?),
            Step::Outcome(text) => self.compare(text).await,
            other => Err(format!("`{other}` is nothing for the client")),
        }
    }

    fn act(&mut self, act: Act) -> Result<(), String> {
        match act {
            Act::Connect { versions, capabilities } => {
                let mut builder = Client::builder().capabilities(capabilities);
                if !versions.is_empty() {
                    builder = builder.protocol(versions);
                }
                let connecting = (self.connect)(builder);
                self.running.push_back(tokio::spawn(async move {
                    let client = connecting.await?;
                    Ok((act::opened(&client), Some(client)))
                }));
            }
            Act::Drop => {
                let last = self.running.pop_back().ok_or("nothing runs that could be dropped")?;
                last.abort();
            }
            Act::Leave => self.client = None,
            other => {
                let client = self.client.clone().ok_or("the client is not connected")?;
                self.running
                    .push_back(tokio::spawn(async move { Ok((other.run(&client).await?, None)) }));
            }
        }
        Ok(())
    }

    async fn compare(&mut self, expected: &str) -> Result<(), String> {
        let first = self.running.pop_front().ok_or("nothing runs that could come to this")?;
        let finished = first.await.map_err(|error| error.to_string())?;
        match (expected.strip_prefix("error "), finished) {
            (None, Ok((value, client))) => {
                if client.is_some() {
                    self.client = client;
                }
                check(expected, &value, &mut self.bindings)
            }
            (Some(expected), Err(error)) => self.compare_error(expected, &error),
            (None, Err(error)) => Err(format!("{error}\n  {error:?}")),
            (Some(_), Ok((value, _))) => Err(format!("it came to {value}")),
        }
    }

    fn compare_error(&mut self, expected: &str, error: &Error) -> Result<(), String> {
        let mut words = expected.splitn(3, ' ');
        let (code, kind, data) = (words.next(), words.next(), words.next());
        let found = (error.code().to_string(), format!("{:?}", error.kind()).to_lowercase());
        if (code, kind) != (Some(&found.0), Some(&found.1)) {
            return Err(format!("it failed with {} {}: {error:?}", found.0, found.1));
        }
        let Some(data) = data else { return Ok(()) };
        let found = error.data().map_or(Value::Null, |data| data.decode().unwrap_or_default());
        check(data, &found, &mut self.bindings)
    }
}

impl fmt::Debug for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Actor").field("client", &self.client).finish_non_exhaustive()
    }
}

fn check(pattern: &str, value: &Value, bindings: &mut Bindings) -> Result<(), String> {
    let pattern = serde_json::from_str(pattern).map_err(|error| format!("{pattern}: {error}"))?;
    Pattern::new(pattern)
        .check(value, bindings)
        .map_err(|mismatch| format!("{mismatch}\n  it came to {value}"))
}
