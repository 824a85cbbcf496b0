//! A file, with the environment of this process.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::read::{self, Read};
use crate::{Fault, places, text};

pub(crate) fn read(path: &Path) -> Result<Read, Fault> {
    let failed = |error| Fault::new(format!("it cannot be read: {error}"));
    let mut bytes = Vec::new();
    // One byte more than is allowed shows that there is too much; a device has no end.
    let file = File::open(path).map_err(failed)?;
    file.take(text::MAX_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
    let folder = folder_of(path);
    let lookup = |name: &str| match (std::env::var(name), name) {
        (Ok(value), _) => Some(value),
        (Err(_), "workspaceFolder") => Some(folder.display().to_string()),
        (Err(_), "userHome") => Some(places::home()?.display().to_string()),
        (Err(_), _) => None,
    };
    let mut read = read::read(&text::read(&bytes)?, &lookup, Some(&folder))?;
    for entry in &mut read.entries {
        entry.source = Some(path.to_owned());
    }
    Ok(read)
}

/// The folder that a file is about: the one it lies in, or the one above where that is a tool's own.
fn folder_of(path: &Path) -> PathBuf {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let folder = whole.parent().unwrap_or(&whole);
    let own = [".cursor", ".vscode"].iter().any(|name| folder.ends_with(name));
    folder.parent().filter(|_| own).unwrap_or(folder).to_owned()
}
