//! The transcripts of this crate.

use std::path::Path;

/// The transcripts of a folder under `fixtures`, each by its name (`FOLDER/FILE`), in the order of
/// their names.
///
/// ```
/// let transcripts = snodo_tests::transcripts("2026-07-28");
/// assert!(transcripts.iter().all(|(name, text)| name.starts_with("2026-07-28/") && !text.is_empty()));
/// ```
///
/// # Panics
///
/// There is no such folder, it has no transcript, or one cannot be read: nothing could be tested.
#[must_use]
pub fn transcripts(folder: &str) -> Vec<(String, String)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(folder);
    let mut files: Vec<_> = std::fs::read_dir(&path)
        .expect("the folder of the version")
        .map(|entry| entry.expect("a file").path())
        .collect();
    files.sort();
    assert!(!files.is_empty(), "no transcript in {folder}");
    let load = |file: &Path| {
        let name = format!("{folder}/{}", file.file_name().unwrap_or_default().display());
        (name, std::fs::read_to_string(file).expect("a text"))
    };
    files.iter().map(|file| load(file)).collect()
}
