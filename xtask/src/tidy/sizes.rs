//! How long files and functions are, and how much of the code is test.

use std::fmt;

use crate::source::{File, Source};

use super::{Finding, Rule};

/// The measured tree.
#[derive(Debug, Default)]
pub(crate) struct Sizes {
    /// Lines outside tests of each file that has any.
    files: Vec<(String, usize)>,
    functions: Vec<Measured>,
    code_lines: usize,
    test_lines: usize,
}

#[derive(Debug)]
struct Measured {
    path: String,
    name: String,
    line: usize,
    length: usize,
    test: bool,
}

impl Sizes {
    pub(super) fn measure(sources: &[(&File, Source)]) -> Self {
        let mut sizes = Self::default();
        for (file, source) in sources {
            sizes.measure_file(file, source);
        }
        sizes
    }

    pub(super) fn check(&self, findings: &mut Vec<Finding>) {
        for (path, length) in &self.files {
            if *length > FILE_LIMIT {
                let what = format!("{length} lines without tests, {FILE_LIMIT} is the limit");
                findings.push(Finding::new(&LONG_FILE, path, 0, what));
            }
        }
        for function in &self.functions {
            if function.length > FUNCTION_LIMIT {
                let what = format!(
                    "`{}` has {} lines, {FUNCTION_LIMIT} is the limit",
                    function.name, function.length
                );
                let mut finding = Finding::new(&LONG_FUNCTION, &function.path, function.line, what);
                finding.function = Some(function.name.clone());
                findings.push(finding);
            }
        }
    }

    fn measure_file(&mut self, file: &File, source: &Source) {
        let shipped = source.shipped().count();
        if shipped > 0 {
            self.files.push((file.path.clone(), shipped));
        }
        for line in source.lines.iter().filter(|line| !line.code.trim().is_empty()) {
            if line.test {
                self.test_lines += 1;
            } else {
                self.code_lines += 1;
            }
        }
        self.functions.extend(source.functions.iter().map(|function| Measured {
            path: file.path.clone(),
            name: function.name.clone(),
            line: function.first,
            length: function.lines(),
            test: source.lines[function.first].test,
        }));
    }
}

impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let files = Spread::of(self.files.iter().map(|(_, length)| *length));
        let functions = Spread::of(
            self.functions.iter().filter(|function| !function.test).map(|function| function.length),
        );
        let ratio = self.test_lines as f64 / self.code_lines.max(1) as f64;
        writeln!(
            f,
            "tidy: file lines without tests: {files} (wanted: p50 150, p90 400, longest {FILE_LIMIT})"
        )?;
        writeln!(
            f,
            "tidy: function lines: {functions} (wanted: p50 6, p99 60, longest {FUNCTION_LIMIT})"
        )?;
        writeln!(
            f,
            "tidy: {} test lines to {} code lines: {ratio:.2} (wanted: 0.8 to 1.2)",
            self.test_lines, self.code_lines
        )
    }
}

/// A few points of a distribution.
#[derive(Debug)]
struct Spread {
    sorted: Vec<usize>,
}

impl Spread {
    fn of(lengths: impl Iterator<Item = usize>) -> Self {
        let mut sorted: Vec<_> = lengths.collect();
        sorted.sort_unstable();
        Self { sorted }
    }

    fn percentile(&self, percent: usize) -> usize {
        let rank = (self.sorted.len() * percent).div_ceil(100);
        self.sorted.get(rank.saturating_sub(1)).copied().unwrap_or_default()
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [p50, p90, p99, longest] = [50, 90, 99, 100].map(|percent| self.percentile(percent));
        write!(f, "p50 {p50}, p90 {p90}, p99 {p99}, longest {longest} of {}", self.sorted.len())
    }
}

const FILE_LIMIT: usize = 600;
const FUNCTION_LIMIT: usize = 100;

const LONG_FILE: Rule = Rule {
    name: "long-file",
    why: "a room holds one idea; 400 lines are usually two",
    instead: "split it by idea, or give the reason in xtask/tidy-exceptions.txt",
};
const LONG_FUNCTION: Rule = Rule {
    name: "long-function",
    why: "what does not fit on a screen is not read as a whole",
    instead: "name its parts, or give the reason in xtask/tidy-exceptions.txt",
};
