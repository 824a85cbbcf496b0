//! What an authorization server hands out, and how long it is good.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::dpop::DpopKey;
use crate::error::{Error, ErrorKind};
use crate::identity::register::number;
use crate::jwt::seconds;
use crate::scopes::Scopes;
use crate::secret::Secret;
use crate::web::{Answer, text};

/// A token with what belongs to it.
#[derive(Clone, Debug)]
pub(crate) struct Tokens {
    pub(crate) access: Secret,
    /// The key that the token is bound to; without one it is a bearer token.
    pub(crate) bound: Option<Arc<DpopKey>>,
    pub(crate) refresh: Option<Secret>,
    /// When it ends, in seconds of the Unix clock; `None` where the server does not say: then it is
    /// good until a server refuses it.
    pub(crate) ends: Option<u64>,
    /// From when on a new one is got: somewhat before it ends.
    pub(crate) stale: Option<u64>,
    pub(crate) granted: Scopes,
    pub(crate) requested: Scopes,
    pub(crate) origin: Origin,
}

/// Whose a token is, and for what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    pub(crate) issuer: String,
    pub(crate) client: String,
    pub(crate) resource: String,
}

/// What a token was asked for.
pub(crate) struct Request<'a> {
    pub(crate) scopes: &'a Scopes,
    pub(crate) origin: &'a Origin,
    /// The key that the request proved to have.
    pub(crate) key: Option<Arc<DpopKey>>,
    /// What is refreshed.
    pub(crate) old: Option<&'a Tokens>,
}

impl Tokens {
    /// Reads the answer of a token endpoint.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Refused`], with the server's word; [`ErrorKind::Malformed`]: there is no token,
    /// or one of a kind that this client cannot use.
    pub(crate) fn read(answer: &Answer, request: &Request<'_>) -> Result<Self, Error> {
        let endpoint = format!("the token endpoint of {}", request.origin.issuer);
        if answer.status.as_u16() != 200 {
            return Err(answer.refusal(&endpoint));
        }
        let lacks =
            |what: &str| Error::new(ErrorKind::Malformed, format!("{endpoint} gave {what}"));
        let members = answer.members().ok_or_else(|| lacks("no JSON object"))?;
        let access = text(&members, "access_token").ok_or_else(|| lacks("no access token"))?;
        if !access.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(lacks("a token that no header can carry"));
        }
        let kind = text(&members, "token_type").ok_or_else(|| lacks("a token of no kind"))?;
        let bound = match &request.key {
            _ if kind.eq_ignore_ascii_case("bearer") => None,
            Some(key) if kind.eq_ignore_ascii_case("dpop") => Some(Arc::clone(key)),
            _ => return Err(lacks("a token of another kind than bearer")),
        };
        let lifetime = members.get("expires_in").and_then(number).map(Duration::from_secs);
        let now = SystemTime::now();
        let end = |lifetime: Duration| now.checked_add(lifetime).map(seconds);
        let granted = match (text(&members, "scope"), request.old) {
            (Some(scope), _) => Scopes::read(scope),
            (None, Some(old)) => old.granted.clone(),
            (None, None) => request.scopes.clone(),
        };
        let rotated = text(&members, "refresh_token").map(Secret::new);
        Ok(Self {
            access: Secret::new(access),
            bound,
            refresh: rotated.or_else(|| request.old.and_then(|old| old.refresh.clone())),
            ends: lifetime.and_then(end),
            stale: lifetime.and_then(|lifetime| end(lifetime - leeway(lifetime))),
            granted,
            requested: request.scopes.clone(),
            origin: request.origin.clone(),
        })
    }

    pub(crate) fn is_stale(&self, now: SystemTime) -> bool {
        self.stale.is_some_and(|stale| stale <= seconds(now))
    }

    pub(crate) fn is_over(&self, now: SystemTime) -> bool {
        self.ends.is_some_and(|ends| ends <= seconds(now))
    }
}

