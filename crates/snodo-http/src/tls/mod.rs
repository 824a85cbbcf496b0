//! TLS: one configuration for all clients of the process, built when the first of them needs it,
//! or one of a client's own.

use std::sync::{Arc, OnceLock};

use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, client::danger::ServerCertVerifier};
use rustls_platform_verifier::Verifier;
use snodo_types::{TransportError, TransportFault};
use tokio_rustls::TlsConnector;

use crate::connector::Http;
use crate::dial::{Secured, Socket};
use crate::target::Target;
use crate::version::HttpVersion;

/// What a caller wants of TLS.
#[derive(Clone, Default)]
pub(crate) struct Tls {
    whole: Option<Arc<ClientConfig>>,
    roots: Vec<CertificateDer<'static>>,
    identity: Option<Arc<Identity>>,
}

/// Who this side is.
struct Identity {
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
}

/// Secures the connections of one pool.
pub(crate) struct Secure {
    tls: Tls,
    version: HttpVersion,
    config: OnceLock<Result<Arc<ClientConfig>, rustls::Error>>,
}

impl Http {
    /// Trusts further certificate authorities for `https`, beside those of the platform.
    ///
    /// `pem` holds one certificate or several. Not together with [`tls_config`](Self::tls_config).
    ///
    /// # Errors
    ///
    /// [`TransportFault::Usage`]: there is no certificate in it, or a broken one.
    pub fn root_certificates(self, pem: impl AsRef<[u8]>) -> Result<Self, TransportError> {
        let more = certificates(pem.as_ref())?;
        Ok(self.with(|http| http.tls.roots.extend(more)))
    }

    /// Shows a certificate to servers that ask for one (mutual TLS): the chain, the client's own
    /// first, and the private key, both as PEM.
    ///
    /// Not together with [`tls_config`](Self::tls_config).
    ///
    /// # Errors
    ///
    /// [`TransportFault::Usage`]: there is no certificate or no key in them, or a broken one.
    pub fn client_certificate(
        self,
        chain: impl AsRef<[u8]>,
        key: impl AsRef<[u8]>,
    ) -> Result<Self, TransportError> {
        let chain = certificates(chain.as_ref())?;
        let key = PrivateKeyDer::from_pem_slice(key.as_ref())
            .map_err(|_| usage("there is no private key in this PEM"))?;
        let identity = Some(Arc::new(Identity { chain, key }));
        Ok(self.with(|http| http.tls.identity = identity))
    }

    /// Secures `https` connections by a configuration of the caller's, as it is, in place of the
    /// one that all clients of a process share (the platform's roots, ring, and what
    /// [`http_version`](Self::http_version) says). HTTP/2 is spoken where its ALPN list leads there.
    pub fn tls_config(self, config: Arc<ClientConfig>) -> Self {
        self.with(|http| http.tls.whole = Some(config))
    }
}

impl Tls {
    /// Nothing: with this build every URL can be reached.
    pub(crate) fn check(&self, _target: &Target) -> Result<(), TransportError> {
        Ok(())
    }

    /// Whether it is what all clients of a process share.
    pub(crate) fn is_shared(&self) -> bool {
        self.whole.is_none() && self.roots.is_empty() && self.identity.is_none()
    }

    /// Whether what the caller said contradicts itself.
    pub(crate) fn contradiction(&self) -> Option<&'static str> {
        let parts = !self.roots.is_empty() || self.identity.is_some();
        (self.whole.is_some() && parts)
            .then_some("a whole TLS configuration leaves no room for certificates beside it")
    }

    pub(crate) fn secure(&self, version: HttpVersion) -> Secure {
        Secure { tls: self.clone(), version, config: OnceLock::new() }
    }

    /// For a proxy, which speaks HTTP/1.1.
    pub(crate) fn secure_proxy(&self) -> Secure {
        let mut tls = self.clone();
        tls.whole = tls.whole.map(|whole| {
            let mut config = (*whole).clone();
            config.alpn_protocols = offered(HttpVersion::Http1);
            Arc::new(config)
        });
        tls.secure(HttpVersion::Http1)
    }
}

