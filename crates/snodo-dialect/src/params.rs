//! Parameters as text.

use std::fmt;

use serde::Serialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use snodo_types::{Error, Raw};

/// The parameters of a request: members of one object, written as text from the start.
///
/// `_meta` is kept apart, since each version adds its own. Their text is private to the caller and
/// the server: `Debug` shows sizes only.
///
/// ```
/// use snodo_dialect::Params;
///
/// let params = Params::new().with("name", "echo")?.with("arguments", &serde_json::json!({"a": 1}))?;
/// assert_eq!(params.member("name").as_deref(), Some(r#""echo""#));
/// # Ok::<(), snodo_types::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct Params {
    /// `"name":value` pairs with commas between.
    members: String,
    meta: Vec<(String, Raw)>,
}

impl Params {
    /// No parameters.
    #[must_use]
    pub const fn new() -> Self {
        Self { members: String::new(), meta: Vec::new() }
    }

    /// Adds a parameter. Names are the protocol's own and not repeated.
    ///
    /// # Errors
    ///
    /// The value cannot be written as JSON (-32602).
    pub fn with<T: Serialize + ?Sized>(
        mut self,
        name: &'static str,
        value: &T,
    ) -> Result<Self, Error> {
        if !self.members.is_empty() {
            self.members.push(',');
        }
        push_string(&mut self.members, name);
        self.members.push(':');
        push_json(&mut self.members, value)?;
        Ok(self)
    }

    /// Takes the members of anything that is written as a JSON object; `null` counts as empty.
    /// A member `_meta` becomes the request's own metadata.
    ///
    /// # Errors
    ///
    /// The value is not written as an object, or `_meta` in it is none (-32602).
    pub fn from_object<T: Serialize + ?Sized>(value: &T) -> Result<Self, Error> {
        let text = serde_json::to_string(value).map_err(|error| unwritable(&error))?;
        let Some(members) = members(&text) else {
            return Err(Error::usage("parameters are a JSON object"));
        };
        let mut params = Self::new();
        for (name, value) in members {
            if name == "_meta" {
                params.meta = self::members(value.get())
                    .ok_or_else(|| Error::usage("`_meta` is a JSON object"))?
                    .into_iter()
                    .map(|(name, value)| (name, Raw::from(value.to_owned())))
                    .collect();
                continue;
            }
            if !params.members.is_empty() {
                params.members.push(',');
            }
            push_string(&mut params.members, &name);
            params.members.push(':');
            params.members.push_str(value.get());
        }
        Ok(params)
    }

    /// The text of a parameter's value.
    #[must_use]
    pub fn member(&self, name: &str) -> Option<String> {
        let text = format!("{{{}}}", self.members);
        let members = members(&text)?;
        members
            .iter()
            .rev()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.get().to_owned())
    }

    /// The members as text, without braces and without `_meta`.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.members
    }

    /// The same text without what is given apart under one of these names.
    pub(crate) fn text_without(&self, names: &[&str]) -> String {
        let text = format!("{{{}}}", self.members);
        let mut kept = String::with_capacity(text.len());
        for (name, value) in members(&text).unwrap_or_default() {
            if names.contains(&name.as_str()) {
                continue;
            }
            if !kept.is_empty() {
                kept.push(',');
            }
            push_string(&mut kept, &name);
            kept.push(':');
            kept.push_str(value.get());
        }
        kept
    }

    /// What the caller put under `_meta`.
    #[must_use]
    pub fn meta(&self) -> &[(String, Raw)] {
        &self.meta
    }
}

impl fmt::Debug for Params {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Params({} bytes)", self.members.len())
    }
}

/// Writes a string with its quotes.
pub(crate) fn push_string(text: &mut String, string: &str) {
    let plain = string.bytes().all(|byte| byte >= 0x20 && byte != b'"' && byte != b'\\');
    if plain {
        text.push('"');
        text.push_str(string);
        text.push('"');
    } else {
        text.push_str(&serde_json::Value::from(string).to_string());
    }
}

fn push_json<T: Serialize + ?Sized>(text: &mut String, value: &T) -> Result<(), Error> {
    text.push_str(&serde_json::to_string(value).map_err(|error| unwritable(&error))?);
    Ok(())
}

fn unwritable(error: &serde_json::Error) -> Error {
    Error::usage(format!("the parameters cannot be written as JSON: {error}"))
}

/// The members of an object in their order; a repeated name stays repeated. `null` has none.
fn members(text: &str) -> Option<Vec<(String, &RawValue)>> {
    struct Members;

    impl<'de> Visitor<'de> for Members {
        type Value = Vec<(String, &'de RawValue)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok(Vec::new())
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut members = Vec::new();
            while let Some(member) = map.next_entry()? {
                members.push(member);
            }
            Ok(members)
        }
    }

    serde_json::Deserializer::from_str(text).deserialize_any(Members).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Params;

    #[test]
    fn an_object_is_taken_member_by_member_and_meta_apart() {
        let params = Params::from_object(&json!({"b": 1, "_meta": {"k": [1]}, "a": "x\"y"}))
            .expect("an object");
        assert_eq!(params.meta()[0].0, "k");
        assert_eq!(params.meta()[0].1.text(), "[1]");
        assert_eq!(params.member("a").as_deref(), Some(r#""x\"y""#));
        assert_eq!(params.member("_meta"), None);
    }

    #[test]
    fn nothing_is_an_object_without_members_and_a_list_is_none() {
        assert_eq!(Params::from_object(&()).expect("nothing").text(), "");
        assert_eq!(Params::from_object(&json!({})).expect("empty").text(), "");
        for wrong in [json!([1]), json!("text"), json!({"_meta": 5})] {
            assert_eq!(Params::from_object(&wrong).expect_err("no object").code(), -32602);
        }
    }

    #[test]
    fn debug_does_not_show_what_is_asked() {
        let params = Params::new().with("token", "secret").expect("text");
        assert!(!format!("{params:?}").contains("secret"));
    }
}
