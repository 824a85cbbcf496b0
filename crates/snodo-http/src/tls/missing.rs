//! A build without TLS: `https` is refused with a reason.

use snodo_types::{TransportError, TransportFault};

use crate::dial::{Secured, Socket};
use crate::target::Target;
use crate::version::HttpVersion;

/// What stands in for TLS.
#[derive(Clone, Default)]
pub(crate) struct Tls {}

/// What stands in for a handshake.
pub(crate) struct Secure {}

impl Tls {
    /// Refuses `https` before anything is sent.
    pub(crate) fn check(&self, target: &Target) -> Result<(), TransportError> {
        if target.is_https() { Err(missing(target.shown())) } else { Ok(()) }
    }

    /// Whether it is what all clients of a process share.
    pub(crate) fn is_shared(&self) -> bool {
        true
    }

    pub(crate) fn contradiction(&self) -> Option<&'static str> {
        None
    }

    pub(crate) fn secure(&self, _version: HttpVersion) -> Secure {
        Secure {}
    }

    pub(crate) fn secure_proxy(&self) -> Secure {
        Secure {}
    }
}

impl Secure {
    pub(crate) async fn connect(
        &self,
        _host: &str,
        shown: &str,
        _socket: Socket,
    ) -> Result<Secured, TransportError> {
        Err(missing(shown))
    }
}

fn missing(shown: &str) -> TransportError {
    let why = format!("{shown} needs the feature `tls`, which this build lacks");
    TransportError::new(TransportFault::Unsupported, why).not_processed()
}
