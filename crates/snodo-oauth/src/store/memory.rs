//! Credentials that end with the process.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::Error;
use crate::secret::Secret;
use crate::store::{Key, Store};

/// Keeps credentials in memory: the store unless another is set. Clones share what they keep.
///
/// ```
/// use snodo_oauth::MemoryStore;
///
/// let store = MemoryStore::new();
/// let same = store.clone();
/// # let _ = same;
/// ```
#[derive(Clone, Default)]
pub struct MemoryStore(Arc<Mutex<BTreeMap<Key, Secret>>>);

impl MemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl Store for MemoryStore {
    async fn load(&self, key: &Key) -> Result<Option<Secret>, Error> {
        Ok(self.0.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned())
    }

    async fn save(&self, key: &Key, text: Option<&Secret>) -> Result<(), Error> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match text {
            Some(text) => kept.insert(key.clone(), text.clone()),
            None => kept.remove(key),
        };
        Ok(())
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MemoryStore")
    }
}
