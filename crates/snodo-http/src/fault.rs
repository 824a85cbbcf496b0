//! What hyper says, in our words.

use snodo_types::{TransportError, TransportFault};

/// A connection that failed before the head of a response had come.
pub(crate) fn exchange(target: &str, error: hyper::Error) -> TransportError {
    // hyper tells this case from others in words only, unless built as a server.
    if error.is_parse() && error.to_string().contains("too large") {
        let why = format!("the headers of the answer from {target} are over the limit");
        return TransportError::new(TransportFault::TooLarge, why).with_source(error);
    }
    let (fault, what) = if error.is_parse() {
        (TransportFault::Malformed, "no HTTP came from")
    } else {
        (TransportFault::Closed, "the connection closed before an answer came from")
    };
    TransportError::new(fault, format!("{what} {target}: {error}")).with_source(error)
}

/// A connection that failed in the middle of a body.
pub(crate) fn body(target: &str, error: hyper::Error) -> TransportError {
    let why = format!("the answer from {target} was cut off: {error}");
    TransportError::new(TransportFault::Closed, why).with_source(error)
}

/// Sockets and timers live in a tokio runtime.
pub(crate) fn no_runtime() -> TransportError {
    let why = "HTTP needs a tokio runtime with IO and time: connect and poll in one";
    TransportError::new(TransportFault::Unsupported, why).not_processed()
}
