//! The task that reads.

use std::io;
use std::sync::Arc;

use snodo_types::{Message, TransportError, TransportFault, answered_id};
use tokio::io::{AsyncRead, AsyncReadExt};

use crate::lines::{Line, Lines};
use crate::shared::Shared;

/// What one line turned out to be.
pub(crate) enum Item {
    Message(Message),
    /// No message. Where it answers a call all the same, that call fails.
    Skipped {
        kind: Skipped,
        fails: Option<(u64, TransportError)>,
    },
}

/// Why a line was skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Skipped {
    Batch,
    NoJson,
    NoMessage,
    NoUtf8,
    TooLong,
}

/// Reads until the end. It never waits for anyone but the source, so that a peer can always get rid
/// of what it has to say.
///
/// # Errors
///
/// The source failed.
pub(crate) async fn read(
    shared: Arc<Shared>,
    mut source: impl AsyncRead + Unpin,
    limit: usize,
) -> io::Result<()> {
    let mut lines = Lines::new(limit);
    let mut sorter = Sorter { limit, warned: Vec::new() };
    let (mut items, mut wakers) = (Vec::new(), Vec::new());
    loop {
        let count = source.read_buf(lines.room()).await;
        while let Some(line) = lines.take() {
            items.push(sorter.sort(line));
        }
        if !matches!(count, Ok(1..)) {
            // A server may write its last message without a line end and exit.
            items.extend(lines.finish().map(|line| sorter.sort(line)));
        }
        if !items.is_empty() {
            shared.deliver(&mut items, &mut wakers);
        }
        if count? == 0 {
            return Ok(());
        }
        // A source that always has something must not keep the thread to itself.
        tokio::task::coop::consume_budget().await;
    }
}

struct Sorter {
    limit: usize,
    /// The kinds of skipped lines that were warned about.
    warned: Vec<Skipped>,
}

impl Sorter {
    fn sort(&mut self, line: Line) -> Item {
        let bytes = match line {
            Line::Text(bytes) => bytes,
            Line::TooLong(head) => return self.too_long(&head),
        };
        let text = match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                let bytes = error.as_bytes();
                let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(SHOWN)]);
                self.report(Skipped::NoUtf8, &shown);
                return broken_answer(Skipped::NoUtf8, ours(bytes), "it is not UTF-8");
            }
        };
        if !text.trim_start().starts_with('{') {
            let kind = if is_batch(&text) { Skipped::Batch } else { Skipped::NoJson };
            self.report(kind, &text);
            return Item::Skipped { kind, fails: None };
        }
        match Message::parse(text) {
            Ok(message) => Item::Message(message),
            Err(malformed) => {
                // What stands in a message may be private: only the reason is shown.
                self.report(Skipped::NoMessage, malformed.reason());
                let id = malformed.id().and_then(|id| id.as_ours());
                broken_answer(Skipped::NoMessage, id, malformed.reason())
            }
        }
    }

    fn too_long(&mut self, head: &[u8]) -> Item {
        let text = format!("longer than the limit of {} bytes", self.limit);
        self.report(Skipped::TooLong, &text);
        let error = TransportError::new(
            TransportFault::TooLarge,
            format!("the server's answer is {text} for a line"),
        );
        Item::Skipped { kind: Skipped::TooLong, fails: ours(head).map(|id| (id, error)) }
    }

    /// The first of each kind is a warning, the rest would only drown it.
    fn report(&mut self, kind: Skipped, what: &str) {
        let what: String = what.chars().take(SHOWN).collect();
        if self.warned.contains(&kind) {
            tracing::debug!(?kind, ?what, "skipped a line that is no message");
        } else {
            self.warned.push(kind);
            tracing::warn!(?kind, ?what, "skipped a line that is no message");
        }
    }
}

fn broken_answer(kind: Skipped, id: Option<u64>, reason: &str) -> Item {
    let fails = id.map(|id| {
        let text = format!("the server's answer is not a JSON-RPC response: {reason}");
        (id, TransportError::new(TransportFault::Malformed, text))
    });
    Item::Skipped { kind, fails }
}

/// The call of ours that a line answers, as far as that can be told.
fn ours(line: &[u8]) -> Option<u64> {
    answered_id(line).and_then(|id| id.as_ours())
}

/// Whether a line is a batch, and not a log line such as `[info] ready`.
fn is_batch(text: &str) -> bool {
    text.trim_start().strip_prefix('[').is_some_and(|rest| rest.trim_start().starts_with('{'))
}

/// How many characters of a skipped line a log shows.
const SHOWN: usize = 120;

#[cfg(test)]
#[path = "reader_tests.rs"]
mod tests;
