//! The workspaces of their own: crates beside this one whose dependencies never enter its lock file.
//!
//! Each is formatted, linted and tested as the workspace is, by its own lock file, and `cargo xtask graph` holds it to its
//! row too. They share a folder for what is built.

use std::time::Duration;

use crate::Outcome;
use crate::shell;
use crate::step::{self, Step};
use crate::tools;

/// Their folders.
pub(crate) const FOLDERS: &[&str] =
    &["tests/custom-transport", "tests/fuzz", "tests/rmcp-in-process", "tests/telemetry"];

/// `cargo xtask apart`: all of them.
pub(crate) fn run(_arguments: &[String]) -> Outcome {
    tools::nextest()?;
    let failed: Vec<_> = FOLDERS.iter().filter_map(|folder| try_one(folder).err()).collect();
    if failed.is_empty() { Ok(()) } else { Err(failed.join("\n")) }
}

/// Where the lines of the test runner stand, from the root.
pub(crate) fn test_log(folder: &str) -> String {
    format!("target/xtask/apart-{}.log", name(folder))
}

fn try_one(folder: &str) -> Outcome {
    let manifest = manifest(folder);
    let check = ["cargo", "fmt", "--manifest-path", &manifest, "--check"];
    let lint = ["cargo", "clippy", "--manifest-path", &manifest, "--locked", "--all-targets"];
    let lint = [&lint[..], &["--", "-D", "warnings"]].concat();
    let test = ["cargo", "nextest", "run", "--manifest-path", &manifest, "--locked"];
    let test = [&test[..], &["--no-fail-fast", "--color", "never"]].concat();
    let examples = ["cargo", "test", "--doc", "--manifest-path", &manifest, "--locked"];
    let target = shell::root().join(TARGET);
    let target = target.to_str().ok_or("the path of the tree is no UTF-8")?;
    let test_log = test_log(folder);
    let [lint_log, doc_log] =
        ["-lint.log", "-doc.log"].map(|ending| test_log.replace(".log", ending));
    let steps =
        [(&check[..], &lint_log), (&lint, &lint_log), (&test, &test_log), (&examples, &doc_log)];
    for (command, log) in steps {
        let environment = [("CARGO_TARGET_DIR", target)];
        let step = Step { command, environment: &environment, log, limit: LIMIT };
        step.run().map_err(|error| format!("{}\n{error}", step::tail(log, SHOWN)))?;
    }
    println!("{}:{}", name(folder), step::tail(&test_log, 1));
    Ok(())
}

/// The manifest of a folder, from the root.
pub(crate) fn manifest(folder: &str) -> String {
    format!("{folder}/Cargo.toml")
}

fn name(folder: &str) -> &str {
    folder.rsplit('/').next().unwrap_or(folder)
}

const TARGET: &str = "target/apart";
const LIMIT: Duration = Duration::from_secs(15 * 60);
const SHOWN: usize = 30;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_folder_is_a_workspace_with_a_lock_of_its_own() {
        let root = shell::read("Cargo.toml").expect("the manifest of the workspace");
        let ignored = shell::read(".gitignore").expect("the list is there");
        for folder in FOLDERS {
            let text = shell::read(&manifest(folder)).expect("a manifest");
            assert!(text.lines().any(|line| line == "[workspace]"), "{folder}");
            assert!(root.contains(&format!("\"{folder}\"")), "{folder} is not excluded");
            let lock = format!("{folder}/Cargo.lock");
            assert!(shell::read(&lock).is_ok() && !ignored.contains(&lock), "{lock}");
        }
    }

    #[test]
    fn a_log_is_named_after_its_folder() {
        assert_eq!(test_log("tests/custom-transport"), "target/xtask/apart-custom-transport.log");
    }
}
