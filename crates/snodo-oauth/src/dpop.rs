//! Proof of possession (RFC 9449): a token that is of no use to who only has the token.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::HeaderMap;
use http::header::HeaderName;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair};
use serde_json::{Value, json};
use zeroize::Zeroizing;

use crate::error::{Error, ErrorKind};
use crate::jwt::{self, seconds};
use crate::key::SigningKey;
use crate::place::Place;
use crate::random::{sha256, unguessable};
use crate::secret::Secret;

/// The key that tokens are bound to: P-256, made here.
#[derive(Clone, Debug)]
pub(crate) struct DpopKey {
    key: SigningKey,
    /// As it is kept: base64url of PKCS#8.
    kept: Secret,
}

/// The request that a proof is for.
#[derive(Clone, Copy)]
pub(crate) struct Proven<'a> {
    pub(crate) method: &'a str,
    pub(crate) url: &'a str,
    /// The token that goes along.
    pub(crate) token: Option<&'a Secret>,
    /// What the server wants to see, so that no proof can be made ahead.
    pub(crate) nonce: Option<&'a str>,
}

impl DpopKey {
    pub(crate) fn generate() -> Result<Self, Error> {
        let made =
            EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new());
        let made = made.map_err(|_| Error::new(ErrorKind::Unsupported, "no key could be made"))?;
        let kept = Secret::new(URL_SAFE_NO_PAD.encode(made.as_ref()));
        Self::restore(&kept)
            .ok_or_else(|| Error::new(ErrorKind::Unsupported, "no key could be made"))
    }

    /// A key that was kept.
    pub(crate) fn restore(kept: &Secret) -> Option<Self> {
        let der = Zeroizing::new(URL_SAFE_NO_PAD.decode(kept.expose()).ok()?);
        Some(Self { key: SigningKey::from_pkcs8(&der)?, kept: kept.clone() })
    }

    pub(crate) fn kept(&self) -> &Secret {
        &self.kept
    }

    /// A proof for one request, different from all others (RFC 9449, section 4.2).
    pub(crate) fn prove(&self, proven: Proven<'_>) -> Result<String, Error> {
        let header =
            json!({ "typ": "dpop+jwt", "alg": self.key.algorithm(), "jwk": self.key.public() });
        let url = proven.url.split(['?', '#']).next().unwrap_or_default();
        let mut claims = json!({
            "jti": unguessable()?.expose(),
            "htm": proven.method,
            "htu": url,
            "iat": seconds(SystemTime::now()),
        });
        if let Some(token) = proven.token {
            claims["ath"] = json!(sha256(token.expose()));
        }
        if let Some(nonce) = proven.nonce {
            claims["nonce"] = json!(nonce);
        }
        jwt::signed(&header, &claims, &self.key)
    }
}

/// The nonce in a proof of ours.
pub(crate) fn nonce_of(proof: &str) -> Option<String> {
    let claims = URL_SAFE_NO_PAD.decode(proof.split('.').nth(1)?).ok()?;
    let claims: Value = serde_json::from_slice(&claims).ok()?;
    claims.get("nonce")?.as_str().map(str::to_owned)
}

/// The last nonce of each server, the one heard from last at the end.
#[derive(Debug, Default)]
pub(crate) struct Nonces(Mutex<VecDeque<(String, String)>>);

impl Nonces {
    /// Takes the nonce of a response, if it has one that may be one.
    pub(crate) fn take(&self, url: &str, headers: &HeaderMap) {
        let nonce = headers.get(NONCE).and_then(|value| value.to_str().ok());
        let nonce = nonce.filter(|nonce| !nonce.is_empty() && nonce.len() <= LONGEST);
        let (Some(nonce), Ok(place)) = (nonce, Place::read(url)) else { return };
        let origin = place.origin();
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|(other, _)| *other != origin);
        known.push_back((origin, nonce.to_owned()));
        if known.len() > MOST {
            known.pop_front();
        }
    }

    pub(crate) fn at(&self, url: &str) -> Option<String> {
        let origin = Place::read(url).ok()?.origin();
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.iter().find(|(other, _)| *other == origin).map(|(_, nonce)| nonce.clone())
    }
}

