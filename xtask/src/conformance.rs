//! The official conformance suite against our client, scenario by scenario.
//!
//! `tests/conformance/expected-failures.txt` lists what is known to fail, each with the issue that will mend it and a
//! reason. Any difference is a failure: a new fault, a scenario that passes unexpectedly, and one that did not run.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::Outcome;
use crate::harness;
use crate::shell;
use crate::step::{self, Step};
use crate::tools::{self, Tool};

/// `cargo xtask conformance`.
pub(crate) fn run(arguments: &[String]) -> Outcome {
    if !arguments.is_empty() {
        return Err("usage: cargo xtask conformance".to_owned());
    }
    step::remember("conformance", compare())
}

fn compare() -> Outcome {
    let expected = Expected::parse(&shell::read(EXPECTED)?)?;
    harness::build("conformance-client")?;
    tools::need(&[Tool::Node])?;
    let client = shell::root().join(harness::path("conformance-client"));
    let client =
        client.to_str().ok_or("the path to the tree is no UTF-8, which the suite needs")?;
    let command = ["bash", "tests/conformance/run-client.sh", client];
    let environment = [
        ("CONFORMANCE_STRICT", "1"),
        ("CONFORMANCE_EXTRA", "1"),
        ("CONFORMANCE_DIR", "target/conformance"),
    ];
    let suite = Step {
        command: &command,
        environment: &environment,
        log: LOG,
        limit: Duration::from_secs(20 * 60),
    };
    // It fails as soon as one scenario does; which ones may is decided below.
    let ended = suite.run();
    let results = Results::parse(&shell::read(LOG)?);
    if results.scenarios.is_empty() {
        let why = ended.err().unwrap_or_else(|| "the suite ran no scenario".to_owned());
        return Err(format!("conformance: {why}\n{}", step::tail(LOG, 20)));
    }
    print!("{}", results.summary(&expected));
    let findings = check(&expected, &results);
    if findings.is_empty() {
        return Ok(());
    }
    for finding in &findings {
        println!("{finding}");
    }
    Err(format!(
        "conformance: {} differences from {EXPECTED}; {LOG} has the suite's own words",
        findings.len()
    ))
}

/// Every difference between what was expected and what was seen, a sentence each.
fn check(expected: &Expected, results: &Results) -> Vec<String> {
    let mut findings = Vec::new();
    for (scenario, result) in &results.scenarios {
        match (expected.failures.get(scenario), result) {
            (None, Verdict::Failed(why)) => findings.push(format!("{scenario} fails: {why}")),
            (Some(_), Verdict::Passed) => {
                findings.push(format!("{scenario} passes: take it out of the expected failures"));
            }
            (None, Verdict::Passed) | (Some(_), Verdict::Failed(_)) => {}
        }
    }
    for scenario in
        expected.failures.keys().filter(|scenario| !results.scenarios.contains_key(*scenario))
    {
        findings.push(format!("{scenario} is expected to fail but did not run"));
    }
    findings
}

/// The list of known failures: the scenario with its version, and the issue that will mend it.
#[derive(Debug)]
struct Expected {
    failures: BTreeMap<String, String>,
}

impl Expected {
    /// Reads lines `scenario version | issue | reason`.
    fn parse(text: &str) -> Result<Self, String> {
        let mut failures = BTreeMap::new();
        for (number, line) in text.lines().enumerate() {
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            let parts: Vec<_> = line.split('|').map(str::trim).collect();
            let wrong = |what: &str| format!("{EXPECTED}:{}: {what}", number + 1);
            let [scenario, issue, reason] = parts[..] else {
                return Err(wrong("a line is `scenario version | issue | reason`"));
            };
            if scenario.split(' ').count() != 2 || issue.is_empty() || reason.is_empty() {
                return Err(wrong("a scenario with its version, an issue and a reason"));
            }
            if failures.insert(scenario.to_owned(), issue.to_owned()).is_some() {
                return Err(wrong("it stands there twice"));
            }
        }
        Ok(Self { failures })
    }
}

/// What the suite said of each scenario.
#[derive(Debug, Default)]
struct Results {
    scenarios: BTreeMap<String, Verdict>,
}

#[derive(Debug, PartialEq)]
enum Verdict {
    Failed(String),
    Passed,
}

impl Results {
    /// Reads lines `scenario version passed failed warnings`, each with remarks `#   …` below it.
    fn parse(log: &str) -> Self {
        let mut results = Self::default();
        let mut last = None;
        for line in log.lines() {
            if let Some(remark) = line.strip_prefix("#   ") {
                let ended = remark.starts_with("client ended with");
                if let Some(verdict) =
                    last.as_ref().and_then(|last| results.scenarios.get_mut(last))
                {
                    verdict.add(remark, ended);
                }
            } else if let Some((scenario, verdict)) = read_scenario(line) {
                results.scenarios.insert(scenario.clone(), verdict);
                last = Some(scenario);
            }
        }
        results
    }

