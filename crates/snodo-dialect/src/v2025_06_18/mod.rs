//! Protocol version 2025-06-18, and the older ones where somebody names them: their servers
//! understand what this one says.

mod catalog;

use snodo_types::{
    Envelope, Error, LoggingLevel, Message, Outcome, ProtocolVersion, Raw, SessionId,
};

use crate::{
    Asks, Carrier, Catalog, Era, Identity, LogLevel, Outfit, ParamHeaders, Request, classic, sealed,
};

/// Its dialect, spoken as that of a version.
#[derive(Debug)]
pub(crate) struct Dialect(ProtocolVersion);

pub(crate) static OWN: Dialect = Dialect(ProtocolVersion::V2025_06_18);

pub(crate) static AS_2025_03_26: Dialect = Dialect(ProtocolVersion::V2025_03_26);

pub(crate) static AS_2024_11_05: Dialect = Dialect(ProtocolVersion::V2024_11_05);

impl sealed::Sealed for Dialect {}

impl crate::Dialect for Dialect {
    fn version(&self) -> ProtocolVersion {
        self.0
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
        classic::dress(request, id, outfit)
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
        Asks::PLAIN
    }
}
