//! What one connector allows itself and its server.

use std::time::Duration;

use crate::errands::Addresses;

/// Every number that a caller may set.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    /// One JSON body, or one event of a stream.
    pub(crate) body_bytes: usize,
    /// The head of a response.
    pub(crate) header_bytes: usize,
    /// Where connections may lead.
    pub(crate) addresses: Addresses,
    /// Name lookup, TCP and TLS together.
    pub(crate) connect: Duration,
    /// How long a connection is silent before the peer is asked whether it is still there.
    pub(crate) keep_alive: Option<Duration>,
    /// Connections that rest between requests.
    pub(crate) idle: usize,
    /// How long they rest. Common servers hang up after 5 seconds and more; who hangs up first
    /// loses no request.
    pub(crate) idle_timeout: Duration,
    /// Requests at once; a stream counts until its head has come.
    pub(crate) at_once: Option<usize>,
    /// Requests over one connection.
    pub(crate) per_connection: Option<usize>,
    /// Attempts in vain to go on with a stream.
    pub(crate) resume_attempts: u32,
    /// The wait before the first of them, where the server names none.
    pub(crate) resume_delay: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes: 16 * 1024 * 1024,
            header_bytes: 64 * 1024,
            addresses: Addresses::default(),
            connect: Duration::from_secs(10),
            keep_alive: Some(Duration::from_secs(30)),
            idle: 32,
            idle_timeout: Duration::from_secs(4),
            at_once: None,
            per_connection: None,
            resume_attempts: 5,
            resume_delay: Duration::from_secs(1),
        }
    }
}
