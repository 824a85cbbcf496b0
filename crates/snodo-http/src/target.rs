//! The URL of a server, taken apart once.

use http::uri::PathAndQuery;
use http::{HeaderValue, Uri};
use snodo_types::{TransportError, TransportFault};

/// Where requests go.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    https: bool,
    /// Without the brackets of an IPv6 literal.
    host: String,
    port: u16,
    /// For the `Host` header: the port only where it is not the scheme's own.
    authority: HeaderValue,
    /// The origin form: path and query.
    path: Uri,
    /// The absolute form.
    whole: Uri,
    /// Scheme, host, port and path. A query may hold secrets and is left out.
    shown: String,
    /// With the query, for those who sign it.
    url: String,
}

impl Target {
    /// Reads an `http` or `https` URL. The fragment is dropped: it is not the server's business.
    pub(crate) fn parse(text: &str) -> Result<Self, TransportError> {
        if text.bytes().any(|byte| !byte.is_ascii_graphic()) {
            return Err(refused("has a character that needs percent-encoding"));
        }
        if !text.contains("://") {
            return Err(refused("has no scheme, such as https://"));
        }
        let uri: Uri = text.parse().map_err(|_| refused("is not a URL"))?;
        let https = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            Some(_) => return Err(refused("is neither http nor https")),
            None => return Err(refused("is not a URL")),
        };
        let authority = uri.authority().ok_or_else(|| refused("names no host"))?;
        if authority.as_str().contains('@') {
            return Err(refused("holds a user name or a password; use a header or credentials"));
        }
        let bracketed = authority.host().to_ascii_lowercase();
        let host = bracketed.trim_start_matches('[').trim_end_matches(']').to_owned();
        if host.is_empty() {
            return Err(refused("names no host"));
        }
        let default = if https { 443 } else { 80 };
        let port = match authority.as_str().get(bracketed.len()..) {
            None | Some("" | ":") => default,
            Some(_) => authority.port_u16().ok_or_else(|| refused("has an impossible port"))?,
        };
        let name = if port == default { bracketed } else { format!("{bracketed}:{port}") };
        let query = uri.query().map(|query| format!("?{query}")).unwrap_or_default();
        let path = if uri.path().is_empty() { "/" } else { uri.path() };
        let shown = format!("{}://{name}{path}", if https { "https" } else { "http" });
        Ok(Self {
            https,
            host,
            port,
            authority: HeaderValue::from_str(&name).map_err(|_| refused("is not a URL"))?,
            path: format!("{path}{query}").parse().map_err(|_| refused("is not a URL"))?,
            whole: format!("{shown}{query}").parse().map_err(|_| refused("is not a URL"))?,
            url: format!("{shown}{query}"),
            shown,
        })
    }

    /// Whether TLS is wanted.
    pub(crate) fn is_https(&self) -> bool {
        self.https
    }

    /// The host, without the brackets of an IPv6 literal.
    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// The value of the `Host` header.
    pub(crate) fn authority(&self) -> &HeaderValue {
        &self.authority
    }

    /// Path and query, as the request line has them.
    pub(crate) fn path(&self) -> &Uri {
        &self.path
    }

    /// The absolute form: the whole URL.
    pub(crate) fn whole(&self) -> &Uri {
        &self.whole
    }

    /// A path of this server with its scheme and authority before it.
    pub(crate) fn absolute(&self, path: &Uri) -> Uri {
        if *path == self.path {
            return self.whole.clone();
        }
        let path = path.path_and_query().map_or("/", PathAndQuery::as_str);
        // Parts that were read from one URI make another.
        format!("{}{path}", self.origin()).parse().unwrap_or_default()
    }

    /// The path of a URL that names more.
    pub(crate) fn relative(&self, url: &Uri) -> Uri {
        match url.path_and_query() {
            Some(path) if self.path.path_and_query() != Some(path) => Uri::from(path.clone()),
            _ => self.path.clone(),
        }
    }

    /// The URL without its query, for people.
    pub(crate) fn shown(&self) -> &str {
        &self.shown
    }

    /// The whole URL, for credentials.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// A location as an error may show it: with its path on this server, only the origin elsewhere.
    pub(crate) fn show_location(&self, location: &str) -> String {
        let plain = location.split(['?', '#']).next().unwrap_or_default();
        match Self::parse(plain) {
            Ok(other) if other.origin() != self.origin() => other.origin().to_owned(),
            Ok(here) => here.shown,
            Err(_) if plain.starts_with('/') && !plain.starts_with("//") => {
                format!("{}{plain}", self.origin())
            }
            Err(_) => "another place".to_owned(),
        }
    }

    /// Scheme, host and port.
    pub(crate) fn origin(&self) -> &str {
        self.shown.strip_suffix(self.path.path()).unwrap_or(&self.shown)
    }
}

