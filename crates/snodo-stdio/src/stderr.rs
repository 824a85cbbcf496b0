//! The error stream of a process.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use memchr::memchr;
use snodo_types::steers;
use tokio::io::{AsyncRead, AsyncReadExt};

/// Where the error stream of a server goes.
///
/// It is read from the first instant, whatever is done with it: a server whose stream nobody reads
/// stops when the pipe is full. What stands in it is no sign of failure (2026-07-28, stdio).
///
/// ```
/// use snodo_stdio::{Stderr, Stdio};
///
/// let quiet = Stdio::new("server").stderr(Stderr::Null);
/// let mine = Stdio::new("server").stderr(Stderr::lines(|line| println!("server: {line}")));
/// # let _ = (quiet, mine);
/// ```
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum Stderr {
    /// To wherever this process writes its own.
    Inherit,
    /// Each line is given to a function; see [`lines`](Self::lines).
    Lines(LineFunction),
    /// Each line becomes an event of `tracing`: level info, target `snodo_stdio::stderr`, without
    /// control characters.
    #[default]
    Log,
    /// Nowhere.
    Null,
}

/// A function that is given the lines of an error stream; made by [`Stderr::lines`].
///
/// ```
/// # use snodo_stdio::Stderr;
/// let Stderr::Lines(function) = Stderr::lines(|_| {}) else { panic!("lines") };
/// assert_eq!(format!("{function:?}"), "LineFunction");
/// ```
#[derive(Clone)]
pub struct LineFunction(Arc<dyn Fn(&str) + Send + Sync>);

impl Stderr {
    /// Gives each line to a function, as it came but without its end; bytes that are not UTF-8 are
    /// replaced. A line of more than 4 KiB comes in pieces.
    ///
    /// The function runs in the task that reads the stream and should not take long. After a panic
    /// it is not called again, and the stream is read on.
    #[must_use]
    pub fn lines(function: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self::Lines(LineFunction(Arc::new(function)))
    }
}

impl fmt::Debug for Stderr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Inherit => "Inherit",
            Self::Lines(_) => "Lines",
            Self::Log => "Log",
            Self::Null => "Null",
        })
    }
}

impl fmt::Debug for LineFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LineFunction")
    }
}

/// The end of what a process wrote to its error stream: 4 KiB at most.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tail(Arc<Mutex<Vec<u8>>>);

impl Tail {
    fn push(&self, bytes: &[u8]) {
        let mut kept = self.lock();
        let bytes = &bytes[bytes.len().saturating_sub(PIECE)..];
        let surplus = (kept.len() + bytes.len()).saturating_sub(PIECE);
        kept.drain(..surplus);
        kept.extend_from_slice(bytes);
    }

    /// The last printable characters, as the end of a sentence about how the process ended; empty
    /// if there are none.
    pub(crate) fn last_words(&self) -> String {
        let text = printable(&String::from_utf8_lossy(&self.lock()));
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if text.is_empty() {
            return String::new();
        }
        let surplus = text.chars().count().saturating_sub(WORDS);
        let (mark, from) = match text.char_indices().nth(surplus) {
            Some((from, _)) if surplus > 0 => ("… ", from),
            _ => ("", 0),
        };
        format!("; its error output ends: {mark}{}", &text[from..])
    }

    fn lock(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads an error stream to its end. Failing to read it is no failure of the connection.
pub(crate) async fn drain(
    mut source: impl AsyncRead + Unpin,
    tail: Tail,
    mut sink: Stderr,
    server: String,
) {
    let mut buffer = Vec::with_capacity(PIECE);
    while let Ok(1..) = source.read_buf(&mut buffer).await {
        let mut from = 0;
        while let Some(found) = memchr(b'\n', &buffer[from..]) {
            tell(&mut sink, &buffer[from..from + found], &server);
            from += found + 1;
        }
        tail.push(&buffer[..from]);
        buffer.drain(..from);
        if buffer.len() >= PIECE {
            tell(&mut sink, &buffer, &server);
            tail.push(&buffer);
            buffer.clear();
        }
    }
    tail.push(&buffer);
    tell(&mut sink, &buffer, &server);
}

fn tell(sink: &mut Stderr, line: &[u8], server: &str) {
    let line = String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line));
    if line.is_empty() {
        return;
    }
    match sink {
        Stderr::Lines(LineFunction(function)) => {
            if catch_unwind(AssertUnwindSafe(|| function(&line))).is_err() {
                tracing::warn!("the function for lines of an error stream panicked");
                *sink = Stderr::Null;
            }
        }
        Stderr::Log => {
            tracing::info!(target: "snodo_stdio::stderr", %server, "{}", printable(&line));
        }
        Stderr::Inherit | Stderr::Null => {}
    }
}

/// The text without escape sequences and with a space for each other control character, so that it
/// cannot steer a terminal.
pub(crate) fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(char) = rest.next() {
        if char == '\u{1b}' {
            if rest.next_if_eq(&'[').is_some() {
                // A control sequence ends with a letter or one of a few signs (ECMA-48).
                while rest.next_if(|char| (' '..='?').contains(char)).is_some() {}
                rest.next_if(|char| ('@'..='~').contains(char));
            }
        } else if steers(char) {
            shown.push(' ');
        } else {
            shown.push(char);
        }
    }
    shown
}

/// What is kept for errors, and the longest line.
const PIECE: usize = 4 * 1024;

/// How many characters of it an error shows.
const WORDS: usize = 300;

#[cfg(test)]
#[path = "stderr_tests.rs"]
mod tests;
