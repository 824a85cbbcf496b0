//! Reads a Rust file far enough to tell code from comments, tests from the rest, and one function from the next.
//!
//! It is a scanner, no parser: it knows strings, comments, attributes and brackets, which is all that the checks ask for
//! and keeps this crate free of a parser as a dependency.

use std::collections::BTreeMap;

/// A file of the tree: its path from the root with `/`, and its text.
#[derive(Clone, Debug)]
pub(crate) struct File {
    pub(crate) path: String,
    pub(crate) text: String,
}

impl File {
    pub(crate) fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        Self { path: path.into(), text: text.into() }
    }

    pub(crate) fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// The last part of the path.
    pub(crate) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// Whether everything in the file serves tests, by where it stands.
    pub(crate) fn is_test(&self) -> bool {
        self.path.starts_with("tests/")
            || self.path.contains("/tests/")
            || self.name() == "tests.rs"
    }
}

/// What the scanner saw in one file.
#[derive(Debug)]
pub(crate) struct Source {
    /// One for each line of the file.
    pub(crate) lines: Vec<Line>,
    /// In the order of their `fn` keywords.
    pub(crate) functions: Vec<Function>,
    /// In the order of the file.
    pub(crate) attributes: Vec<Attribute>,
}

/// One line, taken apart.
#[derive(Debug, Default)]
pub(crate) struct Line {
    /// The code, with comments left out and the inside of literals blanked.
    pub(crate) code: String,
    /// The code with the inside of its literals, comments left out.
    pub(crate) spoken: String,
    /// Whether the line belongs to an item that only tests compile.
    pub(crate) test: bool,
}

/// A function with its body.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) name: String,
    /// The names of the inline modules around it, outermost first.
    pub(crate) modules: Vec<String>,
    /// The texts of its attributes, without `#[` and `]`.
    pub(crate) attributes: Vec<String>,
    /// Line of the first attribute, or of the function; lines count from 0.
    pub(crate) top: usize,
    pub(crate) first: usize,
    pub(crate) last: usize,
}

impl Function {
    pub(crate) fn is_test(&self) -> bool {
        self.attributes.iter().any(|attribute| is_test_attribute(attribute))
    }

    pub(crate) fn lines(&self) -> usize {
        self.last - self.first + 1
    }
}

/// An attribute and what it stands on.
#[derive(Debug)]
pub(crate) struct Attribute {
    /// Without `#[` and `]`.
    pub(crate) text: String,
    pub(crate) line: usize,
    pub(crate) test: bool,
    /// The start of the item below, to its first `{`, `;` or `=`; visibility left out.
    pub(crate) item: String,
}

impl Source {
    pub(crate) fn read(file: &File) -> Self {
        let mut lines = separate(&file.text);
        let scan = Scan::new(&lines);
        let everything = file.is_test();
        for range in scan.test_ranges() {
            for line in &mut lines[range.0..=range.1] {
                line.test = true;
            }
        }
        for line in &mut lines {
            line.test |= everything;
        }
        let functions = scan.functions();
        let attributes = scan.attributes(&lines);
        Self { lines, functions, attributes }
    }

    /// The code lines outside tests, with their numbers from 0.
    pub(crate) fn shipped(&self) -> impl Iterator<Item = (usize, &Line)> {
        self.lines.iter().enumerate().filter(|(_, line)| !line.test)
    }
}

/// Whether `text` holds `word` with no identifier character on either side.
pub(crate) fn has_word(text: &str, word: &str) -> bool {
    let wordlike = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let guard_front = wordlike(word.chars().next());
    let guard_back = wordlike(word.chars().next_back());
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !(guard_front && wordlike(before) || guard_back && wordlike(after))
    })
}

fn is_test_attribute(text: &str) -> bool {
    let path = text.split('(').next().unwrap_or(text).trim();
    path == "test" || path.ends_with("::test")
}

fn is_test_configuration(text: &str) -> bool {
    text.starts_with("cfg") && has_word(text, "test") && !text.contains("not(test")
}

/// The state of the scanner between two characters.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    Code,
    Comment { depth: usize },
    Text,
    RawText { hashes: usize },
}

/// Splits the text into lines of code and lines of what the code says.
fn separate(text: &str) -> Vec<Line> {
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

/// The code of a whole file as one string, with the way back to its lines.
#[derive(Debug)]
struct Scan {
    code: String,
    /// Offset of each line's start, to its number.
    starts: BTreeMap<usize, usize>,
}

impl Scan {
    fn new(lines: &[Line]) -> Self {
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
    fn test_ranges(&self) -> Vec<(usize, usize)> {
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

    fn attributes(&self, lines: &[Line]) -> Vec<Attribute> {
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

    fn functions(&self) -> Vec<Function> {
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

#[cfg(test)]
mod tests;
