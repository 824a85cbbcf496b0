//! What hyper says, in our words.

use std::error::Error;

use snodo_types::{TransportError, TransportFault};

/// A connection that failed before the head of a response had come.
pub(crate) fn exchange(target: &str, error: hyper::Error) -> TransportError {
    // hyper tells this case from others in words only, unless built as a server.
    if error.is_parse() && error.to_string().contains("too large") {
        let why = format!("the headers of the answer from {target} are over the limit");
        return TransportError::new(TransportFault::TooLarge, why).with_source(error);
    }
    let unseen = is_refused(&error);
    let (fault, what) = if error.is_parse() || below(&error).is_some_and(h2::Error::is_library) {
        (TransportFault::Malformed, "no HTTP came from")
    } else {
        (TransportFault::Closed, "the connection closed before an answer came from")
    };
    let failure =
        TransportError::new(fault, format!("{what} {target}: {error}")).with_source(error);
    if unseen { failure.not_processed() } else { failure }
}

/// Whether a server over HTTP/2 said that it has not looked at the request (RFC 9113, section 8.7):
/// it refused the stream, or it leaves and this was not among the last ones it served.
fn is_refused(error: &hyper::Error) -> bool {
    below(error).is_some_and(|error| {
        let refused = error.reason() == Some(h2::Reason::REFUSED_STREAM);
        error.is_remote() && (refused || error.is_go_away())
    })
}

/// What HTTP/2 itself says.
fn below(error: &hyper::Error) -> Option<&h2::Error> {
    let mut below = error.source();
    while let Some(error) = below {
        if let Some(error) = error.downcast_ref() {
            return Some(error);
        }
        below = error.source();
    }
    None
}

/// A connection that failed in the middle of a body.
pub(crate) fn body(target: &str, error: hyper::Error) -> TransportError {
    let why = format!("the answer from {target} was cut off: {error}");
    TransportError::new(TransportFault::Closed, why).with_source(error)
}

/// A body from a service of somebody else's that failed in the middle.
pub(crate) fn foreign_body(error: impl Into<Box<dyn Error + Send + Sync>>) -> TransportError {
    match error.into().downcast::<TransportError>() {
        Ok(error) => *error,
        Err(other) => {
            TransportError::new(TransportFault::Closed, format!("the answer was cut off: {other}"))
        }
    }
}

/// Sockets and timers live in a tokio runtime.
pub(crate) fn no_runtime() -> TransportError {
    let why = "HTTP needs a tokio runtime with IO and time: connect and poll in one";
    TransportError::new(TransportFault::Unsupported, why).not_processed()
}
