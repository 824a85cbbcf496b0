//! The binaries of package `snodo-tests`, which do what a step needs the library for.

use std::process::{Command, Stdio};

use crate::Outcome;
use crate::metadata::Metadata;
use crate::shell;
use crate::tools;

/// Builds a binary, and says so plainly if the package has none of that name.
pub(crate) fn build(binary: &str) -> Outcome {
    let metadata = Metadata::load()?;
    let package = metadata.members().find(|package| package.name == PACKAGE);
    if !package.is_some_and(|package| package.binaries.iter().any(|name| name == binary)) {
        return Err(format!("package {PACKAGE} has no binary `{binary}`"));
    }
    shell::output("cargo", &["build", "--quiet", "--package", PACKAGE, "--bin", binary]).map(drop)
}

/// Runs a binary that was built, its output going where ours goes.
pub(crate) fn run(binary: &str, arguments: &[&str]) -> Outcome {
    let status = Command::new(shell::root().join(path(binary)))
        .args(arguments)
        .current_dir(shell::root())
        .env("PATH", tools::path())
        .stdin(Stdio::null())
        .status()
        .map_err(|error| format!("`{binary}` does not start: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("`{binary}` failed ({status})")) }
}

/// Where a binary is, from the root.
pub(crate) fn path(binary: &str) -> String {
    format!("target/debug/{binary}{}", std::env::consts::EXE_SUFFIX)
}

const PACKAGE: &str = "snodo-tests";
