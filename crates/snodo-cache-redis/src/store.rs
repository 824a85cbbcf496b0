//! The store.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use redis::Pipeline;
use snodo::cache::{Claim, Entry, Group, Key, Loaded, Mark, Release, Store, StoreError};

use crate::link::Link;
use crate::names::{Names, generation};

/// A store on one Redis, for [`Cache::shared`](snodo::Cache::shared).
///
/// Nothing is connected before it is first asked. One connection serves all clients of the
/// process; when it breaks, the next who needs it makes another. A Redis that is away costs a
/// client no more than the cache does: see [`Store`].
///
/// Keys longer than 4 KiB and results larger than [`max_result_bytes`](Self::max_result_bytes) are
/// not kept. How much there is at most is for Redis to say (`maxmemory`, with a policy that lets
/// keys go): whatever is gone is fetched again, and nothing that is stale comes back by it.
///
/// ```
/// use std::time::Duration;
/// use snodo_cache_redis::Redis;
///
/// let store = Redis::new("redis://127.0.0.1:6379/")?
///     .prefix("staging")
///     .claim_for(Duration::from_secs(5));
/// # let _ = store;
/// # Ok::<(), snodo::cache::StoreError>(())
/// ```
pub struct Redis {
    link: Link,
    prefix: String,
    claim_for: Duration,
    max_result_bytes: usize,
    /// What the claims of this process say.
    token: String,
}

impl Redis {
    /// A store on the Redis at a URL: `redis://[user][:password@]host[:port][/database]`. This
    /// build speaks no TLS.
    ///
    /// # Errors
    ///
    /// The URL is none of a Redis. The error does not repeat it.
    pub fn new(url: impl AsRef<str>) -> Result<Self, StoreError> {
        Ok(Self {
            link: Link::new(url.as_ref())?,
            prefix: "snodo".to_owned(),
            claim_for: CLAIM_FOR,
            max_result_bytes: MAX_RESULT_BYTES,
            token: unique(),
        })
    }

    /// What the names of all keys begin with; `snodo` unless set. Fleets that are not to share
    /// have different ones.
    #[must_use]
    pub fn prefix(self, prefix: impl Into<String>) -> Self {
        Self { prefix: prefix.into(), ..self }
    }

    /// How long the others wait for one that fetches and is never heard of again; 3 seconds unless
    /// set, at least 10 milliseconds. A fetch that takes longer is done by another one as well.
    #[must_use]
    pub fn claim_for(self, time: Duration) -> Self {
        Self { claim_for: time.max(Duration::from_millis(10)), ..self }
    }

    /// How long connecting and each answer may take; half a second unless set. A client waits a
    /// second at most, whatever is set.
    #[must_use]
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.link.timeout = limit;
        self
    }

    /// The largest result that is kept; 4 MiB unless set.
    #[must_use]
    pub fn max_result_bytes(self, bytes: usize) -> Self {
        Self { max_result_bytes: bytes, ..self }
    }

    fn names(&self, key: &Key) -> Option<Names> {
        Names::of(&self.prefix, key)
    }

    /// In which generations the server and the group of a key are. Where one is gone, what was kept
    /// in it is too: it has another one from now on.
    async fn generations(&self, names: &Names) -> Result<[String; 2], StoreError> {
        let mut commands = Pipeline::new();
        for name in &names.generations {
            commands.cmd("SET").arg(name).arg(unique()).arg("NX").arg("PX").arg(LIFE).ignore();
        }
        for name in &names.generations {
            commands.get(name);
        }
        let (server, group): (Option<String>, Option<String>) = self.link.ask(&commands).await?;
        // Gone in between, it is one that nothing is kept in.
        Ok([server, group].map(|generation| generation.unwrap_or_else(unique)))
    }
}

impl Store for Redis {
    async fn load(&self, key: &Key) -> Result<Loaded, StoreError> {
        let Some(names) = self.names(key) else { return Ok(Loaded::default()) };
        let [server, group] = &names.generations;
        let mut commands = Pipeline::new();
        commands.get(server).get(group).get(&names.entry).pttl(&names.entry);
        let answer: (Option<String>, Option<String>, Option<String>, i64) =
            self.link.ask(&commands).await?;
        let (server, group, kept, left) = answer;
        let Some(generations) = server.zip(group) else {
            let [server, group] = self.generations(&names).await?;
            return Ok(Loaded { entry: None, mark: mark(&server, &group) });
        };
        let mark = mark(&generations.0, &generations.1);
        let left = Duration::from_millis(u64::try_from(left).unwrap_or(0));
        let entry = kept.and_then(|kept| read(&kept, &mark, left));
        Ok(Loaded { entry, mark })
    }

    async fn save(&self, key: &Key, entry: Entry, mark: Mark) -> Result<(), StoreError> {
        let Some(names) = self.names(key) else { return Ok(()) };
        if entry.result.len() > self.max_result_bytes || mark == Mark::default() {
            return Ok(());
        }
        let mut commands = Pipeline::new();
        for name in &names.generations {
            // It lives on as long as anything that is kept in it.
            commands.cmd("PEXPIRE").arg(name).arg(LIFE).ignore();
        }
        let life = milliseconds(entry.kept_for).max(1);
        let text = written(&entry, &mark);
        commands.cmd("SET").arg(&names.entry).arg(text).arg("PX").arg(life).ignore();
        self.link.ask(&commands).await
    }

