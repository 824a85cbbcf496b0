//! All servers of one file or of several.

use std::path::{Path, PathBuf};

use crate::{Entry, Fault, file, places, read, text};

/// The servers that one file or several name.
///
/// ```
/// use snodo_config::Config;
///
/// // Each file that is not there is passed over; one that cannot be read is told of.
/// let config = Config::of_files(["/srv/no-such-file.json"]);
/// assert!(config.entries().is_empty() && config.sources().is_empty());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Config {
    entries: Vec<Entry>,
    warnings: Vec<String>,
    sources: Vec<Source>,
}

/// A file that was there.
///
/// ```
/// let read = snodo_config::Config::find();
/// for source in read.sources() {
///     println!("{}: {}", source.path().display(), if source.fault().is_none() { "ok" } else { "?" });
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Source {
    path: PathBuf,
    warnings: Vec<String>,
    fault: Option<Fault>,
}

impl Config {
    /// Reads the text of a file; `lookup` knows the values of variables.
    ///
    /// # Errors
    ///
    /// It is not JSON, even with comments and commas too many forgiven, or not an object.
    pub fn parse(bytes: &[u8], lookup: impl Fn(&str) -> Option<String>) -> Result<Self, Fault> {
        let read = read::read(&text::read(bytes)?, &lookup, None)?;
        Ok(Self { entries: read.entries, warnings: read.warnings, sources: Vec::new() })
    }

    /// Reads one file, with the environment variables of this process. `${workspaceFolder}` is the
    /// folder that the file belongs to (for `.vscode/mcp.json` the one above), `${userHome}` that of
    /// the user. It blocks while the file is read.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or see [`parse`](Self::parse).
    pub fn load(path: impl AsRef<Path>) -> Result<Self, Fault> {
        let path = path.as_ref();
        let read = file::read(path)?;
        let source = Source { path: path.to_owned(), warnings: read.warnings.clone(), fault: None };
        Ok(Self { entries: read.entries, warnings: read.warnings, sources: vec![source] })
    }

    /// Reads the files that are there of those in the usual [places](places()).
    #[must_use]
    pub fn find() -> Self {
        Self::of_files(places())
    }

    /// Reads those files that are there. Where two name the same server, the file that stands first
    /// counts, and the other's entry [is hidden](Entry::is_hidden). It blocks while files are read.
    #[must_use]
    pub fn of_files(paths: impl IntoIterator<Item = impl AsRef<Path>>) -> Self {
        let mut config = Self::default();
        for path in paths {
            config.add(path.as_ref());
        }
        config
    }

    fn add(&mut self, path: &Path) {
        if !path.exists() || self.sources.iter().any(|source| source.path == path) {
            return;
        }
        match Self::load(path) {
            Ok(read) => {
                for mut entry in read.entries {
                    entry.hidden = self.get(&entry.name).is_some();
                    self.entries.push(entry);
                }
                self.warnings.extend(read.warnings);
                self.sources.extend(read.sources);
            }
            Err(fault) => self.sources.push(Source {
                path: path.to_owned(),
                warnings: Vec::new(),
                fault: Some(fault),
            }),
        }
    }

    /// Every entry, those that make no sense and those that are hidden included, in the order of the
    /// files.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The entry of this name that counts.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.name == name)
    }

    /// What was not taken as it was written, beside what each entry tells by itself.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The files that were there.
    #[must_use]
    pub fn sources(&self) -> &[Source] {
        &self.sources
    }
}

impl Source {
    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What was not taken as it was written.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Why nothing of it could be read.
    #[must_use]
    pub fn fault(&self) -> Option<&Fault> {
        self.fault.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::Config;
    use crate::Server;

    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path =
                std::env::temp_dir().join(format!("snodo-config-{name}-{}", std::process::id()));
            fs::create_dir_all(&path).expect("a folder");
            Self(path)
        }

        fn file(&self, name: &str, text: &str) -> PathBuf {
            let path = self.0.join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(&path, text).expect("a file");
            path
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn the_first_file_counts_and_one_that_cannot_be_read_hides_no_other() {
        let folder = Folder::new("merge");
        let first = folder.file("a.json", r#"{ "mcpServers": { "x": { "command": "one" } } }"#);
        let broken = folder.file("b.json", "{\n  oops\n}");
        let last = folder.file(
            "c.json",
            r#"{ "servers": { "x": { "command": "two" }, "y": { "url": "http://y/" } } }"#,
        );
        let config = Config::of_files([&first, &broken, &folder.0.join("no.json"), &last, &first]);
        let told: Vec<_> =
            config.entries().iter().map(|e| (e.name(), e.shown(), e.is_hidden())).collect();
        assert_eq!(told, [("x", "one", false), ("x", "two", true), ("y", "http://y/", false)]);
        assert_eq!(config.get("x").and_then(|entry| entry.source()), Some(&*first));
        let faults: Vec<_> = config.sources().iter().filter_map(|source| source.fault()).collect();
        assert_eq!((config.sources().len(), faults[0].place()), (3, Some((2, 3))));
    }

    #[test]
    fn a_file_knows_the_folder_it_belongs_to() {
        let folder = Folder::new("belongs");
        let text = r#"{ "servers": { "x": { "command": "${workspaceFolder}/x", "cwd": "sub" } } }"#;
        let path = folder.file(".vscode/mcp.json", text);
        let config = Config::load(path).expect("it can be read");
        let Ok(Server::Stdio(stdio)) = config.entries()[0].server() else { panic!("a process") };
        assert_eq!(stdio.command(), format!("{}/x", folder.0.display()));
        assert_eq!(stdio.cwd(), Some(&*folder.0.join("sub")));
        assert!(Config::load(folder.0.join("no.json")).is_err());
        assert!(Config::load(&folder.0).is_err(), "a folder is no file");
    }
}
