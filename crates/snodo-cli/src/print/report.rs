//! What the doctor found.

use crate::doctor::{Report, State, Verdict};
use crate::safe;
use crate::terminal::Style;

pub(crate) fn report(report: &Report, style: Style) -> String {
    let mut lines = format!("{}\n\n", style.bold(&safe::line(&report.target)));
    for step in &report.steps {
        let sign = match step.state {
            State::Failed => style.bad("failed"),
            State::Ok => style.good("ok    "),
            State::Older => style.odd("older "),
            State::Newer => style.odd("newer "),
        };
        let took = step.took.map(|took| format!(" ({:.1} ms)", took.as_secs_f64() * 1e3));
        let took = took.unwrap_or_default();
        let words = style.wrap(&format!("{}{took}", safe::line(&step.words)), COLUMN);
        // Times are less important than words.
        let words = match words.strip_suffix(&took).filter(|_| !took.is_empty()) {
            Some(words) => format!("{words}{}", style.dim(&took)),
            None => words,
        };
        lines.push_str(&format!("{:16} {sign} {words}\n", step.name));
        for detail in &step.details {
            let line = style.fit(&safe::line(detail), COLUMN);
            lines.push_str(&format!("{:COLUMN$}{}\n", "", style.dim(&line)));
        }
    }
    for finding in &report.findings {
        let word = match finding.level.word() {
            "wrong" => style.bad("wrong"),
            word => style.odd(word),
        };
        lines.push_str(&format!("\n{word}: {}\n", style.wrap(&safe::line(&finding.what), INDENT)));
        lines.push_str(&format!("  fix: {}\n", style.wrap(&safe::line(&finding.fix), INDENT)));
    }
    let sum = match report.verdict {
        Verdict::Broken => style.bad("No client gets to work with this server."),
        Verdict::Flawed => style.odd("It works, and breaks the specification."),
        Verdict::Works => style.good("It works."),
    };
    lines.push_str(&format!("\n{sum}\n"));
    lines
}

/// Where the words of a step begin.
const COLUMN: usize = 24;

/// Where those of a finding do.
const INDENT: usize = 7;
