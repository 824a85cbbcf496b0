//! Which proxy stands before a server, if any.

mod exceptions;
mod server;

use std::fmt;
use std::sync::Arc;

use snodo_types::{TransportError, TransportFault};

use self::exceptions::Exceptions;
pub(crate) use self::server::{Kind, Proxy};
use crate::connector::Http;
use crate::target::Target;

/// Which URLs are reached over which proxy.
///
/// A proxy is `http://` or `https://` (plain `http` servers are asked for by their whole URL,
/// everything else goes through a CONNECT tunnel), `socks5://` (names are looked up here) or
/// `socks5h://` (the proxy looks them up), with `user:password@` where it wants that. Without a
/// scheme it is `http://`.
///
/// ```
/// use snodo_http::Proxies;
///
/// let proxies = Proxies::none().https("http://proxy.corp.example:3128")?.except(".corp.example");
/// assert_eq!(proxies.choose("https://mcp.example/")?.as_deref(), Some("http://proxy.corp.example:3128"));
/// assert_eq!(proxies.choose("https://a.corp.example/")?, None);
/// # Ok::<(), snodo_types::TransportError>(())
/// ```
#[derive(Clone, Default)]
pub struct Proxies {
    http: Option<Arc<Proxy>>,
    https: Option<Arc<Proxy>>,
    except: Exceptions,
    takes_loopback: bool,
}

impl Proxies {
    /// No proxy at all.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// What the environment says now: `HTTP_PROXY` for `http`, `HTTPS_PROXY` for `https`,
    /// `ALL_PROXY` for both, and `NO_PROXY`; each in lower case before upper case.
    ///
    /// `HTTP_PROXY` in upper case is left alone where `REQUEST_METHOD` is set: in a CGI program
    /// anybody may choose its value.
    ///
    /// # Errors
    ///
    /// [`TransportFault::Usage`]: a variable holds no URL of a proxy. The error names the variable
    /// and shows no value.
    pub fn from_environment() -> Result<Self, TransportError> {
        Self::from_variables(|name| std::env::var(name).ok())
    }

    /// What variables say that somebody else keeps, as [`from_environment`](Self::from_environment)
    /// does.
    ///
    /// # Errors
    ///
    /// [`TransportFault::Usage`]: a variable holds no URL of a proxy.
    pub fn from_variables(
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, TransportError> {
        let set = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
        let is_cgi = set("REQUEST_METHOD").is_some();
        let proxy = |names: [&'static str; 2]| {
            let names = names.into_iter().filter(|name| !(is_cgi && *name == "HTTP_PROXY"));
            let found = names.into_iter().find_map(|name| Some((name, set(name)?)));
            found.map(|(name, value)| {
                let parsed = Proxy::parse(value.trim());
                parsed.map(Arc::new).map_err(|error| usage(&format!("{name}: {}", error.message())))
            })
        };
        let all = proxy(["all_proxy", "ALL_PROXY"]).transpose()?;
        let http = proxy(["http_proxy", "HTTP_PROXY"]).transpose()?;
        let https = proxy(["https_proxy", "HTTPS_PROXY"]).transpose()?;
        let except = set("no_proxy").or_else(|| set("NO_PROXY")).unwrap_or_default();
        Ok(Self {
            http: http.or_else(|| all.clone()),
            https: https.or(all),
            except: Exceptions::parse(&except),
            takes_loopback: false,
        })
    }

    /// The proxy for `http` URLs.
    ///
    /// # Errors
    ///
    /// [`TransportFault::Usage`]: it is no URL of a proxy.
    pub fn http(mut self, url: &str) -> Result<Self, TransportError> {
        self.http = Some(Arc::new(Proxy::parse(url)?));
        Ok(self)
    }

    /// The proxy for `https` URLs.
    ///
    /// # Errors
    ///
    /// [`TransportFault::Usage`]: it is no URL of a proxy.
    pub fn https(mut self, url: &str) -> Result<Self, TransportError> {
        self.https = Some(Arc::new(Proxy::parse(url)?));
        Ok(self)
    }

    /// Which hosts are reached without a proxy, as in `NO_PROXY`: names with everything below
    /// them, addresses, networks (`10.0.0.0/8`), each with `:port` where only that is meant, or
    /// `*` for all; between commas.
    #[must_use]
    pub fn except(mut self, hosts: &str) -> Self {
        self.except = Exceptions::parse(hosts);
        self
    }

    /// Reaches this machine itself over the proxy too, which else never happens.
    #[must_use]
    pub fn loopback_too(mut self) -> Self {
        self.takes_loopback = true;
        self
    }

    /// The proxy over which a URL would be reached, without its credentials.
    ///
    /// # Errors
    ///
    /// [`TransportFault::Usage`]: it is neither an `http` nor an `https` URL.
    pub fn choose(&self, url: &str) -> Result<Option<String>, TransportError> {
        Ok(self.of(&Target::parse(url)?).map(|proxy| proxy.shown().to_owned()))
    }

    pub(crate) fn of(&self, target: &Target) -> Option<Arc<Proxy>> {
        let proxy = if target.is_https() { &self.https } else { &self.http };
        let spared = (!self.takes_loopback && is_loopback(target.host()))
            || self.except.hold(target.host(), target.port());
        proxy.clone().filter(|_| !spared)
    }
}

impl fmt::Debug for Proxies {
    /// Shows no credentials.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |proxy: &Option<Arc<Proxy>>| proxy.as_ref().map(|one| one.shown().to_owned());
        f.debug_struct("Proxies")
            .field("http", &shown(&self.http))
            .field("https", &shown(&self.https))
            .finish_non_exhaustive()
    }
}

