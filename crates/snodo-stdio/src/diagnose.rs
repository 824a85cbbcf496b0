//! Why a process could not be started, in words.

use std::ffi::OsStr;
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};

use snodo_types::{TransportError, TransportFault};

use crate::stderr::printable;

/// Makes an error of what the system said when it was asked to start a program.
///
/// The system says "not found" alike of the directory, the program and a script's interpreter: so
/// each is looked at.
pub(crate) fn why_not_started(
    program: &OsStr,
    directory: Option<&Path>,
    path: Option<&OsStr>,
    error: Error,
) -> TransportError {
    let fault = match error.kind() {
        ErrorKind::InvalidInput => TransportFault::Usage,
        _ => TransportFault::Spawn,
    };
    let text = directory
        .and_then(wrong_with_directory)
        .unwrap_or_else(|| wrong_with_program(program, directory, path, &error));
    TransportError::new(fault, printable(&text)).with_source(error).not_processed()
}

fn wrong_with_directory(directory: &Path) -> Option<String> {
    let shown = directory.display();
    match std::fs::metadata(directory) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Some(format!("the working directory `{shown}` does not exist"))
        }
        Ok(metadata) if !metadata.is_dir() => {
            Some(format!("the working directory `{shown}` is not a directory"))
        }
        Err(error) => Some(format!("the working directory `{shown}` cannot be used: {error}")),
        Ok(_) => None,
    }
}

fn wrong_with_program(
    program: &OsStr,
    directory: Option<&Path>,
    path: Option<&OsStr>,
    error: &Error,
) -> String {
    let name = program.display();
    let is_path = Path::new(program).components().count() > 1;
    let found = find(program, directory, path);
    match (error.kind(), found) {
        (ErrorKind::NotFound, Some(file)) => format!(
            "`{}` cannot be started: the interpreter that its first line names was not found",
            file.display()
        ),
        (ErrorKind::NotFound, None) => {
            let missing = match path {
                _ if is_path => format!("there is no program `{name}`"),
                Some(_) => format!("`{name}` was not found in any directory of PATH"),
                None => format!("`{name}` was not found, and there is no PATH to look for it"),
            };
            // Who writes a whole command line has one from a shell.
            let line = program.to_string_lossy().contains(char::is_whitespace);
            missing + if line { ARGUMENTS } else { "" }
        }
        (ErrorKind::PermissionDenied, Some(file)) if file.is_dir() => {
            format!("`{}` is a directory, not a program", file.display())
        }
        (ErrorKind::PermissionDenied, Some(file)) => {
            format!("`{}` is not executable: {error}", file.display())
        }
        (ErrorKind::PermissionDenied, None) => format!("`{name}` may not be executed: {error}"),
        (ErrorKind::InvalidInput, _) => {
            "the command, an argument or a variable has a NUL character in it".to_owned()
        }
        _ => format!("`{name}` could not be started: {error}"),
    }
}

const ARGUMENTS: &str = "; arguments go into `args`, not behind the name of the program";

/// The file that the system would have run.
fn find(program: &OsStr, directory: Option<&Path>, path: Option<&OsStr>) -> Option<PathBuf> {
    let there = |file: &PathBuf| file.exists();
    if Path::new(program).components().count() > 1 {
        let file = directory.map_or_else(|| PathBuf::from(program), |base| base.join(program));
        return Some(file).filter(there);
    }
    std::env::split_paths(path?).map(|base| base.join(program)).find(there)
}
