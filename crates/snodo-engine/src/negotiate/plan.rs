//! What a negotiation begins with, and what it comes to.

use std::time::Duration;

use snodo_dialect::{Carrier, Dialect, Identity, Outfit};
use snodo_types::{Message, ProtocolVersion, SessionId};

/// What a connection may be opened with.
///
/// ```
/// use std::time::Duration;
/// use snodo_dialect::{Carrier, Extensions, Identity};
/// use snodo_engine::Plan;
/// use snodo_types::{ProtocolVersion, Raw};
///
/// let plan = Plan {
///     allowed: ProtocolVersion::ALL.to_vec(),
///     identity: Identity {
///         client_info: Raw::parse(r#"{"name":"agent","version":"1.0"}"#)?,
///         capabilities: Raw::empty_object(),
///         extensions: Extensions::new(),
///     },
///     carrier: Carrier::default(),
///     notifies: true,
///     probe_timeout: Some(Duration::from_secs(10)),
///     timeout: Some(Duration::from_secs(30)),
/// };
/// assert!(plan.allowed.contains(&ProtocolVersion::V2026_07_28));
/// # Ok::<(), serde_json::Error>(())
/// ```
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
///
/// ```
/// use snodo_dialect::Era;
/// use snodo_engine::{Negotiation, Opened, Plan, Step};
/// use snodo_types::ProtocolVersion;
/// # let empty = snodo_types::Raw::empty_object;
/// # let identity = snodo_dialect::Identity {
/// #     client_info: empty(),
/// #     capabilities: empty(),
/// #     extensions: Default::default(),
/// # };
/// # let (carrier, probe_timeout, timeout) = (Default::default(), None, None);
///
/// // With one stateless version there is nothing to settle, and nothing is sent.
/// let allowed = vec![ProtocolVersion::V2026_07_28];
/// let plan = Plan { allowed, identity, carrier, notifies: true, probe_timeout, timeout };
/// let opened = Negotiation::new(plan).poll(|| 1, std::time::Instant::now());
/// let Some(Step::Done(Ok(Opened { dialect, session, .. }))) = opened else {
///     return Err("more than that was to be done");
/// };
/// assert!(dialect.era() == Era::Stateless && session.is_none());
/// # Ok::<(), &str>(())
/// ```
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
///
/// ```
/// use snodo_engine::Session;
/// use snodo_types::{Message, SessionId};
///
/// let answer = r#"{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s"}}"#;
/// let session = Session { id: SessionId::new("6f1c"), answer: Message::result(&1.into(), answer) };
/// assert_eq!(session.id.as_ref().map(SessionId::as_str), Some("6f1c"));
/// assert!(session.answer.text().contains("2025-11-25"));
/// ```
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "taken apart by the driver")]
pub struct Session {
    /// Its id, if the server issued one.
    pub id: Option<SessionId>,
    /// The answer to `initialize`.
    pub answer: Message,
}
