//! Why a skill could not be had.

use std::fmt;

/// Why a skill could not be had.
///
/// Its `Display` is the sentence; the failure of a request is its source.
///
/// ```
/// use snodo_skills::{Error, ErrorKind};
///
/// fn has_changed(error: &Error) -> bool {
///     error.kind() == ErrorKind::Mismatch
/// }
/// # let _ = has_changed;
/// ```
#[derive(Debug)]
pub struct Error(Box<Inner>);

/// The class of an [`Error`].
///
/// ```
/// # use snodo_skills::ErrorKind;
/// fn may_ask_for_the_entry_again(kind: ErrorKind) -> bool {
///     matches!(kind, ErrorKind::Mismatch)
/// }
/// # let _ = may_ask_for_the_entry_again;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The request failed; the error is the source.
    Client,
    /// An entry or an answer is not what the extension says it is.
    Malformed,
    /// What came is not what the entry says. It may have been tampered with, or the skill is a new one:
    /// [`SkillClient::get`](crate::SkillClient::get) tells what it is now, and that wants a new consent.
    Mismatch,
    /// More than the extension makes a client take: 512 files, 16 MiB.
    TooLarge,
    /// The content is made anew each time, so that there is nothing to hold it against.
    Unverifiable,
    /// The server does not offer this.
    Unsupported,
}

#[derive(Debug)]
struct Inner {
    kind: ErrorKind,
    message: String,
    source: Option<snodo::Error>,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner { kind, message: message.into(), source: None }))
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
}

impl From<snodo::Error> for Error {
    fn from(error: snodo::Error) -> Self {
        let message = error.message().to_owned();
        Self(Box::new(Inner { kind: ErrorKind::Client, message, source: Some(error) }))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        let source: &(dyn std::error::Error + 'static) = self.0.source.as_ref()?;
        Some(source)
    }
}
