//! A new connection: the way to the server, TLS, and the task that moves its bytes.

mod handshake;
mod route;
mod socket;
mod socks;
mod tcp;
mod tunnel;

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use http::HeaderValue;
use snodo_types::{TransportError, TransportFault};
use tokio::time::timeout;

pub(crate) use self::route::Route;
pub(crate) use self::socket::{Secured, Socket};
use crate::backend::Form;
use crate::limits::Limits;
use crate::pool::Carrier;
use crate::target::Target;
use crate::tls::{Secure, Tls};
use crate::version::HttpVersion;

/// How connections to one server are opened.
pub(crate) struct Dial {
    pub(crate) target: Arc<Target>,
    pub(crate) limits: Limits,
    route: Route,
    secure: Secure,
    /// For a proxy that wants TLS itself.
    secure_proxy: Secure,
    version: HttpVersion,
    /// What the last connection turned out to be; 0 before the first.
    last: AtomicU8,
}

/// What a new connection will be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    /// One that all share, or nobody can tell.
    Many,
    /// One for a request at a time.
    One,
}

impl Dial {
    pub(crate) fn new(
        target: Arc<Target>,
        limits: Limits,
        tls: &Tls,
        version: HttpVersion,
        route: Route,
    ) -> Self {
        let (secure, secure_proxy) = (tls.secure(version), tls.secure_proxy());
        Self { target, limits, route, secure, secure_proxy, version, last: AtomicU8::new(0) }
    }

    /// How requests name their place: an HTTP proxy is told the whole of it, unless it is to let
    /// everything through unseen.
    pub(crate) fn form(&self) -> Form {
        if self.forwarding().is_some() { Form::Absolute } else { Form::Origin }
    }

    /// What a proxy that reads the requests wants to see in each.
    pub(crate) fn proxy_authorization(&self) -> Option<HeaderValue> {
        self.forwarding()?.authorization()
    }

    pub(crate) fn expected(&self) -> Expected {
        match self.version {
            HttpVersion::Http1 => Expected::One,
            HttpVersion::Http2 => Expected::Many,
            HttpVersion::Negotiated if !self.target.is_https() => Expected::One,
            HttpVersion::Negotiated if self.last.load(Ordering::Relaxed) == ONE => Expected::One,
            HttpVersion::Negotiated => Expected::Many,
        }
    }

    /// Opens a connection within the connect timeout.
    pub(crate) async fn open(&self) -> Result<Carrier, TransportError> {
        let limit = self.limits.connect;
        let opened = match timeout(limit, self.connect()).await {
            Ok(outcome) => outcome.map_err(TransportError::not_processed)?,
            Err(_) => {
                let why = format!("no connection to {} within {limit:?}", self.target.shown());
                return Err(TransportError::new(TransportFault::Timeout, why).not_processed());
            }
        };
        let last = if matches!(opened, Carrier::One(_)) { ONE } else { MANY };
        self.last.store(last, Ordering::Relaxed);
        Ok(opened)
    }

    async fn connect(&self) -> Result<Carrier, TransportError> {
        let socket: Socket = match &self.route {
            Route::Direct => {
                let tcp = self.reach_directly().await?;
                if !self.target.is_https() && self.version != HttpVersion::Http2 {
                    return handshake::one(self, tcp).await;
                }
                Box::new(tcp)
            }
            Route::Proxy(proxy) => self.reach_over(proxy).await?,
            #[cfg(unix)]
            Route::Unix(path) => route::reach_file(&self.target, path).await?,
            Route::Unknown(error) => return Err(error.clone()),
        };
        if !self.target.is_https() {
            return match self.version {
                HttpVersion::Http2 => handshake::many(self, socket).await,
                HttpVersion::Http1 | HttpVersion::Negotiated => handshake::one(self, socket).await,
            };
        }
        let Secured { socket, speaks_http2 } =
            self.secure.connect(self.target.host(), self.target.shown(), socket).await?;
        if speaks_http2 || self.version == HttpVersion::Http2 {
            handshake::many(self, socket).await
        } else {
            handshake::one(self, socket).await
        }
    }
}

const ONE: u8 = 1;
const MANY: u8 = 2;
