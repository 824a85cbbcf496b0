//! Conversations between a client and a server, written down as text.

mod read;

use std::fmt;
use std::path::Path;
use std::time::Duration;

use crate::Pattern;

/// A conversation: what the client has to write, what the server writes, and when.
///
/// One step a line, its mark first; a line that begins with a space goes on with the one before.
///
/// | line | meaning |
/// |---|---|
/// | `# text` | a comment; rows of the specification are cited so |
/// | `? text` | the client is told to do this; the test knows what it means |
/// | `> JSON` | the client writes a message that holds these members (see [`Pattern`]) |
/// | `^ JSON` | the message above came with these headers, their names in lower case |
/// | `> closes "$id"` | the client closes the response stream of that request |
/// | `> reopens` | the client ends the connection and makes another |
/// | `> DELETE`, `> GET` | the client sends such an HTTP request |
/// | `< text` | the server writes this line, each `"$name"` replaced by what it was bound to |
/// | `</404 text` | the same, over HTTP with this status |
/// | `< on "$id" text` | the same, over HTTP on the response stream of that request |
/// | `@ +250ms` | so much time passes (`ms` or `s`) |
/// | `@ session NAME` | over HTTP the next answer opens this session |
/// | `@ closes` | the server ends the connection |
/// | `@ abilities NAMES` | what the transport can do that carries this, for a [`Replay`](crate::Replay) |
/// | `! on "$id" JSON` | that request fails below the messages, for a [`Replay`](crate::Replay) |
/// | `! JSON` | the same for the connection, or for making it where no line stands before |
/// | `= text` | what came of what the client did; the test compares |
///
/// Between a mark and its text may stand the wires that the line is for, with commas between:
/// `>pipe JSON`, `<http/400 text`, `@http session s1`. Lines for other wires are left out, and `^`
/// is for HTTP alone.
///
/// ```
/// use snodo_testkit::{Transcript, Wire};
///
/// let text = r#"
/// ## A ping is answered.
/// ? ping
/// > {"id":"$ping","method":"ping"}
/// < {"jsonrpc":"2.0","id":"$ping","result":{}}
/// = {}
/// "#;
/// let transcript = Transcript::parse("ping", text)?;
/// assert_eq!(transcript.lines(Wire::Pipe).count(), 4);
/// # Ok::<(), snodo_testkit::TranscriptError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Transcript {
    name: String,
    lines: Vec<Line>,
}

/// One step of a [`Transcript`], and where it stands.
///
/// ```
/// use snodo_testkit::{Transcript, Wire};
///
/// let transcript = Transcript::parse("x", "# nothing yet\n? ping")?;
/// assert_eq!(transcript.lines(Wire::Direct).next().map(|line| line.number()), Some(2));
/// # Ok::<(), snodo_testkit::TranscriptError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Line {
    number: usize,
    wires: Vec<Wire>,
    step: Step,
}

/// What carries a conversation, as far as transcripts tell it apart.
///
/// ```
/// assert_eq!("http".parse(), Ok(snodo_testkit::Wire::Http));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "whoever plays a transcript has to know each")]
pub enum Wire {
    /// A runtime in the client's own process.
    Direct,
    /// Streamable HTTP: a stream for each request.
    Http,
    /// One pipe for all messages: a child process, a duplex stream, a channel.
    Pipe,
}

/// What a line of a transcript asks for; the table of [`Transcript`] explains each.
///
/// ```
/// use snodo_testkit::{Step, Transcript, Wire};
///
/// let transcript = Transcript::parse("x", "@ +2s")?;
/// let line = transcript.lines(Wire::Pipe).next().expect("one line");
/// assert!(matches!(line.step(), Step::Wait(time) if time.as_secs() == 2));
/// # Ok::<(), snodo_testkit::TranscriptError>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Step {
    /// `@ abilities`: what the transport can do; only a replay looks at it.
    Abilities(String),
    /// `?`: the client is told to do this.
    Act(String),
    /// `> closes`: the client closes the response stream of the request with this bound id.
    ClosesStream(String),
    /// `>`: the client writes such a message.
    Expect(Pattern),
    /// `!`: a request or the connection fails; only a replay can do that.
    Fails {
        /// The bound id of the request; without one it is the connection.
        on: Option<String>,
        /// The failure, as JSON.
        failure: String,
    },
    /// `@ closes`: the server ends the connection.
    HangUp,
    /// `^`: the message above came with such headers.
    Headers(Pattern),
    /// `> GET` or `> DELETE`: the client sends this HTTP request.
    Method(String),
    /// `=`: what came of what the client did.
    Outcome(String),
    /// `> reopens`: the client ends the connection and makes another.
    Reopens,
    /// `<`: the server writes this.
    Say {
        /// The text, its names not yet replaced.
        text: String,
        /// The HTTP status, where it is not 200.
        status: Option<u16>,
        /// The bound id of the request whose stream it is said on, where the text does not tell.
        on: Option<String>,
    },
    /// `@ session`: the next answer opens this session.
    Session(String),
    /// `@ +…`: so much time passes.
    Wait(Duration),
}

