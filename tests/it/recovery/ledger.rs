//! What the servers of the recovery tests did, whoever of them is still there.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;
use snodo::stdio::Stdio;

/// The entries of servers in this process.
#[derive(Debug, Default)]
pub(crate) struct Memory(Mutex<Vec<Value>>);

impl Memory {
    pub(crate) fn note(&self, entry: Value) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(entry);
    }
}

/// The file that processes write, in a folder that goes with this value.
#[derive(Debug)]
pub(crate) struct Book {
    folder: PathBuf,
    file: PathBuf,
}

/// A list of what was done.
pub(crate) trait Ledger {
    fn entries(&self) -> Vec<Value>;

    /// How often something was done.
    fn count(&self, did: &str) -> usize {
        self.entries().iter().filter(|entry| entry["did"] == did).count()
    }

    /// How often something was done for each number.
    fn counts(&self, did: &str) -> BTreeMap<u64, usize> {
        let mut counts = BTreeMap::new();
        for entry in self.entries() {
            if entry["did"] == did
                && let Some(number) = entry["n"].as_u64()
            {
                *counts.entry(number).or_default() += 1;
            }
        }
        counts
    }
}

impl Ledger for Memory {
    fn entries(&self) -> Vec<Value> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Ledger for Book {
    fn entries(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(&self.file).unwrap_or_default();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }
}

impl Book {
    pub(crate) fn new() -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);

        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = format!("snodo-recovery-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(folder);
        std::fs::create_dir_all(&folder).expect("a folder");
        Self { file: folder.join("ledger.jsonl"), folder }
    }

    /// A server that writes it.
    pub(crate) fn stdio(&self) -> Stdio {
        Stdio::new(env!("CARGO_BIN_EXE_mortal-server")).arg(&self.file)
    }

    /// One that speaks the versions of one era alone: `old` or `modern`.
    pub(crate) fn stdio_of(&self, era: &str) -> Stdio {
        self.stdio().arg(era)
    }

    /// The processes that were started, in their order.
    pub(crate) fn processes(&self) -> Vec<u64> {
        let entries = self.entries();
        let starts = entries.iter().filter(|entry| entry["did"] == "start");
        starts.filter_map(|entry| entry["process"].as_u64()).collect()
    }

    /// Kills the process that was started last, as nobody can prevent.
    pub(crate) async fn kill(&self) {
        self.signal("KILL").await;
    }

    /// Sends a signal to the process that was started last.
    pub(crate) async fn signal(&self, signal: &str) {
        let process = self.processes().last().expect("one was started").to_string();
        let kill = tokio::process::Command::new("kill").args(["-s", signal, &process]).output();
        kill.await.expect("kill starts");
    }

    /// The processes that are still there, dead ones that nobody has reaped included.
    pub(crate) fn left(&self) -> Vec<u64> {
        let there = |process: &u64| Path::new(&format!("/proc/{process}")).exists();
        self.processes().into_iter().filter(there).collect()
    }

    /// Waits until something was done so often.
    pub(crate) async fn until(&self, did: &str, count: usize) {
        until(&format!("{count} times {did}"), || self.count(did) >= count).await;
    }
}

impl Drop for Book {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Waits for something that has to come; a busy machine gets its time.
pub(crate) async fn until(what: &str, is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < PATIENCE, "this did not come: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// How long a test waits for what has to come, however busy the machine is.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);
