//! The servers of the configuration, file by file.

use crate::run::{Known, Shelf, Visit};
use crate::safe;
use crate::terminal::{Style, width};

pub(crate) fn servers(shelves: &[Shelf<'_>], style: Style) -> String {
    let mut lines = String::new();
    for shelf in shelves {
        let path = shelf.source.path().display().to_string();
        lines.push_str(&style.bold(&safe::line(&path)));
        lines.push('\n');
        for remark in shelf.source.warnings() {
            note(&mut lines, &style.odd("note"), remark);
        }
        if let Some(fault) = shelf.source.fault() {
            note(&mut lines, &style.bad("wrong"), &fault.to_string());
        }
        let names = shelf.entries.iter().map(|known| width(&safe::line(known.entry.name())));
        let column = names.filter(|width| *width <= WIDEST).max().unwrap_or_default();
        for known in &shelf.entries {
            entry(&mut lines, known, column, style);
        }
    }
    lines
}

fn entry(lines: &mut String, known: &Known<'_>, column: usize, style: Style) {
    let entry = known.entry;
    let name = safe::line(entry.name());
    let padding = " ".repeat(column.saturating_sub(width(&name)));
    let shown = style.fit(&safe::line(entry.shown()), column + 4);
    lines.push_str(format!("  {name}{padding}  {}", style.dim(&shown)).trim_end());
    lines.push('\n');
    if entry.is_disabled() {
        note(lines, &style.odd("off"), "it is switched off there");
    }
    if entry.is_hidden() {
        note(lines, &style.odd("hidden"), "a file above has a server of this name, which counts");
    }
    for warning in entry.warnings() {
        note(lines, &style.odd("note"), warning);
    }
    match (entry.server(), &known.visit) {
        (Err(fault), _) => note(lines, &style.bad("wrong"), &fault.to_string()),
        (Ok(_), Some(Visit::Failed(error))) => note(lines, &style.bad("failed"), error),
        (Ok(_), Some(Visit::Spoke { version, tools })) => {
            note(lines, &style.good("ok"), &format!("protocol {version}, tools: {tools}"));
        }
        (Ok(_), None) => {}
    }
}

fn note(lines: &mut String, word: &str, text: &str) {
    lines.push_str(&format!("    {word}: {}\n", safe::line(text)));
}

/// A longer name pushes its own line out, not those of all others.
const WIDEST: usize = 40;
