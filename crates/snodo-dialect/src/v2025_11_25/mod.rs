//! Protocol version 2025-11-25.

mod catalog;

use snodo_types::{
    Envelope, Error, LoggingLevel, Message, Outcome, ProtocolVersion, Raw, SessionId,
};

use crate::{
    Asks, Carrier, Catalog, Era, Identity, LogLevel, Outfit, ParamHeaders, Params, Request,
    classic, sealed,
};

/// Its dialect.
#[derive(Debug)]
pub(crate) struct Dialect;

impl sealed::Sealed for Dialect {}

impl crate::Dialect for Dialect {
    fn version(&self) -> ProtocolVersion {
        ProtocolVersion::V2025_11_25
    }

    fn era(&self) -> Era {
        Era::Initialize
    }

    fn catalog(&self) -> &'static Catalog {
        &catalog::CATALOG
    }

    fn outfit(&self, _: &Identity, carrier: Carrier, session: Option<&SessionId>) -> Outfit {
        classic::outfit(self.version(), carrier, session)
    }

    fn dress(&self, request: &Request, id: u64, outfit: &Outfit) -> Result<Envelope, Error> {
        let mut envelope = classic::dress(request, id, outfit)?;
        // Utilities, "Cancellation": what asks to become a task is given up by `tasks/cancel` alone.
        if request.method == "tools/call" && wants_task(&request.params) {
            envelope.abandon = None;
        }
        Ok(envelope)
    }

    fn read(&self, _: &Request, answer: Message, _: &Outfit) -> Result<Outcome<Message>, Error> {
        classic::read(answer)
    }

    fn admit(&self, method: &str) -> Result<(), Error> {
        classic::admit(self.version(), self.catalog(), method)
    }

    fn param_headers(&self, _: &Raw) -> Option<Result<ParamHeaders, String>> {
        None
    }

    fn log_level(&self, level: LoggingLevel) -> LogLevel {
        classic::log_level(&level)
    }

    fn roots_changed(&self) -> Option<String> {
        Some(classic::ROOTS_CHANGED.to_owned())
    }

    fn asks(&self) -> Asks {
        Asks::ALL
    }
}

/// Whether a request asks to become a task. Most do not, and are not parsed to find out.
fn wants_task(params: &Params) -> bool {
    params.text().contains(r#""task":"#) && params.member("task").is_some()
}
