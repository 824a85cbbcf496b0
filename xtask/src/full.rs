//! The page about full runs: a row for each step, with the day and the commit of its last run.

use std::fmt::Write as _;

/// The rows, in the order of the steps.
#[derive(Debug, PartialEq)]
pub(crate) struct Page(Vec<Row>);

#[derive(Clone, Debug, PartialEq)]
struct Row {
    step: String,
    /// The other columns: result, seconds, day, commit.
    rest: String,
}

impl Page {
    /// A row for each of these steps: from the page as it was, where that has one.
    pub(crate) fn of<'a>(steps: impl Iterator<Item = &'a str>, old: &str) -> Self {
        let known: Vec<_> = old.lines().filter_map(Row::read).collect();
        let row = |step: &str| {
            let known = known.iter().find(|row| row.step == step).cloned();
            known.unwrap_or_else(|| Row { step: step.to_owned(), rest: NEVER.to_owned() })
        };
        Self(steps.map(row).collect())
    }

    /// Notes how a step ended.
    pub(crate) fn note(&mut self, step: &str, result: &str, seconds: f64, when: &str) {
        if let Some(row) = self.0.iter_mut().find(|row| row.step == step) {
            row.rest = format!("{result} | {seconds:.0} | {when} |");
        }
    }

    /// The text of the page.
    pub(crate) fn written(&self) -> String {
        let mut page = HEAD.to_owned();
        for row in &self.0 {
            let _ = writeln!(page, "| {} | {}", row.step, row.rest);
        }
        page
    }
}

impl Row {
    fn read(line: &str) -> Option<Self> {
        let (step, rest) = line.strip_prefix("| ")?.split_once(" | ")?;
        Some(Self { step: step.to_owned(), rest: rest.to_owned() })
    }
}

const HEAD: &str = "\
# The last full run

Written by `cargo xtask full`, step by step; `cargo xtask full STEP…` runs some of them and leaves the other rows. A step says with
which commit it ran last, and a `+` behind it that something was not committed then.

| Step | Result | Seconds | Day | Commit |
|---|---|---|---|---|
";
const NEVER: &str = "not run yet | – | – | – |";

#[cfg(test)]
mod tests {
    use super::Page;

    #[test]
    fn a_step_that_ran_has_a_new_row_and_the_others_keep_theirs() {
        let steps = || ["fmt", "tidy", "zoo"].into_iter();
        let mut page = Page::of(steps(), "");
        page.note("fmt", "ok", 1.6, "1970-01-01 | abc");
        page.note("zoo", "FAILED", 12.0, "1970-01-01 | abc");
        let text = page.written();
        assert!(text.ends_with(
            "| fmt | ok | 2 | 1970-01-01 | abc |\n| tidy | not run yet | – | – | – |\n\
             | zoo | FAILED | 12 | 1970-01-01 | abc |\n"
        ));
        let mut again = Page::of(steps(), &text);
        assert_eq!(again, page);
        again.note("zoo", "ok", 13.0, "1970-01-02 | abd");
        assert!(again.written().ends_with("| zoo | ok | 13 | 1970-01-02 | abd |\n"));
    }

    #[test]
    fn a_step_that_is_gone_takes_its_row_along() {
        let page = Page::of(["fmt"].into_iter(), "| tidy | ok | 2 | 1970-01-01 | abc |\n");
        assert!(!page.written().contains("tidy"));
    }
}
