//! Looking at one member of a text without reading the rest.

use std::fmt;

use serde::de::{DeserializeOwned, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::json::{Cursor, Unsure};
use crate::object::Key;
use crate::{Raw, read_json};

/// The text of the member at the end of a path of names; of several with one name, the last.
/// `None` where the path leaves objects, and for `null`.
pub(crate) fn member<'a>(text: &'a str, path: &[&str]) -> Option<&'a str> {
    follow(text, path, |text, name| Cursor::new(text).find(name))
}

/// The same in a text that is known to be JSON.
pub(crate) fn known_member<'a>(text: &'a str, path: &[&str]) -> Option<&'a str> {
    follow(text, path, |text, name| Cursor::knowing(text).find(name))
}

fn follow<'a>(
    text: &'a str,
    path: &[&str],
    find: impl Fn(&'a str, &str) -> Result<Option<&'a str>, Unsure>,
) -> Option<&'a str> {
    path.iter().try_fold(text, |text, name| {
        let found = match find(text, name) {
            Ok(found) => found,
            Err(Unsure) => {
                let mut reader = serde_json::Deserializer::from_str(text);
                reader.deserialize_map(Finding { name }).ok()?.map(RawValue::get)
            }
        };
        found.filter(|value| *value != "null")
    })
}

/// Reads the member at the end of a path; one of another kind counts as absent.
pub(crate) fn read<T: DeserializeOwned>(text: &str, path: &[&str]) -> Option<T> {
    read_json(member(text, path)?).ok()
}

/// Reads a hint: what is absent or no `T` reads as the default.
pub(crate) fn hint<T: DeserializeOwned + Default>(raw: Option<&Raw>) -> T {
    raw.and_then(|raw| raw.decode().ok()).unwrap_or_default()
}

/// Reads a list of hints, leaving out what is no `T`.
pub(crate) fn hints<T: DeserializeOwned>(raw: Option<&Raw>) -> Vec<T> {
    let items: Vec<Raw> = hint(raw);
    items.iter().filter_map(|item| item.decode().ok()).collect()
}

struct Finding<'n> {
    name: &'n str,
}

impl<'de> Visitor<'de> for Finding<'_> {
    type Value = Option<&'de RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some(key) = map.next_key::<Key<'de>>()? {
            if key.0 == self.name {
                found = Some(map.next_value::<&RawValue>()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::member;

    #[test]
    fn a_path_is_followed_through_objects_and_ends_at_anything_else() {
        let text = r#"{"a": {"b": 1, "b": 2}, "c": null, "d": [1], "é": true}"#;
        assert_eq!(member(text, &["a", "b"]), Some("2"));
        assert_eq!(member(text, &["\u{e9}"]), Some("true"));
        assert_eq!(member(text, &["c"]), None);
        assert_eq!(member(text, &["d", "0"]), None);
        assert_eq!(member(text, &["a", "b", "c"]), None);
        assert_eq!(member("[]", &["a"]), None);
    }
}
