//! Why credentials could not be had.

use std::fmt;
use std::sync::Arc;

use snodo_types::{TransportError, TransportFault};

/// Why credentials could not be had, or not be kept.
///
/// It holds no secret, and nothing of the body of an answer but the two members that are meant for
/// people: `error` and `error_description`. Cheap to clone, so that all calls that waited for the
/// same login get the same reason.
///
/// A call that fails for it has it at the end of its chain of sources; [`Error::within`] finds it.
///
/// ```
/// use snodo_oauth::{Error, ErrorKind};
///
/// fn is_ours(error: &(dyn std::error::Error + 'static)) -> bool {
///     Error::within(error).is_some_and(|error| error.kind() == ErrorKind::Declined)
/// }
/// ```
#[derive(Clone)]
pub struct Error(Arc<Inner>);

/// The class of an [`Error`].
///
/// ```
/// # use snodo_oauth::{Error, ErrorKind};
/// assert_eq!(Error::person("nobody is at home").kind(), ErrorKind::Person);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The person, or a policy on their behalf, said no.
    Declined,
    /// No authorization server could be found, or its metadata could not be had.
    Discovery,
    /// No client id could be had; the message says what was tried and why each failed.
    Identity,
    /// An answer is not what the protocol says it is.
    Malformed,
    /// Two values that have to be the same are not: an issuer, a resource, a state.
    Mismatch,
    /// The human step failed.
    Person,
    /// A URL that the [`Policy`](crate::Policy) does not let be used.
    Policy,
    /// The authorization server refused; [`Error::code`] is its word for it.
    Refused,
    /// The MCP server refused what it was given, though it was new.
    Rejected,
    /// The store failed.
    Store,
    /// The other side could not be reached, or failed itself.
    Unreachable,
    /// The server lacks something that has to be there.
    Unsupported,
    /// The caller gave something impossible.
    Usage,
}

#[derive(Clone)]
struct Inner {
    kind: ErrorKind,
    message: String,
    code: Option<String>,
    source: Option<TransportError>,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        let (message, code, source) = (message.into(), None, None);
        Self(Arc::new(Inner { kind, message, code, source }))
    }

    /// For whoever implements [`Person`](crate::Person): the step could not be done.
    #[must_use]
    pub fn person(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Person, message)
    }

    /// For whoever implements [`Store`](crate::Store): it could not be read or written.
    #[must_use]
    pub fn store(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Store, message)
    }

    /// The class.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The sentence.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The server's `error`, such as `invalid_grant`, where it gave one.
    #[must_use]
    pub fn code(&self) -> Option<&str> {
        self.0.code.as_deref()
    }

    /// The first error of this type in a chain of sources.
    #[must_use]
    pub fn within<'a>(error: &'a (dyn std::error::Error + 'static)) -> Option<&'a Self> {
        let mut chain = std::iter::successors(Some(error), |error| error.source());
        chain.find_map(|error| error.downcast_ref())
    }

    pub(crate) fn with_code(self, code: &str) -> Self {
        self.edit(|inner| inner.code = Some(code.to_owned()))
    }

    /// Puts words before the sentence.
    pub(crate) fn while_(self, what: &str) -> Self {
        self.edit(|inner| inner.message = format!("{what}: {}", inner.message))
    }

    fn edit(mut self, change: impl FnOnce(&mut Inner)) -> Self {
        change(Arc::make_mut(&mut self.0));
        self
    }
}

impl From<TransportError> for Error {
    fn from(error: TransportError) -> Self {
        let (kind, message) = (ErrorKind::Unreachable, error.message().to_owned());
        Self(Arc::new(Inner { kind, message, code: None, source: Some(error) }))
    }
}

impl From<Error> for TransportError {
    /// The request was not sent, or was refused: either way nobody acted on it.
    fn from(error: Error) -> Self {
        Self::new(TransportFault::Credentials, error.to_string()).not_processed().with_source(error)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Error");
        shown.field("kind", &self.0.kind).field("message", &self.0.message);
        if let Some(code) = &self.0.code {
            shown.field("code", code);
        }
        shown.finish_non_exhaustive()
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        let source = self.0.source.as_ref()?;
        Some(source)
    }
}
