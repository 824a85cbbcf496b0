//! What a scripted child writes down of itself, one JSON object a line, so that it can be read by
//! the runner afterwards and while it lives.

use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

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

/// Counts the responses in a diary while it grows, without keeping any of it.
#[derive(Debug)]
pub(crate) struct Answers {
    path: PathBuf,
    /// How far it was read, and what was found.
    read: Mutex<(u64, usize)>,
}

impl Answers {
    pub(crate) fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), read: Mutex::default() }
    }

    pub(crate) fn count(&self) -> usize {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let Ok(mut file) = File::open(&self.path) else { return read.1 };
        if file.seek(SeekFrom::Start(read.0)).is_err() {
            return read.1;
        }
        let mut lines = BufReader::new(file);
        let mut line = String::new();
        while matches!(lines.read_line(&mut line), Ok(1..)) && line.ends_with('\n') {
            read.0 += line.len() as u64;
            read.1 += usize::from(is_answer(&line));
            line.clear();
        }
        read.1
    }
}

fn is_answer(line: &str) -> bool {
    let event = serde_json::from_str(line).map(|entry: Entry| entry.event);
    matches!(event, Ok(Event::Received(message)) if message.get("method").is_none())
}

/// Every entry so far.
pub(crate) fn read(path: &Path) -> Vec<Entry> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}