/// The header of a proof.
pub(crate) const DPOP: HeaderName = HeaderName::from_static("dpop");

/// The header of a nonce.
pub(crate) const NONCE: HeaderName = HeaderName::from_static("dpop-nonce");

/// The refusal that asks for a nonce.
pub(crate) const USE_NONCE: &str = "use_dpop_nonce";

/// The longest nonce that is remembered.
const LONGEST: usize = 1024;

/// How many servers are remembered.
const MOST: usize = 16;

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use http::HeaderMap;
    use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};
    use serde_json::Value;

    use super::{DpopKey, NONCE, Nonces, Proven, nonce_of};
    use crate::random::sha256;
    use crate::secret::Secret;

    fn decoded(part: &str) -> Value {
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).expect("base64url")).expect("JSON")
    }

    // AUTH-180
    #[test]
    fn a_proof_is_for_one_request_and_signed_by_the_key_it_shows() {
        let made = DpopKey::generate().expect("a key");
        let key = DpopKey::restore(made.kept()).expect("the same key");
        let token = Secret::new("t");
        let (url, nonce) = ("https://mcp.example/mcp?q=1#f", Some("n"));
        let proven = Proven { method: "POST", url, token: Some(&token), nonce };
        let proof = key.prove(proven).expect("a proof");
        let parts: Vec<_> = proof.split('.').collect();
        let (header, claims) = (decoded(parts[0]), decoded(parts[1]));
        assert_eq!((&header["typ"], &header["alg"]), (&"dpop+jwt".into(), &"ES256".into()));
        assert_eq!(header["jwk"].as_object().expect("a key").len(), 4, "{header}");
        assert_eq!(claims["htu"], "https://mcp.example/mcp");
        assert_eq!((&claims["htm"], &claims["nonce"]), (&"POST".into(), &"n".into()));
        assert_eq!(claims["ath"], sha256("t"));
        assert!(claims["iat"].as_u64() > Some(1_700_000_000));
        assert_eq!(nonce_of(&proof).as_deref(), Some("n"));

        let coordinate = |name: &str| {
            URL_SAFE_NO_PAD.decode(header["jwk"][name].as_str().expect("text")).expect("base64url")
        };
        let point = [vec![4], coordinate("x"), coordinate("y")].concat();
        let content = format!("{}.{}", parts[0], parts[1]);
        let signature = URL_SAFE_NO_PAD.decode(parts[2]).expect("base64url");
        UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point)
            .verify(content.as_bytes(), &signature)
            .expect("a good signature");

        let plain = key.prove(Proven { method: "POST", url, token: None, nonce: None });
        let plain = plain.expect("a proof");
        let bare = decoded(plain.split('.').nth(1).expect("claims"));
        assert!(bare.get("ath").is_none() && bare.get("nonce").is_none());
        assert_ne!(bare["jti"], claims["jti"]);
        assert_eq!(nonce_of(&plain), None);
    }

    // AUTH-182
    #[test]
    fn nonces_are_kept_for_each_server_and_the_last_one_counts() {
        let nonces = Nonces::default();
        let give = |url: &str, nonce: &str| {
            nonces.take(url, &HeaderMap::from_iter([(NONCE, nonce.parse().expect("a value"))]));
        };
        give("https://a/token", "1");
        give("https://b/mcp", "2");
        give("https://a/other", "3");
        give("https://a/other", "");
        assert_eq!(nonces.at("https://a/mcp?x").as_deref(), Some("3"));
        assert_eq!(nonces.at("https://b:443/").as_deref(), Some("2"));
        assert_eq!(nonces.at("http://b/"), None);
        for n in 0..20 {
            give(&format!("https://{n}/"), "x");
        }
        assert_eq!(nonces.at("https://a/"), None);
    }
}
