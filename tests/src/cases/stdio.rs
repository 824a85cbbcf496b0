//! Cases of `stdio/`: everything that a server wrote, read by a connection of the transport.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use snodo::stdio::Pipe;
use snodo::transport::{Exchange, Incoming, Transport};
use snodo::types::{Envelope, Routing, TransportFault};
use tokio::io::{AsyncReadExt, AsyncWriteExt, ReadHalf};

use super::Verdict;
use super::feed::{Cut, Feed, Generate};
use super::head;
use super::later::Need;
use super::store::CaseFile;
use super::value::{parsed, shown};
use super::wire::{on_standing_clock, settle};

/// A file of `stdio/`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct StdioCase {
    feed: Feed,
    messages: Messages,
    skipped: u64,
    outcome: Ending,
    max_line_bytes: Option<usize>,
    generate: Option<Generate>,
}

/// What is delivered: texts, or words for the generated line.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Messages {
    Generated(String),
    Texts(Vec<String>),
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum Ending {
    Eof,
    TooLarge,
}

/// Runs a case for each way to cut its bytes.
pub(crate) fn run(file: &CaseFile) -> Result<Verdict, Need> {
    let text = file.text("expected.json").map_err(Need::unknown)?;
    let (_, case) = head::read::<StdioCase>(&text)?;
    let bytes = match (&case.generate, file.bytes("bin")) {
        (Some(generate), _) => generate.bytes(),
        (None, Some(bytes)) => bytes,
        (None, None) => return Err(Need::unknown("a case without its bytes")),
    };
    let expected = case.expected(&bytes)?;
    let mut faults = Vec::new();
    for cut in case.feed.cuts(bytes.len())? {
        let found = case.check(&bytes, cut, &expected);
        faults.extend(found.into_iter().map(|fault| format!("[{cut}] {fault}")));
    }
    Ok(Verdict::of(faults))
}

impl StdioCase {
    fn expected(&self, bytes: &[u8]) -> Result<Vec<Value>, Need> {
        let texts = match &self.messages {
            Messages::Generated(words) if words == "generated line itself" => {
                vec![String::from_utf8_lossy(bytes).into_owned()]
            }
            Messages::Generated(words) => {
                return Err(Need::unknown(format!("messages {words:?}")));
            }
            Messages::Texts(texts) => texts.clone(),
        };
        let expected: Vec<Value> = texts.iter().map(|text| parsed(text.trim())).collect();
        let mut ids: Vec<_> = expected.iter().filter_map(our_id).collect();
        let count = ids.len();
        ids.sort_unstable();
        ids.dedup();
        // Of two answers to one request the second is late; that is no matter of lines.
        if ids.len() < count {
            return Err(Need::unknown("two messages with one id"));
        }
        Ok(expected)
    }

    fn check(&self, bytes: &[u8], cut: Cut, expected: &[Value]) -> Vec<String> {
        let read = on_standing_clock(async { Ok(self.read(bytes, cut, expected).await) });
        read.unwrap_or_else(|fault| vec![fault])
    }

    async fn read(&self, bytes: &[u8], cut: Cut, expected: &[Value]) -> Vec<String> {
        let (near, far) = tokio::io::duplex(64 * 1024);
        let (reader, writer) = tokio::io::split(near);
        let limit = self.max_line_bytes.unwrap_or(Pipe::MAX_LINE_BYTES);
        let pipe = Pipe::with_max_line_bytes(reader, writer, limit);
        let (mut requests, mut server) = tokio::io::split(far);
        let mut ears = Ears::open(&pipe, expected);
        ears.listen().await;
        let opened = drain(&mut requests).await;
        let mut heard = Vec::new();
        for piece in cut.pieces(bytes) {
            if let Err(error) = server.write_all(piece).await {
                return vec![format!("the connection takes no more: {error}")];
            }
            settle().await;
            heard.extend(in_order(ears.listen().await, expected));
        }
        // Before the end, so that nothing but lines has been answered.
        let answered = drain(&mut requests).await;
        if let Err(error) = server.shutdown().await {
            return vec![format!("the output does not end: {error}")];
        }
        settle().await;
        heard.extend(in_order(ears.listen().await, expected));
        let mut faults = Vec::new();
        if heard != *expected {
            let (heard, expected) = (list(&heard), list(expected));
            faults.push(format!("delivered {heard}, expected {expected}"));
        }
        if opened.is_empty() != ears.answers.is_empty() || !answered.is_empty() {
            let written = String::from_utf8_lossy(&answered).into_owned();
            faults.push(format!("the client wrote {:?}", shown(&written)));
        }
        faults.extend(self.check_end(&pipe, &ears));
        faults
    }

