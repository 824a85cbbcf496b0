//! How to reach a server: the builder that people write.

use std::borrow::Cow;
use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use snodo_transport::Connect;
use snodo_types::{TransportError, TransportFault};
use tokio::runtime::Handle;

use crate::backend::{Backend, Stack};
use crate::credentials::{Credentials, Erased};
use crate::decode::Codings;
use crate::dial::{Dial, Route};
use crate::errands::{Addresses, Errands};
use crate::event_stream::EventStream;
use crate::fault;
use crate::headers::{Fixed, Templates, bearer};
use crate::limits::Limits;
use crate::patience::Patience;
use crate::provider::Provider;
use crate::proxy::Proxies;
use crate::redirect;
use crate::runtime;
use crate::target::Target;
use crate::tls::Tls;
use crate::transport::HttpTransport;
use crate::version::HttpVersion;
use crate::wire::Wire;

/// A server that is reached over Streamable HTTP.
///
/// Connecting sends nothing; the first message opens the first connection. Connections at rest are
/// shared by all transports that one `Http` and its clones make, and end with the last of them.
///
/// ```
/// use std::time::Duration;
///
/// use snodo_http::Http;
/// use snodo_transport::Connect;
///
/// let server = Http::new("http://localhost:3000/mcp?key=k")?
///     .header("x-tenant", "blue")?
///     .bearer("token")?
///     .connect_timeout(Duration::from_secs(3));
/// assert_eq!(server.target(), "http://localhost:3000/mcp");
/// # Ok::<(), snodo_types::TransportError>(())
/// ```
#[derive(Clone)]
#[must_use]
pub struct Http {
    target: Arc<Target>,
    limits: Limits,
    fixed: Fixed,
    pub(crate) tls: Tls,
    version: HttpVersion,
    pub(crate) stack: Stack,
    pub(crate) codings: Codings,
    pub(crate) proxies: Option<Proxies>,
    /// The file of a Unix socket.
    pub(crate) socket: Option<PathBuf>,
    credentials: Option<Arc<dyn Erased>>,
    pub(crate) provider: Option<Provider>,
    /// Made by the first connect, of this value or a clone.
    wire: Arc<OnceLock<Arc<Wire>>>,
}

impl Http {
    /// Takes the URL of the one MCP endpoint. A fragment is dropped.
    ///
    /// # Errors
    ///
    /// The URL is neither `http` nor `https`, holds a user name or a password, or is no URL
    /// ([`TransportFault::Usage`]); it is `https` and this build has no TLS
    /// ([`TransportFault::Unsupported`]).
    pub fn new(url: impl AsRef<str>) -> Result<Self, TransportError> {
        let target = Target::parse(url.as_ref())?;
        let tls = Tls::default();
        tls.check(&target)?;
        Ok(Self {
            target: Arc::new(target),
            limits: Limits::default(),
            fixed: Fixed::default(),
            tls,
            version: HttpVersion::default(),
            stack: Stack::default(),
            codings: Codings::default(),
            proxies: None,
            socket: None,
            credentials: None,
            provider: None,
            wire: Arc::default(),
        })
    }

    /// Adds a header to every request: each message, the GET stream and the DELETE.
    ///
    /// Values are taken for secrets and never shown. An `accept` is added behind the media types
    /// of the protocol.
    ///
    /// # Errors
    ///
    /// [`TransportFault::Usage`]: the name is none, or one that the transport or the protocol sets
    /// itself (`host`, `content-type`, `content-length`, `transfer-encoding`, `connection`,
    /// `mcp-…` and the like); the value has a character that is not visible ASCII, space or tab.
    pub fn header(self, name: &str, value: &str) -> Result<Self, TransportError> {
        let mut fixed = self.fixed.clone();
        fixed.add(name, value)?;
        Ok(self.with(|http| http.fixed = fixed))
    }

    /// Sends a bearer token with every request. For one that changes, see [`credentials`](Self::credentials).
    ///
    /// # Errors
    ///
    /// [`TransportFault::Usage`]: the token is empty or has a character that a header cannot carry.
    pub fn bearer(self, token: &str) -> Result<Self, TransportError> {
        let value = bearer(token)?;
        Ok(self.with(|http| http.fixed.authorize(value)))
    }

    /// Asks for the headers that identify the caller before every request.
    ///
    /// Not together with a fixed `authorization`: that is refused when connecting.
    pub fn credentials(self, credentials: impl Credentials) -> Self {
        self.with(|http| http.credentials = Some(Arc::new(credentials)))
    }

