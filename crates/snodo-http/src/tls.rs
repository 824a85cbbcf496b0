//! TLS: one configuration for all clients of the process, built when the first of them needs it.

use std::sync::{Arc, OnceLock};

use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use rustls_platform_verifier::BuilderVerifierExt as _;
use snodo_types::{TransportError, TransportFault};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::connector::Http;
use crate::target::Target;

/// How an `https` connection is secured.
#[derive(Clone, Default)]
pub(crate) struct Tls {
    own: Option<Arc<ClientConfig>>,
}

impl Http {
    /// Secures `https` connections by a configuration of the caller's, in place of the one that
    /// all clients of a process share (the platform's roots, ring, HTTP/1.1). Its ALPN list must
    /// be empty or name `http/1.1` alone.
    pub fn tls_config(self, config: Arc<ClientConfig>) -> Self {
        self.with(|http| http.tls = Tls::with(config))
    }
}

impl Tls {
    /// A configuration of the caller's, as it is.
    fn with(config: Arc<ClientConfig>) -> Self {
        Self { own: Some(config) }
    }

    /// Nothing: with this build every URL can be reached.
    pub(crate) fn check(&self, _target: &Target) -> Result<(), TransportError> {
        Ok(())
    }

    pub(crate) async fn connect(
        &self,
        target: &Target,
        tcp: TcpStream,
    ) -> Result<TlsStream<TcpStream>, TransportError> {
        let config = match &self.own {
            Some(own) => Arc::clone(own),
            None => shared()?,
        };
        let name = ServerName::try_from(target.host().to_owned()).map_err(|error| {
            failed(format!("{} has no name for TLS: {error}", target.shown())).with_source(error)
        })?;
        TlsConnector::from(config).connect(name, tcp).await.map_err(|error| {
            failed(format!("no TLS with {}: {error}", target.shown())).with_source(error)
        })
    }
}

/// The process's configuration: the platform's roots, ring, HTTP/1.1.
///
/// It takes milliseconds and 150 KiB to build, which a plain `http` client never pays.
fn shared() -> Result<Arc<ClientConfig>, TransportError> {
    static SHARED: OnceLock<Result<Arc<ClientConfig>, rustls::Error>> = OnceLock::new();
    let built = SHARED.get_or_init(|| {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_platform_verifier()?
            .with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Arc::new(config))
    });
    built
        .clone()
        .map_err(|error| failed(format!("TLS cannot be set up: {error}")).with_source(error))
}

fn failed(message: String) -> TransportError {
    TransportError::new(TransportFault::Tls, message)
}
