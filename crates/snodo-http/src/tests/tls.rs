//! TLS: an own configuration, a certificate nobody vouches for, a server without TLS.

use std::sync::Arc;

use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use snodo_transport::{Connect as _, Transport as _};
use snodo_types::{Processed, TransportFault};
use tokio::sync::Barrier;
use tokio_rustls::TlsAcceptor;

use super::http2_server::{Deed, Door, Http2Server};
use super::server::{Seen, Server, json, soon};
use super::{connect, failure, read, request, result, told};
use crate::{Http, HttpVersion};

const RESULT: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;

/// For `localhost`, signed by its own key, good from 2020 to 2120. Both were made by `openssl ca
/// -selfsign` with `basicConstraints=CA:FALSE`; the key guards nothing but these tests.
const CERTIFICATE: &[u8] = include_bytes!("localhost/certificate.der");
const KEY: &[u8] = include_bytes!("localhost/key.der");
const CERTIFICATE_PEM: &str = include_str!("localhost/certificate.pem");
const KEY_PEM: &str = include_str!("localhost/key.pem");

async fn secured() -> Server {
    Server::secured(acceptor(&["h2", "http/1.1"], false), |_: &Seen| json(RESULT)).await
}

/// Speaks these versions, the first one before the others; may want to know who the client is.
fn acceptor(versions: &[&str], knows_clients: bool) -> TlsAcceptor {
    let key = PrivatePkcs8KeyDer::from(KEY).into();
    let builder = ServerConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .expect("versions");
    let builder = if knows_clients {
        let clients = WebPkiClientVerifier::builder_with_provider(roots().into(), provider());
        builder.with_client_cert_verifier(clients.build().expect("a verifier"))
    } else {
        builder.with_no_client_auth()
    };
    let chain = vec![CertificateDer::from(CERTIFICATE)];
    let mut config = builder.with_single_cert(chain, key).expect("a certificate");
    config.alpn_protocols = versions.iter().map(|version| version.as_bytes().to_vec()).collect();
    TlsAcceptor::from(Arc::new(config))
}

fn roots() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from(CERTIFICATE)).expect("a root");
    roots
}

fn provider() -> Arc<rustls::crypto::CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

fn trusting() -> Arc<ClientConfig> {
    let builder = ClientConfig::builder_with_provider(provider());
    let builder = builder.with_safe_default_protocol_versions().expect("versions");
    Arc::new(builder.with_root_certificates(roots()).with_no_client_auth())
}

fn https(server: &Server) -> Http {
    https_at(server.port())
}

fn https_at(port: u16) -> Http {
    Http::new(format!("https://localhost:{port}/mcp")).expect("a URL")
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

#[tokio::test]
async fn who_waited_for_a_connection_that_failed_shares_its_failure() {
    let server = Server::greeting("SSH-2.0-OpenSSH\r\n").await;
    let transport = connect(https(&server)).await;
    let calls: Vec<_> =
        (0..4).map(|_| tokio::spawn(read(transport.exchange(request(1))))).collect();
    for call in calls {
        assert_eq!(told(&soon(call).await.expect("no panic")), ["!Tls"]);
    }
    assert_eq!(server.accepted(), 1);
}

// S-11
#[tokio::test]
async fn a_further_root_is_trusted_and_the_server_chooses_the_version() {
    let trusted = |http: Http| http.root_certificates(CERTIFICATE_PEM).expect("a root");
    for (offered, chosen) in
        [(HttpVersion::Negotiated, 2), (HttpVersion::Http2, 2), (HttpVersion::Http1, 1)]
    {
        let barrier = Arc::new(Barrier::new(8));
        let deeds = move |_: &str| Deed::Gather(barrier.clone(), RESULT.to_owned());
        let two = Http2Server::behind(Door::Tls(acceptor(&["h2"], false)), 99, deeds).await;
        let one = Server::secured(acceptor(&["http/1.1"], false), |_: &Seen| json(RESULT)).await;
        let port = if chosen == 2 { two.port() } else { one.port() };
        let transport = connect(trusted(https_at(port)).http_version(offered)).await;
        let calls: Vec<_> =
            (0..8).map(|_| tokio::spawn(read(transport.exchange(request(1))))).collect();
        for call in calls {
            assert_eq!(told(&soon(call).await.expect("no panic")), [RESULT]);
        }
        let accepted = (one.accepted() > 0, two.accepted());
        assert_eq!(accepted, if chosen == 2 { (false, 1) } else { (true, 0) });
    }
    let one = Server::secured(acceptor(&["http/1.1"], false), |_: &Seen| json(RESULT)).await;
    soon(result(&connect(trusted(https(&one))).await, 1)).await;
}

// S-11
#[tokio::test]
async fn a_server_that_asks_who_the_client_is_is_shown_its_certificate() {
    let server = Server::secured(acceptor(&["http/1.1"], true), |_: &Seen| json(RESULT)).await;
    let trusted = https(&server).root_certificates(CERTIFICATE_PEM).expect("a root");
    let known = trusted.clone().client_certificate(CERTIFICATE_PEM, KEY_PEM).expect("an identity");
    soon(result(&connect(known).await, 1)).await;
    soon(failure(&connect(trusted).await, 1)).await;
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn certificates_that_cannot_be_read_are_refused_and_no_key_is_shown() {
    let http = || https_at(1);
    assert!(http().root_certificates("").is_err());
    assert!(http().root_certificates(KEY_PEM).is_err());
    let broken = CERTIFICATE_PEM.replace("MII", "M!!");
    assert!(http().root_certificates(broken).is_err());
    for (chain, key) in [(CERTIFICATE_PEM, CERTIFICATE_PEM), (KEY_PEM, KEY_PEM)] {
        let error = http().client_certificate(chain, key).expect_err("not an identity");
        assert_eq!(error.fault(), TransportFault::Usage);
    }
    let both = http().root_certificates(CERTIFICATE_PEM).expect("a root").tls_config(trusting());
    assert_eq!(both.connect().await.expect_err("both").fault(), TransportFault::Usage);
    let known = http().client_certificate(CERTIFICATE_PEM, KEY_PEM).expect("an identity");
    assert!(!format!("{known:?}").contains("KEY"));
}
