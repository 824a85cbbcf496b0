//! Why a transport could not deliver.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::MalformedMessage;

/// A failure of what carries the messages: a closed pipe, an HTTP status, a process that ended.
///
/// Cheap to clone, so that every call that waits on one connection gets the same reason.
///
/// ```
/// use snodo_types::{TransportError, TransportFault};
///
/// let error = TransportError::new(TransportFault::Status, "503 Service Unavailable").with_status(503);
/// assert_eq!(error.status(), Some(503));
/// assert_eq!(error.to_string(), "503 Service Unavailable");
/// ```
#[derive(Clone)]
pub struct TransportError(Arc<Inner>);

/// The class of a [`TransportError`].
///
/// ```
/// # use snodo_types::{TransportError, TransportFault};
/// let error = TransportError::new(TransportFault::Closed, "the pipe is closed");
/// assert_eq!(error.fault(), TransportFault::Closed);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TransportFault {
    /// The connection is closed, by the peer or by this side.
    Closed,
    /// The peer could not be reached: refused, unknown host, no route.
    Connect,
    /// The credentials for a request could not be had.
    Credentials,
    /// The server process ended.
    Exited,
    /// What came is not a JSON-RPC response.
    Malformed,
    /// The server process could not be started.
    Spawn,
    /// An HTTP status that is no success, without a JSON-RPC body.
    Status,
    /// The response stream ended before the response.
    StreamEnded,
    /// The transport's own limit on time passed, such as that on connecting.
    Timeout,
    /// TLS could not be set up.
    Tls,
    /// A message is longer than the limit.
    TooLarge,
    /// The transport cannot do what was asked.
    Unsupported,
    /// The caller gave something impossible: a URL, a header, a directory.
    Usage,
}

/// Whether the peer may have acted on the request that failed.
///
/// ```
/// # use snodo_types::{Processed, TransportError, TransportFault};
/// let error = TransportError::new(TransportFault::Connect, "connection refused");
/// assert_eq!(error.processed(), Processed::Maybe);
/// assert_eq!(error.not_processed().processed(), Processed::No);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Processed {
    /// It was written, at least in part: nobody can tell.
    Maybe,
    /// It was not: the same request may be sent again.
    No,
    /// Hardly: the connection had carried others and rested, and closed before anything came back.
    /// Nearly always the peer hung up before it read. A request that only reads may be sent again.
    Unlikely,
}

#[derive(Clone)]
struct Inner {
    fault: TransportFault,
    message: String,
    status: Option<u16>,
    retry_after: Option<Duration>,
    challenges: Vec<String>,
    credential_sent: bool,
    exit: Option<String>,
    processed: Processed,
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

impl TransportError {
    /// A failure of a class, with a sentence that says what came back.
    #[must_use]
    pub fn new(fault: TransportFault, message: impl Into<String>) -> Self {
        Self(Arc::new(Inner {
            fault,
            message: message.into(),
            status: None,
            retry_after: None,
            challenges: Vec::new(),
            credential_sent: false,
            exit: None,
            processed: Processed::Maybe,
            source: None,
        }))
    }

    /// Adds the HTTP status.
    #[must_use]
    pub fn with_status(self, status: u16) -> Self {
        self.edit(|inner| inner.status = Some(status))
    }

    /// Adds how long the peer wants to be left alone.
    #[must_use]
    pub fn with_retry_after(self, wait: Duration) -> Self {
        self.edit(|inner| inner.retry_after = Some(wait))
    }

    /// Adds the values of the `WWW-Authenticate` headers.
    #[must_use]
    pub fn with_challenges(self, challenges: Vec<String>) -> Self {
        self.edit(|inner| inner.challenges = challenges)
    }

    /// Says that the request carried a credential, which was refused.
    #[must_use]
    pub fn with_credential_sent(self) -> Self {
        self.edit(|inner| inner.credential_sent = true)
    }

    /// Adds how the server process ended, such as `exit status 1` or `signal 9`.
    #[must_use]
    pub fn with_exit(self, exit: impl Into<String>) -> Self {
        self.edit(|inner| inner.exit = Some(exit.into()))
    }

    /// Says that the peer cannot have acted on the request.
    #[must_use]
    pub fn not_processed(self) -> Self {
        self.edit(|inner| inner.processed = Processed::No)
    }

    /// Says that the peer has hardly acted on the request.
    #[must_use]
    pub fn hardly_processed(self) -> Self {
        self.edit(|inner| inner.processed = Processed::Unlikely)
    }

    /// Adds the error below.
    #[must_use]
    pub fn with_source(self, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.edit(|inner| inner.source = Some(Arc::new(source)))
    }

    /// The class.
    #[must_use]
    pub fn fault(&self) -> TransportFault {
        self.0.fault
    }

    /// The sentence that says what came back.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The HTTP status, where there was one.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        self.0.status
    }

    /// How long the peer wants to be left alone (`Retry-After`).
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        self.0.retry_after
    }

    /// The values of the `WWW-Authenticate` headers, as they came.
    #[must_use]
    pub fn challenges(&self) -> &[String] {
        &self.0.challenges
    }

    /// Whether the refused request carried a credential.
    #[must_use]
    pub fn credential_sent(&self) -> bool {
        self.0.credential_sent
    }

    /// How the server process ended.
    #[must_use]
    pub fn exit(&self) -> Option<&str> {
        self.0.exit.as_deref()
    }

    /// Whether the peer may have acted on the request.
    #[must_use]
    pub fn processed(&self) -> Processed {
        self.0.processed
    }

    fn edit(mut self, change: impl FnOnce(&mut Inner)) -> Self {
        change(Arc::make_mut(&mut self.0));
        self
    }
}

impl From<MalformedMessage> for TransportError {
    /// What the peer sent is no message: the reason, and where it is from.
    fn from(malformed: MalformedMessage) -> Self {
        Self::new(TransportFault::Malformed, malformed.to_string()).with_source(malformed)
    }
}

impl fmt::Display for TransportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl fmt::Debug for TransportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = &self.0;
        let mut shown = f.debug_struct("TransportError");
        shown.field("fault", &inner.fault).field("message", &inner.message);
        if let Some(status) = inner.status {
            shown.field("status", &status);
        }
        if let Some(exit) = &inner.exit {
            shown.field("exit", exit);
        }
        shown
            .field("processed", &inner.processed)
            .field("source", &inner.source)
            .finish_non_exhaustive()
    }
}

impl std::error::Error for TransportError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.0.source {
            Some(source) => Some(&**source),
            None => None,
        }
    }
}
