//! Keeping results: for whom, where, and what a store of them has to do.
//!
//! A client with a [`Cache`] keeps what its server allows to be kept. Where that is,
//! besides the memory of the process, is up to a [`Store`].

mod desk;
mod flights;
mod foreign;
mod memory;
mod run;
mod store;

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use snodo_types::Fingerprint;

pub use snodo_engine::{Claim, Group, Key};
pub use store::{Entry, Loaded, Mark, Release, Store, StoreError};

pub(crate) use desk::Desk;
pub(crate) use run::{Cached, Plan};

use desk::Fetching;
use flights::Flights;
use foreign::Foreign;
use memory::Memory;

/// Results that are kept, for one client or several.
///
/// Kept are whole results of `server/discover`, of the four lists page by page, and of
/// `resources/read`, for as long as the server allows (`ttlMs`), a day at most. A public result
/// (`cacheScope`) answers everybody who asks the same server the same thing in the same version
/// with the same client info and capabilities; a private one only the caller it was sent to. What
/// the server tells (a list changed, a resource was updated) makes results stale at once, wherever
/// this client hears of it: a [`Subscription`](crate::Subscription) has to be read for that.
///
/// A request with any option besides its clocks and its [`CacheMode`] is neither answered by what
/// is kept nor kept, and neither is what came after a server's questions. Of those that miss the
/// same at once, one fetches.
///
/// A clone is the same cache. In memory it holds 256 results and 16 MiB at most; past that the one
/// goes that was not used for longest.
///
/// ```
/// use snodo::{Cache, Client};
///
/// let cache = Cache::memory();
/// let builder = Client::builder().cache(cache.clone());
/// # let _ = builder;
/// ```
#[derive(Clone)]
pub struct Cache {
    inner: Arc<Inner>,
    server: Option<Arc<str>>,
    caller: Option<Fingerprint>,
    stale_for: Duration,
}

/// What the clones of a cache share.
struct Inner {
    memory: Memory,
    flights: Arc<Flights>,
    foreign: Option<Arc<Foreign>>,
    /// The fetches under way, so that none of them keeps what is stale already.
    fetching: Mutex<Vec<Weak<Fetching>>>,
}

/// What a request does about its client's cache.
///
/// ```
/// assert_eq!(snodo::CacheMode::default(), snodo::CacheMode::Use);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CacheMode {
    /// It is not answered by what is kept, and not kept.
    Bypass,
    /// It asks the server, and the answer is kept.
    Refresh,
    /// It is answered by what is kept, if that is fresh; else the answer is kept.
    #[default]
    Use,
}

impl Cache {
    /// A cache in the memory of this process.
    #[must_use]
    pub fn memory() -> Self {
        Self::new(None)
    }

    /// A cache whose public results are in a store that other processes share. Private ones stay
    /// in memory, and so do those of servers without a name that means the same elsewhere: a
    /// process, or a URL with a query or with headers of its own. [`server`](Self::server) gives
    /// such a name.
    #[must_use]
    pub fn shared(store: impl Store) -> Self {
        Self::new(Some(Arc::new(Foreign::new(Box::new(store)))))
    }

    fn new(foreign: Option<Arc<Foreign>>) -> Self {
        let inner = Inner {
            memory: Memory::default(),
            flights: Arc::default(),
            foreign,
            fetching: Mutex::default(),
        };
        Self { inner: Arc::new(inner), server: None, caller: None, stale_for: Duration::ZERO }
    }

    /// The same cache for clients of a server that is known by this name, in place of its URL. Who
    /// gives one name to two servers gets the results of one from the other.
    #[must_use]
    pub fn server(self, name: impl Into<String>) -> Self {
        Self { server: Some(name.into().into()), ..self }
    }

    /// The same cache for clients of one caller, whatever credentials they send: what is private
    /// to the caller is kept under this name, so that it outlives a token. Without it another
    /// token is another caller. Who gives one name to two users gives the results of one to the
    /// other.
    #[must_use]
    pub fn caller(self, name: impl AsRef<str>) -> Self {
        let caller = Fingerprint::of(&[b"named", name.as_ref().as_bytes()]);
        Self { caller: Some(caller), ..self }
    }

    /// Lets results answer for so long past their time, a day at most, where the server cannot be
    /// asked: it is not reached, does not answer in time, or says that it is unwell (408, 429,
    /// 5xx). Never unless set. [`Reply::kept`](crate::Reply::kept) tells. A refusal of the server's
    /// stays one.
    #[must_use]
    pub fn stale_on_error(self, window: Duration) -> Self {
        Self { stale_for: window.min(LONGEST_STALE), ..self }
    }
}

impl Inner {
    fn watch(&self, fetching: &Arc<Fetching>) {
        let mut all = self.fetching.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|known| known.strong_count() > 0);
        all.push(Arc::downgrade(fetching));
    }

    fn spoil(&self, groups: &[Group]) {
        let all = self.fetching.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().filter_map(Weak::upgrade).for_each(|fetching| fetching.spoil(groups));
    }
}

impl fmt::Debug for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache")
            .field("server", &self.server)
            .field("shared", &self.inner.foreign.is_some())
            .field("stale_for", &self.stale_for)
            .finish_non_exhaustive()
    }
}

const LONGEST_STALE: Duration = Duration::from_secs(24 * 60 * 60);

#[cfg(test)]
mod tests;
