//! A client id with what belongs to it.

use std::time::SystemTime;

use crate::identity::authenticate::Method;
use crate::jwt::seconds;
use crate::key::SigningKey;
use crate::secret::Secret;

/// A client id at an authorization server, and what proves that it is ours.
///
/// Say which server it belongs to. Where that is not said, it is bound to the first server whose
/// metadata was found good, and stays so as long as the [`Store`](crate::Store) remembers.
///
/// ```
/// use snodo_oauth::Registration;
///
/// let registration = Registration::new("agent-1")
///     .issuer("https://auth.example.com")
///     .secret("hunter2");
/// assert!(!format!("{registration:?}").contains("hunter2"));
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Registration {
    pub(crate) id: String,
    pub(crate) issuer: Option<String>,
    pub(crate) secret: Option<Secret>,
    pub(crate) key: Option<SigningKey>,
    /// What the server said that this client does.
    pub(crate) method: Option<Method>,
    /// When the secret ends, in seconds of the Unix clock.
    pub(crate) expires: Option<u64>,
    /// What the server registered; empty where it did not say, or nobody asked it.
    pub(crate) redirects: Vec<String>,
}

impl Registration {
    /// A client id with nothing: a public client.
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            issuer: None,
            secret: None,
            key: None,
            method: None,
            expires: None,
            redirects: Vec::new(),
        }
    }

    /// The issuer of the server it belongs to, by the letter: no other server is shown it.
    pub fn issuer(self, issuer: impl Into<String>) -> Self {
        Self { issuer: Some(issuer.into()), ..self }
    }

    /// The client secret.
    pub fn secret(self, secret: impl Into<Secret>) -> Self {
        Self { secret: Some(secret.into()), ..self }
    }

    /// The private key, where the client signs instead of showing a secret (`private_key_jwt`).
    pub fn key(self, key: SigningKey) -> Self {
        Self { key: Some(key), ..self }
    }

    /// Whether its secret has ended.
    pub(crate) fn is_over(&self, now: SystemTime) -> bool {
        self.expires.is_some_and(|expires| expires <= seconds(now))
    }
}
