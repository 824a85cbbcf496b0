//! Takes lines apart into code, what literals say, and comments, which are left out.

use super::Line;

/// The state of the scanner between two characters.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    Code,
    Comment { depth: usize },
    Text,
    RawText { hashes: usize },
}

/// Splits the text into lines of code and lines of what the code says.
pub(super) fn separate(text: &str) -> Vec<Line> {
    let mut mode = Mode::Code;
    text.lines()
        .map(|line| {
            let (parts, next) = separate_line(line, mode);
            mode = next;
            parts
        })
        .collect()
}

fn separate_line(text: &str, mut mode: Mode) -> (Line, Mode) {
    let mut line = Line::default();
    let mut rest = text;
    while !rest.is_empty() {
        let step = match mode {
            Mode::Comment { depth } => comment_step(rest, depth),
            Mode::Text => text_step(rest),
            Mode::RawText { hashes } => raw_text_step(rest, hashes),
            Mode::Code if rest.starts_with("//") => break,
            Mode::Code => code_step(rest, &line.code),
        };
        let taken = &rest[..step.length];
        match step.kind {
            Kind::Code => {
                line.code.push_str(taken);
                line.spoken.push_str(taken);
            }
            Kind::Inside => {
                line.code.extend(taken.chars().map(|_| ' '));
                line.spoken.push_str(taken);
            }
            Kind::Nothing => {}
        }
        rest = &rest[step.length..];
        mode = step.mode;
    }
    (line, mode)
}

/// What a stretch of a line is.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Code,
    Inside,
    Nothing,
}

/// A stretch of a line, and the mode after it.
#[derive(Debug)]
struct Step {
    length: usize,
    kind: Kind,
    mode: Mode,
}

fn comment_step(rest: &str, depth: usize) -> Step {
    let step = |length, depth| {
        let mode = if depth == 0 { Mode::Code } else { Mode::Comment { depth } };
        Step { length, kind: Kind::Nothing, mode }
    };
    if rest.starts_with("*/") {
        step(2, depth - 1)
    } else if rest.starts_with("/*") {
        step(2, depth + 1)
    } else {
        step(first_character(rest), depth)
    }
}

fn text_step(rest: &str) -> Step {
    match rest.as_bytes()[0] {
        b'"' => Step { length: 1, kind: Kind::Code, mode: Mode::Code },
        b'\\' if rest.len() > 1 => {
            Step { length: 1 + first_character(&rest[1..]), kind: Kind::Inside, mode: Mode::Text }
        }
        _ => Step { length: first_character(rest), kind: Kind::Inside, mode: Mode::Text },
    }
}

fn raw_text_step(rest: &str, hashes: usize) -> Step {
    let closes = rest.starts_with('"')
        && rest.len() > hashes
        && rest.as_bytes()[1..=hashes].iter().all(|byte| *byte == b'#');
    if closes {
        Step { length: 1 + hashes, kind: Kind::Code, mode: Mode::Code }
    } else {
        Step { length: first_character(rest), kind: Kind::Inside, mode: Mode::RawText { hashes } }
    }
}

fn code_step(rest: &str, before: &str) -> Step {
    let after_name = before.chars().next_back().is_some_and(|c| c.is_alphanumeric() || c == '_');
    if rest.starts_with("/*") {
        return Step { length: 2, kind: Kind::Nothing, mode: Mode::Comment { depth: 1 } };
    }
    if rest.starts_with('"') {
        return Step { length: 1, kind: Kind::Code, mode: Mode::Text };
    }
    if !after_name && let Some(step) = raw_text_start(rest) {
        return step;
    }
    if !after_name && let Some(length) = character_literal(rest) {
        return Step { length, kind: Kind::Inside, mode: Mode::Code };
    }
    Step { length: first_character(rest), kind: Kind::Code, mode: Mode::Code }
}

/// `r"`, `r#"`, `br"`, `cr##"` and their like.
fn raw_text_start(rest: &str) -> Option<Step> {
    let prefix = ["br", "cr", "r"].into_iter().find(|prefix| rest.starts_with(prefix))?;
    let tail = &rest[prefix.len()..];
    let hashes = tail.bytes().take_while(|byte| *byte == b'#').count();
    tail[hashes..].starts_with('"').then_some(Step {
        length: prefix.len() + hashes + 1,
        kind: Kind::Code,
        mode: Mode::RawText { hashes },
    })
}

/// The length of a character literal at the start, which a lifetime is not.
fn character_literal(rest: &str) -> Option<usize> {
    let inside = rest.strip_prefix("b'").or_else(|| rest.strip_prefix('\''))?;
    let opening = rest.len() - inside.len();
    let length = if inside.starts_with('\\') {
        let escaped = inside.get(2..)?;
        2 + escaped.find('\'')?
    } else {
        first_character(inside)
    };
    inside.get(length..)?.starts_with('\'').then_some(opening + length + 1)
}

fn first_character(text: &str) -> usize {
    text.chars().next().map_or(1, char::len_utf8)
}
