//! What a scripted child writes down of itself, one JSON object a line, so that it can be read by
//! the runner afterwards and while it lives.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One line of a diary.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Entry {
    /// The process that writes.
    pub(crate) process: u32,
    pub(crate) event: Event,
}

/// What happened.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Event {
    /// It leaves with this status.
    Exit(i32),
    Received(Value),
    Sigterm,
    Started {
        grandchild: bool,
    },
    StdinEof,
}

/// Where a process writes its entries.
#[derive(Debug)]
pub(crate) struct Diary(Option<File>);

impl Diary {
    /// Opens it for adding; a process without one goes on.
    pub(crate) fn open(path: &Path) -> Self {
        Self(OpenOptions::new().append(true).create(true).open(path).ok())
    }

    pub(crate) fn write(&self, event: Event) {
        let entry = Entry { process: std::process::id(), event };
        let Ok(mut line) = serde_json::to_vec(&entry) else { return };
        line.push(b'\n');
        if let Some(mut file) = self.0.as_ref() {
            // One write for each line, so that two processes do not mix theirs.
            let _ = file.write_all(&line);
        }
    }
}

/// Every entry so far.
pub(crate) fn read(path: &Path) -> Vec<Entry> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}
