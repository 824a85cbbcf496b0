//! What a negotiation begins with, and what it comes to.

use std::time::Duration;

use snodo_dialect::{Carrier, Dialect, Identity, Outfit};
use snodo_types::{Message, ProtocolVersion, SessionId};

/// What a connection may be opened with.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "made by the driver alone")]
pub struct Plan {
    /// The versions the caller allows; any order.
    pub allowed: Vec<ProtocolVersion>,
    /// Who is asking.
    pub identity: Identity,
    /// What the transport can do.
    pub carrier: Carrier,
    /// Whether the transport can send what nothing answers.
    pub notifies: bool,
    /// How long the probe may take; `None` for no end.
    pub probe_timeout: Option<Duration>,
    /// How long `initialize` may take; `None` for no end.
    pub timeout: Option<Duration>,
}

/// What a negotiation came to.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "taken apart by the driver")]
pub struct Opened {
    /// The version.
    pub dialect: &'static dyn Dialect,
    /// What every message wears.
    pub outfit: Outfit,
    /// The session, in the initialize era.
    pub session: Option<Session>,
    /// The answer to `server/discover`, where it was asked and told.
    pub discovered: Option<Message>,
}

/// A session of the initialize era.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "taken apart by the driver")]
pub struct Session {
    /// Its id, if the server issued one.
    pub id: Option<SessionId>,
    /// The answer to `initialize`.
    pub answer: Message,
}
