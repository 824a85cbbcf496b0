//! A host and a port, reached.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use snodo_types::{TransportError, TransportFault};
use socket2::{SockRef, TcpKeepalive};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};

use crate::errands::Addresses;
use crate::limits::Limits;

/// A host and a port, and what they are called in errors.
#[derive(Clone, Copy)]
pub(super) struct Destination<'a> {
    pub(super) host: &'a str,
    pub(super) port: u16,
    pub(super) shown: &'a str,
}

/// The addresses of a host; at least one.
pub(super) async fn find(
    to: Destination<'_>,
    allowed: &Addresses,
) -> Result<Vec<SocketAddr>, TransportError> {
    let found = tokio::net::lookup_host((to.host, to.port)).await;
    let found = found.map_err(|error| failed("cannot find the host of", to, error))?;
    let mut addresses: Vec<_> = found.collect();
    if addresses.is_empty() {
        let nowhere = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
        return Err(failed("cannot find the host of", to, nowhere));
    }
    // What was allowed is what is connected to: nothing looks the name up again.
    addresses.retain(|address| allowed.allow(address.ip()));
    if addresses.is_empty() {
        let why = format!("{} is at an address that must not be connected to", to.shown);
        return Err(TransportError::new(TransportFault::Connect, why));
    }
    Ok(addresses)
}

/// Tries the addresses of a host in turn; one that does not answer may use up its share of the
/// time that is left, and the last one all of it.
pub(super) async fn reach(
    to: Destination<'_>,
    allowed: &Addresses,
    limits: &Limits,
) -> Result<TcpStream, TransportError> {
    let deadline = Instant::now() + limits.connect;
    let addresses = find(to, allowed).await?;
    let Some((last, addresses)) = addresses.split_last() else {
        return Err(TransportError::new(TransportFault::Connect, "there is no address"));
    };
    for (tried, address) in addresses.iter().enumerate() {
        let left = deadline.saturating_duration_since(Instant::now());
        let others = u32::try_from(addresses.len() - tried).unwrap_or(u32::MAX);
        if let Ok(Ok(tcp)) = timeout(left / (others + 1), TcpStream::connect(address)).await {
            return Ok(prepared(tcp, limits));
        }
    }
    match TcpStream::connect(last).await {
        Ok(tcp) => Ok(prepared(tcp, limits)),
        Err(error) => Err(failed("cannot connect to", to, error)),
    }
}

fn failed(what: &str, to: Destination<'_>, error: io::Error) -> TransportError {
    let why = format!("{what} {}: {error}", to.shown);
    TransportError::new(TransportFault::Connect, why).with_source(error)
}

fn prepared(tcp: TcpStream, limits: &Limits) -> TcpStream {
    // A request is one write; waiting for more only delays it.
    let _ = tcp.set_nodelay(true);
    if let Some(interval) = limits.keep_alive {
        // A stream may be silent for hours: this tells a peer that is gone from one that is quiet,
        // and keeps what stands between from forgetting the connection.
        let probes = TcpKeepalive::new().with_time(interval).with_interval(PROBES);
        let _ = SockRef::from(&tcp).set_tcp_keepalive(&probes);
    }
    tcp
}

/// How long a probe that was not answered is waited for before the next.
const PROBES: Duration = Duration::from_secs(5);