    async fn invalidate(&self, group: &Group) -> Result<(), StoreError> {
        let mut commands = Pipeline::new();
        commands.del(generation(&self.prefix, group)).ignore();
        self.link.ask(&commands).await
    }

    async fn claim(&self, key: &Key) -> Result<Claim, StoreError> {
        let Some(names) = self.names(key) else { return Ok(Claim::Everybody) };
        let life = milliseconds(self.claim_for);
        let mut commands = Pipeline::new();
        commands
            .cmd("SET")
            .arg(&names.claim)
            .arg(&self.token)
            .arg("NX")
            .arg("PX")
            .arg(life)
            .get(&names.claim);
        let (claimed, holder): (Option<String>, Option<String>) = self.link.ask(&commands).await?;
        Ok(match (claimed, holder.as_deref()) {
            (Some(_), _) => Claim::Mine,
            (None, Some(OPEN)) => Claim::Everybody,
            (None, _) => Claim::Others,
        })
    }

    async fn release(&self, key: &Key, release: Release) -> Result<(), StoreError> {
        let Some(names) = self.names(key) else { return Ok(()) };
        let (word, life) = match release {
            Release::Done => ("", 0),
            Release::Unshared => (OPEN, milliseconds(OPEN_FOR)),
        };
        let mut commands = Pipeline::new();
        let script = commands.cmd("EVAL").arg(RELEASE).arg(1).arg(&names.claim);
        script.arg(&self.token).arg(word).arg(life).ignore();
        self.link.ask(&commands).await
    }
}

impl fmt::Debug for Redis {
    /// Shows nothing of the URL: it may hold a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redis")
            .field("link", &self.link)
            .field("prefix", &self.prefix)
            .field("claim_for", &self.claim_for)
            .field("max_result_bytes", &self.max_result_bytes)
            .finish_non_exhaustive()
    }
}

fn mark(server: &str, group: &str) -> Mark {
    Mark::new(&format!("{server}-{group}"))
}

/// In which generations it was fetched, how long it is kept past its time, and the result.
fn written(entry: &Entry, mark: &Mark) -> String {
    let past = milliseconds(entry.kept_for.saturating_sub(entry.fresh_for));
    format!("{} {past} {}", mark.text(), entry.result)
}

/// `None` for what was fetched in other generations than these, and for what nobody here wrote.
fn read(kept: &str, mark: &Mark, left: Duration) -> Option<Entry> {
    let mut parts = kept.splitn(3, ' ');
    if parts.next()? != mark.text() {
        return None;
    }
    let past = Duration::from_millis(parts.next()?.parse().ok()?);
    Some(Entry::new(parts.next()?, left.saturating_sub(past)).kept_for(left))
}

/// Rounded up: what is fresh for less than a millisecond is fresh for one.
fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
}

/// A word that no process of any fleet ever said.
fn unique() -> String {
    let random = RandomState::new();
    format!("{:016x}{:016x}", random.hash_one(0), random.hash_one(1))
}

/// Ends a claim that is still this process's, or leaves word that nobody need wait.
const RELEASE: &str = "\
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return end
if ARGV[2] == '' then redis.call('DEL', KEYS[1]) return end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])";

/// What a claim says that nobody need wait for.
const OPEN: &str = "open";

/// How long that is believed.
const OPEN_FOR: Duration = Duration::from_secs(30);

const CLAIM_FOR: Duration = Duration::from_secs(3);

const MAX_RESULT_BYTES: usize = 4 * 1024 * 1024;

/// How long a generation lives at least, in milliseconds: longer than what is kept in it, which is
/// two days at most.
const LIFE: u64 = 49 * 60 * 60 * 1000;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use snodo::cache::{Entry, Mark};

    use super::{Redis, milliseconds, read, unique, written};

    // CACHE-09
    #[test]
    fn what_is_written_is_read_again_in_its_generation_alone() {
        let entry = Entry::new(r#"{"a": "b c"}"#, Duration::from_secs(10));
        let entry = entry.kept_for(Duration::from_secs(25));
        let mark = Mark::new("s-g");
        let text = written(&entry, &mark);
        assert_eq!(read(&text, &mark, Duration::from_secs(25)), Some(entry.clone()));
        let later = read(&text, &mark, Duration::from_secs(14)).expect("kept");
        assert_eq!((later.fresh_for, later.kept_for.as_secs()), (Duration::ZERO, 14));
        assert_eq!(read(&text, &Mark::new("s-h"), Duration::from_secs(25)), None);
        for broken in ["", "s-g", "s-g 5", "s-g x {}", "s-g -1 {}"] {
            assert_eq!(read(broken, &mark, Duration::from_secs(25)), None, "{broken}");
        }
    }

    #[test]
    fn a_time_is_never_rounded_to_nothing_and_no_word_is_said_twice() {
        assert_eq!(milliseconds(Duration::from_nanos(1)), 1);
        assert_eq!(milliseconds(Duration::from_millis(1500)), 1500);
        let words: std::collections::HashSet<_> = (0..1000).map(|_| unique()).collect();
        assert_eq!(words.len(), 1000);
    }

    #[test]
    fn a_url_that_is_none_is_refused_and_no_password_is_shown() {
        for url in ["", "http://127.0.0.1/", "redis://:5ecret@host:port/"] {
            let error = Redis::new(url).expect_err(url);
            assert!(!error.to_string().contains("5ecret"), "{error}");
        }
        let store = Redis::new("redis://:5ecret@127.0.0.1/").expect("a URL");
        assert!(!format!("{store:?}").contains("5ecret"), "{store:?}");
    }
}
