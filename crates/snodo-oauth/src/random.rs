//! What nobody can guess, and the digest that hides it.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom as _, SystemRandom};

use crate::error::{Error, ErrorKind};
use crate::secret::Secret;

/// 32 random bytes: 43 characters of the URL alphabet, which makes a state of 256 bits and a
/// verifier of the shortest length that RFC 7636, section 4.1, allows.
pub(crate) fn unguessable() -> Result<Secret, Error> {
    let mut bytes = [0; 32];
    SystemRandom::new()
        .fill(&mut bytes)
        .map_err(|_| Error::new(ErrorKind::Unsupported, "the system has no random numbers"))?;
    Ok(Secret::new(base64url(bytes)))
}

/// The SHA-256 of a text, in base64url: a code challenge, or the hash of a token in a proof.
pub(crate) fn sha256(text: &str) -> String {
    base64url(digest(&SHA256, text.as_bytes()))
}

/// Without padding.
pub(crate) fn base64url(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

#[cfg(test)]
mod tests {
    use super::{sha256, unguessable};

    // AUTH-82
    #[test]
    fn a_challenge_is_the_digest_of_its_verifier() {
        // RFC 7636, appendix B.
        let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
        assert_eq!(sha256(verifier), "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
    }

    // AUTH-82, AUTH-88
    #[test]
    fn what_is_unguessable_is_long_fresh_and_of_the_right_alphabet() {
        let (one, other) = (unguessable().expect("random"), unguessable().expect("random"));
        assert_ne!(one, other);
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        assert!(one.expose().len() == 43 && one.expose().bytes().all(fits));
    }
}
