//! What an answer, or the lack of one, shows.

use serde::Deserialize;
use snodo_dialect::{Era, Request, dialect};
use snodo_types::{Error, ErrorObject, Message, ProtocolVersion, RequestId, TransportFault};

use crate::Terms;

pub(super) fn is_cut(fault: TransportFault) -> bool {
    matches!(fault, TransportFault::Closed | TransportFault::StreamEnded)
}

pub(super) fn status_of(message: &Message) -> Option<u16> {
    message.outside().and_then(|outside| outside.status)
}

/// Whether the call of a tool was refused because headers of its arguments are missing or wrong
/// (2026-07-28, Streamable HTTP, "Client Behavior").
pub(super) fn misses_headers(error: &Error, request: &Request, terms: &Terms<'_>) -> bool {
    error.code() == ErrorObject::HEADER_MISMATCH
        && request.method == "tools/call"
        && terms.dialect.era() == Era::Stateless
        && terms.carrier.routes
}

/// Whether a refusal of the version lists one that is allowed here and spoken without a session
/// (2026-07-28, versioning, "Protocol Version Negotiation").
pub(super) fn names_a_version(error: &str, terms: &Terms<'_>) -> bool {
    let Ok(object) = serde_json::from_str::<ErrorObject>(error) else { return false };
    if object.code != ErrorObject::UNSUPPORTED_PROTOCOL_VERSION {
        return false;
    }
    let versions = crate::verdict::supported(&object).unwrap_or_default();
    let speaks = |version: &ProtocolVersion| {
        versions.iter().any(|name| name == version.as_str())
            && dialect(*version).era() == Era::Stateless
    };
    terms.dialect.era() == Era::Stateless && terms.allowed.iter().any(speaks)
}

pub(super) fn progress_token(params: &str) -> Option<u64> {
    #[derive(Deserialize)]
    struct Token {
        #[serde(rename = "progressToken")]
        token: RequestId,
    }

    snodo_types::read_json::<Token>(params).ok()?.token.as_ours()
}
