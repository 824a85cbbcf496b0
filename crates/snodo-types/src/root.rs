//! Roots: where a server may work. Deprecated in 2026-07-28, still part of it.

use crate::object::object;
use crate::{Members, Meta, Raw};

/// A place where a server may work.
///
/// ```
/// use snodo_types::Root;
///
/// assert!(Root::new("file:///srv/files").is_file());
/// assert!(!Root::new("https://example.com").is_file());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Root {
    /// Where it is: a `file://` URI.
    pub uri: String,
    /// The name for people.
    pub name: Option<String>,
    /// `_meta`, as it came; read by [`meta`](Self::meta).
    pub meta: Option<Raw>,
    /// Members without a name here.
    pub other: Members,
}

/// The result of `roots/list`: where a server may work.
///
/// ```
/// use snodo_types::Roots;
///
/// let roots = Roots::new().with("file:///srv/files", "work");
/// assert_eq!(roots.roots[0].name.as_deref(), Some("work"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Roots {
    /// The places.
    pub roots: Vec<Root>,
    /// `_meta`, as it came; read by [`meta`](Self::meta). Not in 2026-07-28.
    pub meta: Option<Raw>,
    /// Members without a name here.
    pub other: Members,
}

impl Root {
    /// A place without a name.
    #[must_use]
    pub fn new(uri: impl Into<String>) -> Self {
        Self { uri: uri.into(), name: None, meta: None, other: Members::new() }
    }

    /// Sets the name for people.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Whether the URI is of the only scheme that the protocol allows, `file`.
    #[must_use]
    pub fn is_file(&self) -> bool {
        self.uri.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("file://"))
    }

    /// Whether the path goes up by a `..`, as it stands or percent-encoded: then it is not the place
    /// that it begins with (roots, "Security Considerations").
    ///
    /// ```
    /// use snodo_types::Root;
    ///
    /// assert!(Root::new("file:///srv/files/%2e%2E/etc").climbs());
    /// assert!(!Root::new("file:///srv/files/..notes").climbs());
    /// ```
    #[must_use]
    pub fn climbs(&self) -> bool {
        // Whoever decodes the URI may find separators in it too.
        let plain = self.uri.to_ascii_lowercase();
        let plain = plain.replace("%2e", ".").replace("%2f", "/").replace("%5c", "\\");
        plain.split(['/', '\\', '?', '#']).any(|segment| segment == "..")
    }

    /// What is known of `_meta`.
    #[must_use]
    pub fn meta(&self) -> Meta<'_> {
        Meta::of(self.meta.as_ref())
    }
}

impl Roots {
    /// Nowhere.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a place and its name.
    #[must_use]
    pub fn with(mut self, uri: impl Into<String>, name: impl Into<String>) -> Self {
        self.roots.push(Root::new(uri).with_name(name));
        self
    }

    /// What is known of `_meta`.
    #[must_use]
    pub fn meta(&self) -> Meta<'_> {
        Meta::of(self.meta.as_ref())
    }
}

object! {
    impl Root {
        required uri: "uri",
        optional name: "name",
        optional meta: "_meta";
        other
    }
}

object! {
    impl Roots {
        required roots: "roots",
        optional meta: "_meta";
        other
    }
}

#[cfg(test)]
mod tests {
    use super::Root;

    // ROOT-03
    #[test]
    fn a_path_that_goes_up_is_found_however_it_is_written() {
        for uri in [
            "file:///srv/files/../etc",
            "file:///srv/files/..",
            "file:///srv/files/%2e%2e/etc",
            "file:///srv/files/.%2E/etc",
            "file:///srv/files%2f..%2Fetc",
            "file:///c:/work\\..\\x",
            "file:///c:/work%5C..%5cx",
            "file:///srv/files/..?x",
        ] {
            assert!(Root::new(uri).climbs(), "{uri}");
        }
        for uri in [
            "file:///srv/files",
            "file:///srv/files/...",
            "file:///..work/a..b/.hidden/.",
            "file:///",
        ] {
            assert!(!Root::new(uri).climbs(), "{uri}");
        }
    }
}
