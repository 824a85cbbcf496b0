//! JSON that stays text until somebody reads it.

use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::steers;

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
pub struct Raw(Box<RawValue>);

impl Raw {
    /// Writes a value as JSON text.
    ///
    /// # Errors
    ///
    /// What `serde_json` refuses: a map whose keys are not strings, or a failing `Serialize`.
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        serde_json::value::to_raw_value(value).map(Self)
    }

    /// Takes a text that is one JSON value.
    ///
    /// # Errors
    ///
    /// The text is not exactly one JSON value.
    pub fn parse(text: impl Into<String>) -> Result<Self, serde_json::Error> {
        RawValue::from_string(text.into()).map(Self)
    }

    /// The empty object, `{}`.
    #[must_use]
    pub fn empty_object() -> Self {
        Self(RawValue::from_string("{}".to_owned()).expect("`{}` is JSON"))
    }

    /// `null`.
    #[must_use]
    pub fn null() -> Self {
        Self(RawValue::from_string("null".to_owned()).expect("`null` is JSON"))
    }

    /// A JSON string with these characters.
    pub(crate) fn string(characters: &str) -> Self {
        Self::of(characters).expect("a string is JSON")
    }

    /// The text, as it came.
    #[must_use]
    pub fn text(&self) -> &str {
        self.0.get()
    }

    /// Reads the text as a `T`, at a nesting depth of 128 at most.
    ///
    /// # Errors
    ///
    /// The value is not a `T`, or is nested deeper than 128.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.text())
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
        Self(value)
    }
}

impl From<serde_json::Value> for Raw {
    fn from(value: serde_json::Value) -> Self {
        Self(serde_json::value::to_raw_value(&value).expect("a JSON tree is JSON"))
    }
}

impl Serialize for Raw {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(Self)
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
