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
    /// 2024-11-05: only where it is named, and spoken by the rules of 2025-06-18.
    V2024_11_05,
    /// 2025-03-26: only where it is named, and spoken by the rules of 2025-06-18.
    V2025_03_26,
    /// 2025-06-18: opened by `initialize`.
    V2025_06_18,
    /// 2025-11-25: opened by `initialize`.
    V2025_11_25,
    /// 2026-07-28: stateless, every request tells its version and its client.
    V2026_07_28,
}

impl ProtocolVersion {
    /// The versions that are spoken unless others are named, newest first.
    pub const ALL: &'static [Self] = &[Self::V2026_07_28, Self::V2025_11_25, Self::V2025_06_18];

    /// Versions that are spoken only where they are named, newest first.
    ///
    /// Requests are those of 2025-06-18, whose servers understood them all: what the older ones had
    /// besides (batches of messages, the transport of 2024-11-05 over HTTP) is not spoken.
    pub const OLDER: &'static [Self] = &[Self::V2025_03_26, Self::V2024_11_05];

    /// The version as it is written on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
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
        let mut known = Self::ALL.iter().chain(Self::OLDER).copied();
        let known = known.find(|version| version.as_str() == text);
        known.ok_or_else(|| UnknownVersion { text: text.chars().take(64).collect() })
    }
}

/// A version text that names neither one of [`ProtocolVersion::ALL`] nor one of
/// [`ProtocolVersion::OLDER`].
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

#[cfg(test)]
mod tests {
    use super::ProtocolVersion;

    // S-13
    #[test]
    fn every_version_is_read_as_it_is_written_and_the_newest_is_the_greatest() {
        let all: Vec<_> = ProtocolVersion::ALL.iter().chain(ProtocolVersion::OLDER).collect();
        assert!(all.windows(2).all(|pair| pair[0] > pair[1]));
        for version in all {
            assert_eq!(version.as_str().parse().as_ref(), Ok(version));
        }
        assert!(ProtocolVersion::OLDER.iter().all(|older| !ProtocolVersion::ALL.contains(older)));
    }
}
