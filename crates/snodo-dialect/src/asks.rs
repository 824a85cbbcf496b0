//! What servers of a version may ask a client.

/// What a server may ask for beyond what every version lets it: forms, roots, and messages of a
/// model without tools.
///
/// ```
/// use snodo_dialect::{Asks, dialect};
/// use snodo_types::ProtocolVersion;
///
/// assert_eq!(dialect(ProtocolVersion::V2025_06_18).asks(), Asks::PLAIN);
/// assert!(dialect(ProtocolVersion::V2025_11_25).asks().pages);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "one member for each thing that some versions lack")]
pub struct Asks {
    /// Pages for the user to open.
    pub pages: bool,
    /// Messages of a model that may use tools.
    pub tools: bool,
}

impl Asks {
    /// All that any version has.
    pub const ALL: Self = Self { pages: true, tools: true };
    /// Only what every version has.
    pub const PLAIN: Self = Self { pages: false, tools: false };
}