/// The URL itself stays out of the message: it was not understood, and may hold a secret.
fn refused(why: &str) -> TransportError {
    TransportError::new(TransportFault::Usage, format!("the URL {why}")).not_processed()
}

#[cfg(test)]
mod tests {
    use snodo_types::TransportFault;

    use super::Target;

    fn parts(url: &str) -> (String, u16, String, String, String) {
        let target = Target::parse(url).expect(url);
        let authority = target.authority().to_str().expect("text").to_owned();
        let path = target.path().to_string();
        (target.host.clone(), target.port, authority, path, target.shown.clone())
    }

    #[test]
    fn a_url_is_taken_apart() {
        let expected = |host: &str, port, authority: &str, path: &str, shown: &str| {
            (host.into(), port, authority.into(), path.into(), shown.into())
        };
        assert_eq!(
            parts("https://Example.com/mcp?key=secret#top"),
            expected(
                "example.com",
                443,
                "example.com",
                "/mcp?key=secret",
                "https://example.com/mcp"
            )
        );
        assert_eq!(
            parts("http://127.0.0.1:8080"),
            expected("127.0.0.1", 8080, "127.0.0.1:8080", "/", "http://127.0.0.1:8080/")
        );
        assert_eq!(
            parts("HTTP://localhost:80?x"),
            expected("localhost", 80, "localhost", "/?x", "http://localhost/")
        );
    }

    #[test]
    fn an_ipv6_literal_keeps_its_brackets_in_the_host_header_alone() {
        let (host, port, authority, ..) = parts("http://[::1]:3000/mcp");
        assert_eq!((host.as_str(), port, authority.as_str()), ("::1", 3000, "[::1]:3000"));
        assert_eq!(parts("https://[2001:db8::1]/").2, "[2001:db8::1]");
    }

    #[test]
    fn what_is_no_http_url_is_refused_without_repeating_it() {
        for url in [
            "",
            "/mcp",
            "example.com/mcp",
            "ftp://example.com/secret",
            "http://",
            "http:///secret",
            "http://user:secret@example.com/",
            "http://example.com:99999/secret",
            "http://example.com/secret path",
            "http://example.com/\r\nsecret",
            "http://ex\u{e4}mple/secret",
            "wss://example.com/secret",
            "https://[::1/secret",
        ] {
            let error = Target::parse(url).expect_err(url);
            assert_eq!(error.fault(), TransportFault::Usage, "{url}");
            assert!(!error.message().contains("secret"), "{error}");
        }
    }

    #[test]
    fn a_url_without_its_scheme_is_told_what_it_lacks() {
        for url in ["localhost:9/mcp", "example.com/mcp", "/mcp", ""] {
            let error = Target::parse(url).expect_err(url);
            assert_eq!(error.message(), "the URL has no scheme, such as https://", "{url}");
        }
    }

    #[test]
    fn a_location_shows_a_path_here_and_an_origin_elsewhere() {
        let target = Target::parse("http://h:1/mcp").expect("a URL");
        assert_eq!(target.show_location("/mcp/?code=1"), "http://h:1/mcp/");
        assert_eq!(target.show_location("http://h:1/x#y"), "http://h:1/x");
        assert_eq!(target.show_location("https://other/secret"), "https://other");
        assert_eq!(target.show_location("//other/secret"), "another place");
    }
}
