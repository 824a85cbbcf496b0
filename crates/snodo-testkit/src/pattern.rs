//! Whether a JSON value holds what a pattern asks for.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Map, Value};

/// A JSON value that another one has to contain.
///
/// Members of objects may be more than the pattern names; arrays have to be as long; everything
/// else has to be equal, a number by its value. Four kinds of strings mean something else:
///
/// - `"$name"` stands for any value. It is bound where it is met first and has to be equal after;
/// - `"$any"` stands for any value and is never bound;
/// - `"$$text"` stands for the string `$text`;
/// - `"$absent"`, as the value of a member, says that there is no such member.
///
/// ```
/// use serde_json::json;
/// use snodo_testkit::{Bindings, Pattern};
///
/// let pattern = Pattern::new(json!({ "id": "$id", "params": { "cursor": "$absent" } }));
/// let mut bindings = Bindings::default();
/// pattern.check(&json!({ "id": 3, "method": "x", "params": {} }), &mut bindings)?;
/// assert_eq!(bindings.value("id"), Some(&json!(3)));
/// let mismatch = pattern.check(&json!({ "id": 4, "params": {} }), &mut bindings).expect_err("another id");
/// assert_eq!(mismatch.to_string(), "at /id: expected 3, found 4");
/// # Ok::<(), snodo_testkit::Mismatch>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern(Value);

/// What the names of patterns were bound to.
///
/// ```
/// assert_eq!(snodo_testkit::Bindings::default().value("id"), None);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Bindings(BTreeMap<String, Value>);

/// The first place where a value is not what the pattern asks for.
///
/// ```
/// use serde_json::json;
/// use snodo_testkit::{Bindings, Pattern};
///
/// let found = Pattern::new(json!([1])).check(&json!([2]), &mut Bindings::default());
/// assert_eq!(found.expect_err("2 is not 1").pointer(), "/0");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Mismatch {
    pointer: String,
    reason: String,
}

impl Pattern {
    /// Takes the value that has to be contained.
    #[must_use]
    pub fn new(value: Value) -> Self {
        Self(value)
    }

    /// Compares a value, and binds the names that are met for the first time.
    ///
    /// # Errors
    ///
    /// The value does not hold what the pattern asks for; nothing is bound then.
    pub fn check(&self, value: &Value, bindings: &mut Bindings) -> Result<(), Mismatch> {
        let mut bound = bindings.clone();
        compare(&self.0, value, &mut String::new(), &mut bound)?;
        *bindings = bound;
        Ok(())
    }

    /// The value that has to be contained.
    pub(crate) fn value(&self) -> &Value {
        &self.0
    }

    /// The names that the pattern binds or asks for.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names = Vec::new();
        collect_names(&self.0, &mut names);
        names
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Bindings {
    /// What a name was bound to.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// Lets a name be bound anew.
    pub(crate) fn forget(&mut self, name: &str) {
        self.0.remove(name);
    }

    /// Writes a text with each `"$name"` in it replaced by what the name was bound to; the first
    /// name that is not bound is the error.
    pub(crate) fn fill(&self, text: &str) -> Result<String, String> {
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, name, after)) = next_name(rest) {
            let value = self.value(name).ok_or_else(|| name.to_owned())?;
            filled.push_str(before);
            filled.push_str(&value.to_string());
            rest = after;
        }
        filled.push_str(rest);
        Ok(filled)
    }
}

impl Mismatch {
    /// Where it is, as a JSON pointer.
    #[must_use]
    pub fn pointer(&self) -> &str {
        &self.pointer
    }

    fn new(pointer: &str, reason: String) -> Self {
        Self { pointer: pointer.to_owned(), reason }
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.pointer.is_empty() { "the root" } else { &self.pointer };
        write!(f, "at {place}: {}", self.reason)
    }
}

impl std::error::Error for Mismatch {}

/// The first `"$name"` of a text: what stands before it, the name, and what stands after it.
pub(crate) fn next_name(text: &str) -> Option<(&str, &str, &str)> {
    let mut from = 0;
    while let Some(found) = text[from..].find("\"$") {
        let start = from + found;
        let rest = &text[start + 2..];
        let length = rest.bytes().take_while(|byte| is_name_byte(*byte)).count();
        // A member's name, as in JSON schemas, stands for itself.
        let after = rest[length..].strip_prefix('"');
        let is_value = after.is_some_and(|after| !after.trim_start().starts_with(':'));
        if length > 0 && is_value {
            return Some((&text[..start], &rest[..length], &rest[length + 1..]));
        }
        from = start + 2;
    }
    None
}

fn compare(
    pattern: &Value,
    value: &Value,
    pointer: &mut String,
    bindings: &mut Bindings,
) -> Result<(), Mismatch> {
    match (pattern, value) {
        (Value::String(text), _) if name_of(text).is_some() => {
            let name = name_of(text).unwrap_or_default();
            compare_name(name, value, pointer, bindings)
        }
        (Value::String(text), Value::String(value)) if text.starts_with("$$") => {
            if text[1..] == *value {
                return Ok(());
            }
            Err(Mismatch::new(pointer, format!("expected {:?}, found {value:?}", &text[1..])))
        }
        (Value::Object(pattern), Value::Object(value)) => {
            compare_objects(pattern, value, pointer, bindings)
        }
        (Value::Array(pattern), Value::Array(value)) if pattern.len() == value.len() => {
            for (index, (pattern, value)) in pattern.iter().zip(value).enumerate() {
                below(pointer, &index.to_string(), |pointer| {
                    compare(pattern, value, pointer, bindings)
                })?;
            }
            Ok(())
        }
        (Value::Number(pattern), Value::Number(value)) if pattern.as_f64() == value.as_f64() => {
            Ok(())
        }
        _ if pattern == value => Ok(()),
        _ => Err(Mismatch::new(pointer, format!("expected {pattern}, found {value}"))),
    }
}