    /// How the version of HTTP is settled; [`HttpVersion::Negotiated`] unless set.
    ///
    /// Over HTTP/2 all requests share one connection, as long as the server takes so many at once
    /// (100 until it says so); past that a further one is opened.
    pub fn http_version(self, version: HttpVersion) -> Self {
        self.with(|http| http.version = version)
    }

    /// How long a connection may be silent before the peer is asked whether it is still there, by
    /// TCP and over HTTP/2 by a ping; 30 seconds unless set, never with [`Duration::MAX`].
    pub fn keep_alive(self, interval: Duration) -> Self {
        let interval = (interval < Duration::MAX).then_some(interval);
        self.with(|http| http.limits.keep_alive = interval)
    }

    /// How long name lookup, TCP and TLS may take together; 10 seconds unless set.
    ///
    /// It is the only clock of this transport: how long a request may take is the client's.
    pub fn connect_timeout(self, limit: Duration) -> Self {
        self.with(|http| http.limits.connect = limit)
    }

    /// The most bytes of one JSON body, or of one event on a stream; 16 MiB unless set.
    pub fn max_body_bytes(self, bytes: usize) -> Self {
        self.with(|http| http.limits.body_bytes = bytes)
    }

    /// The most bytes of a response's head; 64 KiB unless set. It has at most 100 headers.
    pub fn max_header_bytes(self, bytes: usize) -> Self {
        self.with(|http| http.limits.header_bytes = bytes)
    }

    /// The most connections that rest between requests; 32 unless set. With 0 each request has a
    /// connection of its own.
    pub fn pool_idle(self, connections: usize) -> Self {
        self.with(|http| http.limits.idle = connections)
    }

    /// How long a connection rests before it is closed; 4 seconds unless set, which is shorter
    /// than the patience of common servers.
    pub fn pool_idle_timeout(self, limit: Duration) -> Self {
        self.with(|http| http.limits.idle_timeout = limit)
    }

    /// The most requests at once; unlimited unless set, at least 1. Others wait their turn within
    /// their own deadline. An open event stream does not count.
    pub fn pool_max_requests_at_once(self, requests: usize) -> Self {
        self.with(|http| http.limits.at_once = Some(requests))
    }

    /// The most requests over one connection; unlimited unless set.
    pub fn pool_max_requests_per_connection(self, requests: usize) -> Self {
        self.with(|http| http.limits.per_connection = Some(requests))
    }

    /// How often in a row a broken event stream is asked for again with nothing coming of it;
    /// 5 unless set, 0 for never.
    ///
    /// A message, a new event id, or a stream that stays open for 5 seconds makes the next attempt
    /// the first again. Each waits for what the server named last in `retry`, or for
    /// [`resume_delay`](Self::resume_delay), and twice as long as the one before, up to 30 seconds
    /// (or the server's own wait, if that is longer) and a quarter by chance. The caller's deadline
    /// runs meanwhile.
    pub fn resume_attempts(self, attempts: u32) -> Self {
        self.with(|http| http.limits.resume_attempts = attempts)
    }

    /// How long a broken event stream is left alone where its server names no `retry`; 1 second
    /// unless set, at least 10 milliseconds.
    pub fn resume_delay(self, delay: Duration) -> Self {
        self.with(|http| http.limits.resume_delay = delay)
    }

    /// The same way to another URL of the same server, with the same headers and credentials: for
    /// transports that are built on this one. A reference is resolved against the URL.
    ///
    /// ```
    /// use snodo_http::Http;
    /// use snodo_transport::Connect;
    ///
    /// let server = Http::new("http://localhost:3001/sse")?;
    /// assert_eq!(server.at("/messages?session=1")?.target(), "http://localhost:3001/messages");
    /// assert!(server.at("http://elsewhere.example/messages").is_err());
    /// # Ok::<(), snodo_types::TransportError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`TransportFault::Usage`]: it is no URL, or leads to another scheme, host or port, which would
    /// be handed what belongs to this one.
    pub fn at(&self, reference: &str) -> Result<Self, TransportError> {
        let target = redirect::within(&self.target, reference).ok_or_else(|| {
            let (from, to) = (self.target.shown(), self.target.show_location(reference));
            let why = format!("{to} is no place on the server of {from}");
            TransportError::new(TransportFault::Usage, why).not_processed()
        })?;
        Ok(self.clone().with(|http| http.target = Arc::new(target)))
    }

    /// Opens an event stream by GET: for transports that are built on this one. It carries the same
    /// headers and credentials as a message. The server has to answer within `limit`; a login does
    /// not count.
    ///
    /// # Errors
    ///
    /// As for messages; [`TransportFault::Timeout`] past the limit. A status that is no success, and a
    /// success that is no event stream, is an error too.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future closes the connection.
    pub async fn events(&self, limit: Duration) -> Result<EventStream, TransportError> {
        self.check_connect()?;
        EventStream::open(self.wire(), limit).await
    }

