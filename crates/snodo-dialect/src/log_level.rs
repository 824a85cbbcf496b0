//! Asking for log messages.

use snodo_types::Raw;

use crate::Request;

/// How a client says from which level on it wants log messages; see
/// [`Dialect::log_level`](crate::Dialect::log_level).
///
/// ```
/// use snodo_dialect::{LogLevel, dialect};
/// use snodo_types::{LoggingLevel, ProtocolVersion};
///
/// let of = |version| dialect(version).log_level(LoggingLevel::Warning);
/// match of(ProtocolVersion::V2026_07_28) {
///     LogLevel::Meta(name, level) => assert_eq!((&*name, level.text()), (
///         "io.modelcontextprotocol/logLevel",
///         "\"warning\"",
///     )),
///     LogLevel::Request(_) => unreachable!("there is no such request any more"),
/// }
/// assert!(matches!(of(ProtocolVersion::V2025_11_25), LogLevel::Request(_)));
/// ```
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_enums, reason = "a caller has to do each of them")]
pub enum LogLevel {
    /// By this member of each request's `_meta`; for that request alone, so that nothing comes
    /// unasked.
    Meta(String, Raw),
    /// By this request, for the connection. Until it is sent the server decides.
    Request(Box<Request>),
}