impl Secure {
    /// Shakes hands over a connection.
    pub(crate) async fn connect(
        &self,
        host: &str,
        shown: &str,
        socket: Socket,
    ) -> Result<Secured, TransportError> {
        let config = self.config.get_or_init(|| self.build()).clone();
        let config = config
            .map_err(|error| failed(format!("TLS cannot be set up: {error}")).with_source(error))?;
        let name = ServerName::try_from(host.to_owned()).map_err(|error| {
            failed(format!("{shown} has no name for TLS: {error}")).with_source(error)
        })?;
        let stream = TlsConnector::from(config)
            .connect(name, socket)
            .await
            .map_err(|error| failed(format!("no TLS with {shown}: {error}")).with_source(error))?;
        let speaks_http2 = stream.get_ref().1.alpn_protocol() == Some(HTTP2);
        Ok(Secured { socket: Box::new(stream), speaks_http2 })
    }

    fn build(&self) -> Result<Arc<ClientConfig>, rustls::Error> {
        if let Some(whole) = &self.tls.whole {
            return Ok(Arc::clone(whole));
        }
        let plain = self.tls.roots.is_empty() && self.tls.identity.is_none();
        let mut config = match (plain, self.version) {
            (true, HttpVersion::Negotiated) => return shared(),
            (true, _) => (*shared()?).clone(),
            (false, _) => self.own()?,
        };
        config.alpn_protocols = offered(self.version);
        Ok(Arc::new(config))
    }

    fn own(&self) -> Result<ClientConfig, rustls::Error> {
        let provider = provider();
        let verifier = verifier(&self.tls.roots, &provider)?;
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .dangerous()
            .with_custom_certificate_verifier(verifier);
        match &self.tls.identity {
            Some(identity) => {
                builder.with_client_auth_cert(identity.chain.clone(), identity.key.clone_key())
            }
            None => Ok(builder.with_no_client_auth()),
        }
    }
}

/// The process's configuration: the platform's roots, ring, HTTP/2 or HTTP/1.1.
///
/// It takes milliseconds and 150 KiB to build, which a plain `http` client never pays.
fn shared() -> Result<Arc<ClientConfig>, rustls::Error> {
    static SHARED: OnceLock<Result<Arc<ClientConfig>, rustls::Error>> = OnceLock::new();
    let built = SHARED.get_or_init(|| {
        let verifier = verifier(&[], &provider())?;
        let mut config = ClientConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()?
            .dangerous()
            .with_custom_certificate_verifier(verifier)
            .with_no_client_auth();
        config.alpn_protocols = offered(HttpVersion::Negotiated);
        Ok(Arc::new(config))
    });
    built.clone()
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

/// What the platform trusts, and these too.
#[cfg(not(target_os = "android"))]
fn verifier(
    roots: &[CertificateDer<'static>],
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>, rustls::Error> {
    let roots = roots.iter().cloned();
    Ok(Arc::new(Verifier::new_with_extra_roots(roots, Arc::clone(provider))?))
}

/// What the platform trusts: there no more can be added to it.
#[cfg(target_os = "android")]
fn verifier(
    roots: &[CertificateDer<'static>],
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>, rustls::Error> {
    match roots {
        [] => Ok(Arc::new(Verifier::new(Arc::clone(provider))?)),
        _ => Err(rustls::Error::General("Android trusts its own roots alone".to_owned())),
    }
}

fn offered(version: HttpVersion) -> Vec<Vec<u8>> {
    match version {
        HttpVersion::Http1 => vec![HTTP1.to_vec()],
        HttpVersion::Http2 => vec![HTTP2.to_vec()],
        HttpVersion::Negotiated => vec![HTTP2.to_vec(), HTTP1.to_vec()],
    }
}

fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, TransportError> {
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let found = read.map_err(|_| usage("a certificate in this PEM is broken"))?;
    if found.is_empty() { Err(usage("there is no certificate in this PEM")) } else { Ok(found) }
}

fn failed(message: String) -> TransportError {
    TransportError::new(TransportFault::Tls, message)
}

fn usage(why: &str) -> TransportError {
    TransportError::new(TransportFault::Usage, why).not_processed()
}

const HTTP1: &[u8] = b"http/1.1";
const HTTP2: &[u8] = b"h2";
