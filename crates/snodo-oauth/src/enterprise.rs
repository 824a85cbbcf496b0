//! Enterprise-managed authorization: an identity provider, not the person, lets a program in.
//!
//! The provider changes what it said when the person signed in for a grant that one authorization
//! server takes (an identity assertion JWT, "ID-JAG"); that server gives a token for it. Nobody is
//! sent to a page.

use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::assertion::{Assertions, Source};
use crate::error::{Error, ErrorKind};
use crate::form::Form;
use crate::identity::Registration;
use crate::identity::authenticate::{Method, authenticate};
use crate::identity::register::number;
use crate::secret::Secret;
use crate::session::Plan;
use crate::web::{Web, text};

/// The identity provider of an organisation, and what it knows this program as.
///
/// ```
/// use snodo_oauth::{Enterprise, Registration, Secret};
///
/// let id_token = Secret::new("what the person's sign-on gave");
/// let provider = Enterprise::new(
///     "https://idp.example.com",
///     "https://idp.example.com/token",
///     Registration::new("agent-at-the-provider").secret("hunter2"),
///     id_token,
/// );
/// # let _ = provider;
/// ```
#[must_use]
pub struct Enterprise {
    issuer: String,
    token_endpoint: String,
    client: Registration,
    subject: Source,
    kind: &'static str,
    grants: Mutex<Vec<Held>>,
}

/// A grant that still lives.
struct Held {
    issuer: String,
    resource: String,
    scope: Option<String>,
    grant: Secret,
    ends: Instant,
}

impl Enterprise {
    /// A provider by its issuer and token endpoint, with this program's registration there and the
    /// source of ID tokens of the person.
    pub fn new(
        issuer: impl Into<String>,
        token_endpoint: impl Into<String>,
        client: Registration,
        id_tokens: impl Assertions,
    ) -> Self {
        Self {
            issuer: issuer.into(),
            token_endpoint: token_endpoint.into(),
            client,
            subject: Source::new(id_tokens),
            kind: "urn:ietf:params:oauth:token-type:id_token",
            grants: Mutex::default(),
        }
    }

    /// The source gives SAML 2.0 assertions instead of ID tokens.
    pub fn saml(self) -> Self {
        Self { kind: "urn:ietf:params:oauth:token-type:saml2", ..self }
    }

    /// A grant for the authorization server of a plan; one that still lives is used again.
    pub(crate) async fn grant(
        &self,
        web: &Web,
        plan: &Plan,
        scope: Option<&str>,
    ) -> Result<Secret, Error> {
        if let Some(grant) = self.held(plan, scope) {
            return Ok(grant);
        }
        let form = Form::grant(EXCHANGE)
            .with("requested_token_type", ID_JAG)
            .with("audience", &*plan.server.issuer)
            .with("resource", &*plan.resource.identifier)
            .with("subject_token", self.subject.assertion().await?)
            .with("subject_token_type", self.kind)
            .with_some("scope", scope);
        let method = match (&self.client.key, &self.client.secret) {
            (Some(_), _) => Method::PrivateKeyJwt,
            (None, Some(_)) => Method::Basic,
            (None, None) => Method::None,
        };
        let (form, headers) = authenticate(method, &self.client, &self.issuer, form)?;
        let answer = web.post_form(&self.token_endpoint, headers, &form).await?;
        let provider = format!("the identity provider {}", self.issuer);
        if answer.status.as_u16() != 200 {
            return Err(answer.refusal(&provider));
        }
        let members = answer.object().unwrap_or_default();
        let malformed =
            |what: &str| Error::new(ErrorKind::Malformed, format!("{provider} gave {what}"));
        if text(&members, "issued_token_type") != Some(ID_JAG) {
            return Err(malformed("no identity assertion grant"));
        }
        let grant = text(&members, "access_token").ok_or_else(|| malformed("an empty grant"))?;
        let grant = Secret::new(grant);
        if let Some(lifetime) = members.get("expires_in").and_then(number) {
            self.hold(plan, scope, &grant, Duration::from_secs(lifetime));
        }
        Ok(grant)
    }

    /// Forgets the grants for a server, which did not take the last one.
    pub(crate) fn drop_grants(&self, issuer: &str) {
        let mut grants = self.grants.lock().unwrap_or_else(PoisonError::into_inner);
        grants.retain(|held| held.issuer != issuer);
    }

    fn held(&self, plan: &Plan, scope: Option<&str>) -> Option<Secret> {
        let mut grants = self.grants.lock().unwrap_or_else(PoisonError::into_inner);
        grants.retain(|held| held.ends > Instant::now());
        let fits = |held: &&Held| {
            held.issuer == plan.server.issuer
                && held.resource == plan.resource.identifier
                && held.scope.as_deref() == scope
        };
        grants.iter().find(fits).map(|held| held.grant.clone())
    }

    fn hold(&self, plan: &Plan, scope: Option<&str>, grant: &Secret, lifetime: Duration) {
        let usable = lifetime.saturating_sub(MARGIN);
        let Some(ends) = Instant::now().checked_add(usable) else { return };
        let mut grants = self.grants.lock().unwrap_or_else(PoisonError::into_inner);
        if grants.len() >= MOST_GRANTS {
            grants.remove(0);
        }
        grants.push(Held {
            issuer: plan.server.issuer.clone(),
            resource: plan.resource.identifier.clone(),
            scope: scope.map(str::to_owned),
            grant: grant.clone(),
            ends,
        });
    }
}

impl fmt::Debug for Enterprise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Enterprise").field("issuer", &self.issuer).finish_non_exhaustive()
    }
}

const EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";

const ID_JAG: &str = "urn:ietf:params:oauth:token-type:id-jag";

/// How long before its end a grant is not used any more.
const MARGIN: Duration = Duration::from_secs(10);

/// How many grants are held.
const MOST_GRANTS: usize = 16;