    /// Refuses what contradicts itself.
    fn check_connect(&self) -> Result<Handle, TransportError> {
        if self.credentials.is_some() && self.fixed.has_authorization() {
            let why = "credentials and a fixed authorization header contradict each other";
            return Err(TransportError::new(TransportFault::Usage, why).not_processed());
        }
        if let Some(why) = self.tls.contradiction() {
            return Err(TransportError::new(TransportFault::Usage, why).not_processed());
        }
        // A layer may answer by itself, without sockets.
        if self.stack.is_empty() {
            return runtime::check();
        }
        Handle::try_current().map_err(|_| fault::no_runtime())
    }

    /// The way that connections go.
    fn route(&self) -> Route {
        #[cfg(unix)]
        if let Some(path) = &self.socket {
            return Route::Unix(path.clone());
        }
        let found = match &self.proxies {
            Some(proxies) => proxies.of(&self.target),
            None => match Proxies::from_environment() {
                Ok(proxies) => proxies.of(&self.target),
                Err(error) => return Route::Unknown(error),
            },
        };
        found.map_or(Route::Direct, Route::Proxy)
    }

    /// Changes the configuration; what was connected before keeps the old one.
    pub(crate) fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self.wire = Arc::default();
        self
    }

    /// Errands that are run the way that messages go: the same TLS, whatever else is set.
    #[must_use]
    pub fn errands(&self) -> Errands {
        Errands::by(self)
    }

    /// The same way to servers, with nothing that belongs to this one: no header, no credentials,
    /// no connection that rests.
    pub(crate) fn bare(&self) -> Self {
        self.clone().with(|http| {
            http.fixed = Fixed::default();
            http.credentials = None;
            http.provider = None;
            http.version = HttpVersion::default();
            http.stack = http.stack.without_layers();
            http.socket = None;
            http.codings = Codings::default();
            http.limits.idle = 0;
            http.limits.at_once = None;
        })
    }

    /// The same way to another server.
    pub(crate) fn to(&self, target: Target) -> Result<Self, TransportError> {
        self.tls.check(&target)?;
        Ok(self.clone().with(|http| http.target = Arc::new(target)))
    }

    /// Refuses an address that must not be connected to, whoever would connect.
    pub(crate) fn check(&self, address: IpAddr) -> Result<(), TransportError> {
        if self.limits.addresses.allow(address) {
            return Ok(());
        }
        let why = format!("{address} must not be connected to");
        Err(TransportError::new(TransportFault::Connect, why).not_processed())
    }

    /// Connects only to some addresses.
    pub(crate) fn addresses(self, allowed: Arc<dyn Fn(IpAddr) -> bool + Send + Sync>) -> Self {
        self.with(|http| http.limits.addresses = Addresses::only(allowed))
    }

    pub(crate) fn wire(&self) -> Arc<Wire> {
        let wire = self.wire.get_or_init(|| {
            let (target, limits) = (Arc::clone(&self.target), self.limits.clone());
            Arc::new(Wire {
                target: Arc::clone(&target),
                limits: limits.clone(),
                templates: Templates::new(&target, &self.fixed, self.codings.offered()),
                codings: self.codings,
                backend: Backend::new(
                    Dial::new(target, limits.clone(), &self.tls, self.version, self.route()),
                    limits,
                    &self.stack,
                ),
                credentials: self.credentials.clone(),
                provider: self.provider.clone(),
                errands: self.credentials.is_some().then(|| Errands::by(self)),
                patience: Patience::default(),
                caller: self.fixed.caller(),
            })
        });
        Arc::clone(wire)
    }
}

impl Connect for Http {
    type Transport = HttpTransport;

    async fn connect(&self) -> Result<HttpTransport, TransportError> {
        let runtime = self.check_connect()?;
        Ok(HttpTransport::new(self.wire(), runtime))
    }

    fn target(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.target.shown())
    }

    /// The URL; `None` where more decides which server it is: a query, a header of the caller's own
    /// beside `authorization` and `cookie`, a TLS configuration, a service or a layer, a socket's path.
    fn origin(&self) -> Option<String> {
        let plain = self.target.url() == self.target.shown()
            && self.fixed.tells_callers_only()
            && self.tls.is_shared()
            && self.stack.is_empty()
            && self.provider.is_none()
            && self.socket.is_none();
        plain.then(|| self.target.shown().to_owned())
    }
}

impl fmt::Debug for Http {
    /// Shows names of headers, never a value.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Http")
            .field("target", &self.target.shown())
            .field("headers", &self.fixed.names().collect::<Vec<_>>())
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
