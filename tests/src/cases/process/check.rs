//! What a scripted child has to have seen, and what has to be gone.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::diary::{self, Entry, Event};
use crate::cases::class::Failure;
use crate::cases::client::{Expect, StepResult};

/// The diaries of all children of a case.
pub(crate) struct Diaries {
    entries: Vec<Entry>,
}

impl Diaries {
    pub(crate) fn read(path: &Path) -> Self {
        Self { entries: diary::read(path) }
    }

    /// Reads, once those have gone that should, or enough time has passed.
    pub(crate) async fn settled(path: &Path, expect: &Expect) -> Self {
        let start = Instant::now();
        loop {
            let diaries = Self::read(path);
            let awaited = diaries.left(false, expect.child_gone)
                + diaries.left(true, expect.grandchild_gone)
                + diaries.processes().filter(|_| expect.children_left.is_some()).count();
            if awaited == 0 || start.elapsed() > SETTLING {
                return diaries;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Every message that was received, in order.
    pub(crate) fn received(&self) -> Vec<Value> {
        let events = self.entries.iter().map(|entry| &entry.event);
        let messages = events.filter_map(|event| match event {
            Event::Received(message) => Some(message.clone()),
            _ => None,
        });
        messages.collect()
    }

    pub(crate) fn check(&self, expect: &Expect, results: &[StepResult]) -> Vec<String> {
        let mut faults = Vec::new();
        let received = self.received();
        let count = |method: &str| received.iter().filter(|m| is_method(m, method)).count();
        for (method, wanted) in &expect.count {
            if count(method) != *wanted {
                faults.push(format!("{} times {method}, expected {wanted}", count(method)));
            }
        }
        let spawns = self.started(false).count();
        if expect.spawns.is_some_and(|wanted| wanted != spawns) {
            faults.push(format!("started {spawns} times, expected {:?}", expect.spawns));
        }
        for words in &expect.wire_has {
            if !on_wire(&received, words) {
                faults.push(format!("the client did not send {words}"));
            }
        }
        for words in &expect.wire_never {
            if on_wire(&received, words) {
                faults.push(format!("the client sent {words}"));
            }
        }
        if self.left(false, expect.child_gone) > 0 {
            faults.push("the child is not gone".to_owned());
        }
        if self.left(true, expect.grandchild_gone) > 0 {
            faults.push("the grandchild is not gone".to_owned());
        }
        let left = self.processes().count();
        if expect.children_left.is_some_and(|most| left > most) {
            faults.push(format!("{left} children are left, allowed {:?}", expect.children_left));
        }
        if let Some(order) = &expect.order
            && *order != self.order()
        {
            faults.push(format!("the end came by {:?}, expected {order:?}", self.order()));
        }
        if let Some(status) = expect.exit_status
            && !results.iter().any(|result| tells_status(result, status))
        {
            faults.push(format!("no error tells the exit status {status}"));
        }
        faults
    }

    /// The signs of the end in the order in which they came. The last one nobody lives to note:
    /// who was asked and went without a word was killed.
    fn order(&self) -> Vec<&'static str> {
        let mut order = Vec::new();
        let mut left = false;
        for entry in &self.entries {
            match entry.event {
                Event::Exit(_) => left = true,
                Event::Sigterm => order.push("sigterm"),
                Event::StdinEof => order.push("stdin_eof"),
                Event::Received(_) | Event::Started { .. } => {}
            }
        }
        if !left && !order.is_empty() && self.processes().count() == 0 {
            order.push("sigkill");
        }
        order
    }

    /// Every process that has begun.
    pub(crate) fn all(&self) -> impl Iterator<Item = u32> {
        self.started(false).chain(self.started(true))
    }

    fn started(&self, grandchildren: bool) -> impl Iterator<Item = u32> {
        self.entries.iter().filter_map(move |entry| match entry.event {
            Event::Started { grandchild } if grandchild == grandchildren => Some(entry.process),
            _ => None,
        })
    }

    /// The processes that are still there, dead ones that nobody has reaped included.
    pub(crate) fn processes(&self) -> impl Iterator<Item = u32> {
        let orphans = self.started(true).filter(|id| is_there(*id, true));
        self.started(false).filter(|id| is_there(*id, false)).chain(orphans)
    }

    /// How many are left of those that should be gone.
    fn left(&self, grandchildren: bool, gone: Option<bool>) -> usize {
        match gone {
            Some(true) => {
                self.started(grandchildren).filter(|id| is_there(*id, grandchildren)).count()
            }
            _ => 0,
        }
    }
}

/// Whether a process is there. A dead orphan is left to whoever reaps orphans on this machine.
fn is_there(process: u32, orphan: bool) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    match state {
        None => false,
        Some('Z' | 'X') => !orphan,
        Some(_) => true,
    }
}

fn is_method(message: &Value, method: &str) -> bool {
    message.get("method").and_then(Value::as_str) == Some(method)
}

/// Whether the client sent this: a method, or `notifications/cancelled for METHOD`.
fn on_wire(received: &[Value], words: &str) -> bool {
    let Some((notice, method)) = words.split_once(" for ") else {
        return received.iter().any(|message| is_method(message, words));
    };
    let of_method =
        |id: &Value| received.iter().any(|m| is_method(m, method) && m.get("id") == Some(id));
    received
        .iter()
        .filter(|message| is_method(message, notice))
        .any(|message| message.pointer("/params/requestId").is_some_and(of_method))
}

fn tells_status(result: &StepResult, status: i32) -> bool {
    result.failures().into_iter().any(|failure| match failure {
        Failure::Error(error) => {
            let exit = error.transport().and_then(|below| below.exit());
            let words = exit.map(|exit| exit.split(' ').any(|word| word == status.to_string()));
            words.unwrap_or(false)
        }
        Failure::Cancelled | Failure::Step(_) => false,
    })
}

const SETTLING: Duration = Duration::from_secs(8);
