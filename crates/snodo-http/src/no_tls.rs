//! A build without TLS: `https` is refused with a reason.

use snodo_types::{TransportError, TransportFault};
use tokio::net::TcpStream;

use crate::target::Target;

/// What stands in for TLS.
#[derive(Clone, Default)]
pub(crate) struct Tls {}

impl Tls {
    /// Refuses `https` before anything is sent.
    pub(crate) fn check(&self, target: &Target) -> Result<(), TransportError> {
        if target.is_https() { Err(missing(target)) } else { Ok(()) }
    }

    pub(crate) async fn connect(
        &self,
        target: &Target,
        _tcp: TcpStream,
    ) -> Result<TcpStream, TransportError> {
        Err(missing(target))
    }
}

fn missing(target: &Target) -> TransportError {
    let why = format!("{} needs the feature `tls`, which this build lacks", target.shown());
    TransportError::new(TransportFault::Unsupported, why).not_processed()
}