    fn summary(&self, expected: &Expected) -> String {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for (scenario, verdict) in &self.scenarios {
            let kind = match (verdict, expected.failures.get(scenario)) {
                (Verdict::Passed, _) => "passed".to_owned(),
                (Verdict::Failed(_), Some(issue)) => format!("fail until issue {issue}"),
                (Verdict::Failed(_), None) => "failed".to_owned(),
            };
            *counts.entry(kind).or_default() += 1;
        }
        let shown: Vec<_> = counts.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
        format!("conformance: {} scenarios: {}\n", self.scenarios.len(), shown.join(", "))
    }
}

impl Verdict {
    /// A remark explains a failure; that the client ended with an error is one.
    fn add(&mut self, remark: &str, fails: bool) {
        match self {
            Self::Failed(why) => *why = format!("{why}; {remark}"),
            Self::Passed if fails => *self = Self::Failed(remark.to_owned()),
            Self::Passed => {}
        }
    }
}

/// A scenario passes when a check passed, none failed and none warned.
fn read_scenario(line: &str) -> Option<(String, Verdict)> {
    let words: Vec<_> = line.split(' ').collect();
    let [name, version, counts @ ..] = &words[..] else { return None };
    let counts: Vec<usize> = counts.iter().filter_map(|count| count.parse().ok()).collect();
    let [passed, failed, warned] = counts[..] else { return None };
    let verdict = if passed > 0 && failed == 0 && warned == 0 {
        Verdict::Passed
    } else {
        Verdict::Failed(format!("{passed} checks passed, {failed} failed, {warned} warned"))
    };
    Some((format!("{name} {version}"), verdict))
}

const EXPECTED: &str = "tests/conformance/expected-failures.txt";
const LOG: &str = "target/xtask/conformance.log";

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "# words\n\nauth/a 2026-07-28 | 7 | no credentials yet\n";

    fn differences(log: &str) -> Vec<String> {
        check(&Expected::parse(LIST).expect("a list"), &Results::parse(log))
    }

    #[test]
    fn what_is_expected_is_no_difference() {
        let log = "# 2026-07-28, scored\ntools_call 2026-07-28 3 0 0\nauth/a 2026-07-28 1 2 0\n#   failed: x y\n1 passed, 1 failed\n";
        assert_eq!(differences(log), [""; 0]);
        let summary = Results::parse(log).summary(&Expected::parse(LIST).expect("a list"));
        assert_eq!(summary, "conformance: 2 scenarios: 1 fail until issue 7, 1 passed\n");
    }

    #[test]
    fn a_failure_that_nobody_expected_is_a_difference() {
        let expected = "auth/a 2026-07-28 1 1 0\n";
        for (log, why) in [
            (
                "tools_call 2026-07-28 3 1 0\n#   failed: x\n",
                "3 checks passed, 1 failed, 0 warned; failed: x",
            ),
            ("tools_call 2026-07-28 3 0 1\n", "3 checks passed, 0 failed, 1 warned"),
            ("tools_call 2026-07-28 0 0 0\n", "0 checks passed, 0 failed, 0 warned"),
            (
                "tools_call 2026-07-28 3 0 0\n#   client ended with status 1\n",
                "client ended with status 1",
            ),
        ] {
            assert_eq!(
                differences(&format!("{expected}{log}")),
                [format!("tools_call 2026-07-28 fails: {why}")]
            );
        }
    }

    #[test]
    fn a_pass_that_nobody_expected_is_a_difference() {
        let found = differences("auth/a 2026-07-28 3 0 0\n");
        assert_eq!(found, ["auth/a 2026-07-28 passes: take it out of the expected failures"]);
    }

    #[test]
    fn an_expected_failure_that_did_not_run_is_a_difference() {
        assert_eq!(
            differences("tools_call 2026-07-28 3 0 0\n"),
            ["auth/a 2026-07-28 is expected to fail but did not run"]
        );
        assert_eq!(differences("auth/a 2025-11-25 3 0 0\n").len(), 1);
    }

    #[test]
    fn a_list_without_version_issue_or_reason_is_refused() {
        for line in ["auth/a | 7 | words", "auth/a 2026-07-28 | words", "auth/a 2026-07-28 | 7 |"] {
            assert!(Expected::parse(line).is_err(), "{line}");
        }
        assert!(Expected::parse(&LIST.repeat(2)).is_err_and(|error| error.contains("twice")));
    }

    #[test]
    fn the_committed_list_can_be_read() {
        assert!(Expected::parse(&shell::read(EXPECTED).expect("the list is there")).is_ok());
    }
}
