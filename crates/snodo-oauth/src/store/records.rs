//! What is kept, as values.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::dpop::DpopKey;
use crate::error::Error;
use crate::identity::Registration;
use crate::identity::authenticate::Method;
use crate::scopes::Scopes;
use crate::secret::Secret;
use crate::store::{Erased, Key, Lock, Store};
use crate::tokens::{Origin, Tokens};

/// The store, read and written in values.
#[derive(Clone)]
pub(crate) struct Records {
    store: Arc<dyn Erased>,
    /// The name of the program: several may share a store.
    application: String,
}

impl Records {
    pub(crate) fn new(store: impl Store, application: &str) -> Self {
        Self { store: Arc::new(store), application: application.to_owned() }
    }

    /// The tokens that were last used at a server.
    pub(crate) async fn tokens_of(&self, url: &str) -> Result<Option<Tokens>, Error> {
        let key = Key::server(url, &self.application);
        let Some(Server { issuer, client, resource }) = self.read(&key).await? else {
            return Ok(None);
        };
        self.tokens(&Origin { issuer, client, resource }).await
    }

    pub(crate) async fn tokens(&self, origin: &Origin) -> Result<Option<Tokens>, Error> {
        let kept: Option<Kept> = self.read(&key_of(origin)).await?;
        Ok(kept.and_then(|kept| kept.restore(origin.clone())))
    }

    /// Keeps tokens, first of all: a refresh token that was rotated and is not kept is lost.
    pub(crate) async fn keep(&self, url: &str, tokens: &Tokens) -> Result<(), Error> {
        let Origin { issuer, client, resource } = tokens.origin.clone();
        self.write(&key_of(&tokens.origin), Some(&Kept::of(tokens))).await?;
        let server = Server { issuer, client, resource };
        self.write(&Key::server(url, &self.application), Some(&server)).await
    }

    pub(crate) async fn forget(&self, origin: &Origin) -> Result<(), Error> {
        self.store.save(&key_of(origin), None).await
    }

    /// Keeps other processes from refreshing the same tokens.
    pub(crate) async fn lock(&self, origin: &Origin) -> Result<Lock, Error> {
        self.store.lock(&key_of(origin)).await
    }

    pub(crate) async fn registration(&self, issuer: &str) -> Result<Option<Registration>, Error> {
        let key = Key::registration(issuer, &self.application);
        let kept: Option<Client> = self.read(&key).await?;
        Ok(kept.map(|kept| kept.restore(issuer)))
    }

    pub(crate) async fn keep_registration(
        &self,
        issuer: &str,
        client: Option<&Registration>,
    ) -> Result<(), Error> {
        let key = Key::registration(issuer, &self.application);
        self.write(&key, client.map(Client::of).as_ref()).await
    }

    /// To which issuer a client id belongs that was given without one.
    pub(crate) async fn binding(&self, client: &str) -> Result<Option<String>, Error> {
        let kept: Option<Binding> = self.read(&Key::binding(client)).await?;
        Ok(kept.map(|kept| kept.issuer))
    }

    pub(crate) async fn bind(&self, client: &str, issuer: &str) -> Result<(), Error> {
        let binding = Binding { issuer: issuer.to_owned() };
        self.write(&Key::binding(client), Some(&binding)).await
    }

    /// What cannot be read any more counts as nothing: a login mends it.
    async fn read<T: for<'a> Deserialize<'a>>(&self, key: &Key) -> Result<Option<T>, Error> {
        let Some(text) = self.store.load(key).await? else { return Ok(None) };
        let read = serde_json::from_str(text.expose());
        if read.is_err() {
            tracing::warn!(kind = ?key.kind(), "what a store kept is not understood");
        }
        Ok(read.ok())
    }

    async fn write<T: Serialize>(&self, key: &Key, value: Option<&T>) -> Result<(), Error> {
        let text = match value {
            Some(value) => {
                let text = serde_json::to_string(value);
                Some(Secret::new(text.map_err(|_| Error::store("a record cannot be written"))?))
            }
            None => None,
        };
        self.store.save(key, text.as_ref()).await
    }
}

impl fmt::Debug for Records {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Records").field("application", &self.application).finish_non_exhaustive()
    }
}

fn key_of(origin: &Origin) -> Key {
    Key::tokens(&origin.resource, &origin.issuer, &origin.client)
}

#[derive(Serialize, Deserialize)]
struct Binding {
    issuer: String,
}

#[derive(Serialize, Deserialize)]
struct Server {
    issuer: String,
    client: String,
    resource: String,
}

#[derive(Serialize, Deserialize)]
struct Kept {
    access_token: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    refresh_token: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    dpop_key: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ends: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stale: Option<u64>,
    granted: String,
    requested: String,
}

impl Kept {
    fn of(tokens: &Tokens) -> Self {
        let owned = |secret: &Secret| secret.expose().to_owned();
        Self {
            access_token: owned(&tokens.access),
            refresh_token: tokens.refresh.as_ref().map(owned),
            dpop_key: tokens.bound.as_ref().map(|key| owned(key.kept())),
            ends: tokens.ends,
            stale: tokens.stale,
            granted: tokens.granted.parameter().unwrap_or_default(),
            requested: tokens.requested.parameter().unwrap_or_default(),
        }
    }

    /// The tokens; `None` where the key they are bound to cannot be read any more.
    fn restore(self, origin: Origin) -> Option<Tokens> {
        let bound = match self.dpop_key.map(Secret::new) {
            Some(key) => Some(Arc::new(DpopKey::restore(&key)?)),
            None => None,
        };
        Some(Tokens {
            access: Secret::new(self.access_token),
            bound,
            refresh: self.refresh_token.map(Secret::new),
            ends: self.ends,
            stale: self.stale,
            granted: Scopes::read(&self.granted),
            requested: Scopes::read(&self.requested),
            origin,
        })
    }
}

#[derive(Serialize, Deserialize)]
struct Client {
    client_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    client_secret: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    method: Option<String>,
    redirects: Vec<String>,
}

impl Client {
    fn of(client: &Registration) -> Self {
        Self {
            client_id: client.id.clone(),
            client_secret: client.secret.as_ref().map(|secret| secret.expose().to_owned()),
            expires: client.expires,
            method: client.method.map(|method| method.name().to_owned()),
            redirects: client.redirects.clone(),
        }
    }

    fn restore(self, issuer: &str) -> Registration {
        let mut client = Registration::new(self.client_id).issuer(issuer);
        client.secret = self.client_secret.map(Secret::new);
        client.expires = self.expires;
        client.method = self.method.as_deref().and_then(Method::named);
        client.redirects = self.redirects;
        client
    }
}
