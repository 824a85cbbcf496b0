//! The metadata of an authorization server (RFC 8414, OpenID Connect Discovery 1.0).

use crate::error::{Error, ErrorKind};
use crate::place::Place;
use crate::policy::Policy;
use crate::web::{Members, text, texts};

/// What an authorization server says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Server {
    /// Exactly as the resource named it.
    pub(crate) issuer: String,
    pub(crate) token_endpoint: String,
    pub(crate) authorization_endpoint: Option<String>,
    pub(crate) registration_endpoint: Option<String>,
    pub(crate) revocation_endpoint: Option<String>,
    pub(crate) response_types: Option<Vec<String>>,
    pub(crate) scopes: Vec<String>,
    pub(crate) grant_types: Option<Vec<String>>,
    /// `None` means `client_secret_basic` (RFC 8414, section 2).
    pub(crate) auth_methods: Option<Vec<String>>,
    pub(crate) auth_algorithms: Option<Vec<String>>,
    pub(crate) challenge_methods: Option<Vec<String>>,
    pub(crate) dpop_algorithms: Option<Vec<String>>,
    pub(crate) takes_metadata_documents: bool,
    pub(crate) sends_issuer: bool,
}

/// How the issuer in a document is compared with the one that led there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Equality {
    /// The same characters (RFC 8414, section 3.3).
    #[default]
    Exact,
    /// A slash at the end more or less makes no difference.
    SlashAside,
}

/// Refuses what is no issuer (RFC 8414, section 2): a URL that may be used, and nothing behind its
/// path.
pub(crate) fn check_issuer(issuer: &str, policy: &Policy) -> Result<(), Error> {
    let place = policy.place(issuer)?;
    if place.query.is_some() || place.fragment.is_some() {
        let why = format!("the issuer {issuer:?} has a query or a fragment");
        return Err(Error::new(ErrorKind::Malformed, why));
    }
    Ok(())
}

/// Where an issuer's document may be, in the order in which the places are tried.
///
/// The document at the root belongs to another issuer than one with a path, and is never asked for.
pub(crate) fn candidates(issuer: &Place<'_>) -> Vec<String> {
    let (base, path) = (issuer.base, issuer.path.trim_end_matches('/'));
    let mut found = vec![format!("{base}{OAUTH}{path}"), format!("{base}{OPENID}{path}")];
    if !path.is_empty() {
        found.push(format!("{base}{path}{OPENID}"));
    }
    found
}

impl Server {
    /// Reads the document of an issuer.
    ///
    /// `Ok(None)`: it is something else, and the next place may have it.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Mismatch`]: it is the document of another issuer. Nothing of it may be used, and
    /// no other place is tried: whoever put it there would choose which document counts.
    pub(crate) fn read(
        members: &Members,
        issuer: &str,
        equality: Equality,
    ) -> Result<Option<Self>, Error> {
        let (Some(found), Some(token_endpoint)) =
            (text(members, "issuer"), text(members, "token_endpoint"))
        else {
            return Ok(None);
        };
        let same = match equality {
            Equality::Exact => found == issuer,
            Equality::SlashAside => found.trim_end_matches('/') == issuer.trim_end_matches('/'),
        };
        if !same {
            let why = format!("the metadata of {issuer:?} says that its issuer is {found:?}");
            return Err(Error::new(ErrorKind::Mismatch, why));
        }
        let owned = |name| text(members, name).map(str::to_owned);
        let says =
            |name: &str| members.get(name).and_then(serde_json::Value::as_bool) == Some(true);
        Ok(Some(Self {
            issuer: issuer.to_owned(),
            token_endpoint: token_endpoint.to_owned(),
            authorization_endpoint: owned("authorization_endpoint"),
            registration_endpoint: owned("registration_endpoint"),
            revocation_endpoint: owned("revocation_endpoint"),
            response_types: texts(members, "response_types_supported"),
            scopes: texts(members, "scopes_supported").unwrap_or_default(),
            grant_types: texts(members, "grant_types_supported"),
            auth_methods: texts(members, "token_endpoint_auth_methods_supported"),
            auth_algorithms: texts(members, "token_endpoint_auth_signing_alg_values_supported"),
            challenge_methods: texts(members, "code_challenge_methods_supported"),
            dpop_algorithms: texts(members, "dpop_signing_alg_values_supported"),
            takes_metadata_documents: says("client_id_metadata_document_supported"),
            sends_issuer: says("authorization_response_iss_parameter_supported"),
        }))
    }

