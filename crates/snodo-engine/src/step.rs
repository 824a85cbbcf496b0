//! What a machine asks its driver to do.

use std::fmt;

use snodo_dialect::{Carrier, Dialect, Identity, Outfit};
use snodo_types::{Envelope, Error, Message, ProtocolVersion};

use crate::Question;

/// One thing for the driver to do. `T` is what the conversation comes to in the end.
///
/// Closed on purpose: a reader can list everything a machine may ask for.
///
/// ```
/// use snodo_engine::Step;
///
/// /// What a driver does next, in words.
/// fn next<T>(step: &Step<T>) -> &'static str {
///     match step {
///         Step::Send(_) => "write it, and read what comes back",
///         Step::Ask(_) => "let the handlers answer",
///         Step::Define(_) => "look for the tool's definition",
///         Step::Reopen => "connect again",
///         Step::Serve(_) => "hand it to the attendant",
///         Step::Notify(_) | Step::Progress(_) => "tell it",
///         Step::Done(_) => "give the caller what came of it",
///     }
/// }
/// assert_eq!(next(&Step::<()>::Reopen), "connect again");
/// ```
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "a driver has to do each of them")]
pub enum Step<T> {
    /// Answer these, one after the other; then call `handle_answers`.
    Ask(Vec<(String, Question)>),
    /// Find out which arguments of the tool of this name travel as headers; then call
    /// `handle_definition`.
    Define(String),
    /// The conversation is over. Nothing follows.
    Done(Result<T, Error>),
    /// Tell whoever wants to know: the server said something that needs no answer.
    Notify(Message),
    /// Tell the caller how far the request got.
    Progress(Message),
    /// Give up the connection and make it anew; then call `handle_reopened`.
    Reopen,
    /// Send this, in place of anything sent before, and read what comes back.
    Send(Envelope),
    /// The server asks something: let the attendant answer.
    Serve(Message),
}

/// What the parties of a connection agreed on.
///
/// ```
/// use snodo_dialect::{Carrier, Extensions, Identity, dialect};
/// use snodo_engine::Terms;
/// use snodo_types::{ProtocolVersion, Raw};
///
/// let identity = Identity {
///     client_info: Raw::empty_object(),
///     capabilities: Raw::empty_object(),
///     extensions: Extensions::new(),
/// };
/// let (dialect, carrier) = (dialect(ProtocolVersion::V2026_07_28), Carrier::default());
/// let outfit = dialect.outfit(&identity, carrier, None);
/// let allowed = ProtocolVersion::ALL;
/// let terms = Terms { dialect, outfit: &outfit, identity: &identity, carrier, allowed };
/// assert_eq!(terms.dialect.version(), ProtocolVersion::V2026_07_28);
/// ```
#[derive(Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "a view that the driver makes for each poll")]
pub struct Terms<'a> {
    /// The version spoken.
    pub dialect: &'static dyn Dialect,
    /// What every message wears.
    pub outfit: &'a Outfit,
    /// Who is asking.
    pub identity: &'a Identity,
    /// What the transport can do.
    pub carrier: Carrier,
    /// The versions the caller allows, newest first.
    pub allowed: &'a [ProtocolVersion],
}

impl fmt::Debug for Terms<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Terms").field("version", &self.dialect.version()).finish_non_exhaustive()
    }
}
