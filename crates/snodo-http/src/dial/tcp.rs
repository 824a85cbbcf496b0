//! A host and a port, reached.

use std::io;
use std::time::Duration;

use snodo_types::{TransportError, TransportFault};
use socket2::{SockRef, TcpKeepalive};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};

use crate::limits::Limits;
use crate::target::Target;

/// Tries the addresses of the host in turn; one that does not answer may use up its share of the
/// time that is left, and the last one all of it.
pub(super) async fn reach(target: &Target, limits: &Limits) -> Result<TcpStream, TransportError> {
    let deadline = Instant::now() + limits.connect;
    let failed = |what: &str, error: io::Error| {
        let why = format!("{what} {}: {error}", target.shown());
        TransportError::new(TransportFault::Connect, why).with_source(error)
    };
    let mut addresses = tokio::net::lookup_host((target.host(), target.port()))
        .await
        .map_err(|error| failed("cannot find the host of", error))?
        .collect::<Vec<_>>();
    let found = addresses.len();
    // What was allowed is what is connected to: nothing looks the name up again.
    addresses.retain(|address| limits.addresses.allow(address.ip()));
    if found > 0 && addresses.is_empty() {
        let why = format!("{} is at an address that must not be connected to", target.shown());
        return Err(TransportError::new(TransportFault::Connect, why));
    }
    let nowhere = || io::Error::new(io::ErrorKind::NotFound, "the host has no address");
    let last = addresses.pop().ok_or_else(|| failed("cannot find the host of", nowhere()))?;
    for (tried, address) in addresses.iter().enumerate() {
        let left = deadline.saturating_duration_since(Instant::now());
        let others = u32::try_from(addresses.len() - tried).unwrap_or(u32::MAX);
        if let Ok(Ok(tcp)) = timeout(left / (others + 1), TcpStream::connect(address)).await {
            return Ok(prepared(tcp, limits));
        }
    }
    match TcpStream::connect(last).await {
        Ok(tcp) => Ok(prepared(tcp, limits)),
        Err(error) => Err(failed("cannot connect to", error)),
    }
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