    fn check_end(&self, pipe: &Pipe, ears: &Ears) -> Vec<String> {
        let counts = pipe.counts();
        let mut faults = Vec::new();
        let skipped = counts.skipped_lines - counts.too_long_lines;
        if skipped != self.skipped {
            faults.push(format!("{skipped} lines skipped, expected {}", self.skipped));
        }
        let too_large = counts.too_long_lines > 0;
        if too_large != (self.outcome == Ending::TooLarge) {
            let long = counts.too_long_lines;
            faults.push(format!("{long} lines are too long, expected {:?}", self.outcome));
        }
        let wrong = ears.failed.iter().find(|fault| {
            let is_line = too_large && **fault == TransportFault::TooLarge;
            **fault != TransportFault::Closed && !is_line
        });
        faults.extend(wrong.map(|fault| format!("a request failed with {fault:?}")));
        faults
    }
}

/// Who listens: an exchange for each answer, and the reader of all else.
struct Ears {
    answers: BTreeMap<u64, Exchange>,
    others: Option<Exchange>,
    failed: Vec<TransportFault>,
}

impl Ears {
    fn open(pipe: &Pipe, expected: &[Value]) -> Self {
        let ids = expected.iter().filter_map(our_id);
        let exchange = |id| {
            let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
            (id, pipe.exchange(Envelope::request(id, text)))
        };
        let others = pipe.unsolicited(Routing::new());
        Self { answers: ids.map(exchange).collect(), others, failed: Vec::new() }
    }

    /// Takes all that has come.
    async fn listen(&mut self) -> Vec<Value> {
        let mut heard = Vec::new();
        for exchange in self.answers.values_mut().chain(self.others.as_mut()) {
            while let Some(next) = ready(exchange).await {
                match next {
                    Ok(Incoming::Message(message)) => heard.push(parsed(message.text())),
                    Ok(_) => {}
                    Err(error) => self.failed.push(error.fault()),
                }
            }
        }
        heard
    }
}

/// The next of an exchange, if it is there.
async fn ready(exchange: &mut Exchange) -> Option<Result<Incoming, snodo::types::TransportError>> {
    tokio::select! {
        biased;
        next = exchange.next() => next,
        () = std::future::ready(()) => None,
    }
}

/// All that was written so far.
async fn drain(source: &mut ReadHalf<tokio::io::DuplexStream>) -> Vec<u8> {
    settle().await;
    let mut bytes = Vec::new();
    loop {
        tokio::select! {
            biased;
            read = source.read_buf(&mut bytes) => {
                if !matches!(read, Ok(1..)) {
                    return bytes;
                }
            }
            () = std::future::ready(()) => return bytes,
        }
    }
}

/// What came at one time in the order in which it was expected: several readers cannot tell.
fn in_order(mut heard: Vec<Value>, expected: &[Value]) -> Vec<Value> {
    heard.sort_by_key(|message| expected.iter().position(|expected| expected == message));
    heard
}

/// The id of a response to a request of ours.
fn our_id(message: &Value) -> Option<u64> {
    match message.get("method") {
        None => message.get("id").and_then(Value::as_u64),
        Some(_) => None,
    }
}

fn list(messages: &[Value]) -> String {
    shown(&Value::Array(messages.to_vec()).to_string())
}
