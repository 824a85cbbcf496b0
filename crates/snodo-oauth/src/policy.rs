//! What may be fetched and opened.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use crate::error::{Error, ErrorKind};
use crate::place::Place;

/// Which URLs may be used that a server named, and how much they may cost.
///
/// Metadata, and the endpoints in it, are chosen by servers: a program that fetches them without
/// looking lets strangers aim it at its own network. Unless changed here:
///
/// - URLs are `https`, with no user name in them;
/// - names are looked up and then only connected to at public addresses: not at loopback, private,
///   shared, link-local or otherwise reserved ones, in any notation, IPv4 within IPv6 included. What
///   was checked is what is connected to. Behind a proxy that looks up names itself this is the
///   proxy's duty;
/// - no redirect is followed;
/// - an answer has at most 256 KiB, and takes at most 10 seconds.
///
/// ```
/// use snodo_oauth::Policy;
///
/// let strict = Policy::new();
/// assert!(strict.check("https://auth.example.com/token").is_ok());
/// assert!(strict.check("http://auth.example.com/token").is_err());
/// assert!(strict.check("https://10.0.0.1/token").is_err());
/// assert!(strict.check("http://localhost:3000/token").is_err());
/// assert!(Policy::new().allow_loopback().check("http://localhost:3000/token").is_ok());
/// ```
#[derive(Clone, Debug)]
pub struct Policy {
    loopback: bool,
    private: bool,
    pub(crate) bytes: usize,
    pub(crate) limit: Duration,
}

impl Policy {
    /// The strict policy.
    #[must_use]
    pub fn new() -> Self {
        Self { loopback: false, private: false, bytes: 256 * 1024, limit: Duration::from_secs(10) }
    }

    /// Lets servers on this machine be used, over plain `http` too: for development and tests.
    #[must_use]
    pub fn allow_loopback(self) -> Self {
        Self { loopback: true, ..self }
    }

    /// Lets servers at private addresses be used (still over `https`): for a company's own network.
    #[must_use]
    pub fn allow_private_addresses(self) -> Self {
        Self { private: true, ..self }
    }

    /// The most bytes of one answer; 256 KiB unless set.
    #[must_use]
    pub fn max_bytes(self, bytes: usize) -> Self {
        Self { bytes, ..self }
    }

    /// How long one answer may take; 10 seconds unless set.
    #[must_use]
    pub fn timeout(self, limit: Duration) -> Self {
        Self { limit, ..self }
    }

    /// Whether a URL may be used, as far as its text tells; its address is looked at when it is
    /// connected to.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Policy`], with the reason.
    pub fn check(&self, url: &str) -> Result<(), Error> {
        self.place(url).map(|_| ())
    }

    /// The parts of a URL that may be used.
    pub(crate) fn place<'a>(&self, url: &'a str) -> Result<Place<'a>, Error> {
        let place = Place::read(url).map_err(|why| refused(url, why))?;
        if place.is_loopback() && !self.loopback {
            return Err(refused(url, "is on this machine, which Policy::allow_loopback permits"));
        }
        if !place.https && !place.is_loopback() {
            return Err(refused(url, "is not https"));
        }
        if place.address().is_some_and(|address| !self.allows(address)) {
            return Err(refused(url, "is not at a public address"));
        }
        Ok(place)
    }

    /// Whether an address may be connected to.
    pub(crate) fn allows(&self, address: IpAddr) -> bool {
        match reach(address) {
            Reach::Loopback => self.loopback,
            Reach::Private => self.private,
            Reach::Public => true,
            Reach::Reserved => false,
        }
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self::new()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    Loopback,
    Private,
    Public,
    /// Link-local (where clouds keep their metadata), multicast, documentation and the like.
    Reserved,
}

fn reach(address: IpAddr) -> Reach {
    match address {
        IpAddr::V4(address) => reach_v4(address),
        IpAddr::V6(address) => reach_v6(address),
    }
}

fn reach_v4(address: Ipv4Addr) -> Reach {
    let [a, b, c, _] = address.octets();
    match (a, b, c) {
        (127, ..) => Reach::Loopback,
        // RFC 6598: carriers share 100.64.0.0/10 as others do 10.0.0.0/8.
        (100, 64..=127, _) => Reach::Private,
        _ if address.is_private() => Reach::Private,
        (0 | 224.., ..) | (169, 254, _) | (192, 0, 0 | 2) | (198, 18 | 19, _) => Reach::Reserved,
        _ if address.is_documentation() => Reach::Reserved,
        _ => Reach::Public,
    }
}

