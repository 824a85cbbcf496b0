//! Which rows of docs/rows are proven, and by what.
//!
//! A test proves the rows that the comment directly above its attributes names, if it ran and passed. A fixture with a
//! comment of rows proves them through the test that plays it. A few rows are proven by a whole step (the zoo, the
//! conformance suite), if its last result says so. The page docs/coverage.md depends on the tree alone, so that it can be
//! compared; what did not run is a finding instead.

mod citations;
mod page;
mod rows;
mod runs;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use crate::Outcome;
use crate::shell;
use crate::source::File;

use citations::{Citation, Citations, TestName};
use rows::{Issue, Rows};
use runs::Runs;

/// `cargo xtask coverage [--check]`: writes docs/coverage.md, or compares it with `--check`.
pub(crate) fn run(arguments: &[String]) -> Outcome {
    let check = match arguments {
        [] => false,
        [only] if only == "--check" => true,
        _ => return Err("usage: cargo xtask coverage [--check]".to_owned()),
    };
    let files = shell::tree()?;
    let coverage = Coverage::of(&files)?;
    let mut findings = coverage.findings(&Runs::load(&files)?);
    let page = coverage.page();
    if check && files.iter().any(|file| file.path == PAGE && file.text == page) {
        println!("coverage: {PAGE} is up to date");
    } else if check {
        findings.push(Finding {
            kind: Kind::Page,
            text: format!(
                "{PAGE} is not what this tree gives: run `cargo xtask coverage` and commit it"
            ),
        });
    } else {
        fs::write(shell::root().join(PAGE), page).map_err(|error| format!("{PAGE}: {error}"))?;
        println!("coverage: wrote {PAGE}");
    }
    println!("coverage: {}", coverage.summary());
    if findings.is_empty() {
        return Ok(());
    }
    findings.sort();
    for finding in &findings {
        println!("{}", finding.text);
    }
    Err(format!("coverage: {}", counts(&findings)))
}

/// The rows, and what claims to prove them.
#[derive(Debug)]
struct Coverage {
    rows: Rows,
    /// By row.
    proofs: BTreeMap<String, BTreeSet<Proof>>,
    /// What is wrong with the citations themselves.
    misplaced: Vec<String>,
}

/// What stands behind a row.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Proof {
    Step(&'static str),
    Test(TestName),
}

/// What is wrong, a sentence.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
struct Finding {
    kind: Kind,
    text: String,
}

/// What is wrong, as it is counted, in the order in which it is told.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Kind {
    Unproven,
    PutOff,
    Fallen,
    Misplaced,
    Page,
}

impl Kind {
    fn of(self, count: usize) -> String {
        let (one, many) = match self {
            Self::Unproven => ("row due without a proof", "rows due without a proof"),
            Self::PutOff => ("row put off wrongly", "rows put off wrongly"),
            Self::Fallen => ("proof that does not stand", "proofs that do not stand"),
            Self::Misplaced => ("citation that is wrong", "citations that are wrong"),
            Self::Page => ("page that is old", "pages that are old"),
        };
        format!("{count} {}", if count == 1 { one } else { many })
    }
}

/// `2 proofs that do not stand, 1 page that is old`.
fn counts(findings: &[Finding]) -> String {
    let mut kinds = BTreeMap::<_, usize>::new();
    for finding in findings {
        *kinds.entry(finding.kind).or_default() += 1;
    }
    kinds.into_iter().map(|(kind, count)| kind.of(count)).collect::<Vec<_>>().join(", ")
}

impl Coverage {
    /// Reads the rows and the citations out of the tree.
    fn of(files: &[File]) -> Result<Self, String> {
        let rows = Rows::read(files)?;
        let citations = Citations::read(files);
        let mut coverage = Self { rows, proofs: BTreeMap::new(), misplaced: citations.misplaced };
        for Citation { row, path, line, test } in citations.found {
            if coverage.rows.contains(&row) {
                coverage.proofs.entry(row).or_default().insert(Proof::Test(test));
            } else {
                coverage
                    .misplaced
                    .push(format!("{path}:{line}: there is no row {row} in docs/rows"));
            }
        }
        for (step, rows) in STEPS {
            for row in *rows {
                coverage.proofs.entry((*row).to_owned()).or_default().insert(Proof::Step(step));
            }
        }
        Ok(coverage)
    }

    /// What is wrong with the citations, the rows and what stands behind them.
    fn findings(&self, runs: &Runs) -> Vec<Finding> {
        let finding = |kind, text| Finding { kind, text };
        let misplaced = self.misplaced.iter().map(|text| finding(Kind::Misplaced, text.clone()));
        let due = self.rows.all().filter(|row| self.rows.is_due(row));
        let unproven = due.filter(|row| !self.proofs.contains_key(&row.id)).map(|row| {
            let text = format!("{} is due (issue {}) and nothing proves it", row.id, row.issue);
            finding(Kind::Unproven, text)
        });
        let put_off = self.rows.all().filter_map(|row| {
            let objection = row.objection(self.proofs.contains_key(&row.id))?;
            Some(finding(Kind::PutOff, format!("{} {objection}", row.id)))
        });
        // A proof that does not stand is told once, with all of its rows.
        let mut rows = BTreeMap::<&Proof, Vec<&str>>::new();
        for row in self.rows.all() {
            for proof in self.proofs.get(&row.id).into_iter().flatten() {
                rows.entry(proof).or_default().push(&row.id);
            }
        }
        let fallen = rows.iter().filter_map(|(proof, rows)| {
            let objection = runs.objection(proof)?;
            Some(finding(Kind::Fallen, format!("{}: {objection}", rows.join(", "))))
        });
        misplaced.chain(unproven).chain(put_off).chain(fallen).collect()
    }

    /// The text of docs/coverage.md.
    fn page(&self) -> String {
        page::write(&self.rows, &self.proofs, &self.summary())
    }

    fn summary(&self) -> String {
        let due: Vec<_> = self.rows.all().filter(|row| self.rows.is_due(row)).collect();
        let proven = due.iter().filter(|row| self.proofs.contains_key(&row.id)).count();
        let all = self.rows.all().count();
        format!(
            "{proven} of {} rows that are due are proven, {} of all {all}",
            due.len(),
            self.rows.all().filter(|row| self.proofs.contains_key(&row.id)).count()
        )
    }
}

const PAGE: &str = "docs/coverage.md";

/// What a whole step proves: rows that hold only if real servers of every era and transport are spoken to.
const STEPS: &[(&str, &[&str])] = &[("zoo", &["S-16", "S-17", "S-18"])];

#[cfg(test)]
mod tests;
