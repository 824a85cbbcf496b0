//! The committed list of rules that are broken on purpose.

use std::cell::Cell;

use crate::source::File;

use super::{Finding, Rule};

/// The list, each entry knowing whether it was needed.
#[derive(Debug, Default)]
pub(super) struct Exceptions {
    path: String,
    entries: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    line: usize,
    rule: String,
    place: String,
    used: Cell<bool>,
}

impl Exceptions {
    /// Reads the list, if there is one; a line that cannot be read is a finding.
    pub(super) fn read(file: Option<&File>) -> (Self, Vec<Finding>) {
        let Some(file) = file else {
            return (Self::default(), Vec::new());
        };
        let mut findings = Vec::new();
        let mut exceptions = Self { path: file.path.clone(), entries: Vec::new() };
        for (line, text) in file.text.lines().enumerate() {
            if text.trim().is_empty() || text.starts_with('#') {
                continue;
            }
            match Entry::read(line, text) {
                Some(entry) => exceptions.entries.push(entry),
                None => {
                    findings.push(Finding::new(&UNREADABLE, &file.path, line, format!("`{text}`")))
                }
            }
        }
        (exceptions, findings)
    }

    /// The findings that no entry excuses, and the entries that excused nothing.
    pub(super) fn apply(&self, found: Vec<Finding>) -> Vec<Finding> {
        let mut left: Vec<_> = found.into_iter().filter(|finding| !self.excuses(finding)).collect();
        left.extend(self.entries.iter().filter(|entry| !entry.used.get()).map(|entry| {
            let what = format!("no `{}` at `{}` any more", entry.rule, entry.place);
            Finding::new(&UNUSED, &self.path, entry.line, what)
        }));
        left
    }

    fn excuses(&self, finding: &Finding) -> bool {
        let place = match &finding.function {
            Some(function) => format!("{}::{function}", finding.path),
            None => finding.path.clone(),
        };
        let entry = self
            .entries
            .iter()
            .find(|entry| entry.rule == finding.rule.name && entry.place == place);
        if let Some(entry) = entry {
            entry.used.set(true);
        }
        entry.is_some()
    }
}

impl Entry {
    fn read(line: usize, text: &str) -> Option<Self> {
        let parts: Vec<_> = text.split('|').map(str::trim).collect();
        let [rule, place, reason] = parts[..] else {
            return None;
        };
        let reasoned = reason.split_whitespace().count() >= 4;
        (reasoned && !rule.is_empty() && !place.is_empty()).then(|| Self {
            line,
            rule: rule.to_owned(),
            place: place.to_owned(),
            used: Cell::new(false),
        })
    }
}

const UNREADABLE: Rule = Rule {
    name: "exception",
    why: "an exception without a place or a reason cannot be argued with later",
    instead: "write `rule | path or path::function | reason in at least four words`",
};
const UNUSED: Rule = Rule {
    name: "unused-exception",
    why: "a list of exceptions that only grows hides the next one",
    instead: "take the line out",
};
