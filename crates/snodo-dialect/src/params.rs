//! Parameters as text.

use std::fmt;
use std::ops::Range;

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
    /// The first of them, where it was added by its name, and where its value stands.
    first: Option<(&'static str, Range<usize>)>,
    meta: Vec<(String, Raw)>,
}

impl Params {
    /// No parameters.
    #[must_use]
    pub const fn new() -> Self {
        Self { members: String::new(), first: None, meta: Vec::new() }
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
        let first = self.members.is_empty();
        self.push_name(name);
        let start = self.members.len();
        push_json(&mut self.members, value).map_err(|error| unwritable(&error))?;
        if first {
            self.first = Some((name, start..self.members.len()));
        }
        Ok(self)
    }

    /// Adds a parameter that is written as a JSON object; one that is written as `null` is left out.
    ///
    /// # Errors
    ///
    /// The value cannot be written as JSON, or is written as anything else (-32602).
    pub fn with_object<T: Serialize + ?Sized>(
        mut self,
        name: &'static str,
        value: &T,
    ) -> Result<Self, Error> {
        let before = self.members.len();
        self.push_name(name);
        let start = self.members.len();
        push_json(&mut self.members, value)
            .map_err(|error| Error::usage(format!("{name}: {error}")))?;
        match &self.members.as_bytes()[start..] {
            [b'{', ..] => {}
            b"null" => self.members.truncate(before),
            other => return Err(no_object(name, other)),
        }
        Ok(self)
    }

    /// Writes the name of the next member, with all that stands before its value.
    fn push_name(&mut self, name: &str) {
        if self.members.is_empty() {
            // Most parameters are a name and a few arguments: they grow no more than once.
            self.members.reserve(128);
        } else {
            self.members.push(',');
        }
        push_string(&mut self.members, name);
        self.members.push(':');
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
            return Err(no_object("parameters", text.as_bytes()));
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
        if let Some((first, range)) = &self.first
            && *first == name
        {
            return Some(self.members[range.clone()].to_owned());
        }
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

/// Writes a value behind what is there, without a text of its own between.
fn push_json<T: Serialize + ?Sized>(text: &mut String, value: &T) -> Result<(), serde_json::Error> {
    let mut bytes = std::mem::take(text).into_bytes();
    serde_json::to_writer(&mut bytes, value)?;
    *text = String::from_utf8(bytes).expect("JSON behind a text is UTF-8");
    Ok(())
}

/// Writes a number in digits.
pub(crate) fn push_number(text: &mut String, mut number: u64) {
    let mut digits = [b'0'; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        // A remainder of ten fits.
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    text.push_str(std::str::from_utf8(&digits[at..]).expect("digits are ASCII"));
}

fn unwritable(error: &serde_json::Error) -> Error {
    Error::usage(format!("the parameters cannot be written as JSON: {error}"))
}

/// `json` was written where an object has to stand.
fn no_object(what: &str, json: &[u8]) -> Error {
    let kind = match json.first() {
        Some(b'"') => "a string",
        Some(b'[') => "an array",
        Some(b't' | b'f') => "a boolean",
        _ => "a number",
    };
    Error::usage(format!("{what} are a JSON object, and {kind} was given"))
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
    fn what_has_to_be_an_object_is_one_or_is_left_out() {
        let params = Params::new().with("name", "echo").expect("text");
        let with = |value| params.clone().with_object("arguments", &value);
        let written = with(json!({"a": "b"})).expect("an object");
        assert_eq!(written.text(), r#""name":"echo","arguments":{"a":"b"}"#);
        assert_eq!(with(json!(null)).expect("nothing").text(), r#""name":"echo""#);
    }

    #[test]
    fn what_is_no_object_is_refused_with_the_kind_that_it_is() {
        let table = [
            (json!([1]), "an array"),
            (json!("{}"), "a string"),
            (json!(-1.5), "a number"),
            (json!(7), "a number"),
            (json!(true), "a boolean"),
        ];
        for (value, kind) in table {
            let error = Params::new().with_object("arguments", &value).expect_err(kind);
            let expected = format!("arguments are a JSON object, and {kind} was given");
            assert_eq!((error.code(), error.message()), (-32602, &*expected));
            let error = Params::from_object(&value).expect_err(kind);
            assert_eq!(
                error.message(),
                format!("parameters are a JSON object, and {kind} was given")
            );
        }
    }

    #[test]
    fn numbers_are_written_in_digits() {
        let mut text = String::new();
        for number in [0, 7, 10, 1_234_567, u64::MAX] {
            super::push_number(&mut text, number);
            text.push(' ');
        }
        assert_eq!(text, "0 7 10 1234567 18446744073709551615 ");
    }

    #[test]
    fn debug_does_not_show_what_is_asked() {
        let params = Params::new().with("token", "secret").expect("text");
        assert!(!format!("{params:?}").contains("secret"));
    }
}
