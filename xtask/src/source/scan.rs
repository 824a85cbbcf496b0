//! Finds attributes, functions, modules and the reach of tests in code whose literals are blanked.

use std::collections::BTreeMap;

use super::{Attribute, Function, Line, is_test_attribute, is_test_configuration};

/// The code of a whole file as one string, with the way back to its lines.
#[derive(Debug)]
pub(super) struct Scan {
    code: String,
    /// Offset of each line's start, to its number.
    starts: BTreeMap<usize, usize>,
}

impl Scan {
    pub(super) fn new(lines: &[Line]) -> Self {
        let mut code = String::new();
        let mut starts = BTreeMap::new();
        for (number, line) in lines.iter().enumerate() {
            starts.insert(code.len(), number);
            code.push_str(&line.code);
            code.push('\n');
        }
        Self { code, starts }
    }

    fn line(&self, offset: usize) -> usize {
        self.starts.range(..=offset).next_back().map_or(0, |(_, number)| *number)
    }

    /// Where the item that starts at `from` ends: its last `}` or its `;`.
    fn item_end(&self, from: usize) -> usize {
        let mut depth = 0_i32;
        for (at, c) in self.code[from..].char_indices() {
            match c {
                '{' | '(' | '[' => depth += 1,
                '}' | ')' | ']' => {
                    depth -= 1;
                    if depth < 0 || depth == 0 && c == '}' {
                        return from + at;
                    }
                }
                ';' | ',' if depth == 0 => return from + at,
                _ => {}
            }
        }
        self.code.len().saturating_sub(1)
    }

    /// Offsets of each attribute's `#`, its text, and where it ends.
    fn raw_attributes(&self) -> Vec<(usize, &str, usize)> {
        let mut found = Vec::new();
        let mut from = 0;
        while let Some(at) = self.code[from..].find('#').map(|at| from + at) {
            from = at + 1;
            let tail = &self.code[from..];
            let inner = tail.strip_prefix('!').unwrap_or(tail);
            if !inner.starts_with('[') {
                continue;
            }
            let open = self.code.len() - inner.len();
            let close = self.closing(open);
            found.push((at, self.code[open + 1..close].trim(), close + 1));
            from = close;
        }
        found
    }

    /// The bracket that closes the one at `open`.
    fn closing(&self, open: usize) -> usize {
        let mut depth = 0_i32;
        for (at, c) in self.code[open..].char_indices() {
            match c {
                '{' | '(' | '[' => depth += 1,
                '}' | ')' | ']' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return open + at;
            }
        }
        self.code.len().saturating_sub(1)
    }

    /// First and last line of everything that only tests compile.
    pub(super) fn test_ranges(&self) -> Vec<(usize, usize)> {
        self.raw_attributes()
            .into_iter()
            .filter(|(_, text, _)| is_test_attribute(text) || is_test_configuration(text))
            .map(|(at, _, end)| {
                let start = self.after_attributes(end);
                (self.line(at), self.line(self.item_end(start)))
            })
            .collect()
    }

    /// Where the item starts below an attribute that ends at `from`.
    fn after_attributes(&self, from: usize) -> usize {
        let mut at = from;
        loop {
            let tail = self.code[at..].trim_start();
            at = self.code.len() - tail.len();
            if !tail.starts_with("#[") {
                return at;
            }
            at = self.closing(at + 1) + 1;
        }
    }

    pub(super) fn attributes(&self, lines: &[Line]) -> Vec<Attribute> {
        self.raw_attributes()
            .into_iter()
            .map(|(at, text, end)| {
                let line = self.line(at);
                let item = &self.code[self.after_attributes(end)..];
                let item = item.split(['{', ';', '=']).next().unwrap_or(item);
                Attribute {
                    text: spoken_attribute(text, &lines[line..=self.line(end.saturating_sub(1))]),
                    line,
                    test: lines[line].test,
                    item: without_visibility(item).to_owned(),
                }
            })
            .collect()
    }

    pub(super) fn functions(&self) -> Vec<Function> {
        let modules = self.modules();
        let attributes = self.raw_attributes();
        words(&self.code, "fn")
            .filter_map(|at| {
                let (name, open) = self.function_head(at)?;
                let head = self.head_start(at);
                let above: Vec<_> = attributes
                    .iter()
                    .filter(|(_, _, end)| self.after_attributes(*end) == head)
                    .collect();
                Some(Function {
                    name,
                    modules: modules
                        .iter()
                        .filter(|module| module.open < at && at < module.close)
                        .map(|module| module.name.clone())
                        .collect(),
                    attributes: above.iter().map(|(_, text, _)| (*text).to_owned()).collect(),
                    top: self.line(above.first().map_or(head, |(at, _, _)| *at)),
                    first: self.line(at),
                    last: self.line(self.closing(open)),
                })
            })
            .collect()
    }

    /// The name of the function whose `fn` stands at `at`, and where its body opens.
    fn function_head(&self, at: usize) -> Option<(String, usize)> {
        let name = identifier(self.code[at + 2..].trim_start())?;
        let mut depth = 0_i32;
        for (offset, c) in self.code[at..].char_indices() {
            match c {
                '(' | '[' => depth += 1,
                ')' | ']' => depth -= 1,
                '{' if depth == 0 => return Some((name.to_owned(), at + offset)),
                ';' | '}' if depth == 0 => return None,
                _ => {}
            }
        }
        None
    }

    /// Where the item of a `fn` at `at` starts: before its `pub`, `async` and their like.
    fn head_start(&self, at: usize) -> usize {
        let before = &self.code[..at];
        let boundary = before.rfind(['{', '}', ';', ']', ',']).map_or(0, |boundary| boundary + 1);
        self.code.len() - self.code[boundary..].trim_start().len()
    }

    fn modules(&self) -> Vec<Module> {
        words(&self.code, "mod")
            .filter_map(|at| {
                let rest = self.code[at + 3..].trim_start();
                let name = identifier(rest)?;
                let open = self.code.len() - rest[name.len()..].trim_start().len();
                self.code[open..].starts_with('{').then(|| Module {
                    name: name.to_owned(),
                    open,
                    close: self.closing(open),
                })
            })
            .collect()
    }
}

/// An inline module.
#[derive(Debug)]
struct Module {
    name: String,
    open: usize,
    close: usize,
}

/// The attribute with the inside of its strings, which the blanked code has lost.
fn spoken_attribute(text: &str, lines: &[Line]) -> String {
    if !text.contains('"') {
        return text.to_owned();
    }
    let spoken: Vec<_> = lines.iter().map(|line| line.spoken.trim()).collect();
    let spoken = spoken.join(" ");
    let start = spoken.find('[').map_or(0, |at| at + 1);
    let end = spoken.rfind(']').unwrap_or(spoken.len());
    spoken.get(start..end).unwrap_or(text).to_owned()
}

/// `pub`, `pub(crate)` and their like taken off.
fn without_visibility(item: &str) -> &str {
    let item = item.trim();
    let Some(rest) = item.strip_prefix("pub") else {
        return item;
    };
    if rest.starts_with('(') {
        rest.split_once(')').map_or(rest, |(_, rest)| rest).trim_start()
    } else if rest.starts_with(char::is_whitespace) {
        rest.trim_start()
    } else {
        item
    }
}

fn identifier(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    (end > 0).then(|| &text[..end])
}

/// Offsets at which `word` stands alone.
fn words<'a>(code: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let wordlike = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(word).map(|(at, _)| at).filter(move |at| {
        !code[..*at].chars().next_back().is_some_and(wordlike)
            && !code[at + word.len()..].chars().next().is_some_and(wordlike)
    })
}
