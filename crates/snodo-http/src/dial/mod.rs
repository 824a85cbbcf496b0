//! A new connection: the way to the server, TLS, and the task that moves its bytes.

mod handshake;
mod socket;
mod tcp;

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use snodo_types::{TransportError, TransportFault};
use tokio::time::timeout;

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
    secure: Secure,
    pub(crate) version: HttpVersion,
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
    ) -> Self {
        let secure = tls.secure(version);
        Self { target, limits, secure, version, last: AtomicU8::new(0) }
    }

    /// How requests name their place.
    pub(crate) fn form(&self) -> Form {
        Form::Origin
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
        let tcp = tcp::reach(&self.target, &self.limits).await?;
        if !self.target.is_https() {
            return match self.version {
                HttpVersion::Http2 => handshake::many(self, tcp).await,
                HttpVersion::Http1 | HttpVersion::Negotiated => handshake::one(self, tcp).await,
            };
        }
        let Secured { socket, speaks_http2 } =
            self.secure.connect(&self.target, Box::new(tcp)).await?;
        if speaks_http2 || self.version == HttpVersion::Http2 {
            handshake::many(self, socket).await
        } else {
            handshake::one(self, socket).await
        }
    }
}

const ONE: u8 = 1;
const MANY: u8 = 2;
