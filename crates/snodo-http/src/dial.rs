//! A new connection: name lookup, TCP, TLS, and the task that moves its bytes.

use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use snodo_types::{TransportError, TransportFault};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};

use crate::fault;
use crate::pool::{Connection, Pool};

/// Opens a connection within the connect timeout.
pub(crate) async fn dial(pool: &Pool) -> Result<Connection, TransportError> {
    let limit = pool.limits.connect;
    match timeout(limit, open(pool)).await {
        Ok(outcome) => outcome.map_err(TransportError::not_processed),
        Err(_) => {
            let why = format!("no connection to {} within {limit:?}", pool.target.shown());
            Err(TransportError::new(TransportFault::Timeout, why).not_processed())
        }
    }
}

async fn open(pool: &Pool) -> Result<Connection, TransportError> {
    let tcp = reach(pool).await?;
    // A request is one write; waiting for more only delays it.
    let _ = tcp.set_nodelay(true);
    if pool.target.is_https() {
        let tls = pool.tls.connect(&pool.target, tcp).await?;
        handshake(pool, tls).await
    } else {
        handshake(pool, tcp).await
    }
}

/// Tries the addresses of the host in turn; one that does not answer may use up its share of the
/// time that is left, and the last one all of it.
async fn reach(pool: &Pool) -> Result<TcpStream, TransportError> {
    let target = &pool.target;
    let deadline = Instant::now() + pool.limits.connect;
    let failed = |what: &str, error: std::io::Error| {
        let why = format!("{what} {}: {error}", target.shown());
        TransportError::new(TransportFault::Connect, why).with_source(error)
    };
    let mut addresses = tokio::net::lookup_host((target.host(), target.port()))
        .await
        .map_err(|error| failed("cannot find the host of", error))?
        .collect::<Vec<_>>();
    let found = addresses.len();
    // What was allowed is what is connected to: nothing looks the name up again.
    addresses.retain(|address| pool.limits.addresses.allow(address.ip()));
    if found > 0 && addresses.is_empty() {
        let why = format!("{} is at an address that must not be connected to", target.shown());
        return Err(TransportError::new(TransportFault::Connect, why));
    }
    let nowhere = || std::io::Error::new(std::io::ErrorKind::NotFound, "the host has no address");
    let last = addresses.pop().ok_or_else(|| failed("cannot find the host of", nowhere()))?;
    for (tried, address) in addresses.iter().enumerate() {
        let left = deadline.saturating_duration_since(Instant::now());
        let others = u32::try_from(addresses.len() - tried).unwrap_or(u32::MAX);
        if let Ok(Ok(tcp)) = timeout(left / (others + 1), TcpStream::connect(address)).await {
            return Ok(tcp);
        }
    }
    TcpStream::connect(last).await.map_err(|error| failed("cannot connect to", error))
}

async fn handshake(
    pool: &Pool,
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
) -> Result<Connection, TransportError> {
    let (sender, connection) = http1::Builder::new()
        .max_header_size(pool.limits.header_bytes)
        .handshake(TokioIo::new(stream))
        .await
        .map_err(|error| fault::exchange(pool.target.shown(), error))?;
    // Ends by itself when the server hangs up; the connection aborts it when it is dropped.
    let task = tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::trace!(%error, "an HTTP connection ended");
        }
    });
    Ok(Connection::new(sender, task.abort_handle()))
}
