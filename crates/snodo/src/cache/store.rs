//! Where public results are kept, when that is not this process.

use std::fmt;
use std::future::{Future, ready};
use std::time::Duration;

use snodo_engine::{Claim, Group, Key};
use snodo_transport::BoxFuture;

/// A place for public results that several processes share.
///
/// A client never waits longer than a second for it, and goes on without it when it fails: it is
/// then left alone for a second, and the first failure in a row is logged as a warning. What a
/// server's events made stale meanwhile is told before anything is loaded again. What is private
/// to a caller never gets here.
///
/// `snodo-cache-redis` is one, on Redis.
///
/// ```
/// use std::collections::HashMap;
/// use std::sync::Mutex;
/// use std::time::Duration;
///
/// use snodo::cache::{Entry, Group, Key, Loaded, Mark, Store, StoreError};
///
/// /// Keeps everything, whatever its time: for the length of a test.
/// #[derive(Default)]
/// struct Everlasting(Mutex<HashMap<String, String>>);
///
/// impl Store for Everlasting {
///     async fn load(&self, key: &Key) -> Result<Loaded, StoreError> {
///         let kept = self.0.lock().expect("no panic").get(key.text()).cloned();
///         let entry = kept.map(|result| Entry::new(result, Duration::from_secs(1)));
///         Ok(Loaded { entry, mark: Mark::default() })
///     }
///
///     async fn save(&self, key: &Key, entry: Entry, _: Mark) -> Result<(), StoreError> {
///         self.0.lock().expect("no panic").insert(key.text().to_owned(), entry.result);
///         Ok(())
///     }
///
///     async fn invalidate(&self, _: &Group) -> Result<(), StoreError> {
///         self.0.lock().expect("no panic").clear();
///         Ok(())
///     }
/// }
/// ```
///
/// # Cancel safety
///
/// A future is dropped with the call that needs it, and once its second is over. A save then kept the
/// result or did not, and a claim whose release is dropped ends by itself.
pub trait Store: Send + Sync + 'static {
    /// What is kept under a key, and a mark of this moment.
    ///
    /// # Errors
    ///
    /// The store cannot be asked.
    fn load(&self, key: &Key) -> impl Future<Output = Result<Loaded, StoreError>> + Send;

    /// Keeps a result that was fetched after the mark was given. Where the key's group was
    /// [invalidated](Self::invalidate) since then, it must never be loaded.
    ///
    /// # Errors
    ///
    /// The store cannot be asked.
    fn save(
        &self,
        key: &Key,
        entry: Entry,
        mark: Mark,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Forgets a group: all that it [covers](Group::covers), whoever saved it.
    ///
    /// # Errors
    ///
    /// The store cannot be asked.
    fn invalidate(&self, group: &Group) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Says who of the processes that miss a key fetches it. A claim must end by itself, should
    /// nobody [release](Self::release) it. Unless written, each process fetches.
    ///
    /// # Errors
    ///
    /// The store cannot be asked; then this one fetches.
    fn claim(&self, _key: &Key) -> impl Future<Output = Result<Claim, StoreError>> + Send {
        ready(Ok(Claim::Mine))
    }

    /// Ends the claim of this process, if it still has one.
    ///
    /// # Errors
    ///
    /// The store cannot be asked.
    fn release(
        &self,
        _key: &Key,
        _release: Release,
    ) -> impl Future<Output = Result<(), StoreError>> + Send {
        ready(Ok(()))
    }
}

/// A result as a store keeps it.
///
/// ```
/// use std::time::Duration;
/// use snodo::cache::Entry;
///
/// let entry = Entry::new("{}", Duration::from_secs(60)).kept_for(Duration::from_secs(90));
/// assert_eq!(entry.kept_for.as_secs(), 90);
/// ```
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entry {
    /// The text of the result object.
    pub result: String,
    /// How long it is fresh from now on; zero once it is stale. A day at most.
    pub fresh_for: Duration,
    /// How long it is of use from now on, for when the server cannot be asked; never shorter.
    pub kept_for: Duration,
}

/// What a store found.
///
/// ```
/// let nothing = snodo::cache::Loaded::default();
/// assert!(nothing.entry.is_none());
/// ```
#[derive(Clone, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "made by stores of other crates")]
pub struct Loaded {
    /// What is kept, if it is still of use.
    pub entry: Option<Entry>,
    /// This moment, for [`Store::save`].
    pub mark: Mark,
}

/// A moment in the life of a group, in a store's own words.
///
/// ```
/// assert_eq!(snodo::cache::Mark::new("7").text(), "7");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mark(Box<str>);

/// How a claim ended.
///
/// ```
/// assert_ne!(snodo::cache::Release::Done, snodo::cache::Release::Unshared);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there is something for the others or there is not")]
pub enum Release {
    /// The result was saved, or the next one is to try.
    Done,
    /// The result is not for sharing: for a while nobody need wait for another.
    Unshared,
}

/// A store that could not be asked.
///
/// ```
/// let error = snodo::cache::StoreError::new("no connection");
/// assert_eq!(error.to_string(), "no connection");
/// ```
#[derive(Clone, Debug)]
pub struct StoreError(String);

impl Entry {
    /// A result that is fresh for so long and then of no use.
    #[must_use]
    pub fn new(result: impl Into<String>, fresh_for: Duration) -> Self {
        Self { result: result.into(), fresh_for, kept_for: fresh_for }
    }

    /// How long it is of use.
    #[must_use]
    pub fn kept_for(self, kept_for: Duration) -> Self {
        Self { kept_for: kept_for.max(self.fresh_for), ..self }
    }
}

impl fmt::Debug for Entry {
    /// Shows the size of the result alone.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry")
            .field("result", &format_args!("{} bytes", self.result.len()))
            .field("fresh_for", &self.fresh_for)
            .field("kept_for", &self.kept_for)
            .finish()
    }
}

impl Mark {
    /// A mark that the store will know again.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self(text.into())
    }

    /// What the store had called it.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0
    }
}

impl StoreError {
    /// An error with a reason for the log, which holds no secret.
    #[must_use]
    pub fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for StoreError {}

/// [`Store`] behind a pointer.
pub(super) trait Erased: Send + Sync {
    fn load<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<Loaded, StoreError>>;
    fn save<'a>(
        &'a self,
        key: &'a Key,
        entry: Entry,
        mark: Mark,
    ) -> BoxFuture<'a, Result<(), StoreError>>;
    fn invalidate<'a>(&'a self, group: &'a Group) -> BoxFuture<'a, Result<(), StoreError>>;
    fn claim<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<Claim, StoreError>>;
    fn release<'a>(
        &'a self,
        key: &'a Key,
        release: Release,
    ) -> BoxFuture<'a, Result<(), StoreError>>;
}

impl<S: Store> Erased for S {
    fn load<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<Loaded, StoreError>> {
        Box::pin(Store::load(self, key))
    }

    fn save<'a>(
        &'a self,
        key: &'a Key,
        entry: Entry,
        mark: Mark,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(Store::save(self, key, entry, mark))
    }

    fn invalidate<'a>(&'a self, group: &'a Group) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(Store::invalidate(self, group))
    }

    fn claim<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<Claim, StoreError>> {
        Box::pin(Store::claim(self, key))
    }

    fn release<'a>(
        &'a self,
        key: &'a Key,
        release: Release,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(Store::release(self, key, release))
    }
}