fn compare_name(
    name: &str,
    value: &Value,
    pointer: &str,
    bindings: &mut Bindings,
) -> Result<(), Mismatch> {
    if name == ANY {
        return Ok(());
    }
    match bindings.0.get(name) {
        Some(bound) if bound == value => Ok(()),
        Some(bound) => Err(Mismatch::new(pointer, format!("expected {bound}, found {value}"))),
        None => {
            bindings.0.insert(name.to_owned(), value.clone());
            Ok(())
        }
    }
}

fn compare_objects(
    pattern: &Map<String, Value>,
    value: &Map<String, Value>,
    pointer: &mut String,
    bindings: &mut Bindings,
) -> Result<(), Mismatch> {
    for (key, pattern) in pattern {
        let wants_none = pattern.as_str().and_then(name_of) == Some(ABSENT);
        below(pointer, key, |pointer| match value.get(key) {
            None if wants_none => Ok(()),
            None => Err(Mismatch::new(pointer, format!("expected {pattern}, found nothing"))),
            Some(found) if wants_none => {
                Err(Mismatch::new(pointer, format!("expected nothing, found {found}")))
            }
            Some(found) => compare(pattern, found, pointer, bindings),
        })?;
    }
    Ok(())
}

/// Runs a comparison one level deeper.
fn below<T>(pointer: &mut String, key: &str, compare: impl FnOnce(&mut String) -> T) -> T {
    let length = pointer.len();
    pointer.push('/');
    pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
    let outcome = compare(pointer);
    pointer.truncate(length);
    outcome
}

fn collect_names(value: &Value, names: &mut Vec<String>) {
    match value {
        Value::String(text) => match name_of(text) {
            Some(name) if name != ANY && name != ABSENT => names.push(name.to_owned()),
            _ => {}
        },
        Value::Array(items) => items.iter().for_each(|item| collect_names(item, names)),
        Value::Object(members) => members.values().for_each(|item| collect_names(item, names)),
        _ => {}
    }
}

/// The name that a string stands for, if it does.
/// The name that a string stands for.
pub(crate) fn name_of(text: &str) -> Option<&str> {
    let name = text.strip_prefix('$')?;
    (!name.is_empty() && name.bytes().all(is_name_byte)).then_some(name)
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

const ABSENT: &str = "absent";
const ANY: &str = "any";

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Bindings, Pattern, next_name};

    fn found(pattern: Value, value: Value) -> Option<String> {
        let outcome = Pattern::new(pattern).check(&value, &mut Bindings::default());
        outcome.err().map(|mismatch| mismatch.to_string())
    }

    #[test]
    fn an_object_may_hold_more_and_an_array_may_not() {
        assert_eq!(found(json!({ "a": 1 }), json!({ "a": 1, "b": 2 })), None);
        assert!(found(json!([1]), json!([1, 2])).is_some());
    }

    #[test]
    fn a_mismatch_names_the_place_and_both_values() {
        let pattern = json!({ "params": { "list": [1, { "x/y": true }] } });
        let value = json!({ "params": { "list": [1, { "x/y": false }] } });
        let text = found(pattern, value);
        assert_eq!(text.as_deref(), Some("at /params/list/1/x~1y: expected true, found false"));
        let missing = found(json!({ "a": 1 }), json!({}));
        assert_eq!(missing.as_deref(), Some("at /a: expected 1, found nothing"));
    }

    #[test]
    fn a_name_has_to_mean_the_same_everywhere() {
        assert_eq!(found(json!(["$a", "$a"]), json!([1, 1])), None);
        assert!(found(json!(["$a", "$a"]), json!([1, 2])).is_some());
        assert_eq!(found(json!(["$any", "$any"]), json!([1, 2])), None);
    }

    #[test]
    fn an_absent_member_must_not_be_there() {
        assert_eq!(found(json!({ "a": "$absent" }), json!({})), None);
        assert!(found(json!({ "a": "$absent" }), json!({ "a": null })).is_some());
    }

    #[test]
    fn a_failed_check_binds_nothing() {
        let mut bindings = Bindings::default();
        let pattern = Pattern::new(json!(["$a", 1]));
        assert!(pattern.check(&json!([7, 2]), &mut bindings).is_err());
        assert_eq!(bindings.value("a"), None);
    }

    #[test]
    fn a_text_is_filled_where_a_whole_string_is_a_name() {
        let mut bindings = Bindings::default();
        Pattern::new(json!("$id")).check(&json!("x1"), &mut bindings).expect("binds");
        let filled = bindings.fill(r#"{"$id":"$id","text":"costs $id or \"$5.00\""}"#);
        assert_eq!(filled.as_deref(), Ok(r#"{"$id":"x1","text":"costs $id or \"$5.00\""}"#));
        assert_eq!(bindings.fill(r#"["$other"]"#), Err("other".to_owned()));
        assert_eq!(next_name("no \"$\" name"), None);
    }
}
