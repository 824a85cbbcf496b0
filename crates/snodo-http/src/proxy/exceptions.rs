//! Hosts that are reached without a proxy: what `NO_PROXY` says.

use std::net::IpAddr;

/// The entries of a list.
#[derive(Clone, Default)]
pub(super) struct Exceptions(Vec<Entry>);

#[derive(Clone)]
struct Entry {
    host: Host,
    /// Only this port; every one without.
    port: Option<u16>,
}

#[derive(Clone)]
enum Host {
    Address(IpAddr),
    /// Whatever it is.
    Any,
    /// A name, and all names below it.
    Name(String),
    /// So many bits of an address.
    Network(IpAddr, u32),
}

impl Exceptions {
    /// Reads what stands between commas or blanks; what has no meaning matches nothing.
    pub(super) fn parse(list: &str) -> Self {
        let entries = list.split([',', ' ', '\t']).filter(|entry| !entry.is_empty());
        Self(entries.filter_map(Entry::parse).collect())
    }

    /// Whether a host, without brackets, is among them.
    pub(super) fn hold(&self, host: &str, port: u16) -> bool {
        let address = host.parse().ok();
        let name = host.trim_end_matches('.');
        let fits = |entry: &Entry| match (&entry.host, address) {
            (Host::Any, _) => true,
            (Host::Address(known), Some(address)) => *known == address,
            (Host::Network(network, bits), Some(address)) => lies_in(address, *network, *bits),
            (Host::Name(known), None) => {
                let above = name.strip_suffix(known.as_str());
                above.is_some_and(|above| above.is_empty() || above.ends_with('.'))
            }
            _ => false,
        };
        self.0.iter().any(|entry| entry.port.is_none_or(|only| only == port) && fits(entry))
    }
}

impl Entry {
    fn parse(text: &str) -> Option<Self> {
        if let Some(rest) = text.strip_prefix('[') {
            let (address, rest) = rest.split_once(']')?;
            let port = match rest.strip_prefix(':') {
                Some(port) => Some(port.parse().ok()?),
                None if rest.is_empty() => None,
                None => return None,
            };
            return Some(Self { host: Host::Address(address.parse().ok()?), port });
        }
        if let Ok(address) = text.parse() {
            return Some(Self { host: Host::Address(address), port: None });
        }
        if let Some((network, bits)) = text.split_once('/') {
            let host = Host::Network(network.parse().ok()?, bits.parse().ok()?);
            return Some(Self { host, port: None });
        }
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) => (host, Some(port.parse().ok()?)),
            None => (text, None),
        };
        let host = match host.parse() {
            Ok(address) => Host::Address(address),
            Err(_) if host == "*" => Host::Any,
            Err(_) => {
                let name = host.trim_start_matches('*').trim_start_matches('.');
                let name = name.trim_end_matches('.').to_ascii_lowercase();
                Host::Name(Some(name).filter(|name| !name.is_empty())?)
            }
        };
        Some(Self { host, port })
    }
}

/// Whether so many leading bits of two addresses of one family are the same.
fn lies_in(address: IpAddr, network: IpAddr, bits: u32) -> bool {
    let (address, network, width) = match (address, network) {
        (IpAddr::V4(address), IpAddr::V4(network)) => {
            (u128::from(address.to_bits()), u128::from(network.to_bits()), 32)
        }
        (IpAddr::V6(address), IpAddr::V6(network)) => (address.to_bits(), network.to_bits(), 128),
        _ => return false,
    };
    let Some(rest) = u32::checked_sub(width, bits) else { return false };
    address.checked_shr(rest).unwrap_or(0) == network.checked_shr(rest).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::Exceptions;

    // As the given case HT-31 has it.
    #[test]
    fn names_addresses_networks_and_ports_are_told_apart() {
        let list = Exceptions::parse(
            "::1, .corp.example,10.0.0.5:8080 [2001:db8::1]:9,192.168.0.0/16 fd00::/8,Plain.Example,*.star.example,port.example:1",
        );
        for (host, port) in [
            ("::1", 1),
            ("a.corp.example", 1),
            ("corp.example", 1),
            ("a.b.corp.example.", 1),
            ("10.0.0.5", 8080),
            ("2001:db8::1", 9),
            ("192.168.77.1", 1),
            ("fd12::3", 1),
            ("plain.example", 1),
            ("x.plain.example", 1),
            ("x.star.example", 1),
            ("port.example", 1),
        ] {
            assert!(list.hold(host, port), "{host}:{port}");
        }
        for (host, port) in [
            ("::2", 1),
            ("xcorp.example", 1),
            ("10.0.0.5", 8081),
            ("2001:db8::1", 10),
            ("192.169.0.1", 1),
            ("fe00::1", 1),
            ("notplain.example", 1),
            ("port.example", 2),
            ("example", 1),
        ] {
            assert!(!list.hold(host, port), "{host}:{port}");
        }
    }

    #[test]
    fn a_star_is_everything_and_what_has_no_meaning_is_nothing() {
        assert!(Exceptions::parse(" * ").hold("h", 1));
        assert!(Exceptions::parse("0.0.0.0/0").hold("9.9.9.9", 1));
        assert!(!Exceptions::parse("0.0.0.0/0").hold("::1", 1));
        for list in
            ["", ",", "[", "[::1", "[::1]x", "10.0.0.0/33", "10.0.0.0/x", "h:port", ":", "."]
        {
            assert!(!Exceptions::parse(list).hold("10.0.0.1", 1), "{list}");
            assert!(!Exceptions::parse(list).hold("h", 1), "{list}");
        }
    }
}
