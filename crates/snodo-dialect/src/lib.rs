//! What each version of the protocol says, and how it wants to be spoken to.
//!
//! A version is a `&'static` [`Dialect`]: it knows its methods ([`Catalog`]), dresses a [`Request`]
//! into an envelope, and reads answers. Ask it; never compare versions. The version modules do
//! not know each other: what two of them share stands beside them and is chosen by each.
//!
//! ```
//! use snodo_dialect::{Era, dialect};
//! use snodo_types::ProtocolVersion;
//!
//! let newest = dialect(ProtocolVersion::V2026_07_28);
//! assert_eq!(newest.era(), Era::Stateless);
//! assert!(newest.catalog().entry("server/discover").is_some());
//! ```
//!
//! What this crate never does: wait, tell the time, touch a transport.

mod asks;
mod catalog;
mod classic;
mod dress;
mod extension;
mod header;
mod initialize;
mod log_level;
mod meta;
mod outcome;
mod params;
mod request;
mod v2025_06_18;
mod v2025_11_25;
mod v2026_07_28;

use std::fmt;

use snodo_types::{
    Envelope, Error, LoggingLevel, Message, Outcome, ProtocolVersion, Raw, SessionId,
};

pub use asks::Asks;
pub use catalog::{Catalog, Entry, Role};
pub use dress::{Carrier, Identity, Outfit};
pub use extension::{Extension, Extensions, declare};
pub use header::{check_header, encode_header};
pub use initialize::initialize;
pub use log_level::LogLevel;
pub use params::Params;
pub use request::Request;
pub use v2026_07_28::ParamHeaders;

/// How connections of a version begin.
///
/// ```
/// # use snodo_dialect::{Era, dialect};
/// # use snodo_types::ProtocolVersion;
/// assert_eq!(dialect(ProtocolVersion::V2025_06_18).era(), Era::Initialize);
/// assert_eq!(Era::Initialize.to_string(), "initialize");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Era {
    /// By an `initialize` request, which opens a session.
    Initialize,
    /// Not at all: every request tells its version and its client.
    Stateless,
}

impl fmt::Display for Era {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Initialize => "initialize",
            Self::Stateless => "stateless",
        })
    }
}

/// One version of the protocol.
///
/// Sealed: the versions this library speaks are those of [`ProtocolVersion`].
///
/// ```
/// use snodo_dialect::{Era, dialect};
/// use snodo_types::ProtocolVersion;
///
/// let newest = dialect(ProtocolVersion::V2026_07_28);
/// assert_eq!((newest.era(), newest.version()), (Era::Stateless, ProtocolVersion::V2026_07_28));
/// ```
pub trait Dialect: sealed::Sealed + fmt::Debug + Send + Sync {
    /// Which version it is.
    fn version(&self) -> ProtocolVersion;

    /// How its connections begin.
    fn era(&self) -> Era;

    /// Its methods.
    fn catalog(&self) -> &'static Catalog;

    /// What every message of one connection wears; made once, when the connection is.
    fn outfit(&self, identity: &Identity, carrier: Carrier, session: Option<&SessionId>) -> Outfit;

    /// Dresses a request: metadata into its parameters, routing beside it.
    ///
    /// # Errors
    ///
    /// The request cannot be written (-32602): two progress tokens, an argument that cannot be the
    /// header it has to be.
    fn dress(&self, request: &Request, id: u64, outfit: &Outfit) -> Result<Envelope, Error>;

    /// Reads the answer to a request that wore this outfit.
    ///
    /// # Errors
    ///
    /// The server's own error, or an answer that this version does not allow (-32000, transport).
    fn read(
        &self,
        request: &Request,
        answer: Message,
        outfit: &Outfit,
    ) -> Result<Outcome<Message>, Error>;

    /// Refuses what this version does not let a client ask: -32601, protocol, before anything is
    /// sent. A version that knows extensions lets methods pass that it does not list.
    ///
    /// # Errors
    ///
    /// The method is not one that a client may request.
    fn admit(&self, method: &str) -> Result<(), Error>;

    /// Which arguments of a tool travel as headers too, by its input schema. `None` where the version
    /// has no such headers and annotations mean nothing.
    ///
    /// # Errors
    ///
    /// Why the schema is invalid, so that the tool has to be left out.
    fn param_headers(&self, schema: &Raw) -> Option<Result<ParamHeaders, String>>;

    /// How to ask for log messages from a level on. Deprecated in 2026-07-28, still part of it.
    fn log_level(&self, level: LoggingLevel) -> LogLevel;

    /// The notification that the client's roots have changed; `None` where the version has none,
    /// since the server asks for them anew with each request.
    fn roots_changed(&self) -> Option<String>;

    /// What its servers may ask a client, whatever the client declared before the version was known.
    fn asks(&self) -> Asks;
}

/// The dialect of a version.
#[must_use]
pub fn dialect(version: ProtocolVersion) -> &'static dyn Dialect {
    match version {
        ProtocolVersion::V2024_11_05 => &v2025_06_18::AS_2024_11_05,
        ProtocolVersion::V2025_03_26 => &v2025_06_18::AS_2025_03_26,
        ProtocolVersion::V2025_06_18 => &v2025_06_18::OWN,
        ProtocolVersion::V2025_11_25 => &v2025_11_25::Dialect,
        // The enum is open for other crates; every version it has today is named here.
        _ => &v2026_07_28::Dialect,
    }
}

mod sealed {
    /// Keeps [`Dialect`](super::Dialect) to this crate.
    #[expect(unnameable_types, reason = "sealed: nobody outside implements it")]
    pub trait Sealed {}
}

#[cfg(test)]
mod tests;