impl Http {
    /// Reaches the server over this proxy, wherever it is; see [`Proxies`] for the kinds.
    ///
    /// # Errors
    ///
    /// [`TransportFault::Usage`]: it is no URL of a proxy.
    pub fn proxy(self, url: &str) -> Result<Self, TransportError> {
        let proxies = Proxies::none().http(url)?.https(url)?.loopback_too();
        Ok(self.proxies(proxies))
    }

    /// Reaches servers over these proxies. Unless set, the environment decides when the first
    /// message is sent ([`Proxies::from_environment`]); [`Proxies::none`] leaves it alone.
    pub fn proxies(self, proxies: Proxies) -> Self {
        self.with(|http| http.proxies = Some(proxies))
    }
}

/// Whether a host is this machine (RFC 6761, section 6.3, for the name).
fn is_loopback(host: &str) -> bool {
    let address = host.parse::<std::net::IpAddr>();
    match address {
        Ok(address) => address.is_loopback(),
        Err(_) => host == "localhost" || host.ends_with(".localhost"),
    }
}

fn usage(why: &str) -> TransportError {
    TransportError::new(TransportFault::Usage, why).not_processed()
}

#[cfg(test)]
mod tests {
    use super::Proxies;

    fn choose(variables: &[(&str, &str)], url: &str) -> Option<String> {
        let found = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        let proxies = Proxies::from_variables(found).expect("proxies");
        proxies.choose(url).expect("a URL")
    }

    #[test]
    fn each_scheme_has_its_variable_and_one_is_for_all() {
        let both = [("HTTP_PROXY", "http://a:1"), ("https_proxy", "socks5h://b"), ("x", "y")];
        assert_eq!(choose(&both, "http://h/").as_deref(), Some("http://a:1"));
        assert_eq!(choose(&both, "https://h/").as_deref(), Some("socks5h://b:1080"));
        let all = [("ALL_PROXY", "c:3"), ("HTTPS_PROXY", ""), ("http_proxy", "https://d")];
        assert_eq!(choose(&all, "https://h/").as_deref(), Some("http://c:3"));
        assert_eq!(choose(&all, "http://h/").as_deref(), Some("https://d:443"));
        assert_eq!(choose(&[], "http://h/"), None);
    }

    #[test]
    fn lower_case_goes_first_and_a_cgi_program_trusts_no_header() {
        let both = [("http_proxy", "http://low"), ("HTTP_PROXY", "http://up")];
        assert_eq!(choose(&both, "http://h/").as_deref(), Some("http://low:80"));
        let cgi = [("HTTP_PROXY", "http://evil"), ("REQUEST_METHOD", "POST")];
        assert_eq!(choose(&cgi, "http://h/"), None);
    }

    #[test]
    fn loopback_is_reached_without_a_proxy_unless_asked() {
        let proxy = [("ALL_PROXY", "http://p:1")];
        for host in ["localhost", "a.localhost", "127.0.0.1", "127.9.9.9", "[::1]"] {
            assert_eq!(choose(&proxy, &format!("http://{host}:9/")), None, "{host}");
        }
        let asked = Proxies::none().http("http://p:1").expect("a proxy").loopback_too();
        assert!(asked.choose("http://[::1]/").expect("a URL").is_some());
    }

    #[test]
    fn a_broken_variable_is_named_and_its_value_is_not_shown() {
        let broken = |name: &str| (name == "HTTPS_PROXY").then(|| "ftp://u:s3cret@p".to_owned());
        let error = Proxies::from_variables(broken).expect_err("no proxy");
        assert!(error.message().contains("HTTPS_PROXY"), "{error}");
        assert!(!error.message().contains("s3cret"), "{error}");
        let shown = Proxies::none().http("http://u:s3cret@p").expect("a proxy");
        assert!(!format!("{shown:?} {:?}", shown.choose("http://h/")).contains("s3cret"));
    }
}