fn reach_v6(address: Ipv6Addr) -> Reach {
    let parts = address.segments();
    let embedded =
        |high: u16, low: u16| reach_v4(Ipv4Addr::from(u32::from(high) << 16 | u32::from(low)));
    match parts {
        [0, 0, 0, 0, 0, 0, 0, 1] => Reach::Loopback,
        [0, 0, 0, 0, 0, 0, 0, 0] => Reach::Reserved,
        // An IPv4 address within: mapped, compatible, translated (RFC 6052), by 6to4 (RFC 3056).
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            embedded(high, low)
        }
        [0x2002, high, low, ..] => embedded(high, low),
        [first, ..] if first & 0xfe00 == 0xfc00 => Reach::Private,
        [0x2001, 0xdb8, ..] | [0x2001, 0, ..] | [0x64, 0xff9b, 1, ..] => Reach::Reserved,
        // What is handed out for the public.
        [first, ..] if first & 0xe000 == 0x2000 => Reach::Public,
        _ => Reach::Reserved,
    }
}

fn refused(url: &str, why: &str) -> Error {
    // The query may hold secrets, and what is no URL may be anything.
    let shown = match Place::read(url) {
        Ok(place) => format!("{}{}", place.base, place.path),
        Err(_) => "what should be a URL".to_owned(),
    };
    Error::new(ErrorKind::Policy, format!("{shown} {why}"))
}

#[cfg(test)]
mod tests {
    use super::{Policy, Reach, reach};

    // AUTH-151
    #[test]
    fn addresses_are_told_apart_whatever_their_notation() {
        for (address, expected) in [
            ("8.8.8.8", Reach::Public),
            ("172.15.0.1", Reach::Public),
            ("100.128.0.1", Reach::Public),
            ("2606:4700::1", Reach::Public),
            ("127.0.0.1", Reach::Loopback),
            ("::1", Reach::Loopback),
            ("::ffff:127.0.0.1", Reach::Loopback),
            ("10.0.0.1", Reach::Private),
            ("172.16.0.1", Reach::Private),
            ("172.31.255.255", Reach::Private),
            ("192.168.1.1", Reach::Private),
            ("100.64.0.1", Reach::Private),
            ("fc00::1", Reach::Private),
            ("fdff::1", Reach::Private),
            ("::ffff:10.0.0.1", Reach::Private),
            ("64:ff9b::10.0.0.1", Reach::Private),
            ("2002:a00:1::", Reach::Private),
            ("::10.0.0.1", Reach::Private),
            ("169.254.169.254", Reach::Reserved),
            ("::ffff:169.254.169.254", Reach::Reserved),
            ("fe80::1", Reach::Reserved),
            ("0.0.0.0", Reach::Reserved),
            ("255.255.255.255", Reach::Reserved),
            ("224.0.0.1", Reach::Reserved),
            ("240.0.0.1", Reach::Reserved),
            ("192.0.2.1", Reach::Reserved),
            ("198.51.100.1", Reach::Reserved),
            ("198.18.0.1", Reach::Reserved),
            ("::", Reach::Reserved),
            ("ff02::1", Reach::Reserved),
            ("2001:db8::1", Reach::Reserved),
        ] {
            assert_eq!(reach(address.parse().expect(address)), expected, "{address}");
        }
    }

    // AUTH-41, AUTH-149, AUTH-150
    #[test]
    fn a_url_is_https_and_public_unless_a_caller_says_otherwise() {
        let strict = Policy::new();
        let local = Policy::new().allow_loopback();
        let company = Policy::new().allow_private_addresses();
        for (url, expected) in [
            ("https://as.example/token", [true, true, true]),
            ("http://as.example/token", [false, false, false]),
            ("http://localhost:1/token", [false, true, false]),
            ("https://127.0.0.1:1/token", [false, true, false]),
            ("http://[::1]/token", [false, true, false]),
            ("https://10.0.0.1/token", [false, false, true]),
            ("http://10.0.0.1/token", [false, false, false]),
            ("https://169.254.169.254/token", [false, false, false]),
            ("https://[::ffff:169.254.169.254]/token", [false, false, false]),
            ("file:///etc/passwd", [false, false, false]),
        ] {
            let found = [&strict, &local, &company].map(|policy| policy.check(url).is_ok());
            assert_eq!(found, expected, "{url}");
        }
    }

    #[test]
    fn a_refusal_shows_no_query() {
        let error = Policy::new().check("http://as.example/token?code=s3cret").expect_err("http");
        assert_eq!(error.message(), "http://as.example/token is not https");
        let error = Policy::new().check("s3cret").expect_err("no URL");
        assert!(!error.message().contains("s3cret"));
    }
}
