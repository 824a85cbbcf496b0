//! The versions of the protocol that this library speaks.

use std::fmt;
use std::str::FromStr;

/// A version of the Model Context Protocol.
///
/// The order is that of publication: the greater one is the newer one.
///
/// ```
/// use snodo_types::ProtocolVersion;
///
/// let version: ProtocolVersion = "2025-11-25".parse()?;
/// assert_eq!(version, ProtocolVersion::V2025_11_25);
/// assert!(version < ProtocolVersion::V2026_07_28);
/// assert_eq!(version.as_str(), "2025-11-25");
/// # Ok::<(), snodo_types::UnknownVersion>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ProtocolVersion {
    /// 2025-06-18: opened by `initialize`.
    V2025_06_18,
    /// 2025-11-25: opened by `initialize`.
    V2025_11_25,
    /// 2026-07-28: stateless, every request tells its version and its client.
    V2026_07_28,
}

impl ProtocolVersion {
    /// Every version, newest first.
    pub const ALL: &'static [Self] = &[Self::V2026_07_28, Self::V2025_11_25, Self::V2025_06_18];

    /// The version as it is written on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }
}

impl fmt::Display for ProtocolVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for ProtocolVersion {
    type Err = UnknownVersion;

    fn from_str(text: &str) -> Result<Self, UnknownVersion> {
        let known = Self::ALL.iter().copied().find(|version| version.as_str() == text);
        known.ok_or_else(|| UnknownVersion { text: text.chars().take(64).collect() })
    }
}

/// A version text that names none of [`ProtocolVersion::ALL`].
///
/// ```
/// use snodo_types::ProtocolVersion;
///
/// let unknown = "1999-01-01".parse::<ProtocolVersion>().expect_err("nobody speaks it");
/// assert_eq!(unknown.text(), "1999-01-01");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("protocol version {text:?} is not one that snodo speaks")]
pub struct UnknownVersion {
    text: String,
}

impl UnknownVersion {
    /// What was asked for, cut at 64 characters.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }
}
