//! Starting programs and finding the tree.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::source::File;

/// The top of the tree.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// Runs a program in the root and hands back what it wrote to its standard output.
pub(crate) fn output(program: &str, arguments: &[&str]) -> Result<String, String> {
    let shown = format!("{program} {}", arguments.join(" "));
    let done = Command::new(program)
        .args(arguments)
        .current_dir(root())
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("`{shown}` does not start: {error}"))?;
    if done.status.success() {
        Ok(String::from_utf8_lossy(&done.stdout).into_owned())
    } else {
        Err(format!(
            "`{shown}` failed ({}):\n{}",
            done.status,
            String::from_utf8_lossy(&done.stderr)
        ))
    }
}

/// Every text file that git tracks or would track, sorted by path.
pub(crate) fn tree() -> Result<Vec<File>, String> {
    let names = output("git", &["ls-files", "-z", "--cached", "--others", "--exclude-standard"])?;
    let mut names: Vec<_> = names.split('\0').filter(|name| !name.is_empty()).collect();
    names.sort_unstable();
    names.dedup();
    let root = root();
    // A file that was deleted but not yet committed, or that is no text, is none of our business.
    Ok(names
        .into_iter()
        .filter_map(|name| Some(File::new(name, fs::read_to_string(root.join(name)).ok()?)))
        .collect())
}

/// Reads a file of the tree.
pub(crate) fn read(path: &str) -> Result<String, String> {
    fs::read_to_string(root().join(path)).map_err(|error| format!("{path}: {error}"))
}
