//! Requests beside the messages: what credentials need from other servers.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, HOST};
use http::{HeaderMap, Method, Request, Response};
use snodo_types::{TransportError, TransportFault};
use tokio::time::timeout;

use crate::backend::RequestBody;
use crate::connector::Http;
use crate::target::Target;

/// Sends single requests to any URL, over the same TLS and by the same way as the messages.
///
/// Credentials are handed one with [every request that wants them](crate::Asked::errands), so that
/// an authorization server behind the same private certificate is reached without further ado.
/// What an errand never carries: the headers and the credentials of the messages, cookies. It
/// follows no redirect, and uses no connection twice.
///
/// ```
/// use std::time::Duration;
///
/// use http::{HeaderMap, Method};
/// use snodo_http::Errands;
/// use snodo_types::TransportError;
///
/// async fn document(errands: &Errands, url: &str) -> Result<Vec<u8>, TransportError> {
///     let errands = errands.clone().max_body_bytes(64 * 1024).timeout(Duration::from_secs(10));
///     let answer = errands.send(Method::GET, url, HeaderMap::new(), Vec::new()).await?;
///     Ok(answer.into_body())
/// }
/// ```
#[derive(Clone)]
pub struct Errands {
    /// How the servers are reached; its own target is not.
    way: Http,
    limit: Duration,
}

impl Errands {
    /// Errands with nothing configured: the platform's roots.
    #[must_use]
    pub fn new() -> Self {
        Self::by(&Http::new("http://localhost/").expect("an http URL is always taken"))
    }

    /// Errands that are run the way that messages go.
    pub(crate) fn by(way: &Http) -> Self {
        Self { way: way.bare(), limit: WITHIN }
    }

    /// The most bytes of an answer's body; 16 MiB unless set here or for the messages.
    #[must_use]
    pub fn max_body_bytes(self, bytes: usize) -> Self {
        Self { way: self.way.max_body_bytes(bytes), ..self }
    }

    /// How long an errand may take, from the lookup of the name to the last byte; 30 seconds
    /// unless set.
    #[must_use]
    pub fn timeout(self, limit: Duration) -> Self {
        Self { limit, ..self }
    }

    /// Connects only to addresses that are allowed.
    ///
    /// They are asked about after the name was looked up, and what was allowed is what is connected
    /// to. Where the way leads over a proxy that looks up names itself, nobody here knows the
    /// address: then only a host that is written as an address is asked about.
    #[must_use]
    pub fn addresses(self, allowed: impl Fn(IpAddr) -> bool + Send + Sync + 'static) -> Self {
        Self { way: self.way.addresses(Arc::new(allowed)), ..self }
    }

    /// Sends a request and reads its whole answer, whatever the status.
    ///
    /// The URL goes out as it is written, without its fragment.
    ///
    /// # Errors
    ///
    /// [`TransportFault::Usage`]: the URL is none, or neither `http` nor `https`, or names a user.
    /// [`TransportFault::Connect`]: no address is allowed or answers. Else as for messages:
    /// [`Timeout`](TransportFault::Timeout), [`TooLarge`](TransportFault::TooLarge),
    /// [`Tls`](TransportFault::Tls), [`Closed`](TransportFault::Closed).
    ///
    /// # Cancel safety
    ///
    /// Dropping the future closes the connection; the server may have acted all the same.
    pub async fn send(
        &self,
        method: Method,
        url: &str,
        mut headers: HeaderMap,
        body: Vec<u8>,
    ) -> Result<Response<Vec<u8>>, TransportError> {
        let target = Target::parse(url)?;
        if let Ok(address) = target.host().parse() {
            self.way.check(address)?;
        }
        let way = self.way.to(target)?;
        let wire = way.wire();
        headers.insert(HOST, wire.target.authority().clone());
        if body.is_empty() && method == Method::POST {
            headers.insert(CONTENT_LENGTH, 0.into());
        }
        let mut request = Request::new(RequestBody::new(Bytes::from(body), None));
        *request.method_mut() = method;
        *request.uri_mut() = wire.uri(&wire.target).clone();
        *request.headers_mut() = headers;
        let run = async {
            let answer = wire.backend.send(request).await?;
            let mut response = Response::new(answer.body.whole(wire.limits.body_bytes).await?);
            *response.status_mut() = answer.status;
            *response.headers_mut() = answer.headers;
            Ok(response)
        };
        timeout(self.limit, run).await.unwrap_or_else(|_| {
            let why = format!("no answer from {} within {:?}", wire.target.shown(), self.limit);
            Err(TransportError::new(TransportFault::Timeout, why))
        })
    }
}

impl Default for Errands {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Errands {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Errands").field("limit", &self.limit).finish_non_exhaustive()
    }
}

/// Which addresses may be connected to.
#[derive(Clone, Default)]
pub(crate) struct Addresses(Option<Arc<dyn Fn(IpAddr) -> bool + Send + Sync>>);

impl Addresses {
    pub(crate) fn only(allowed: Arc<dyn Fn(IpAddr) -> bool + Send + Sync>) -> Self {
        Self(Some(allowed))
    }

    pub(crate) fn allow(&self, address: IpAddr) -> bool {
        self.0.as_ref().is_none_or(|allowed| allowed(address))
    }
}

impl fmt::Debug for Addresses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "some" } else { "all" })
    }
}

/// How long an errand may take, unless set.
const WITHIN: Duration = Duration::from_secs(30);
