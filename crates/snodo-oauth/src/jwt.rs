//! JSON Web Tokens that this client signs (RFC 7515, compact form).
//!
//! None is ever read: what servers hand out is opaque.

use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::error::Error;
use crate::key::SigningKey;
use crate::random::{base64url, unguessable};
use crate::secret::Secret;

/// A header and claims, signed.
pub(crate) fn signed(header: &Value, claims: &Value, key: &SigningKey) -> Result<String, Error> {
    let content = format!("{}.{}", base64url(header.to_string()), base64url(claims.to_string()));
    let signature = base64url(key.sign(&content)?);
    Ok(format!("{content}.{signature}"))
}

/// What a client shows in place of a password (RFC 7523, section 3), for one request.
///
/// The audience is the issuer, not the token endpoint: a server that is asked by another one's
/// mistake cannot use it elsewhere.
pub(crate) fn assertion(client: &str, issuer: &str, key: &SigningKey) -> Result<Secret, Error> {
    let mut header = json!({ "typ": "JWT", "alg": key.algorithm() });
    if let Some(id) = key.id() {
        header["kid"] = json!(id);
    }
    let now = seconds(SystemTime::now());
    let claims = json!({
        "iss": client,
        "sub": client,
        "aud": issuer,
        "iat": now,
        "exp": now + LIFETIME.as_secs(),
        "jti": unguessable()?.expose(),
    });
    signed(&header, &claims, key).map(Secret::new)
}

/// Seconds of the Unix clock; 0 where the clock stands before it.
pub(crate) fn seconds(time: SystemTime) -> u64 {
    time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs()
}

/// How long an assertion is good.
const LIFETIME: Duration = Duration::from_secs(300);
