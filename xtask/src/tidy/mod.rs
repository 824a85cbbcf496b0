//! The house rules that a machine can check, so that no reviewer has to say them twice.
//!
//! Every rule is a function from files in memory to findings. A rule that has to be broken is broken in the open, with a
//! line and its reason in `xtask/tidy-exceptions.txt`; a line there that excuses nothing is a finding itself.

mod code;
mod docs;
mod exceptions;
mod layout;
mod sizes;
mod text;

use std::collections::BTreeMap;
use std::fmt;

use crate::Outcome;
use crate::shell;
use crate::source::{File, Source};

use exceptions::Exceptions;
use sizes::Sizes;

/// `cargo xtask tidy`: prints what is wrong, and the sizes either way.
pub(crate) fn run(_arguments: &[String]) -> Outcome {
    let files = shell::tree()?;
    let report = check(&files);
    print!("{}", report.sizes);
    if report.findings.is_empty() {
        println!("tidy: {} files, nothing to say", files.len());
        return Ok(());
    }
    print!("{}", report.shown());
    Err(format!("tidy: {} findings", report.findings.len()))
}

/// Checks a whole tree.
pub(crate) fn check(files: &[File]) -> Report {
    let exceptions = files.iter().find(|file| file.path == EXCEPTIONS);
    let (exceptions, mut findings) = Exceptions::read(exceptions);
    let sources: Vec<(&File, Source)> =
        files.iter().filter(|file| file.is_rust()).map(|file| (file, Source::read(file))).collect();

    let mut found = Vec::new();
    for file in files {
        text::check(file, &mut found);
    }
    for (file, source) in &sources {
        code::check(file, source, &mut found);
        docs::check(file, source, &mut found);
    }
    code::check_together(&sources, &mut found);
    layout::check(files, &mut found);
    let sizes = Sizes::measure(&sources);
    sizes.check(&mut found);

    findings.extend(exceptions.apply(found));
    findings.sort_by(|one, other| (&one.path, one.line).cmp(&(&other.path, other.line)));
    Report { findings, sizes }
}

/// What a check of the tree found.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) findings: Vec<Finding>,
    pub(crate) sizes: Sizes,
}

impl Report {
    /// The findings as they are printed: what breaks one rule all over a file is cut short.
    fn shown(&self) -> String {
        let mut shown = String::new();
        let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        for finding in &self.findings {
            let count = counts.entry((&finding.path, finding.rule.name)).or_default();
            *count += 1;
            if *count <= SHOWN {
                shown.push_str(&format!("{finding}\n"));
            }
        }
        for ((path, rule), count) in counts.into_iter().filter(|(_, count)| *count > SHOWN) {
            shown.push_str(&format!("{path}: [{rule}] {} more\n", count - SHOWN));
        }
        shown
    }
}

/// One broken rule at one place.
#[derive(Debug)]
pub(crate) struct Finding {
    pub(crate) path: String,
    /// From 1.
    pub(crate) line: usize,
    /// The function it is about, where an exception would name one.
    pub(crate) function: Option<String>,
    pub(crate) rule: &'static Rule,
    pub(crate) what: String,
}

impl Finding {
    /// `line` counts from 0, as the scanner does.
    pub(crate) fn new(
        rule: &'static Rule,
        path: &str,
        line: usize,
        what: impl Into<String>,
    ) -> Self {
        Self { path: path.to_owned(), line: line + 1, function: None, rule, what: what.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, line, rule, what, .. } = self;
        write!(
            f,
            "{path}:{line}: [{}] {what}\n    why: {}\n    do:  {}",
            rule.name, rule.why, rule.instead
        )
    }
}

/// A rule, as its messages present it.
#[derive(Debug)]
pub(crate) struct Rule {
    pub(crate) name: &'static str,
    pub(crate) why: &'static str,
    pub(crate) instead: &'static str,
}

/// How often one rule is shown for one file.
const SHOWN: usize = 3;

/// Where exceptions stand, one a line: `rule | path or path::function | reason`.
const EXCEPTIONS: &str = "xtask/tidy-exceptions.txt";

#[cfg(test)]
mod tests;
