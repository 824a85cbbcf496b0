//! The way to a server: straight, over a proxy, or to a file of this machine.

#[cfg(unix)]
use std::path::{Path, PathBuf};
use std::sync::Arc;

use snodo_types::{TransportError, TransportFault};
use tokio::net::TcpStream;

use super::tcp::{self, Destination};
use super::{Dial, Socket, socks, tunnel};
#[cfg(unix)]
use crate::connector::Http;
use crate::errands::Addresses;
use crate::proxy::{Kind, Proxy};
use crate::target::Target;
use crate::version::HttpVersion;

/// Which way connections go.
pub(crate) enum Route {
    Direct,
    Proxy(Arc<Proxy>),
    #[cfg(unix)]
    Unix(PathBuf),
    /// Nobody can tell; why.
    Unknown(TransportError),
}

#[cfg(unix)]
impl Http {
    /// Reaches the server over a Unix socket. The URL still says what the server is called, in
    /// `Host` and in TLS, and under which path it serves; no proxy is used.
    ///
    /// ```
    /// use snodo_http::Http;
    ///
    /// let server = Http::new("http://localhost/mcp")?.unix_socket("/run/mcp.sock");
    /// # let _ = server;
    /// # Ok::<(), snodo_types::TransportError>(())
    /// ```
    pub fn unix_socket(self, path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        self.with(|http| http.socket = Some(path))
    }
}

impl Dial {
    /// The proxy that reads requests and sends them on, if there is one.
    pub(super) fn forwarding(&self) -> Option<&Proxy> {
        match &self.route {
            Route::Proxy(proxy) => {
                let reads = proxy.kind().is_http()
                    && !self.target.is_https()
                    && self.version != HttpVersion::Http2;
                reads.then_some(proxy)
            }
            _ => None,
        }
    }

    pub(super) async fn reach_directly(&self) -> Result<TcpStream, TransportError> {
        tcp::reach(server(&self.target), &self.limits.addresses, &self.limits).await
    }

    pub(super) async fn reach_over(&self, proxy: &Proxy) -> Result<Socket, TransportError> {
        let place = Destination { host: proxy.host(), port: proxy.port(), shown: proxy.shown() };
        let mut tcp = tcp::reach(place, &Addresses::default(), &self.limits).await?;
        match proxy.kind() {
            Kind::Http => self.go_on(proxy, Box::new(tcp)).await,
            Kind::Https => {
                let socket = Box::new(tcp);
                let secured = self.secure_proxy.connect(proxy.host(), proxy.shown(), socket).await;
                self.go_on(proxy, secured?.socket).await
            }
            Kind::Socks | Kind::SocksByName => {
                let place = self.place(proxy.kind()).await?;
                socks::ask(&mut tcp, proxy.login(), place).await.map_err(|error| {
                    let (proxy, target) = (proxy.shown(), self.target.shown());
                    let why = format!("no way over {proxy} to {target}: {error}");
                    TransportError::new(TransportFault::Connect, why).with_source(error)
                })?;
                Ok(Box::new(tcp))
            }
        }
    }

    async fn go_on(&self, proxy: &Proxy, socket: Socket) -> Result<Socket, TransportError> {
        match self.forwarding() {
            Some(_) => Ok(socket),
            None => tunnel::open(self, proxy, socket).await,
        }
    }

    /// What a proxy of this kind is told of the server.
    async fn place(&self, kind: Kind) -> Result<socks::Place<'_>, TransportError> {
        let (host, port) = (self.target.host(), self.target.port());
        if let (Kind::SocksByName, Err(_)) = (kind, host.parse::<std::net::IpAddr>()) {
            return Ok(socks::Place::Name(host, port));
        }
        let found = tcp::find(server(&self.target), &self.limits.addresses).await?;
        let first = found.first().map(|address| socks::Place::Address(address.ip(), port));
        first.ok_or_else(|| TransportError::new(TransportFault::Connect, "there is no address"))
    }
}

fn server(target: &Target) -> Destination<'_> {
    Destination { host: target.host(), port: target.port(), shown: target.shown() }
}

#[cfg(unix)]
pub(super) async fn reach_file(target: &Target, path: &Path) -> Result<Socket, TransportError> {
    match tokio::net::UnixStream::connect(path).await {
        Ok(stream) => Ok(Box::new(stream)),
        Err(error) => {
            let (path, target) = (path.display(), target.shown());
            let why = format!("cannot connect to {path} for {target}: {error}");
            Err(TransportError::new(TransportFault::Connect, why).with_source(error))
        }
    }
}
