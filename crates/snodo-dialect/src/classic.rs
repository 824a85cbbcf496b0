//! What the versions that begin with `initialize` have in common. Each of them chooses it.

use snodo_types::{
    Envelope, Error, ErrorObject, Kind, LoggingLevel, Message, Outcome, ProtocolVersion, Routing,
    SessionId,
};

use crate::{Carrier, Catalog, LogLevel, Outfit, Params, Request, Role, dress, outcome};

/// The request that opens a session. It is never cancelled and carries no version beside it.
pub(crate) const INITIALIZE: &str = "initialize";

pub(crate) const ROOTS_CHANGED: &str =
    r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#;

pub(crate) fn outfit(
    version: ProtocolVersion,
    carrier: Carrier,
    session: Option<&SessionId>,
) -> Outfit {
    let mut routing = Routing::new();
    if carrier.routes {
        routing.set("MCP-Protocol-Version", version.as_str());
        if let Some(session) = session {
            routing.set("Mcp-Session-Id", session.as_str().to_owned());
        }
    }
    let abandon = dress::abandon(&routing);
    Outfit::new(Vec::new(), routing, Some(abandon), carrier)
}

pub(crate) fn dress(request: &Request, id: u64, outfit: &Outfit) -> Result<Envelope, Error> {
    let mut envelope = dress::envelope(request, id, outfit, None)?;
    let own = if request.method == INITIALIZE {
        envelope.abandon = None;
        envelope.opens_session = true;
        Routing::new()
    } else {
        envelope.resumable = true;
        outfit.routing().clone()
    };
    envelope.routing = dress::beside(own, request, outfit);
    Ok(envelope)
}

/// In these versions a result is final; a member `resultType` in it means nothing.
pub(crate) fn read(answer: Message) -> Result<Outcome<Message>, Error> {
    outcome::result_of(&answer)?;
    Ok(Outcome::Complete(answer))
}

/// The catalog alone decides: these versions have no extensions, and a client does not ask for what
/// it cannot have declared.
pub(crate) fn admit(
    version: ProtocolVersion,
    catalog: &Catalog,
    method: &str,
) -> Result<(), Error> {
    match catalog.entry(method) {
        Some(entry) if entry.has(Role::ClientRequest) => Ok(()),
        _ => Err(refusal(version, method)),
    }
}

/// A level holds for the connection.
pub(crate) fn log_level(level: &LoggingLevel) -> LogLevel {
    let params = Params::new().with("level", level).expect("a level is a text");
    LogLevel::Request(Box::new(Request::new("logging/setLevel", params)))
}

pub(crate) fn refusal(version: ProtocolVersion, method: &str) -> Error {
    let data = serde_json::json!({ "method": method, "protocolVersion": version.as_str() });
    let text =
        format!("{method} is not a request that a client may send in protocol version {version}");
    Error::new(Kind::Protocol, ErrorObject::METHOD_NOT_FOUND, text).with_data(data)
}
