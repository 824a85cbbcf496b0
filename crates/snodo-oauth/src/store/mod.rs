//! Where credentials are kept between processes.

mod file;
mod key;
mod memory;
pub(crate) mod records;

use std::any::Any;
use std::fmt;
use std::future::{Future, ready};
use std::pin::Pin;

pub use file::FileStore;
pub use key::{Key, KeyKind};
pub use memory::MemoryStore;

use crate::error::Error;
use crate::secret::Secret;

/// Keeps secret texts under [keys](Key): what a keyring or a database can do too.
///
/// What is kept is JSON of this crate's own; whoever keeps it need not read it.
///
/// ```
/// use snodo_oauth::{Error, Key, Secret, Store};
///
/// /// Forgets everything.
/// struct Nowhere;
///
/// impl Store for Nowhere {
///     async fn load(&self, _: &Key) -> Result<Option<Secret>, Error> {
///         Ok(None)
///     }
///
///     async fn save(&self, _: &Key, _: Option<&Secret>) -> Result<(), Error> {
///         Ok(())
///     }
/// }
/// ```
///
/// # Cancel safety
///
/// Any future may be dropped before it is ready. A save then leaves the old text or the new one, whole.
pub trait Store: Send + Sync + 'static {
    /// What was saved last under a key.
    ///
    /// # Errors
    ///
    /// [`Error::store`]: nobody knows. Nothing saved is no error.
    fn load(&self, key: &Key) -> impl Future<Output = Result<Option<Secret>, Error>> + Send;

    /// Saves a text in place of the one before, or forgets it. From then on every process that
    /// shares the store finds the new one, whole; one that is killed meanwhile leaves either.
    ///
    /// # Errors
    ///
    /// [`Error::store`]: the old one may still be there.
    fn save(
        &self,
        key: &Key,
        text: Option<&Secret>,
    ) -> impl Future<Output = Result<(), Error>> + Send;

    /// Keeps other processes from refreshing the same token until the lock is dropped. Unless
    /// written, nobody is kept from anything: right for a store that is one process's own.
    ///
    /// # Errors
    ///
    /// [`Error::store`]: the lock cannot be had.
    fn lock(&self, _key: &Key) -> impl Future<Output = Result<Lock, Error>> + Send {
        ready(Ok(Lock::none()))
    }
}

/// Given back when dropped.
///
/// ```
/// use snodo_oauth::Lock;
///
/// let held = Lock::new(std::sync::Arc::new("whatever unlocks when it is dropped"));
/// drop(held);
/// ```
#[must_use]
pub struct Lock(#[expect(dead_code, reason = "held for its drop")] Option<Box<dyn Any + Send>>);

impl Lock {
    /// A lock that is given back when `guard` is dropped.
    pub fn new(guard: impl Any + Send) -> Self {
        Self(Some(Box::new(guard)))
    }

    /// A lock that keeps nobody out.
    pub fn none() -> Self {
        Self(None)
    }
}

impl fmt::Debug for Lock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Lock")
    }
}

/// A [`Store`] behind a pointer.
pub(crate) trait Erased: Send + Sync {
    fn load<'a>(&'a self, key: &'a Key) -> Boxed<'a, Option<Secret>>;
    fn save<'a>(&'a self, key: &'a Key, text: Option<&'a Secret>) -> Boxed<'a, ()>;
    fn lock<'a>(&'a self, key: &'a Key) -> Boxed<'a, Lock>;
}

type Boxed<'a, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 'a>>;

impl<S: Store> Erased for S {
    fn load<'a>(&'a self, key: &'a Key) -> Boxed<'a, Option<Secret>> {
        Box::pin(Store::load(self, key))
    }

    fn save<'a>(&'a self, key: &'a Key, text: Option<&'a Secret>) -> Boxed<'a, ()> {
        Box::pin(Store::save(self, key, text))
    }

    fn lock<'a>(&'a self, key: &'a Key) -> Boxed<'a, Lock> {
        Box::pin(Store::lock(self, key))
    }
}
