//! What a transport may need to know beside the message: HTTP sends it as headers.

use std::borrow::Cow;
use std::fmt;

/// Name and value pairs that travel outside a message.
///
/// Over HTTP each pair is a header; transports without an outside ignore them. Values may be
/// credentials (a session id), so `Debug` shows names only.
///
/// ```
/// use snodo_types::Routing;
///
/// let routing = Routing::new().with("Mcp-Method", "tools/call");
/// assert_eq!(routing.value("mcp-method"), Some("tools/call"));
/// assert_eq!(format!("{routing:?}"), r#"["Mcp-Method"]"#);
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Routing(Vec<(Cow<'static, str>, Cow<'static, str>)>);

impl Routing {
    /// Nothing to route by; allocates nothing.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Adds a pair; a pair of the same name (names have no case) is replaced.
    pub fn set(&mut self, name: impl Into<Cow<'static, str>>, value: impl Into<Cow<'static, str>>) {
        let (name, value) = (name.into(), value.into());
        match self.0.iter_mut().find(|(known, _)| known.eq_ignore_ascii_case(&name)) {
            Some(pair) => pair.1 = value,
            None => self.0.push((name, value)),
        }
    }

    /// Adds a pair, as [`set`](Self::set) does.
    #[must_use]
    pub fn with(
        mut self,
        name: impl Into<Cow<'static, str>>,
        value: impl Into<Cow<'static, str>>,
    ) -> Self {
        self.set(name, value);
        self
    }

    /// The value of a name, whatever its case.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| &**value)
    }

    /// All pairs, in the order they were added.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (&**name, &**value))
    }

    /// Whether there is no pair.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Routing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}
