//! Where the case files are.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The files of one case.
#[derive(Clone, Debug)]
pub(crate) struct CaseFile {
    /// The folder, which tells the format.
    pub(crate) group: String,
    pub(crate) id: String,
    folder: PathBuf,
}

impl CaseFile {
    /// Reads the file with this ending.
    pub(crate) fn text(&self, ending: &str) -> Result<String, String> {
        let path = self.path(ending);
        fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
    }

    /// Reads the file with this ending, if there is one.
    pub(crate) fn bytes(&self, ending: &str) -> Option<Vec<u8>> {
        fs::read(self.path(ending)).ok()
    }

    fn path(&self, ending: &str) -> PathBuf {
        self.folder.join(format!("{}.{ending}", self.id))
    }
}

/// Every case, sorted by id.
///
/// # Errors
///
/// A folder cannot be read.
pub(crate) fn all() -> Result<Vec<CaseFile>, String> {
    let mut found = BTreeMap::new();
    for root in ROOTS {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(root);
        for folder in entries(&root)?.into_iter().filter(|path| path.is_dir()) {
            let group = name(&folder);
            for file in entries(&folder)? {
                let id = name(&file).split('.').next().unwrap_or_default().to_owned();
                let case =
                    CaseFile { group: group.clone(), id: id.clone(), folder: folder.clone() };
                found.insert((id, group.clone()), case);
            }
        }
    }
    Ok(found.into_values().collect())
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let failed = |error| format!("{}: {error}", folder.display());
    let listed = fs::read_dir(folder).map_err(failed)?;
    listed.map(|entry| entry.map(|entry| entry.path()).map_err(failed)).collect()
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The given cases, and ours.
const ROOTS: [&str; 2] = ["cases", "cases-own"];
