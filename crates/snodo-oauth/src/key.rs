//! Private keys that sign: a client's own, and those that prove possession of a token.

use std::fmt;
use std::sync::Arc;

use ring::rand::SystemRandom;
use ring::rsa::PublicKeyComponents;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _, RSA_PKCS1_SHA256,
    RsaKeyPair,
};
use rustls_pki_types::PrivateKeyDer;
use rustls_pki_types::pem::PemObject as _;
use serde_json::{Value, json};

use crate::error::{Error, ErrorKind};
use crate::random::base64url;

/// A private key, with the one algorithm that it signs by.
///
/// - RSA of 2048 to 8192 bits: `RS256`, from PKCS#8 or PKCS#1;
/// - ECDSA on P-256: `ES256`, from PKCS#8;
/// - Ed25519: `EdDSA`, from PKCS#8.
///
/// ```
/// use snodo_oauth::SigningKey;
///
/// fn key(pem: &str) -> Result<SigningKey, snodo_oauth::Error> {
///     Ok(SigningKey::from_pem(pem)?.with_id("2026-07"))
/// }
/// assert!(key("no PEM").is_err());
/// ```
#[derive(Clone)]
pub struct SigningKey {
    pair: Arc<Pair>,
    id: Option<String>,
}

enum Pair {
    Ed25519(Ed25519KeyPair),
    P256(EcdsaKeyPair),
    Rsa(RsaKeyPair),
}

impl SigningKey {
    /// Reads the first private key of a text in PEM.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Usage`]: there is none, or it is of another kind.
    pub fn from_pem(pem: &str) -> Result<Self, Error> {
        let key = PrivateKeyDer::from_pem_slice(pem.as_bytes())
            .map_err(|_| usage("no private key in PEM was found"))?;
        let pair = match &key {
            PrivateKeyDer::Pkcs8(der) => pkcs8(der.secret_pkcs8_der()),
            PrivateKeyDer::Pkcs1(der) => {
                RsaKeyPair::from_der(der.secret_pkcs1_der()).ok().map(Pair::Rsa)
            }
            _ => None,
        };
        let why = "the private key is none of RSA (2048 bits and more), P-256 or Ed25519 in PKCS#8";
        pair.map(Self::of).ok_or_else(|| usage(why))
    }

    /// Names the key: the `kid` of what it signs, by which a server picks the public one.
    #[must_use]
    pub fn with_id(self, id: impl Into<String>) -> Self {
        Self { id: Some(id.into()), ..self }
    }

    /// The name of the algorithm, as tokens have it: `RS256`, `ES256` or `EdDSA`.
    #[must_use]
    pub fn algorithm(&self) -> &'static str {
        match &*self.pair {
            Pair::Ed25519(_) => "EdDSA",
            Pair::P256(_) => ES256,
            Pair::Rsa(_) => "RS256",
        }
    }

    /// A P-256 key as it was made, to be kept.
    pub(crate) fn from_pkcs8(der: &[u8]) -> Option<Self> {
        pkcs8(der).map(Self::of)
    }

    pub(crate) fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// The public half as a JSON Web Key (RFC 7517), with nothing of the private one.
    pub(crate) fn public(&self) -> Value {
        match &*self.pair {
            Pair::Ed25519(pair) => {
                json!({ "kty": "OKP", "crv": "Ed25519", "x": base64url(pair.public_key()) })
            }
            Pair::P256(pair) => {
                // An uncompressed point: a marker, then both coordinates.
                let point = pair.public_key().as_ref().get(1..).unwrap_or_default();
                let (x, y) = point.split_at(point.len() / 2);
                json!({ "kty": "EC", "crv": "P-256", "x": base64url(x), "y": base64url(y) })
            }
            Pair::Rsa(pair) => {
                let PublicKeyComponents::<Vec<u8>> { n, e } = pair.public().into();
                json!({ "kty": "RSA", "n": base64url(n), "e": base64url(e) })
            }
        }
    }

    pub(crate) fn sign(&self, text: &str) -> Result<Vec<u8>, Error> {
        let (random, text) = (SystemRandom::new(), text.as_bytes());
        let failed = |_| Error::new(ErrorKind::Unsupported, "signing failed");
        match &*self.pair {
            Pair::Ed25519(pair) => Ok(pair.sign(text).as_ref().to_vec()),
            Pair::P256(pair) => {
                pair.sign(&random, text).map(|signed| signed.as_ref().to_vec()).map_err(failed)
            }
            Pair::Rsa(pair) => {
                let mut signature = vec![0; pair.public().modulus_len()];
                pair.sign(&RSA_PKCS1_SHA256, &random, text, &mut signature).map_err(failed)?;
                Ok(signature)
            }
        }
    }

    fn of(pair: Pair) -> Self {
        Self { pair: Arc::new(pair), id: None }
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("SigningKey");
        shown.field("algorithm", &self.algorithm()).field("id", &self.id).finish_non_exhaustive()
    }
}

fn pkcs8(der: &[u8]) -> Option<Pair> {
    let p256 = || {
        let (algorithm, random) = (&ECDSA_P256_SHA256_FIXED_SIGNING, SystemRandom::new());
        EcdsaKeyPair::from_pkcs8(algorithm, der, &random).ok().map(Pair::P256)
    };
    // OpenSSL writes Ed25519 keys without the public half, which there is nothing to check by then.
    let ed25519 = || Ed25519KeyPair::from_pkcs8_maybe_unchecked(der).ok().map(Pair::Ed25519);
    p256().or_else(ed25519).or_else(|| RsaKeyPair::from_pkcs8(der).ok().map(Pair::Rsa))
}

fn usage(why: &str) -> Error {
    Error::new(ErrorKind::Usage, why)
}

/// What every server that takes proofs takes.
pub(crate) const ES256: &str = "ES256";
