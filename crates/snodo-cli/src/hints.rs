//! What to try when something failed.

use snodo::Error;
use snodo::types::{Cause, ErrorObject, TransportError, TransportFault};

use crate::failure::Status;

/// One line, where there is something better to say than to try again.
pub(crate) fn hint(error: &Error, status: Status) -> Option<&'static str> {
    match status {
        Status::Usage => return Some("snodo --help, or --help behind the command"),
        Status::Interrupted(_) => return None,
        _ => {}
    }
    if let Some(below) = error.transport() {
        return Some(below_hint(below));
    }
    match error.cause() {
        Some(Cause::Negotiation { initialize, .. }) => return hint(initialize, status),
        Some(Cause::NoInputHandler { .. } | Cause::InputRequired(_)) => {
            return Some("run it at a terminal: the server asks a question there");
        }
        Some(Cause::Timeout | Cause::MaxTotalTimeout) => {
            return Some("a longer --timeout, or -v to see what was said until then");
        }
        Some(Cause::Usage) => return Some("leave --protocol out, or name another version"),
        Some(_) => return Some("snodo doctor TARGET, which looks at every step"),
        None => {}
    }
    Some(match error.code() {
        ErrorObject::METHOD_NOT_FOUND => "snodo inspect TARGET, which shows what the server can do",
        ErrorObject::INVALID_PARAMS => {
            "snodo tools TARGET, which lists them; with the name of one behind it, what that takes"
        }
        _ => "the server says so itself: its log may tell more (-v shows its error stream)",
    })
}

fn below_hint(below: &TransportError) -> &'static str {
    match (below.fault(), below.status()) {
        (_, Some(401)) => "snodo login URL, or --header 'Authorization: Bearer TOKEN'",
        (_, Some(403)) => "another login: this one is not allowed to do it",
        (_, Some(404 | 405)) => "is the path right? That of an MCP server often ends in /mcp",
        (_, Some(429 | 503)) => "wait a little: the server is busy",
        (TransportFault::Connect, _) => "is the server running, and are host and port right?",
        (TransportFault::Tls, _) => {
            "is it https there, and is the certificate one that this system trusts?"
        }
        (TransportFault::Spawn, _) => {
            "is the program installed, and its name right? Servers with names: snodo config"
        }
        (TransportFault::Exited, _) => {
            "run the command by itself to see; servers that need more variables get all with --inherit-env"
        }
        (TransportFault::Timeout, _) => "a longer --timeout, or -v to see what was said until then",
        (TransportFault::Credentials, _) => "snodo login URL",
        _ => "snodo doctor TARGET, which looks at every step",
    }
}
