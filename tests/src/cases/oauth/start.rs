//! What is known before a flow begins.

use serde::Deserialize;
use snodo_oauth::{Application, MemoryStore, OAuth, Policy, Registration, internal};

use super::person::{REDIRECT, Simulated};

/// The `start` member: what the store holds, and what is configured.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Start {
    token: Option<String>,
    refresh: Option<String>,
    scope: Option<String>,
    client_id: Option<String>,
    pub(super) issuer: Option<String>,
    configured_client_id: Option<String>,
}

impl Start {
    /// The store as it was left.
    pub(super) async fn store(&self, url: &str, issuer: &str) -> Result<MemoryStore, String> {
        let store = MemoryStore::new();
        let failed = |error: snodo_oauth::Error| format!("the store cannot be filled: {error}");
        let issuer = self.issuer.as_deref().unwrap_or(issuer);
        let client = self.client_id.as_deref().unwrap_or("c");
        if self.client_id.is_some() || self.token.is_some() || self.refresh.is_some() {
            let kept = internal::keep_registration(store.clone(), NAME, client, issuer, REDIRECT);
            kept.await.map_err(failed)?;
        }
        if self.token.is_some() || self.refresh.is_some() {
            let kept = internal::Kept {
                issuer: issuer.to_owned(),
                client: client.to_owned(),
                resource: url.to_owned(),
                access: self.token.clone().unwrap_or_else(|| "old".to_owned()),
                refresh: self.refresh.clone(),
                scope: self.scope.clone().unwrap_or_default(),
                ends: None,
            };
            internal::keep(store.clone(), NAME, url, kept).await.map_err(failed)?;
        }
        Ok(store)
    }

    pub(super) fn credentials(&self, store: MemoryStore, person: Simulated) -> OAuth {
        let oauth = OAuth::person(person)
            .application(Application::new(NAME))
            .policy(Policy::new().allow_loopback())
            .store(store);
        match &self.configured_client_id {
            Some(id) => oauth.registration(Registration::new(id)).build(),
            None => oauth.build(),
        }
    }

    /// With the marks of a server replaced.
    pub(super) fn expanded(&self, expand: impl Fn(&str) -> String) -> Self {
        let issuer = self.issuer.as_deref().map(expand);
        Self { issuer, ..self.clone() }
    }
}

/// The program that the store is filled by.
pub(super) const NAME: &str = "cases";
