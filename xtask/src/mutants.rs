//! `cargo xtask mutants`: breaks the engine in one place after the other, and looks whether a test sees it.
//!
//! cargo-mutants makes the mutants, always the same ones of the same code. What no test sees is a missing test, or a change
//! that changes nothing: then docs/reliability.md says why.

use std::fs;
use std::time::Duration;

use crate::Outcome;
use crate::shell;
use crate::step::{self, Step};
use crate::tools;

/// `cargo xtask mutants [--all]`: one part of the mutants, or all.
pub(crate) fn run(arguments: &[String]) -> Outcome {
    let sample: &[&str] = match arguments {
        [] => &["--sharding", "round-robin", "--shard", SAMPLE],
        [all] if all == "--all" => &[],
        _ => return Err("only --all is known".to_owned()),
    };
    tools::cargo_mutants()?;
    let mut command = vec!["cargo", "mutants", "--package", PACKAGE, "--no-shuffle"];
    command.extend(sample);
    let output = shell::root().join(OUTPUT);
    let temporary = output.join("tmp");
    fs::create_dir_all(&temporary).map_err(|error| format!("{OUTPUT}: {error}"))?;
    let [output, temporary] = [&output, &temporary].map(|path| path.to_str().unwrap_or(OUTPUT));
    // A mutant may wait without end.
    command.extend(["--test-tool", "cargo", "--timeout", "60", "--colors", "never"]);
    command.extend(["--output", output, "--cargo-test-arg=--lib"]);
    let environment = [("TMPDIR", temporary), ("CARGO_INCREMENTAL", "1")];
    let step = Step { command: &command, environment: &environment, log: LOG, limit: LIMIT };
    // It fails where mutants live, which is looked at here.
    let ended = step.run();
    let list = |name: &str| {
        let list = shell::read(&format!("{OUTPUT}/mutants.out/{name}.txt")).unwrap_or_default();
        list.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let [caught, late, missed, unviable] = ["caught", "timeout", "missed", "unviable"].map(list);
    let found = Found { caught: caught.len(), late: late.len(), unviable: unviable.len(), missed };
    if found.tried() == 0 || !shell::read(LOG)?.contains(" mutants tested in ") {
        let why = ended.err().unwrap_or_else(|| "it tried none".to_owned());
        return Err(format!("{}\n{why}", step::tail(LOG, SHOWN)));
    }
    println!("{}", found.line());
    found.judge(&shell::read(PAGE)?)
}

/// What became of the mutants.
#[derive(Debug, Default, PartialEq, Eq)]
struct Found {
    caught: usize,
    late: usize,
    unviable: usize,
    /// What no test saw, as cargo-mutants names it.
    missed: Vec<String>,
}

impl Found {
    fn tried(&self) -> usize {
        self.caught + self.late + self.unviable + self.missed.len()
    }

    fn line(&self) -> String {
        let Self { caught, late, unviable, missed } = self;
        let (tried, missed) = (self.tried(), missed.len());
        format!(
            "mutants: {tried} tried, {caught} seen by a test, {late} by their time, {unviable} do not build, {missed} live"
        )
    }

    /// What lives has to stand on the page, with the reason.
    fn judge(&self, page: &str) -> Outcome {
        let names = self.missed.iter().map(|line| name(line));
        let new: Vec<_> = names.filter(|name| !page.contains(&format!("`{name}`"))).collect();
        if new.is_empty() {
            return Ok(());
        }
        Err(format!("no test sees these, and {PAGE} does not say why:\n{}", new.join("\n")))
    }
}

/// A mutant without line and column, which any change moves.
fn name(line: &str) -> String {
    let parts: Vec<_> = line.trim().splitn(4, ':').collect();
    match parts[..] {
        [path, _, _, what] => format!("{path}: {}", what.trim()),
        _ => line.trim().to_owned(),
    }
}

const PACKAGE: &str = "snodo-engine";
/// Which of how many parts is tried: what two cores do within 40 minutes.
const SAMPLE: &str = "0/8";
const OUTPUT: &str = "target/mutants";
const LOG: &str = "target/xtask/mutants.log";
const PAGE: &str = "docs/reliability.md";
const LIMIT: Duration = Duration::from_secs(4 * 60 * 60);
const SHOWN: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;

    const MISSED: &str = "crates/a/src/b.rs:12:5: replace A::b -> bool with true";

    #[test]
    fn what_no_test_sees_has_to_stand_on_the_page() {
        let found = Found { caught: 3, late: 1, unviable: 2, missed: vec![MISSED.to_owned()] };
        assert!(
            found.judge("").is_err_and(|why| why.ends_with("b.rs: replace A::b -> bool with true"))
        );
        let page = "| `crates/a/src/b.rs: replace A::b -> bool with true` | it says so |";
        assert_eq!(found.judge(page), Ok(()));
        assert!(found.line().starts_with("mutants: 7 tried, 3 seen by a test, 1 by their time"));
        assert_eq!(Found { missed: Vec::new(), ..found }.judge(""), Ok(()));
    }

    #[test]
    fn a_mutant_is_known_without_its_place() {
        assert_eq!(name(MISSED), "crates/a/src/b.rs: replace A::b -> bool with true");
        assert_eq!(name(&MISSED.replace(":12:5:", ":13:9:")), name(MISSED));
        assert_eq!(name("words"), "words");
    }
}
