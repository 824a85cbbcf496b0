//! Under which name something is kept.

use std::fmt;

/// Names what is kept: by server, issuer and client, so that nothing of one is found for another.
///
/// Its `Display` is a text that no other key has: a name for stores that know texts alone.
///
/// ```
/// use snodo_oauth::{Key, KeyKind};
///
/// fn account(key: &Key) -> String {
///     assert_ne!(key.kind(), KeyKind::Server);
///     format!("my-program {key}")
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    kind: KeyKind,
    /// The server or the resource, the issuer, the client; empty where it has none of them.
    parts: [String; 3],
}

/// What is kept under a [`Key`].
///
/// ```
/// # use snodo_oauth::KeyKind;
/// assert!(KeyKind::Registration < KeyKind::Tokens);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum KeyKind {
    /// To which authorization server a client id that was given without one belongs.
    Binding,
    /// A client id that an authorization server gave.
    Registration,
    /// Which tokens are used at an MCP server.
    Server,
    /// Tokens.
    Tokens,
}

impl Key {
    pub(crate) fn binding(client: &str) -> Self {
        Self::new(KeyKind::Binding, "", "", client)
    }

    /// By the name of the program: two programs that share a store do not share a client id.
    pub(crate) fn registration(issuer: &str, application: &str) -> Self {
        Self::new(KeyKind::Registration, "", issuer, application)
    }

    pub(crate) fn server(url: &str, application: &str) -> Self {
        Self::new(KeyKind::Server, url, "", application)
    }

    pub(crate) fn tokens(resource: &str, issuer: &str, client: &str) -> Self {
        Self::new(KeyKind::Tokens, resource, issuer, client)
    }

    /// What is kept.
    #[must_use]
    pub fn kind(&self) -> KeyKind {
        self.kind
    }

    fn new(kind: KeyKind, server: &str, issuer: &str, client: &str) -> Self {
        Self { kind, parts: [server, issuer, client].map(str::to_owned) }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.kind {
            KeyKind::Binding => "binding",
            KeyKind::Registration => "registration",
            KeyKind::Server => "server",
            KeyKind::Tokens => "tokens",
        })?;
        for part in &self.parts {
            // Quoted, so that no part can look like two.
            write!(f, " {part:?}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Key;

    // AUTH-72, AUTH-77
    #[test]
    fn no_two_keys_have_the_same_text() {
        let keys = [
            Key::tokens("https://a", "https://as", "c"),
            Key::tokens("https://a", "https://as/", "c"),
            Key::tokens("https://a/", "https://as", "c"),
            Key::tokens("https://a", "https://as", "d"),
            Key::tokens("https://a", "https://as\" \"c", ""),
            Key::tokens("https://a\" \"https://as", "c", ""),
            Key::registration("https://as", "c"),
            Key::server("https://a", "c"),
            Key::binding("c"),
        ];
        let texts: std::collections::BTreeSet<_> = keys.iter().map(ToString::to_string).collect();
        assert_eq!(texts.len(), keys.len(), "{texts:?}");
    }
}
