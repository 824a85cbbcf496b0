//! TLS: an own configuration, a certificate nobody vouches for, a server without TLS.

use std::sync::Arc;

use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use snodo_types::{Processed, TransportFault};
use tokio_rustls::TlsAcceptor;

use super::server::{Seen, Server, json, soon};
use super::{connect, failure, result};
use crate::Http;

const RESULT: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;

/// For `localhost`, signed by its own key, good from 2020 to 2120. Both were made by `openssl ca
/// -selfsign` with `basicConstraints=CA:FALSE`; the key guards nothing but these tests.
const CERTIFICATE: &[u8] = include_bytes!("localhost/certificate.der");
const KEY: &[u8] = include_bytes!("localhost/key.der");

async fn secured() -> Server {
    let key = PrivatePkcs8KeyDer::from(KEY).into();
    let mut config = ServerConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![CertificateDer::from(CERTIFICATE)], key)
        .expect("a certificate");
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let acceptor = TlsAcceptor::from(Arc::new(config));
    Server::secured(acceptor, |_: &Seen| json(RESULT)).await
}

fn provider() -> Arc<rustls::crypto::CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

fn trusting() -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from(CERTIFICATE)).expect("a root");
    let builder = ClientConfig::builder_with_provider(provider());
    let builder = builder.with_safe_default_protocol_versions().expect("versions");
    Arc::new(builder.with_root_certificates(roots).with_no_client_auth())
}

fn https(server: &Server) -> Http {
    Http::new(format!("https://localhost:{}/mcp", server.port())).expect("a URL")
}

// S-11
#[tokio::test]
async fn a_configuration_of_the_caller_s_secures_the_connection_which_is_used_again() {
    let server = secured().await;
    let http = https(&server).tls_config(trusting());
    let transport = connect(http.clone()).await;
    for _ in 0..5 {
        soon(result(&transport, 1)).await;
    }
    assert_eq!((server.seen().len(), server.accepted()), (5, 1));
    drop((http, transport));
    soon(server.open_is(0)).await;
}

#[tokio::test]
async fn a_certificate_nobody_vouches_for_is_refused_before_anything_is_sent() {
    let server = secured().await;
    let error = soon(failure(&connect(https(&server)).await, 1)).await;
    assert_eq!((error.fault(), error.processed()), (TransportFault::Tls, Processed::No), "{error}");
    assert!(std::error::Error::source(&error).is_some());
    assert_eq!(server.seen().len(), 0);
}

#[tokio::test]
async fn a_server_that_speaks_no_tls_is_told_apart() {
    let server = Server::greeting("SSH-2.0-OpenSSH\r\n").await;
    let error = soon(failure(&connect(https(&server)).await, 1)).await;
    assert_eq!((error.fault(), error.processed()), (TransportFault::Tls, Processed::No), "{error}");
}
