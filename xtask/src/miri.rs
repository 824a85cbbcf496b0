//! `cargo xtask miri`: the tests of the crates that touch no world, under an interpreter that sees undefined behaviour.
//!
//! Nothing of ours is unsafe; what these crates stand on is, and is looked at here with the values that we give it.

use std::time::Duration;

use crate::Outcome;
use crate::shell;
use crate::step::{self, Step};
use crate::tools;

/// Runs them all; the names of tests narrow it down.
pub(crate) fn run(arguments: &[String]) -> Outcome {
    tools::miri()?;
    tools::nextest()?;
    let mut command = vec!["rustup", "run", "nightly", "cargo", "miri", "nextest", "run"];
    command.extend(CRATES.iter().flat_map(|name| ["--package", name]));
    command.extend(["--lib", "--no-fail-fast", "--color", "never"]);
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

/// What the runner says at its end, if any test ran.
fn summary(log: &str) -> Option<String> {
    let line = log.lines().rev().find_map(|line| line.trim_start().strip_prefix("Summary "))?;
    (!line.contains(" 0 tests run")).then(|| line.to_owned())
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
        let log = "    PASS [ 1s] a b\n     Summary [   2.0s] 7 tests run: 7 passed, 0 skipped\n";
        assert_eq!(summary(log).as_deref(), Some("[   2.0s] 7 tests run: 7 passed, 0 skipped"));
        assert_eq!(summary("     Summary [   0.0s] 0 tests run: 0 passed, 9 skipped\n"), None);
        assert_eq!(summary("error: words\n"), None);
    }
}
