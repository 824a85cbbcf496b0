//! What really ran: the tests that passed, and the last results of the steps.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::SystemTime;

use crate::apart;
use crate::shell;
use crate::source::File;
use crate::step::{self, TEST_LOG};

use super::citations::TestName;
use super::{Proof, STEPS};

/// The evidence of the last runs.
#[derive(Debug, Default)]
pub(super) struct Runs {
    passed: BTreeSet<TestName>,
    steps: BTreeMap<&'static str, StepRun>,
}

/// How a step ended the last time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum StepRun {
    Failed,
    Passed,
    /// It ran on an older tree.
    Stale,
}

impl Runs {
    /// Reads the logs of this tree, those of `cargo xtask apart` as far as they are of it; runs the tests if their log is missing or older than a source.
    pub(super) fn load(files: &[File]) -> Result<Self, String> {
        let changed = files
            .iter()
            .filter(|file| is_source(&file.path))
            .filter_map(|file| modified(&file.path))
            .max();
        if modified(TEST_LOG) < changed {
            println!("coverage: the log of the tests is older than the sources, so they run now");
            // A failing test is told below, as a proof that does not stand.
            let _ = step::run_tests();
        }
        let mut log = shell::read(TEST_LOG)?;
        for folder in apart::FOLDERS {
            let apart = apart::test_log(folder);
            if modified(&apart) >= changed {
                log.push_str(&shell::read(&apart).unwrap_or_default());
            }
        }
        let mut runs = Self::read(&log);
        for (step, _) in STEPS {
            let path = step::result_path(step);
            if let Ok(text) = shell::read(&path) {
                let run = match text.trim() {
                    _ if modified(&path) < changed => StepRun::Stale,
                    "passed" => StepRun::Passed,
                    _ => StepRun::Failed,
                };
                runs.steps.insert(step, run);
            }
        }
        Ok(runs)
    }

    /// Reads the lines of the test runner.
    pub(super) fn read(log: &str) -> Self {
        Self { passed: log.lines().filter_map(passed).collect(), steps: BTreeMap::new() }
    }

    #[cfg(test)]
    pub(super) fn with_step(mut self, step: &'static str, run: StepRun) -> Self {
        self.steps.insert(step, run);
        self
    }

    /// Why a proof does not stand, if it does not.
    pub(super) fn objection(&self, proof: &Proof) -> Option<String> {
        match proof {
            Proof::Test(test) if self.passed.contains(test) => None,
            Proof::Test(test) => Some(format!("the test `{test}` did not run and pass")),
            Proof::Step(step) => {
                let state = match self.steps.get(step) {
                    Some(StepRun::Passed) => return None,
                    Some(StepRun::Failed) => "failed",
                    Some(StepRun::Stale) => "ran on an older tree",
                    None => "has not run",
                };
                Some(format!("`cargo xtask {step}` {state}"))
            }
        }
    }
}

/// `PASS [   0.003s] (12/34) snodo-tests::it probe::an_answer` or the same without the count.
fn passed(line: &str) -> Option<TestName> {
    let (_, rest) = line.trim().strip_prefix("PASS [")?.split_once(']')?;
    let rest = rest.trim();
    let rest = if rest.starts_with('(') { rest.split_once(')')?.1.trim() } else { rest };
    let (binary, path) = rest.split_once(' ')?;
    let package = binary.split("::").next()?;
    Some(TestName { package: package.to_owned(), path: path.trim().to_owned() })
}

fn is_source(path: &str) -> bool {
    let built = [".rs", ".toml", ".lock"].iter().any(|ending| path.ends_with(ending));
    built || path.starts_with("tests/")
}

fn modified(path: &str) -> Option<SystemTime> {
    fs::metadata(shell::root().join(path)).and_then(|metadata| metadata.modified()).ok()
}
