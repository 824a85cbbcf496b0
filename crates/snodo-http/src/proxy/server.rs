//! One proxy, taken from its URL.

use http::HeaderValue;
use snodo_types::TransportError;
use zeroize::Zeroizing;

use super::usage;
use crate::secret;

/// A proxy and what it wants to know.
pub(crate) struct Proxy {
    kind: Kind,
    host: String,
    port: u16,
    /// Scheme, host and port: no credentials.
    shown: String,
    /// User and password, as they are.
    login: Option<(Zeroizing<String>, Zeroizing<String>)>,
}

/// How a proxy is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Http,
    Https,
    /// Names are looked up here.
    Socks,
    /// The proxy looks them up.
    SocksByName,
}

impl Proxy {
    pub(super) fn parse(url: &str) -> Result<Self, TransportError> {
        let (scheme, rest) = url.split_once("://").unwrap_or(("http", url));
        let (kind, default) = match scheme.to_ascii_lowercase().as_str() {
            "http" => (Kind::Http, 80),
            "https" => (Kind::Https, 443),
            "socks5" => (Kind::Socks, 1080),
            "socks5h" => (Kind::SocksByName, 1080),
            _ => return Err(usage("a proxy is http, https, socks5 or socks5h")),
        };
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let (login, place) = match authority.rsplit_once('@') {
            Some((login, place)) => (Some(login), place),
            None => (None, authority),
        };
        let place: http::uri::Authority =
            place.parse().map_err(|_| usage("the proxy is not a URL"))?;
        let bracketed = place.host().to_ascii_lowercase();
        let host = bracketed.trim_start_matches('[').trim_end_matches(']').to_owned();
        let port = match place.as_str().get(bracketed.len()..) {
            None | Some("" | ":") => default,
            Some(_) => place.port_u16().ok_or_else(|| usage("the proxy has an impossible port"))?,
        };
        if host.is_empty() {
            return Err(usage("the proxy names no host"));
        }
        let login = login.map(|login| {
            let (user, password) = login.split_once(':').unwrap_or((login, ""));
            (Zeroizing::new(decoded(user)), Zeroizing::new(decoded(password)))
        });
        let shown = format!("{}://{bracketed}:{port}", kind.scheme());
        Ok(Self { kind, host, port, shown, login })
    }

    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// The URL without credentials.
    pub(crate) fn shown(&self) -> &str {
        &self.shown
    }

    pub(crate) fn login(&self) -> Option<(&str, &str)> {
        self.login.as_ref().map(|(user, password)| (user.as_str(), password.as_str()))
    }

    /// The value of `Proxy-Authorization` (RFC 7617).
    pub(crate) fn authorization(&self) -> Option<HeaderValue> {
        let (user, password) = self.login()?;
        let plain = Zeroizing::new(format!("{user}:{password}"));
        let packed = Zeroizing::new(base64(plain.as_bytes()));
        secret::header_value(Zeroizing::new(format!("Basic {}", *packed)))
    }
}

impl Kind {
    pub(crate) fn is_http(self) -> bool {
        matches!(self, Self::Http | Self::Https)
    }

    fn scheme(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
            Self::Socks => "socks5",
            Self::SocksByName => "socks5h",
        }
    }
}

/// Takes percent-encoding out; what is none stays.
fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let pair = text.get(at + 1..at + 3).filter(|_| byte == b'%');
        match pair.and_then(|pair| u8::from_str_radix(pair, 16).ok()) {
            Some(value) => {
                plain.push(value);
                at += 3;
            }
            None => {
                plain.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&plain).into_owned()
}

/// RFC 4648, section 4.
fn base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let mut word = [0; 3];
        word[..group.len()].copy_from_slice(group);
        let bits = u32::from_be_bytes([0, word[0], word[1], word[2]]);
        for place in 0..4 {
            let index = (bits >> (18 - 6 * place)) & 63;
            let used = place <= group.len();
            text.push(if used { char::from(ALPHABET[index as usize]) } else { '=' });
        }
    }
    text
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

#[cfg(test)]
mod tests {
    use super::{Proxy, base64};

    #[test]
    fn a_proxy_is_taken_from_its_url() {
        for (url, host, port, shown) in [
            ("proxy", "proxy", 80, "http://proxy:80"),
            ("Proxy.Example:3128", "proxy.example", 3128, "http://proxy.example:3128"),
            ("http://[::1]:8/", "::1", 8, "http://[::1]:8"),
            ("SOCKS5://10.0.0.1", "10.0.0.1", 1080, "socks5://10.0.0.1:1080"),
        ] {
            let proxy = Proxy::parse(url).expect(url);
            assert_eq!((proxy.host(), proxy.port(), proxy.shown()), (host, port, shown));
            assert!(proxy.authorization().is_none() && proxy.login().is_none());
        }
        for url in ["", "http://", "ftp://p", "http://p:99999", "http://a b", "http://@"] {
            assert!(Proxy::parse(url).is_err(), "{url}");
        }
    }

    #[test]
    fn user_and_password_are_decoded_and_sent_as_the_proxy_wants_them() {
        let proxy = Proxy::parse("http://Aladdin:open%20ses%40me%@p").expect("a proxy");
        assert_eq!(proxy.login(), Some(("Aladdin", "open ses@me%")));
        let proxy = Proxy::parse("http://Aladdin:open%20sesame@p").expect("a proxy");
        let value = proxy.authorization().expect("a login");
        assert_eq!(value, "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
        assert!(value.is_sensitive());
    }

    #[test]
    fn groups_of_three_and_less_are_encoded() {
        for (text, encoded) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v")] {
            assert_eq!(base64(text.as_bytes()), encoded);
        }
        assert_eq!(base64(&[0xfb, 0xff, 0xbf]), "+/+/");
    }
}
