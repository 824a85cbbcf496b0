//! Runs the given cases: the binary `cases` of package `snodo-tests`.

use crate::Outcome;
use crate::harness;
use crate::shell;

/// `cargo xtask cases [ARGUMENTS…]`: what follows is handed on.
pub(crate) fn run(arguments: &[String]) -> Outcome {
    harness::build("cases")?;
    // The server process of those cases that need one.
    harness::build("case-child")?;
    // The program that the cases of the command line are about.
    shell::output("cargo", &["build", "--quiet", "--package", "snodo-cli"])?;
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    harness::run("cases", &arguments)
}
