//! `cargo xtask miri`: the tests of the crates that touch no world, under an interpreter that sees undefined behaviour.
//!
//! Nothing of ours is unsafe; what these crates stand on is, and is looked at here with the values that we give it.

use std::time::Duration;

use crate::Outcome;
use crate::reliability::count;
use crate::shell;
use crate::step::{self, Step};
use crate::tools;

/// Runs them all; the names of tests narrow it down.
pub(crate) fn run(arguments: &[String]) -> Outcome {
    tools::miri()?;
    // A process for each test would read the crate anew each time, which takes longer than most tests.
    let mut command = vec!["rustup", "run", "nightly", "cargo", "miri", "test"];
    command.extend(CRATES.iter().flat_map(|name| ["--package", name]));
    command.extend(["--lib", "--no-fail-fast", "--color", "never", "--"]);
    // The log says which tests are slow.
    command.extend(["-Z", "unstable-options", "--report-time"]);
    command.extend(arguments.iter().map(String::as_str));
    // Some tests read files that are kept beside them.
    let environment = [("RUSTUP_TOOLCHAIN", "nightly"), ("MIRIFLAGS", "-Zmiri-disable-isolation")];
    let step = Step { command: &command, environment: &environment, log: LOG, limit: LIMIT };
    step.run()
        .map_err(|error| format!("{}\n{error}; all of it is in {LOG}", step::tail(LOG, SHOWN)))?;
    let line = summary(&shell::read(LOG)?).ok_or_else(|| format!("{LOG}: no test ran"))?;
    println!("miri: {line}");
    Ok(())
}

/// What the test programs say at their ends, together, if any test ran.
fn summary(log: &str) -> Option<String> {
    let ends = log.lines().filter(|line| line.starts_with("test result: ok. "));
    let sum = |word: &str| ends.clone().filter_map(|line| count(line, word)).sum::<u64>();
    let (passed, ignored) = (sum("passed"), sum("ignored"));
    (passed > 0).then(|| format!("{passed} passed, {ignored} ignored, no undefined behaviour"))
}

/// The crates without IO, clock and tasks.
const CRATES: &[&str] = &["snodo-types", "snodo-engine"];
const LOG: &str = "target/xtask/miri.log";
const LIMIT: Duration = Duration::from_secs(60 * 60);
const SHOWN: usize = 40;

#[cfg(test)]
mod tests {
    use super::summary;

    #[test]
    fn a_run_without_tests_is_no_success() {
        let end =
            |passed| format!("test result: ok. {passed} passed; 0 failed; 1 ignored; 0 measured\n");
        let log = format!("test a ... ok\n{}words\n{}", end(7), end(30));
        let told = "37 passed, 2 ignored, no undefined behaviour";
        assert_eq!(summary(&log).as_deref(), Some(told));
        assert_eq!(summary(&end(0)), None);
        assert_eq!(summary("error: words\n"), None);
    }
}
