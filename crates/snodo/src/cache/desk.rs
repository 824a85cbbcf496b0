//! What one client has to do with its cache.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use snodo_engine::{Claim, Found, Group, Key, Whose, made_stale};
use snodo_types::{Body, Fingerprint, Message};

use super::flights::Flights;
use super::store::{Entry, Mark, Release};
use super::{Cache, Inner};

/// A cache, under which name a client's server is kept in it, and who its caller is.
pub(crate) struct Desk {
    inner: Arc<Inner>,
    server: Arc<str>,
    /// Whether others know the server by the same name.
    named: bool,
    /// Who asks, where the host said so.
    caller: Option<Fingerprint>,
    stale_for: Duration,
    /// Tells this client from all others of the process.
    own: Fingerprint,
}

/// A fetch under way. What grows stale meanwhile is not kept.
pub(super) struct Fetching {
    group: Group,
    spoiled: AtomicBool,
}

impl Desk {
    /// For a client whose connector calls its server so.
    pub(crate) fn new(cache: &Cache, origin: Option<String>) -> Self {
        let name = cache.server.as_deref().map(str::to_owned).or(origin);
        let number = CLIENTS.fetch_add(1, Ordering::Relaxed);
        let named = name.is_some();
        // Nobody calls a server so: it has a line break.
        let server = name.unwrap_or_else(|| format!("\n{number}")).into();
        Self {
            inner: Arc::clone(&cache.inner),
            server,
            named,
            caller: cache.caller,
            stale_for: cache.stale_for,
            own: Fingerprint::of(&[&number.to_le_bytes()]),
        }
    }

    pub(crate) fn server(&self) -> &Arc<str> {
        &self.server
    }

    pub(super) fn stale_for(&self) -> Duration {
        self.stale_for
    }

    /// Who asks, where the host said so.
    pub(super) fn caller(&self) -> Option<Fingerprint> {
        self.caller
    }

    /// Who asks on a connection of which all is one caller's.
    pub(super) fn caller_of(&self, epoch: u64) -> Fingerprint {
        self.own.and(Fingerprint::of(&[&epoch.to_le_bytes()]))
    }

    /// Whether other processes see what is kept for everybody.
    pub(super) fn is_shared(&self) -> bool {
        self.named && self.inner.foreign.is_some()
    }

    pub(super) fn has_private(&self, key: &Key) -> bool {
        self.inner.memory.has_private(key)
    }

    pub(super) fn flights(&self) -> &Arc<Flights> {
        &self.inner.flights
    }

    /// What the server says makes some of it stale, perhaps.
    pub(crate) fn hear(&self, message: &Message) {
        let groups = made_stale(&self.server, message);
        if !groups.is_empty() {
            self.invalidate(&groups);
        }
    }

    /// Something that the server said was missed: everything may be stale.
    pub(crate) fn missed(&self) {
        self.invalidate(&[Group::all(&self.server)]);
    }

    /// A server that nobody else knows is another one with each connection.
    pub(crate) fn reconnected(&self) {
        if !self.named {
            self.missed();
        }
    }

    pub(super) fn invalidate(&self, groups: &[Group]) {
        for group in groups {
            self.inner.memory.invalidate(group);
        }
        self.inner.spoil(groups);
        if let Some(foreign) = self.inner.foreign.as_ref().filter(|_| self.named) {
            foreign.invalidate(groups);
        }
    }

    /// Notes that a key is being fetched from now on.
    pub(super) fn fetching(&self, key: &Key) -> Arc<Fetching> {
        let (group, spoiled) = (key.group().clone(), AtomicBool::new(false));
        let fetching = Arc::new(Fetching { group, spoiled });
        self.inner.watch(&fetching);
        fetching
    }

    /// What is kept, and the mark of a store that others share.
    pub(super) async fn load(&self, key: &Key, whose: Whose) -> (Option<Found>, Option<Mark>) {
        let foreign = self.inner.foreign.as_ref().filter(|_| self.named);
        let (Some(foreign), Whose::Everybody) = (foreign, whose) else {
            return (self.inner.memory.load(key, whose), None);
        };
        match foreign.load(key).await {
            Some(loaded) => (loaded.entry.and_then(read), Some(loaded.mark)),
            None => (None, None),
        }
    }

    /// Keeps a result. One for everybody in a store that others share needs a mark from before it
    /// was fetched.
    pub(super) async fn save(
        &self,
        key: &Key,
        whose: Whose,
        found: &Found,
        kept_for: Duration,
        mark: Option<Mark>,
    ) {
        if whose == Whose::Everybody {
            self.inner.memory.forget_private(key);
        }
        let foreign = self.inner.foreign.as_ref().filter(|_| self.named);
        match (foreign, whose) {
            (Some(foreign), Whose::Everybody) => {
                let Body::Result { result, .. } = found.message.body() else { return };
                let Some(mark) = mark else { return };
                let entry = Entry::new(result, found.fresh_for).kept_for(kept_for);
                foreign.save(key, entry, mark).await;
            }
            _ => {
                let message = found.message.clone();
                self.inner.memory.save(key, whose, message, found.fresh_for, kept_for);
            }
        }
    }

    pub(super) async fn claim(&self, key: &Key) -> Claim {
        match &self.inner.foreign {
            Some(foreign) => foreign.claim(key).await,
            None => Claim::Mine,
        }
    }

    pub(super) async fn release(&self, key: &Key, release: Release) {
        if let Some(foreign) = &self.inner.foreign {
            foreign.release(key, release).await;
        }
    }
}

impl fmt::Debug for Desk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Desk").field("named", &self.named).finish_non_exhaustive()
    }
}

impl Fetching {
    pub(super) fn is_spoiled(&self) -> bool {
        self.spoiled.load(Ordering::Acquire)
    }

    pub(super) fn spoil(&self, groups: &[Group]) {
        if groups.iter().any(|group| group.covers(&self.group)) {
            self.spoiled.store(true, Ordering::Release);
        }
    }
}

/// What others put into a shared store is read like what a server sends.
fn read(entry: Entry) -> Option<Found> {
    let text = format!(r#"{{"jsonrpc":"2.0","id":0,"result":{}}}"#, entry.result);
    let message = Message::parse(text).inspect_err(
        |error| tracing::warn!(%error, "what a shared store keeps is no result: it is left alone"),
    );
    Some(Found { message: message.ok()?, fresh_for: entry.fresh_for })
}

/// How many clients with a cache there were in this process.
static CLIENTS: AtomicU64 = AtomicU64::new(0);