    /// The endpoints of the 2025-03-26 version, for a server that publishes no metadata at all.
    pub(crate) fn undocumented(origin: &str) -> Self {
        Self {
            issuer: origin.to_owned(),
            token_endpoint: format!("{origin}/token"),
            authorization_endpoint: Some(format!("{origin}/authorize")),
            registration_endpoint: Some(format!("{origin}/register")),
            revocation_endpoint: None,
            response_types: None,
            scopes: Vec::new(),
            grant_types: None,
            auth_methods: Some(vec!["none".to_owned()]),
            auth_algorithms: None,
            challenge_methods: Some(vec!["S256".to_owned()]),
            dpop_algorithms: None,
            takes_metadata_documents: false,
            sends_issuer: false,
        }
    }
}

const OAUTH: &str = "/.well-known/oauth-authorization-server";

const OPENID: &str = "/.well-known/openid-configuration";

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Equality, Server, candidates, check_issuer};
    use crate::error::ErrorKind;
    use crate::place::Place;
    use crate::policy::Policy;

    // AUTH-28, AUTH-29, AUTH-30, AUTH-31, AUTH-32, AUTH-33, AUTH-34
    #[test]
    fn the_places_of_a_document_depend_on_the_path_of_its_issuer() {
        let found = |issuer| candidates(&Place::read(issuer).expect("a URL"));
        let plain = [
            "https://auth.example.com/.well-known/oauth-authorization-server",
            "https://auth.example.com/.well-known/openid-configuration",
        ];
        assert_eq!(found("https://auth.example.com"), plain);
        assert_eq!(found("https://auth.example.com/"), plain);
        let tenant = [
            "https://auth.example.com/.well-known/oauth-authorization-server/tenant1",
            "https://auth.example.com/.well-known/openid-configuration/tenant1",
            "https://auth.example.com/tenant1/.well-known/openid-configuration",
        ];
        assert_eq!(found("https://auth.example.com/tenant1"), tenant);
        assert_eq!(found("https://auth.example.com/tenant1/"), tenant);
    }

    fn read(issuer: &str, says: &str, equality: Equality) -> Result<Option<Server>, ErrorKind> {
        let document = json!({ "issuer": says, "token_endpoint": "https://as/token" });
        let members = document.as_object().expect("an object");
        Server::read(members, issuer, equality).map_err(|error| error.kind())
    }

    // AUTH-35, AUTH-36, AUTH-37
    #[test]
    fn an_issuer_is_the_same_characters_or_another_one() {
        let issuer = "https://as.example";
        assert!(matches!(read(issuer, issuer, Equality::Exact), Ok(Some(_))));
        for other in [
            "https://as.example/",
            "https://AS.example",
            "https://as.example:443",
            "HTTPS://as.example",
            "https://attacker.example.com",
        ] {
            assert_eq!(read(issuer, other, Equality::Exact), Err(ErrorKind::Mismatch), "{other}");
        }
        assert!(matches!(read(issuer, "https://as.example/", Equality::SlashAside), Ok(Some(_))));
        let wrong = read(issuer, "https://as.example.evil/", Equality::SlashAside);
        assert_eq!(wrong, Err(ErrorKind::Mismatch));
    }

    // AUTH-39
    #[test]
    fn a_document_without_what_every_flow_needs_is_something_else() {
        let with = |document: serde_json::Value| {
            let members = document.as_object().expect("an object").clone();
            Server::read(&members, "https://as", Equality::Exact).expect("no mismatch")
        };
        assert!(with(json!({ "issuer": "https://as" })).is_none());
        assert!(with(json!({ "token_endpoint": "https://as/t" })).is_none());
        let least = with(json!({ "issuer": "https://as", "token_endpoint": "https://as/t" }));
        let least = least.expect("enough");
        assert!(!least.sends_issuer && !least.takes_metadata_documents);
        assert_eq!((least.auth_methods, least.challenge_methods), (None, None));
    }

    // AUTH-48
    #[test]
    fn only_true_is_true() {
        let document = json!({
            "issuer": "https://as", "token_endpoint": "https://as/t",
            "client_id_metadata_document_supported": "true",
            "authorization_response_iss_parameter_supported": 1,
        });
        let members = document.as_object().expect("an object");
        let read = Server::read(members, "https://as", Equality::Exact).expect("no mismatch");
        let read = read.expect("a document");
        assert!(!read.sends_issuer && !read.takes_metadata_documents);
    }

    // AUTH-40
    #[test]
    fn an_issuer_has_nothing_behind_its_path() {
        for (issuer, expected) in [
            ("https://as.example/tenant", None),
            ("https://as.example?x", Some(ErrorKind::Malformed)),
            ("https://as.example/#", Some(ErrorKind::Malformed)),
            ("http://as.example", Some(ErrorKind::Policy)),
            ("as.example", Some(ErrorKind::Policy)),
        ] {
            let found = check_issuer(issuer, &Policy::new()).err().map(|error| error.kind());
            assert_eq!(found, expected, "{issuer}");
        }
    }
}
