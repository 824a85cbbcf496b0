//! How long an answer stays good, and for whom.

use std::time::Duration;

use crate::object::object;
use crate::{Raw, lens};

/// What a server allows to be kept of a result, 2026-07-28.
///
/// ```
/// use snodo_types::{CacheHints, CacheScope, Raw};
/// use std::time::Duration;
///
/// let result = Raw::parse(r#"{"tools":[],"ttlMs":60000,"cacheScope":"public"}"#)?;
/// let hints = CacheHints::read(&result);
/// assert_eq!(hints.ttl, Duration::from_secs(60));
/// assert_eq!(hints.scope, CacheScope::Public);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheHints {
    /// How long it is fresh, counted from its receipt; zero is stale at once.
    ///
    /// Absent and negative are zero (caching, "Time-to-Live").
    pub ttl: Duration,
    /// Who may be served with it. Absent and unknown are private.
    pub scope: CacheScope,
}

/// Who may be served with a cached result.
///
/// ```
/// use snodo_types::CacheScope;
/// assert_eq!(CacheScope::from("public"), CacheScope::Public);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CacheScope {
    /// Only those who present the same authorization.
    Private,
    /// Everybody.
    Public,
    /// A scope that the protocol does not know, as it came; private, to be safe.
    Other(Box<str>),
}

/// How an answer that was kept stood when it was given once more.
///
/// ```
/// assert_ne!(snodo_types::Kept::Fresh, snodo_types::Kept::Stale);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "it is past its time or it is not")]
pub enum Kept {
    /// Within the time that the server gave it.
    Fresh,
    /// Past it: the server could not be asked.
    Stale,
}

impl CacheHints {
    /// Reads the hints of a result, and nothing else of it.
    #[must_use]
    pub fn read(result: &Raw) -> Self {
        Self::of(result.text())
    }

    /// The same for the text of a result.
    #[must_use]
    pub fn of(result: &str) -> Self {
        let ttl = lens::read::<Milliseconds>(result, &["ttlMs"]);
        let scope: Option<CacheScope> = lens::read(result, &["cacheScope"]);
        Self::new(ttl.map(|ttl| ttl.0), scope.as_ref())
    }

    pub(crate) fn new(ttl_ms: Option<i64>, scope: Option<&CacheScope>) -> Self {
        let ttl = ttl_ms.and_then(|ttl| u64::try_from(ttl).ok()).unwrap_or(0);
        let scope = match scope {
            Some(CacheScope::Public) => CacheScope::Public,
            _ => CacheScope::Private,
        };
        Self { ttl: Duration::from_millis(ttl), scope }
    }
}

/// A whole number, also where it is written with a fraction of zero.
struct Milliseconds(i64);

impl<'de> serde::Deserialize<'de> for Milliseconds {
    fn deserialize<D: serde::Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        crate::object::read_whole(source).map(Self)
    }
}

object! {
    words CacheScope {
        Private: "private",
        Public: "public",
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{CacheHints, CacheScope};
    use crate::Raw;

    fn hints(text: &str) -> CacheHints {
        CacheHints::read(&Raw::parse(text).expect("JSON"))
    }

    // CACHE-05
    #[test]
    fn a_time_to_live_that_is_absent_or_negative_is_zero() {
        for text in ["{}", r#"{"ttlMs":-5}"#, r#"{"ttlMs":null}"#, r#"{"ttlMs":"long"}"#] {
            assert_eq!(hints(text).ttl, Duration::ZERO, "{text}");
        }
        assert_eq!(hints(r#"{"ttlMs":5}"#).ttl, Duration::from_millis(5));
        assert_eq!(hints(r#"{"ttlMs":5.0}"#).ttl, Duration::from_millis(5));
    }

    // CACHE-12
    #[test]
    fn a_scope_that_is_absent_or_unknown_is_private() {
        assert_eq!(hints("{}").scope, CacheScope::Private);
        assert_eq!(hints(r#"{"cacheScope":"planet"}"#).scope, CacheScope::Private);
        assert_eq!(hints(r#"{"cacheScope":"public"}"#).scope, CacheScope::Public);
    }
}
