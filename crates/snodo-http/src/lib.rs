//! MCP over Streamable HTTP: POST, GET, DELETE, server-sent events, sessions, TLS.
//!
//! [`Http`] is the address of a server and makes transports; [`Credentials`] says who the caller
//! is. Everything else is inside:
//!
//! ```text
//! HttpTransport ─ Post · Get · Resume · DELETE ─ Wire (headers, credentials) ─ Backend ─ Pool ─ TCP, TLS
//! ```
//!
//! What this crate never does: name a version of the protocol, read the inside of a message, keep
//! a session.
//!
//! # Features
//!
//! - `compression`: answers as gzip, brotli or zstd, where [`Http::compression`] asks for them;
//!   brings flate2, brotli-decompressor and zstd, which needs a C compiler to build.
//! - `tls`: `https`, by rustls with ring and the platform's roots. A plain `http` client builds no
//!   TLS with it either. Without it an `https` URL is refused.

mod abandon;
mod answer;
mod backend;
mod body;
mod challenge;
mod closed;
mod connector;
mod credentials;
mod date;
#[cfg(feature = "compression")]
mod decode;
#[cfg(not(feature = "compression"))]
#[path = "decode/missing.rs"]
mod decode;
mod dial;
mod errands;
mod event_stream;
mod events;
mod fault;
mod get;
mod headers;
mod limits;
mod noted;
mod pace;
mod patience;
mod pool;
mod post;
mod provider;
mod proxy;
mod pump;
mod redirect;
mod resume;
mod runtime;
mod secret;
mod sse;
mod status;
mod target;
#[cfg(feature = "tls")]
mod tls;
#[cfg(not(feature = "tls"))]
#[path = "tls/missing.rs"]
mod tls;
mod tokens;
mod transport;
mod version;
mod wire;

pub use backend::{HttpService, RequestBody, ResponseBody};
pub use challenge::Challenge;
pub use connector::Http;
pub use credentials::{Asked, Credentials, Refusal, Verdict};
pub use errands::Errands;
pub use event_stream::EventStream;
pub use proxy::Proxies;
pub use sse::Event;
pub use tokens::{RefusedToken, TokenProvider, Tokens};
pub use transport::HttpTransport;
pub use version::HttpVersion;

/// Entry points for tests and fuzzing, not for use.
#[doc(hidden)]
pub mod internal {
    pub use crate::sse::{Event, Reader, TooLong};
}

#[cfg(test)]
mod tests;
