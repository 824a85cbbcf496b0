//! Cases of `sse/`: the bytes of an event stream, read by the transport's own reader.

use std::time::{Duration, Instant};

use serde::Deserialize;
use snodo::http::internal::{Event, Reader};
use snodo::types::Message;

use super::Verdict;
use super::feed::{Cut, Feed, Generate};
use super::head;
use super::later::Need;
use super::store::CaseFile;
use super::value::shown;

/// A file of `sse/`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SseCase {
    feed: Feed,
    events: Vec<ExpectedEvent>,
    retry: Option<u64>,
    last_event_id: String,
    generate: Option<Generate>,
    #[serde(default)]
    limits: Limits,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ExpectedEvent {
    event: String,
    data: Option<String>,
    data_len: Option<usize>,
    id: Option<String>,
    mcp: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Limits {
    max_ms: Option<u64>,
}

/// Runs a case for each way to cut its bytes.
pub(crate) fn run(file: &CaseFile) -> Result<Verdict, Need> {
    let text = file.text("expected.json").map_err(Need::unknown)?;
    let (_, case) = head::read::<SseCase>(&text)?;
    let bytes = match (&case.generate, file.bytes("txt")) {
        (Some(generate), _) => generate.bytes(),
        (None, Some(bytes)) => bytes,
        (None, None) => return Err(Need::unknown("a case without its bytes")),
    };
    let limit = case.limits.max_ms.map(Duration::from_millis);
    let mut faults = Vec::new();
    for cut in case.feed.cuts(bytes.len())? {
        let start = Instant::now();
        let found = case.check(&bytes, cut);
        if let Some(limit) = limit.filter(|limit| start.elapsed() > *limit) {
            faults.push(format!("[{cut}] it took {:?}, allowed are {limit:?}", start.elapsed()));
        }
        faults.extend(found.into_iter().map(|fault| format!("[{cut}] {fault}")));
    }
    Ok(Verdict::of(faults))
}

impl SseCase {
    fn check(&self, bytes: &[u8], cut: Cut) -> Vec<String> {
        let mut reader = Reader::new(LIMIT);
        let mut events = Vec::new();
        for piece in cut.pieces(bytes) {
            reader.feed(piece.to_vec().into());
            while let Some(event) = reader.next_event() {
                let Ok(event) = event else {
                    return vec!["an event is too long".to_owned()];
                };
                events.push((event, reader.last_id().to_owned()));
            }
        }
        if self.generate.is_some() && self.events.iter().all(|event| event.mcp) {
            // Only events that carry a message are listed of many that do not.
            events.retain(|(event, _)| is_mcp(event));
        }
        let mut faults = self.check_events(&events);
        if reader.retry() != self.retry {
            faults.push(format!("retry {:?}, expected {:?}", reader.retry(), self.retry));
        }
        if reader.last_id() != self.last_event_id {
            let expected = &self.last_event_id;
            faults.push(format!("last event id {:?}, expected {expected:?}", reader.last_id()));
        }
        faults
    }

    fn check_events(&self, events: &[(Event, String)]) -> Vec<String> {
        if events.len() != self.events.len() {
            return vec![format!("{} events, expected {}", events.len(), self.events.len())];
        }
        let pairs = self.events.iter().zip(events);
        let wrong = pairs.filter(|(expected, (event, id))| !expected.matches(event, id));
        wrong
            .map(|(expected, (event, id))| {
                let data = shown(&event.data);
                format!("event {:?} {data:?} id {id:?}, expected {expected:?}", event.name)
            })
            .collect()
    }
}

impl ExpectedEvent {
    fn matches(&self, event: &Event, id: &str) -> bool {
        let name = if event.name.is_empty() { "message" } else { &event.name };
        self.event == name
            && self.data.as_ref().is_none_or(|data| *data == event.data)
            && self.data_len.is_none_or(|length| length == event.data.len())
            && self.id.as_ref().is_none_or(|expected| expected == id)
            && self.mcp == is_mcp(event)
    }
}

/// Whether a message comes out of an event.
fn is_mcp(event: &Event) -> bool {
    event.is_message() && Message::parse(event.data.as_str()).is_ok()
}

/// That of the transport unless it is set.
const LIMIT: usize = 16 * 1024 * 1024;
