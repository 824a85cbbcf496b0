//! Which version of HTTP is spoken.

/// How the version of HTTP is settled.
///
/// ```
/// use snodo_http::{Http, HttpVersion};
///
/// let server = Http::new("http://localhost:3000/mcp")?.http_version(HttpVersion::Http2);
/// # let _ = server;
/// # Ok::<(), snodo_types::TransportError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HttpVersion {
    /// HTTP/1.1, whatever the server could speak.
    Http1,
    /// HTTP/2 without asking: by prior knowledge where there is no TLS, and the only one that is
    /// offered where there is.
    Http2,
    /// What the server chooses in the TLS handshake (ALPN); HTTP/1.1 where there is no TLS.
    #[default]
    Negotiated,
}
