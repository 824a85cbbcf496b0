//! Request ids.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Raw;

/// The id of a request, as its sender wrote it.
///
/// The protocol allows strings and integers. Peers also send fractions and numbers past 2^53;
/// those are kept as text, so that an answer carries exactly what was asked with.
///
/// ```
/// use snodo_types::RequestId;
///
/// let id: RequestId = serde_json::from_str("7")?;
/// assert_eq!(id, RequestId::Number(7));
/// assert_eq!(serde_json::to_string(&RequestId::Text("a".into()))?, r#""a""#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RequestId {
    /// An integer within ±2^53, which every peer can hold.
    Number(i64),
    /// Anything else that a peer used: a fraction, a larger number.
    Other(Raw),
    /// A string; the empty one is an id too.
    Text(String),
}

impl RequestId {
    /// The largest integer that every JSON reader holds exactly: 2^53.
    pub const MAX: u64 = 1 << 53;

    /// The id as one of the numbers this library gives its own requests, if it may be one.
    ///
    /// Some servers and gateways send the number back as a string of digits or as `7.0`; both
    /// are taken for the number. Never the other way round: our ids are numbers.
    #[must_use]
    pub fn as_ours(&self) -> Option<u64> {
        match self {
            Self::Number(number) => u64::try_from(*number).ok(),
            Self::Other(raw) => whole(raw.text()),
            Self::Text(text) => digits(text),
        }
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Other(raw) => f.write_str(raw.text()),
            Self::Text(text) => write!(f, "{text:?}"),
        }
    }
}

impl From<u64> for RequestId {
    /// A number past [`MAX`](Self::MAX) becomes [`Other`](Self::Other).
    fn from(number: u64) -> Self {
        match i64::try_from(number) {
            Ok(small) if number <= Self::MAX => Self::Number(small),
            _ => Self::Other(Raw::of(&number).expect("a number is JSON")),
        }
    }
}

impl Serialize for RequestId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(number) => serializer.serialize_i64(*number),
            Self::Other(raw) => raw.serialize(serializer),
            Self::Text(text) => serializer.serialize_str(text),
        }
    }
}

impl<'de> Deserialize<'de> for RequestId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        Self::read(raw.text())
            .ok_or_else(|| serde::de::Error::custom("an id is a string or a number"))
    }
}

impl RequestId {
    /// Reads the text of one JSON value; `None` for what no id can be.
    pub(crate) fn read(text: &str) -> Option<Self> {
        match text.as_bytes().first()? {
            b'"' => serde_json::from_str(text).ok().map(Self::Text),
            b'-' | b'0'..=b'9' => Some(match text.parse::<i64>() {
                Ok(number) if number.unsigned_abs() <= Self::MAX => Self::Number(number),
                _ => Self::Other(Raw::parse(text).ok()?),
            }),
            _ => None,
        }
    }
}

fn digits(text: &str) -> Option<u64> {
    let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let canonical = text == "0" || !text.starts_with('0');
    if plain && canonical { text.parse().ok() } else { None }
}

fn whole(text: &str) -> Option<u64> {
    if let Ok(number) = text.parse() {
        return Some(number);
    }
    let number = text.parse::<f64>().ok()?;
    let exact = number.fract() == 0.0 && (0.0..=9_007_199_254_740_992.0).contains(&number);
    // Within 2^53 every whole float is exactly one integer.
    exact.then_some(number as u64)
}

#[cfg(test)]
mod tests {
    use super::RequestId;

    fn read(text: &str) -> RequestId {
        serde_json::from_str(text).expect("an id")
    }

    // BASE-16
    #[test]
    fn a_number_sent_back_as_text_or_fraction_is_still_ours() {
        assert_eq!(read("7").as_ours(), Some(7));
        assert_eq!(read("\"7\"").as_ours(), Some(7));
        assert_eq!(read("7.0").as_ours(), Some(7));
        assert_eq!(read("0").as_ours(), Some(0));
        for foreign in ["7.5", "-1", "\"07\"", "\"+7\"", "\"\"", "\"server-error\""] {
            assert_eq!(read(foreign).as_ours(), None, "{foreign}");
        }
    }

    // BASE-02
    #[test]
    fn what_a_peer_used_as_an_id_is_written_back_unchanged() {
        for text in ["1.5", "18446744073709551616", "9007199254740993", "\"x\"", "\"\"", "-3"] {
            assert_eq!(serde_json::to_string(&read(text)).expect("text"), text);
        }
        assert!(serde_json::from_str::<RequestId>("null").is_err());
        assert!(serde_json::from_str::<RequestId>("[1]").is_err());
    }
}
