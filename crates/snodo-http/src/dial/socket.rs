//! Whatever bytes travel over.

use tokio::io::{AsyncRead, AsyncWrite};

/// Both directions of a connection.
pub(crate) trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Duplex for T {}

/// A connection of any kind. What is not plain TCP is boxed, so that HTTP is built for two kinds
/// and not for six.
pub(crate) type Socket = Box<dyn Duplex>;

/// A connection behind its TLS handshake.
pub(crate) struct Secured {
    pub(crate) socket: Socket,
    /// The server chose so.
    pub(crate) speaks_http2: bool,
}
