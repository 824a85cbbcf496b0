//! A URL, looked at but never rewritten.
//!
//! Issuers, resources and client ids are compared and sent as the text they came as: a URL type that
//! adds a slash to `https://as.example` names another issuer. So the text stays what it is, and this
//! only says where its parts are.

use std::net::{IpAddr, Ipv6Addr};

/// Where the parts of an `http` or `https` URL are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'a> {
    pub(crate) https: bool,
    /// Scheme and authority, as written.
    pub(crate) base: &'a str,
    /// Without the brackets of an IPv6 literal.
    pub(crate) host: &'a str,
    pub(crate) port: u16,
    /// Empty, or with its leading slash.
    pub(crate) path: &'a str,
    pub(crate) query: Option<&'a str>,
    pub(crate) fragment: Option<&'a str>,
}

impl<'a> Place<'a> {
    /// Finds the parts, or says what the text has or lacks.
    pub(crate) fn read(text: &'a str) -> Result<Self, &'static str> {
        if !text.bytes().all(|byte| byte.is_ascii_graphic() && !br#""<>\^`{|}"#.contains(&byte)) {
            return Err("has a character that no URL may have");
        }
        let (scheme, rest) = text.split_once("://").ok_or("has no scheme, such as https://")?;
        let https = match scheme {
            scheme if scheme.eq_ignore_ascii_case("https") => true,
            scheme if scheme.eq_ignore_ascii_case("http") => false,
            _ => return Err("is neither http nor https"),
        };
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, rest) = rest.split_at(end);
        if authority.contains('@') {
            return Err("holds a user name or a password");
        }
        let (host, port) = host_and_port(authority).ok_or("names no host that can be")?;
        let port = match port {
            "" if https => 443,
            "" => 80,
            port => port.parse().map_err(|_| "has an impossible port")?,
        };
        let (rest, fragment) = match rest.split_once('#') {
            Some((rest, fragment)) => (rest, Some(fragment)),
            None => (rest, None),
        };
        let (path, query) = match rest.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (rest, None),
        };
        let base = &text[..scheme.len() + "://".len() + authority.len()];
        Ok(Self { https, base, host, port, path, query, fragment })
    }

    /// Whether scheme, host and port are the same; case and a default port make no difference.
    pub(crate) fn same_origin(&self, other: &Place<'_>) -> bool {
        self.https == other.https
            && self.port == other.port
            && self.host.eq_ignore_ascii_case(other.host)
    }

    /// The origin, in one form for all ways to write it.
    pub(crate) fn origin(&self) -> String {
        let (scheme, default) = if self.https { ("https", 443) } else { ("http", 80) };
        let host = self.host.to_ascii_lowercase();
        let host = if host.contains(':') { format!("[{host}]") } else { host };
        if self.port == default {
            format!("{scheme}://{host}")
        } else {
            format!("{scheme}://{host}:{}", self.port)
        }
    }

    /// The host as an address, where it is written as one.
    pub(crate) fn address(&self) -> Option<IpAddr> {
        self.host.parse().ok()
    }

    /// `localhost`, or an address of the machine itself.
    pub(crate) fn is_loopback(&self) -> bool {
        self.host.eq_ignore_ascii_case("localhost")
            || self.address().is_some_and(|address| address.is_loopback())
    }
}

fn host_and_port(authority: &str) -> Option<(&str, &str)> {
    if let Some(rest) = authority.strip_prefix('[') {
        let (host, port) = rest.split_once(']')?;
        host.parse::<Ipv6Addr>().ok()?;
        return Some((host, if port.is_empty() { port } else { port.strip_prefix(':')? }));
    }
    let (host, port) = authority.split_once(':').unwrap_or((authority, ""));
    let named = host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~%".contains(&byte));
    (!host.is_empty() && named).then_some((host, port))
}

#[cfg(test)]
mod tests {
    use super::Place;

    #[test]
    fn the_parts_are_found_where_they_stand() {
        for (text, expected) in [
            ("https://As.Example", ("https://As.Example", "As.Example", 443, "", None, None)),
            (
                "HTTP://h:8080/a/?b?c#d#e",
                ("HTTP://h:8080", "h", 8080, "/a/", Some("b?c"), Some("d#e")),
            ),
            ("http://[::1]:3000?x", ("http://[::1]:3000", "::1", 3000, "", Some("x"), None)),
            ("https://h:/", ("https://h:", "h", 443, "/", None, None)),
        ] {
            let place = Place::read(text).expect(text);
            let found =
                (place.base, place.host, place.port, place.path, place.query, place.fragment);
            assert_eq!(found, expected, "{text}");
        }
    }

    // AUTH-96
    #[test]
    fn what_is_no_web_address_is_refused() {
        for text in [
            "",
            "mcp.example.com",
            "javascript:alert(1)",
            "javascript://x/%0aalert(1)",
            "data:text/html,x",
            "file:///etc/passwd",
            "vbscript:x",
            "//host/",
            "https://",
            "https:///path",
            "https://user@host/",
            "https://user:password@host/",
            "https://host:99999/",
            "https://host:x/",
            "https://[::1/",
            "https://[x]/",
            "https://[::1]x/",
            "https://ho st/",
            "https://host/\\@other",
            "https://host\\@other/",
            "https://host/\u{e9}",
            "https://host/\n",
            "https://host/\"",
        ] {
            assert!(Place::read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn origins_are_compared_without_case_and_default_ports() {
        let same = |a: &str, b: &str| {
            let (a, b) = (Place::read(a).expect(a), Place::read(b).expect(b));
            assert_eq!(a.same_origin(&b), a.origin() == b.origin());
            a.same_origin(&b)
        };
        assert!(same("https://Host/a", "HTTPS://host:443/b?c"));
        assert!(same("http://[::1]:80/", "http://[::1]"));
        assert!(!same("https://host/", "http://host/"));
        assert!(!same("https://host/", "https://host:8443/"));
        assert!(!same("https://host/", "https://host.evil.example/"));
    }

    #[test]
    fn loopback_is_a_name_or_an_address_and_nothing_that_looks_like_one() {
        for (host, expected) in [
            ("localhost", true),
            ("LOCALHOST", true),
            ("127.0.0.1", true),
            ("127.9.9.9", true),
            ("[::1]", true),
            ("localhost.example.com", false),
            ("127.0.0.1.example.com", false),
            ("0x7f.1", false),
            ("0.0.0.0", false),
        ] {
            let url = format!("http://{host}/");
            assert_eq!(Place::read(&url).expect(host).is_loopback(), expected, "{host}");
        }
    }
}
