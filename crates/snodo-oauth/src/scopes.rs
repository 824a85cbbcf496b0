//! What a token is asked for.

use crate::metadata::server::Server;

/// Scopes in the order in which they came up, none of them twice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Scopes(Vec<String>);

/// What a caller wants done with the scopes that a server names.
#[derive(Clone, Debug, Default)]
pub(crate) enum Wish {
    /// What the server names, and these.
    Also(Scopes),
    /// What the server names.
    #[default]
    AsNamed,
    /// These, whatever the server names at first. What it asks for later is added.
    Only(Scopes),
}

impl Scopes {
    /// The words of a `scope` parameter.
    pub(crate) fn read(text: &str) -> Self {
        Self::default().with(text.split_ascii_whitespace())
    }

    pub(crate) fn of(names: &[String]) -> Self {
        Self::default().with(names.iter().flat_map(|name| name.split_ascii_whitespace()))
    }

    /// Both, the others behind.
    pub(crate) fn and(self, others: &Self) -> Self {
        self.with(others.0.iter().map(String::as_str))
    }

    /// Whether all the others are among these.
    pub(crate) fn hold(&self, others: &Self) -> bool {
        others.0.iter().all(|other| self.0.contains(other))
    }

    /// Whether a refresh token is asked for.
    pub(crate) fn ask_offline(&self) -> bool {
        self.0.iter().any(|scope| scope == OFFLINE)
    }

    /// The value of a `scope` parameter; an empty one never goes out.
    pub(crate) fn parameter(&self) -> Option<String> {
        (!self.0.is_empty()).then(|| self.0.join(" "))
    }

    fn with<'a>(mut self, names: impl Iterator<Item = &'a str>) -> Self {
        for name in names {
            if !self.0.iter().any(|known| known == name) {
                self.0.push(name.to_owned());
            }
        }
        self
    }

    fn without(mut self, name: &str) -> Self {
        self.0.retain(|known| known != name);
        self
    }
}

/// What to ask for, from a challenge, from the metadata of the resource, from what was asked for
/// before and by the caller's wish.
///
/// The challenge counts where it names scopes, for it knows what the request needs; nothing is
/// assumed about how its scopes relate to those in the metadata.
pub(crate) fn choose(
    challenge: Option<&Scopes>,
    supported: &[String],
    before: &Scopes,
    wish: &Wish,
) -> Scopes {
    let named = || challenge.cloned().unwrap_or_else(|| Scopes::of(supported));
    let wanted = match wish {
        Wish::AsNamed => named(),
        Wish::Also(more) => named().and(more),
        Wish::Only(these) => these.clone(),
    };
    before.clone().and(&wanted)
}

/// Whether a refresh token is wanted, where there is a choice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Offline {
    #[default]
    Wanted,
    Unwanted,
}

/// Asks for a refresh token where the server takes that scope, and never where it does not.
pub(crate) fn settle_offline(scopes: Scopes, server: &Server, offline: Offline) -> Scopes {
    let offered = server.scopes.iter().any(|scope| scope == OFFLINE);
    match offline {
        Offline::Wanted if offered => scopes.with(std::iter::once(OFFLINE)),
        _ => scopes.without(OFFLINE),
    }
}

const OFFLINE: &str = "offline_access";

#[cfg(test)]
mod tests {
    use super::{Offline, Scopes, Wish, choose, settle_offline};
    use crate::metadata::server::Server;

    fn chosen(challenge: Option<&str>, supported: &[&str], before: &str, wish: &Wish) -> String {
        let challenge = challenge.map(Scopes::read).filter(|scopes| *scopes != Scopes::default());
        let supported: Vec<_> = supported.iter().map(ToString::to_string).collect();
        let chosen = choose(challenge.as_ref(), &supported, &Scopes::read(before), wish);
        chosen.parameter().unwrap_or_default()
    }

    // AUTH-120, AUTH-121, AUTH-123, AUTH-124, AUTH-125
    #[test]
    fn the_challenge_counts_then_the_metadata_then_nothing() {
        let wish = &Wish::AsNamed;
        assert_eq!(chosen(Some("mcp:basic"), &["other"], "", wish), "mcp:basic");
        assert_eq!(chosen(None, &["a", "b", "a"], "", wish), "a b");
        assert_eq!(chosen(None, &[], "", wish), "");
    }

    // AUTH-122
    #[test]
    fn a_caller_adds_or_replaces_and_an_empty_parameter_is_none() {
        let mine = || Scopes::read("mine");
        assert_eq!(chosen(Some("a"), &[], "", &Wish::Also(mine())), "a mine");
        assert_eq!(chosen(Some("a"), &["b"], "", &Wish::Only(mine())), "mine");
        assert_eq!(Scopes::read("  ").parameter(), None);
    }

    // AUTH-131, AUTH-132, AUTH-133
    #[test]
    fn a_step_up_asks_for_what_was_asked_for_before_and_for_more() {
        let first = chosen(Some("read"), &["decoy"], "init", &Wish::AsNamed);
        assert_eq!(first, "init read");
        assert_eq!(
            chosen(Some("write init"), &["decoy"], &first, &Wish::AsNamed),
            "init read write"
        );
        assert!(Scopes::read("a b").hold(&Scopes::read("b")));
        assert!(!Scopes::read("a b").hold(&Scopes::read("b B")));
    }

    // AUTH-126, AUTH-127
    #[test]
    fn offline_access_is_asked_for_where_it_is_offered_and_never_elsewhere() {
        let mut server = Server::undocumented("https://as");
        let settled = |server: &Server, scopes: &str, offline| {
            settle_offline(Scopes::read(scopes), server, offline).parameter().unwrap_or_default()
        };
        assert_eq!(settled(&server, "a offline_access", Offline::Wanted), "a");
        server.scopes = vec!["a".to_owned(), "offline_access".to_owned()];
        assert_eq!(settled(&server, "a", Offline::Wanted), "a offline_access");
        assert_eq!(settled(&server, "a offline_access", Offline::Unwanted), "a");
        assert!(Scopes::read("a offline_access").ask_offline());
        assert!(!Scopes::read("a offline").ask_offline());
    }
}
