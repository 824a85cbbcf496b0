//! Reads a Rust file far enough to tell code from comments, tests from the rest, and one function from the next.
//!
//! It is a scanner, no parser: it knows strings, comments, attributes and brackets, which is all that the checks ask for
//! and keeps this crate free of a parser as a dependency.

mod scan;
mod separate;

use scan::Scan;
use separate::separate;

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

#[cfg(test)]
mod tests;
