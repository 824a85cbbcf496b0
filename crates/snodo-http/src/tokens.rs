//! Bearer tokens from a provider.

use std::fmt;
use std::future::{Future, ready};
use std::time::Duration;

use http::HeaderMap;
use http::header::AUTHORIZATION;
use snodo_types::{TransportError, TransportFault};
use tokio::sync::Mutex;
use zeroize::Zeroizing;

use crate::challenge::Challenge;
use crate::credentials::{Asked, Credentials, Refusal, Verdict};
use crate::headers::bearer;

/// Where bearer tokens come from; [`Tokens`] makes credentials of it.
///
/// ```
/// use snodo_http::{Http, TokenProvider, Tokens};
/// use snodo_types::TransportError;
///
/// struct FromFile;
///
/// impl TokenProvider for FromFile {
///     async fn token(&self, _url: &str) -> Result<Option<String>, TransportError> {
///         Ok(std::fs::read_to_string("/run/secrets/token").ok())
///     }
/// }
///
/// let server = Http::new("http://localhost:3000/mcp")?.credentials(Tokens::new(FromFile));
/// # Ok::<(), TransportError>(())
/// ```
///
/// # Cancel safety
///
/// A future runs within the exchange that needs it, and is dropped with it. What must not be lost half
/// way, such as the answer to a refresh token that is spent with it, belongs in a task of its own.
pub trait TokenProvider: Send + Sync + 'static {
    /// The token for a request to `url`; `None` sends it without one. Asked before every request
    /// of any kind, so it should remember.
    ///
    /// # Errors
    ///
    /// The token cannot be had; the request is not sent.
    fn token(
        &self,
        url: &str,
    ) -> impl Future<Output = Result<Option<String>, TransportError>> + Send;

    /// Gets a new token after a refusal; from then on [`token`](Self::token) gives it, and the
    /// request is sent once more. Unless written, the refusal stands.
    ///
    /// Called after a 401, and after a 403 whose challenge says `insufficient_scope`. Requests
    /// that are refused together share one call.
    ///
    /// # Errors
    ///
    /// A new token cannot be had; the error takes the place of the refusal.
    fn refresh(
        &self,
        _refused: RefusedToken<'_>,
    ) -> impl Future<Output = Result<Verdict, TransportError>> + Send {
        ready(Ok(Verdict::GiveUp))
    }
}

/// A token that a server refused.
///
/// ```
/// # use snodo_http::RefusedToken;
/// fn wanted_scope(refused: RefusedToken<'_>) -> Option<&str> {
///     refused.challenge?.parameter("scope")
/// }
/// ```
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct RefusedToken<'a> {
    /// The URL of the endpoint.
    pub url: &'a str,
    /// 401 or 403.
    pub status: u16,
    /// The token; `None` where the request carried none.
    pub token: Option<&'a str>,
    /// The first bearer challenge, or the first of any scheme where there is none.
    pub challenge: Option<&'a Challenge>,
}

impl fmt::Debug for RefusedToken<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RefusedToken")
            .field("url", &self.url)
            .field("status", &self.status)
            .field("challenge", &self.challenge)
            .finish_non_exhaustive()
    }
}

/// [`Credentials`] that send the tokens of a [`TokenProvider`].
///
/// Tokens are wiped from memory when no request needs them any more, as far as this crate has them
/// in its hands.
///
/// While the provider works the clock of the call stands, for 300 seconds at most.
///
/// ```
/// # use snodo_http::{TokenProvider, Tokens};
/// # use snodo_types::TransportError;
/// # struct Fixed;
/// # impl TokenProvider for Fixed {
/// #     async fn token(&self, _: &str) -> Result<Option<String>, TransportError> { Ok(None) }
/// # }
/// assert_eq!(format!("{:?}", Tokens::new(Fixed)), "Tokens");
/// ```
pub struct Tokens<P> {
    provider: P,
    /// Held while a token is refreshed: who comes second finds the new one.
    turn: Mutex<()>,
}

impl<P: TokenProvider> Tokens<P> {
    /// Sends the tokens of a provider.
    #[must_use]
    pub fn new(provider: P) -> Self {
        Self { provider, turn: Mutex::new(()) }
    }
}

impl<P: TokenProvider> Credentials for Tokens<P> {
    async fn authorize(&self, request: Asked<'_>) -> Result<HeaderMap, TransportError> {
        let mut headers = HeaderMap::new();
        let token = self.provider.token(request.url).await?.map(Zeroizing::new);
        if let Some(token) = token {
            let value = bearer(&token).map_err(|error| {
                TransportError::new(TransportFault::Credentials, error.message()).not_processed()
            })?;
            headers.insert(AUTHORIZATION, value);
        }
        Ok(headers)
    }

    async fn refused(&self, refusal: Refusal<'_>) -> Result<Verdict, TransportError> {
        let challenges = Challenge::read(refusal.challenges);
        let challenge =
            challenges.iter().find(|one| one.is("bearer")).or_else(|| challenges.first());
        let lacks_scope =
            challenge.and_then(|one| one.parameter("error")) == Some("insufficient_scope");
        if refusal.resends > 0 || (refusal.status == 403 && !lacks_scope) {
            return Ok(Verdict::GiveUp);
        }
        let sent = refusal.sent.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let token = sent.and_then(|value| value.strip_prefix("Bearer "));
        let url = refusal.request.url;
        let _turn = self.turn.lock().await;
        let now = self.provider.token(url).await?.map(Zeroizing::new);
        if now.as_ref().map(|now| now.as_str()) != token {
            return Ok(Verdict::Retry);
        }
        let status = refusal.status;
        self.provider.refresh(RefusedToken { url, status, token, challenge }).await
    }

    fn hold(&self) -> Option<Duration> {
        Some(Duration::from_secs(300))
    }
}

impl<P> fmt::Debug for Tokens<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tokens")
    }
}
