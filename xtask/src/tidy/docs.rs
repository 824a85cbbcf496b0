//! Rules over what stands above a public item of a crate.

use crate::source::{File, Source};

use super::{Finding, Rule, code};

/// Checks one Rust file: each public type has an example, each asynchronous function says what dropping its future does.
///
/// That what is `pub` can be reached from outside, the compiler sees to (`unreachable_pub`).
pub(super) fn check(file: &File, source: &Source, findings: &mut Vec<Finding>) {
    if !code::is_crate(file) || file.name() == HIDDEN {
        return;
    }
    let lines: Vec<_> = file.text.lines().map(str::trim).collect();
    for (number, line) in source.shipped() {
        let lacks = |wanted: &str| !above(&lines[..number]).any(|line| line.contains(wanted));
        let mut find = |rule, what: &str| {
            findings.push(Finding::new(rule, &file.path, number, format!("`{what}`")));
        };
        // An indented type seals a trait, and nobody names it.
        if TYPES.iter().any(|start| line.code.starts_with(start)) && lacks("```") {
            find(&EXAMPLE, line.code.trim_end_matches([' ', '{', ';']));
        }
        if line.code.trim_start().starts_with("pub async fn ") && lacks("# Cancel safety") {
            find(&CANCEL, line.code.trim().trim_end_matches([' ', '{', '(']));
        }
    }
}

/// The documentation and the attributes right above an item.
fn above<'a>(lines: &'a [&'a str]) -> impl Iterator<Item = &'a str> {
    let other = |line: &str| line.is_empty() || line.ends_with(['{', '}', ';']);
    lines.iter().rev().copied().take_while(move |line| line.starts_with("//") || !other(line))
}

/// Entry points for tests, which rustdoc does not show.
const HIDDEN: &str = "internal.rs";
const TYPES: &[&str] = &["pub enum ", "pub struct ", "pub trait ", "pub type "];

const EXAMPLE: Rule = Rule {
    name: "type-example",
    why: "who meets a type wants to see it at work before reading about it",
    instead: "add an example to its documentation that compiles and shows what it is for",
};
const CANCEL: Rule = Rule {
    name: "cancel-safety",
    why: "any future may be dropped half way, and its caller has to know what is lost then",
    instead: "add a section `# Cancel safety` that says it in a sentence",
};
