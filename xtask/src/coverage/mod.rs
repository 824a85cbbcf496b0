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
        findings.push(format!(
            "{PAGE} is not what this tree gives: run `cargo xtask coverage` and commit it"
        ));
    } else {
        fs::write(shell::root().join(PAGE), page).map_err(|error| format!("{PAGE}: {error}"))?;
        println!("coverage: wrote {PAGE}");
    }
    println!("coverage: {}", coverage.summary());
    if findings.is_empty() {
        return Ok(());
    }
    for finding in &findings {
        println!("{finding}");
    }
    Err(format!("coverage: {} findings", findings.len()))
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

    /// What is wrong, a sentence each.
    fn findings(&self, runs: &Runs) -> Vec<String> {
        let mut findings = self.misplaced.clone();
        for row in self.rows.all() {
            let proofs = self.proofs.get(&row.id);
            if self.rows.is_due(row) && proofs.is_none() {
                findings
                    .push(format!("{} is due (issue {}) and nothing proves it", row.id, row.issue));
            }
            for proof in proofs.into_iter().flatten() {
                findings.extend(
                    runs.objection(proof).map(|objection| format!("{}: {objection}", row.id)),
                );
            }
        }
        findings
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
