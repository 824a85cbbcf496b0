//! Credentials in a file that its owner alone can read.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep};
use zeroize::Zeroizing;

use crate::error::Error;
use crate::random::sha256;
use crate::secret::Secret;
use crate::store::{Key, Lock, Store};

/// Keeps credentials in one file, which any number of processes may share.
///
/// The file is not encrypted: what protects it is that its owner alone may read it (mode 0600; on
/// Windows, the folder it is in). It is replaced as a whole, so that a process that is killed leaves
/// the old one or the new one. A refresh holds a lock beside it, from before the refresh token is
/// read until the new one is written: no process spends a token that another has spent.
///
/// A lock is waited for 30 seconds at most, and ends with its process.
///
/// ```
/// use snodo_oauth::FileStore;
///
/// let store = FileStore::new("/srv/agent/credentials.json");
/// # let _ = store;
/// ```
#[derive(Clone)]
pub struct FileStore {
    path: Arc<PathBuf>,
}

impl FileStore {
    /// Keeps credentials in this file. It is made when there is something to keep, with the folders
    /// that lead to it; its locks are empty files beside it.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: Arc::new(path.into()) }
    }

    /// Holds a lock that all processes respect.
    async fn locked(&self, name: &str) -> Result<File, Error> {
        let path = beside(&self.path, &format!("{name}.lock"));
        let (failed, deadline) = (|error| failed(&path, &error), Instant::now() + PATIENCE);
        let file =
            open_private(&path, OpenOptions::new().write(true).create(true)).map_err(failed)?;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(TryLockError::Error(error)) => return Err(failed(error)),
                Err(TryLockError::WouldBlock) if Instant::now() >= deadline => {
                    return Err(failed(io::Error::from(io::ErrorKind::TimedOut)));
                }
                // Asking again and again leaves no thread behind when the caller is gone.
                Err(TryLockError::WouldBlock) => sleep(BETWEEN).await,
            }
        }
    }

    /// Runs what touches the disk where it blocks nobody.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Path) -> io::Result<T> + Send + 'static,
    ) -> Result<T, Error> {
        let path = Arc::clone(&self.path);
        let done = tokio::task::spawn_blocking(move || work(&path)).await;
        let done = done.unwrap_or_else(|_| Err(io::Error::from(io::ErrorKind::Interrupted)));
        done.map_err(|error| failed(&self.path, &error))
    }
}

impl Store for FileStore {
    async fn load(&self, key: &Key) -> Result<Option<Secret>, Error> {
        let key = key.to_string();
        self.blocking(move |path| Ok(read(path)?.remove(&key))).await
    }

    async fn save(&self, key: &Key, text: Option<&Secret>) -> Result<(), Error> {
        let (key, text) = (key.to_string(), text.cloned());
        let lock = self.locked("write").await?;
        self.blocking(move |path| {
            let mut kept = read(path)?;
            match text {
                Some(text) => kept.insert(key, text),
                None => kept.remove(&key),
            };
            write(path, &kept)?;
            drop(lock);
            Ok(())
        })
        .await
    }

    async fn lock(&self, key: &Key) -> Result<Lock, Error> {
        let name = sha256(&key.to_string());
        Ok(Lock::new(self.locked(&name[..16]).await?))
    }
}

impl fmt::Debug for FileStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("FileStore").field(&self.path).finish()
    }
}

fn read(path: &Path) -> io::Result<BTreeMap<String, Secret>> {
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        file => file?,
    };
    let mut text = Zeroizing::new(String::new());
    file.take(LARGEST).read_to_string(&mut text)?;
    let texts: BTreeMap<String, String> = serde_json::from_str(&text)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is no store of credentials"))?;
    Ok(texts.into_iter().map(|(key, text)| (key, Secret::new(text))).collect())
}

/// Writes a new file and puts it in the place of the old one.
fn write(path: &Path, kept: &BTreeMap<String, Secret>) -> io::Result<()> {
    let texts: BTreeMap<&str, &str> =
        kept.iter().map(|(key, text)| (key.as_str(), text.expose())).collect();
    let text = Zeroizing::new(serde_json::to_string_pretty(&texts).map_err(io::Error::other)?);
    if text.len() as u64 >= LARGEST {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "it would be over 16 MiB"));
    }
    // The lock is held: nobody else writes this one. One that is left over may be anybody's.
    let new = beside(path, "new");
    match fs::remove_file(&new) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = open_private(&new, OpenOptions::new().write(true).create_new(true))?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    drop(file);
    let placed = written.and_then(|()| fs::rename(&new, path));
    if placed.is_err() {
        // Half a file of secrets is nobody's, and a full disk has better uses.
        let _ = fs::remove_file(&new);
    }
    placed
}

/// Opens a file that, if it is made, its owner alone can read; its folders too.
fn open_private(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.recursive(true).create(folder)?;
    }
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options.open(path)
}

/// The path with something behind its name.
fn beside(path: &Path, what: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".");
    name.push(what);
    path.with_file_name(name)
}

fn failed(path: &Path, error: &io::Error) -> Error {
    Error::store(format!("{}: {error}", path.display()))
}

/// How long a lock is waited for.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long between two looks at a lock.
const BETWEEN: Duration = Duration::from_millis(20);

/// The most bytes of a file.
const LARGEST: u64 = 16 * 1024 * 1024;
