//! Protocol version 2026-07-28.

mod catalog;
mod extensions;
mod param_headers;

use std::borrow::Cow;

use snodo_types::{
    Cause, Envelope, Error, InputRequired, Kind, LoggingLevel, Message, Meta, Outcome,
    ProtocolVersion, Raw, Routing, SessionId, read_json,
};

use crate::{
    Asks, Carrier, Catalog, Era, Identity, LogLevel, Outfit, Request, Role, classic, dress,
    encode_header, meta, outcome, sealed,
};

pub use param_headers::ParamHeaders;

/// Its dialect.
#[derive(Debug)]
pub(crate) struct Dialect;

impl sealed::Sealed for Dialect {}

impl crate::Dialect for Dialect {
    fn version(&self) -> ProtocolVersion {
        ProtocolVersion::V2026_07_28
    }

    fn era(&self) -> Era {
        Era::Stateless
    }

    fn catalog(&self) -> &'static Catalog {
        &catalog::CATALOG
    }

    fn outfit(&self, identity: &Identity, carrier: Carrier, _: Option<&SessionId>) -> Outfit {
        let version = self.version().as_str();
        let meta = vec![
            (Meta::PROTOCOL_VERSION, serde_json::Value::from(version).into()),
            (Meta::CLIENT_CAPABILITIES, identity.capabilities.clone()),
            (Meta::CLIENT_INFO, identity.client_info.clone()),
        ];
        let mut routing = Routing::new();
        if carrier.routes {
            routing.set("MCP-Protocol-Version", version);
        }
        // Basic patterns, "Cancellation": where a request has a stream of its own, closing that is
        // the cancellation and no message is sent.
        let abandon = (!carrier.own_stream).then(|| dress::abandon(&routing));
        Outfit::new(meta, routing, abandon, carrier).extended(&identity.extensions)
    }

    fn dress(&self, request: &Request, id: u64, outfit: &Outfit) -> Result<Envelope, Error> {
        let declared = extensions::declared(request, outfit)?;
        let declared = declared.map(|capabilities| (Meta::CLIENT_CAPABILITIES, capabilities));
        let mut envelope = dress::envelope(request, id, outfit, declared)?;
        if outfit.routes() {
            envelope.routing = dress::beside(routing(request, outfit)?, request, outfit);
        }
        Ok(envelope)
    }

    fn read(
        &self,
        request: &Request,
        answer: Message,
        outfit: &Outfit,
    ) -> Result<Outcome<Message>, Error> {
        let result = outcome::result_of(&answer)?;
        match result_type(&answer)?.as_deref() {
            None | Some("complete") => Ok(Outcome::Complete(answer)),
            Some("input_required") => input_required(request, result).map(Outcome::InputRequired),
            Some(other) if extensions::accepts(request, outfit, other) => {
                Ok(Outcome::Complete(answer))
            }
            Some(other) => {
                let text = format!("the result is of type {other:?}, which nobody announced");
                let cause = Cause::UnknownResultType(other.to_owned());
                Err(Error::new(Kind::Transport, Error::TRANSPORT, text).with_cause(cause))
            }
        }
    }

    fn admit(&self, method: &str) -> Result<(), Error> {
        match self.catalog().entry(method) {
            Some(entry) if !entry.has(Role::ClientRequest) => {
                Err(classic::refusal(self.version(), method))
            }
            // A method that is not listed may be an extension's.
            _ => Ok(()),
        }
    }

    fn param_headers(&self, schema: &Raw) -> Option<Result<ParamHeaders, String>> {
        Some(ParamHeaders::of(schema))
    }

    /// Logging, "Requesting Log Messages": each request asks for its own.
    fn log_level(&self, level: LoggingLevel) -> LogLevel {
        let level = Raw::of(&level).expect("a level is a text");
        LogLevel::Meta(Meta::LOG_LEVEL.to_owned(), level)
    }

    fn roots_changed(&self) -> Option<String> {
        None
    }

    fn asks(&self) -> Asks {
        Asks::ALL
    }
}

/// Streamable HTTP, "Standard Request Headers" and "Custom Headers from Tool Parameters".
fn routing(request: &Request, outfit: &Outfit) -> Result<Routing, Error> {
    let mut routing = outfit.routing().clone();
    let version = meta::given(request, Meta::PROTOCOL_VERSION);
    if let Some(version) = version.and_then(|value| value.decode::<String>().ok()) {
        routing.set("MCP-Protocol-Version", encode_header(&version).into_owned());
    }
    routing.set("Mcp-Method", encode_header(&request.method).into_owned());
    let entry = catalog::CATALOG.entry(&request.method);
    let value =
        entry.and_then(|entry| entry.mirrored()).and_then(|name| request.params.member(name));
    if let Some(text) = value
        && let Ok(name) = read_json::<String>(&text)
    {
        routing.set("Mcp-Name", encode_header(&name).into_owned());
    }
    if entry.is_none() {
        extensions::route(ProtocolVersion::V2026_07_28, request, outfit, &mut routing)?;
    }
    if let Some(plan) = request.param_headers.as_ref().filter(|plan| !plan.is_empty()) {
        let arguments = request.params.member("arguments").unwrap_or_default();
        for (name, value) in plan.headers(&arguments)? {
            routing.set(name, value);
        }
    }
    Ok(routing)
}

/// The type that a result says it is of; `None` where it says nothing.
fn result_type(answer: &Message) -> Result<Option<Cow<'static, str>>, Error> {
    match answer.result_type() {
        None => Ok(None),
        Some(r#""complete""#) => Ok(Some(Cow::Borrowed("complete"))),
        Some(text) => match serde_json::from_str::<String>(text) {
            Ok(name) => Ok(Some(Cow::Owned(name))),
            Err(_) => Err(Error::decode("`resultType` is no text")),
        },
    }
}

fn input_required(request: &Request, result: &str) -> Result<InputRequired, Error> {
    let entry = catalog::CATALOG.entry(&request.method);
    if !entry.is_some_and(|entry| entry.may_ask()) {
        let text = format!("{} may not be answered by asking for input", request.method);
        return Err(Error::decode(text));
    }
    read_json(result).map_err(|error| Error::decode(format!("an input-required result: {error}")))
}