/// How long before its end a token is renewed: 30 seconds, but at most half of a short life, or it
/// would be renewed before every request.
fn leeway(lifetime: Duration) -> Duration {
    Duration::from_secs(30).min(lifetime / 2)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::{Origin, Request, Tokens};
    use crate::error::{Error, ErrorKind};
    use crate::scopes::Scopes;
    use crate::secret::Secret;
    use crate::web::Answer;

    fn read(status: u16, body: &str, old: Option<&Tokens>) -> Result<Tokens, Error> {
        let media = if body.starts_with('{') {
            "application/json; charset=utf-8"
        } else {
            "application/x-www-form-urlencoded"
        };
        let (scopes, origin) = (Scopes::read("a b"), origin());
        let request = Request { scopes: &scopes, origin: &origin, key: None, old };
        Tokens::read(&Answer::of(status, media, body), &request)
    }

    fn origin() -> Origin {
        let (issuer, client) = ("https://as".to_owned(), "c".to_owned());
        Origin { issuer, client, resource: "https://mcp".to_owned() }
    }

    // AUTH-111
    #[test]
    fn an_absent_scope_is_what_was_asked_for_and_a_present_one_is_what_was_granted() {
        let body = r#"{"access_token":"t","token_type":"BEARER"}"#;
        let tokens = read(200, body, None).expect("tokens");
        assert_eq!(tokens.granted, Scopes::read("a b"));
        assert_eq!((tokens.ends, tokens.stale, tokens.refresh), (None, None, None));
        let body = r#"{"access_token":"t","token_type":"Bearer","scope":"a c"}"#;
        let tokens = read(200, body, None).expect("tokens");
        assert_eq!(tokens.granted, Scopes::read("a c"));
        assert_eq!(tokens.requested, Scopes::read("a b"));
    }

    // AUTH-111
    #[test]
    fn what_is_no_token_of_a_known_kind_is_not_used() {
        for body in [
            "{}",
            r#"{"access_token":"s3cret"}"#,
            r#"{"access_token":"s3cret","token_type":"mac"}"#,
            r#"{"access_token":"s3cret","token_type":"DPoP"}"#,
            r#"{"access_token":"","token_type":"Bearer"}"#,
            r#"{"access_token":"s3\ncret","token_type":"Bearer"}"#,
            "<html>s3cret",
        ] {
            let error = read(200, body, None).expect_err(body);
            assert_eq!(error.kind(), ErrorKind::Malformed);
            assert!(!error.message().contains("s3"), "{error}");
        }
    }

    // AUTH-112
    #[test]
    fn a_refusal_is_told_by_its_code() {
        let body = r#"{"error":"invalid_grant","error_description":"used"}"#;
        let error = read(400, body, None).expect_err("refused");
        assert_eq!((error.kind(), error.code()), (ErrorKind::Refused, Some("invalid_grant")));
        assert_eq!(read(503, "", None).expect_err("down").kind(), ErrorKind::Unreachable);
    }

    // AUTH-147
    #[test]
    fn a_refresh_token_is_replaced_by_a_new_one_and_kept_where_none_came() {
        let first =
            r#"{"access_token":"t","token_type":"bearer","refresh_token":"r1","scope":"a"}"#;
        let first = read(200, first, None).expect("tokens");
        let body = r#"{"access_token":"u","token_type":"bearer"}"#;
        let kept = read(200, body, Some(&first)).expect("tokens");
        assert_eq!(kept.refresh, Some(Secret::new("r1")));
        assert_eq!(kept.granted, Scopes::read("a"));
        let body = r#"{"access_token":"u","token_type":"bearer","refresh_token":"r2"}"#;
        assert_eq!(read(200, body, Some(&kept)).expect("tokens").refresh, Some("r2".into()));
    }

    // AUTH-142, AUTH-143
    #[test]
    fn a_token_is_stale_thirty_seconds_before_its_end() {
        let now = SystemTime::now();
        let after = |seconds| now + Duration::from_secs(seconds);
        for (expires_in, fresh_at, stale_at) in [
            ("3600", 3565, 3571),
            ("\"3600\"", 3565, 3571),
            ("3600.0", 3565, 3571),
            // A short life is halved.
            ("20", 8, 11),
        ] {
            let body = format!(
                r#"{{"access_token":"t","token_type":"Bearer","expires_in":{expires_in}}}"#
            );
            let tokens = read(200, &body, None).expect("tokens");
            assert!(!tokens.is_stale(after(fresh_at)), "{expires_in}");
            assert!(tokens.is_stale(after(stale_at)) && !tokens.is_over(after(stale_at)));
            assert!(tokens.is_over(after(3601)));
        }
        for garbage in ["null", "\"soon\"", "-1", "[]", "true"] {
            let body =
                format!(r#"{{"access_token":"t","token_type":"Bearer","expires_in":{garbage}}}"#);
            assert_eq!(read(200, &body, None).expect("tokens").ends, None, "{garbage}");
        }
    }
}
