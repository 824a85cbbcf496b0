//! `cargo xtask package` and `cargo xtask minimal`: what is published can be taken, and with the oldest dependencies it names.

use std::fs;
use std::process::Command;

use crate::Outcome;
use crate::metadata::Metadata;
use crate::shell;

/// What a packed crate has beside its manifest and its source.
const SHIPPED: &[&str] = &["CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT", "README.md"];

/// Where what was packed is built, from the root.
const PACKED: &str = "target/packed";

/// Where the oldest dependencies are tried, from the root: a copy, since its lock file is another.
const COPY: &str = "target/minimal";

/// Packs every published crate, those first on which others build, and builds each from what was packed.
pub(crate) fn run(_arguments: &[String]) -> Outcome {
    let metadata = Metadata::load()?;
    let (published, private): (Vec<_>, Vec<_>) =
        metadata.members().partition(|package| package.published);
    for package in &published {
        let list = ["package", "--list", "--allow-dirty", "--package", &package.name];
        if let Some(missing) = missing(&shell::output("cargo", &list)?) {
            return Err(format!("{} is packed without {missing}", package.name));
        }
    }
    // In one folder: else every crate builds all that it depends on for itself.
    let mut command =
        vec!["package", "--workspace", "--locked", "--allow-dirty", "--target-dir", PACKED];
    for package in private {
        command.extend(["--exclude", &package.name]);
    }
    shell::output("cargo", &command)?;
    println!("package: {} crates packed, and built from what was packed", published.len());
    Ok(())
}

/// Checks a copy of the tree whose direct dependencies are the oldest that the manifests allow.
pub(crate) fn run_minimal(_arguments: &[String]) -> Outcome {
    let copy = shell::root().join(COPY);
    fs::create_dir_all(&copy).map_err(|error| format!("{COPY}: {error}"))?;
    // What git tracks as it lies there, so that a change need not be committed to be tried.
    let files = format!("git ls-files -z | tar --create --null --files-from=- | tar -x -C {COPY}");
    shell::output("sh", &["-c", &files])?;
    let steps: [&[&str]; 2] = [
        &["+nightly", "update", "-Z", "direct-minimal-versions"],
        &["check", "--workspace", "--all-features", "--exclude", "xtask"],
    ];
    for arguments in steps {
        let done = Command::new("cargo")
            .args(arguments)
            .current_dir(&copy)
            .output()
            .map_err(|error| format!("cargo does not start: {error}"))?;
        if !done.status.success() {
            let why = String::from_utf8_lossy(&done.stderr);
            return Err(format!("`cargo {}` in {COPY}:\n{why}", arguments.join(" ")));
        }
    }
    println!("minimal: the workspace builds with the oldest dependencies that its manifests name");
    Ok(())
}

/// The first thing that a list of packed files lacks.
fn missing(list: &str) -> Option<&'static str> {
    SHIPPED.iter().copied().find(|name| !list.lines().any(|line| line == *name))
}

#[cfg(test)]
mod tests {
    use super::missing;

    #[test]
    fn a_crate_without_a_licence_is_told() {
        let whole =
            "CHANGELOG.md\nCargo.toml\nLICENSE-APACHE\nLICENSE-MIT\nREADME.md\nsrc/lib.rs\n";
        assert_eq!(missing(whole), None);
        assert_eq!(missing(&whole.replace("LICENSE-MIT\n", "")), Some("LICENSE-MIT"));
        assert_eq!(missing(&whole.replace("README.md", "docs/README.md")), Some("README.md"));
    }
}
