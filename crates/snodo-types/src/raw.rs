//! JSON that stays text until somebody reads it.

use std::fmt;

use serde::de::{DeserializeOwned, Visitor};
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::{json, read_json, steers};

/// One JSON value, kept as the text it came in.
///
/// Schemas, `_meta`, annotations, structured content and members this library does not know
/// are held like this: nothing is lost, nothing is paid for until [`decode`](Self::decode) is
/// called, and nesting of any depth passes through. Two values are equal when their texts are.
///
/// ```
/// use snodo_types::Raw;
///
/// let schema: Raw = serde_json::from_str(r#"{"type": "object"}"#)?;
/// assert_eq!(schema.text(), r#"{"type": "object"}"#);
/// assert_eq!(schema.decode::<serde_json::Value>()?["type"], "object");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone)]
pub struct Raw(Box<str>);

impl Raw {
    /// Writes a value as JSON text.
    ///
    /// # Errors
    ///
    /// What `serde_json` refuses: a map whose keys are not strings, or a failing `Serialize`.
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        serde_json::to_string(value).map(|text| Self(text.into()))
    }

    /// Takes a text that is one JSON value.
    ///
    /// # Errors
    ///
    /// The text is not exactly one JSON value.
    pub fn parse(text: impl Into<String>) -> Result<Self, serde_json::Error> {
        RawValue::from_string(text.into()).map(Self::from)
    }

    /// The empty object, `{}`.
    #[must_use]
    pub fn empty_object() -> Self {
        Self("{}".into())
    }

    /// `null`.
    #[must_use]
    pub fn null() -> Self {
        Self("null".into())
    }

    /// A JSON string with these characters.
    pub(crate) fn string(characters: &str) -> Self {
        Self::of(characters).expect("a string is JSON")
    }

    /// The text, as it came.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Reads the text as a `T`, at a nesting depth of 128 at most.
    ///
    /// # Errors
    ///
    /// The value is not a `T`, or is nested deeper than 128.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        read_json(self.text())
    }

    /// Whether the value is an object.
    #[must_use]
    pub fn is_object(&self) -> bool {
        self.text().starts_with('{')
    }

    /// Whether the value is `null`.
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.text() == "null"
    }
}

impl Default for Raw {
    fn default() -> Self {
        Self::empty_object()
    }
}

impl PartialEq for Raw {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

impl Eq for Raw {}

impl fmt::Debug for Raw {
    /// The text, with what [`steers`] escaped: JSON lets some of it stand.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for piece in self.text().split_inclusive(steers) {
            let plain = piece.trim_end_matches(steers);
            write!(f, "{plain}{}", piece[plain.len()..].escape_default())?;
        }
        Ok(())
    }
}

impl fmt::Display for Raw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl From<Box<RawValue>> for Raw {
    fn from(value: Box<RawValue>) -> Self {
        Self(value.into())
    }
}

impl From<serde_json::Value> for Raw {
    fn from(value: serde_json::Value) -> Self {
        Self(value.to_string().into())
    }
}

impl Serialize for Raw {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // `serde_json` writes a text as it is only where it has looked at it itself.
        let text: &RawValue = serde_json::from_str(&self.0).map_err(S::Error::custom)?;
        text.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(json::RAW, RawVisitor)
    }
}

/// Takes the text from our own reader, or from `serde_json`.
struct RawVisitor;

impl<'de> Visitor<'de> for RawVisitor {
    type Value = Raw;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    /// Called by our reader alone, and never with anything but one JSON value.
    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Raw, E> {
        Ok(Raw(text.into()))
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, source: D) -> Result<Raw, D::Error> {
        Box::<RawValue>::deserialize(source).map(Raw::from)
    }
}

#[cfg(test)]
mod tests {
    use super::Raw;

    #[test]
    fn a_text_of_any_depth_passes_untouched() {
        let deep = format!("{}1{}", "[".repeat(10_000), "]".repeat(10_000));
        let raw: Raw = serde_json::from_str(&deep).expect("JSON");
        assert_eq!(serde_json::to_string(&raw).expect("text"), deep);
        assert!(raw.decode::<serde_json::Value>().is_err(), "decoding stops at a depth of 128");
    }

    #[test]
    fn two_values_in_a_text_are_refused() {
        assert!(Raw::parse("{} {}").is_err());
        assert!(Raw::parse("").is_err());
    }
}
