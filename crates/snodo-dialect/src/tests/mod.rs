//! The dialects, held to what the versions say.

mod cancelling;
mod catalogs;
mod dressing;
mod extensions;
mod reading;
mod routes;
mod telling;

use serde::Serialize;
use snodo_types::{Envelope, Error, ProtocolVersion, Raw, SessionId};

use crate::{Carrier, Extensions, Identity, Outfit, Params, Request, dialect};

const V26: ProtocolVersion = ProtocolVersion::V2026_07_28;
const V25B: ProtocolVersion = ProtocolVersion::V2025_11_25;
const V25A: ProtocolVersion = ProtocolVersion::V2025_06_18;

const PIPE: Carrier = Carrier { routes: false, own_stream: false };
const HTTP: Carrier = Carrier { routes: true, own_stream: true };

fn identity() -> Identity {
    Identity {
        client_info: raw(r#"{"name":"agent","version":"1"}"#),
        capabilities: raw(r#"{"roots":{}}"#),
        extensions: Extensions::new(),
    }
}

fn raw(text: &str) -> Raw {
    Raw::parse(text).expect("JSON")
}

fn outfit(version: ProtocolVersion, carrier: Carrier, session: Option<&str>) -> Outfit {
    let session = session.map(|id| SessionId::new(id).expect("visible"));
    dialect(version).outfit(&identity(), carrier, session.as_ref())
}

/// A request with these parameters.
fn request<T: Serialize>(method: &'static str, params: &T) -> Request {
    Request::new(method, Params::from_object(params).expect("an object"))
}

/// What is sent for a request, under the id 5.
fn try_dress(
    version: ProtocolVersion,
    carrier: Carrier,
    request: &Request,
) -> Result<Envelope, Error> {
    dialect(version).dress(request, 5, &outfit(version, carrier, None))
}

fn dress(version: ProtocolVersion, carrier: Carrier, request: &Request) -> Envelope {
    try_dress(version, carrier, request).expect("it can be written")
}

/// The pairs beside a message.
fn routing(envelope: &Envelope) -> Vec<(&str, &str)> {
    envelope.routing.iter().collect()
}