/// A transcript that cannot be read.
///
/// ```
/// let error = snodo_testkit::Transcript::parse("x.txt", "> {").expect_err("half an object");
/// assert!(error.to_string().starts_with("x.txt:1: "));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TranscriptError {
    name: String,
    line: usize,
    reason: String,
}

impl Transcript {
    /// Reads a transcript; the name is for messages.
    ///
    /// # Errors
    ///
    /// A line has no known mark, an unknown wire, something that is no JSON where JSON belongs, or
    /// uses a name that no earlier line binds.
    pub fn parse(name: &str, text: &str) -> Result<Self, TranscriptError> {
        read::read(text)
            .map(|lines| Self { name: name.to_owned(), lines })
            .map_err(|(line, reason)| TranscriptError { name: name.to_owned(), line, reason })
    }

    /// Reads the transcript in a file.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or as [`parse`](Self::parse).
    pub fn load(path: impl AsRef<Path>) -> Result<Self, TranscriptError> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|error| TranscriptError {
            name: name.clone(),
            line: 0,
            reason: error.to_string(),
        })?;
        Self::parse(&name, &text)
    }

    /// What messages call the transcript.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// All lines, in order.
    pub(crate) fn all(&self) -> &[Line] {
        &self.lines
    }

    /// The lines for one wire, in order.
    pub fn lines(&self, wire: Wire) -> impl Iterator<Item = &Line> {
        self.lines.iter().filter(move |line| line.is_for(wire))
    }
}

impl Line {
    /// The number of the line in its text, from 1.
    #[must_use]
    pub fn number(&self) -> usize {
        self.number
    }

    /// What it asks for.
    #[must_use]
    pub fn step(&self) -> &Step {
        &self.step
    }

    /// Whether it is for this wire.
    #[must_use]
    pub fn is_for(&self, wire: Wire) -> bool {
        self.wires.is_empty() || self.wires.contains(&wire)
    }
}

impl std::str::FromStr for Wire {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "direct" => Ok(Self::Direct),
            "http" => Ok(Self::Http),
            "pipe" => Ok(Self::Pipe),
            _ => Err(format!("`{text}` is none of direct, http and pipe")),
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Abilities(names) => write!(f, "@ abilities {names}"),
            Self::Act(text) => write!(f, "? {text}"),
            Self::ClosesStream(name) => write!(f, "> closes \"${name}\""),
            Self::Expect(pattern) => write!(f, "> {pattern}"),
            Self::Fails { on: Some(name), failure } => write!(f, "! on \"${name}\" {failure}"),
            Self::Fails { on: None, failure } => write!(f, "! {failure}"),
            Self::HangUp => f.write_str("@ closes"),
            Self::Headers(pattern) => write!(f, "^ {pattern}"),
            Self::Method(method) => write!(f, "> {method}"),
            Self::Outcome(text) => write!(f, "= {text}"),
            Self::Reopens => f.write_str("> reopens"),
            Self::Say { text, status, on } => {
                f.write_str("<")?;
                if let Some(status) = status {
                    write!(f, "/{status}")?;
                }
                if let Some(name) = on {
                    write!(f, " on \"${name}\"")?;
                }
                write!(f, " {text}")
            }
            Self::Session(name) => write!(f, "@ session {name}"),
            Self::Wait(time) => write!(f, "@ +{}ms", time.as_millis()),
        }
    }
}

impl fmt::Display for TranscriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.name, self.line, self.reason)
    }
}

impl std::error::Error for TranscriptError {}
