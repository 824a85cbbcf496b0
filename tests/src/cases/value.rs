//! Questions about JSON values.

use std::collections::HashMap;

use serde_json::Value;
use serde_json::value::RawValue;

/// Whether `part` says nothing that `whole` does not: objects may hold more, all else is equal.
pub(crate) fn is_subset(part: &Value, whole: &Value) -> bool {
    match (part, whole) {
        (Value::Object(part), Value::Object(whole)) => part
            .iter()
            .all(|(name, value)| whole.get(name).is_some_and(|whole| is_subset(value, whole))),
        (Value::Array(part), Value::Array(whole)) => {
            part.len() == whole.len() && part.iter().zip(whole).all(|(p, w)| is_subset(p, w))
        }
        _ => part == whole,
    }
}

/// The text as a value; what is no JSON is taken as a string.
pub(crate) fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}

/// At most so many characters of a text, for a line of output.
pub(crate) fn shown(text: &str) -> String {
    let line: String = text.chars().take(300).collect();
    if line.len() < text.len() { format!("{line}… ({} bytes)", text.len()) } else { line }
}

/// The value that a JSON pointer leads to, as text without blanks: members in their order, numbers
/// in their digits.
pub(crate) fn compact_at(text: &str, pointer: &str) -> Option<String> {
    let mut raw: Box<RawValue> = serde_json::from_str(text).ok()?;
    for step in pointer.split('/').skip(1) {
        let name = step.replace("~1", "/").replace("~0", "~");
        let next = match name.parse::<usize>() {
            Ok(at) if raw.get().starts_with('[') => {
                let items: Vec<Box<RawValue>> = serde_json::from_str(raw.get()).ok()?;
                items.into_iter().nth(at)
            }
            _ => {
                let mut members: HashMap<String, Box<RawValue>> =
                    serde_json::from_str(raw.get()).ok()?;
                members.remove(&name)
            }
        };
        raw = next?;
    }
    Some(without_blanks(raw.get()))
}

fn without_blanks(text: &str) -> String {
    let (mut quoted, mut escaped) = (false, false);
    let kept = text.chars().filter(|character| {
        let blank = !quoted && character.is_ascii_whitespace();
        match character {
            '"' if !escaped => quoted = !quoted,
            '\\' if !escaped => {
                escaped = true;
                return true;
            }
            _ => {}
        }
        escaped = false;
        !blank
    });
    kept.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{compact_at, is_subset};

    #[test]
    fn a_pointer_keeps_order_and_digits() {
        let text = r#"{"a/b": [1, {"z" : 1.0, "a": "x \" y"}]}"#;
        assert_eq!(compact_at(text, "/a~1b/1").as_deref(), Some(r#"{"z":1.0,"a":"x \" y"}"#));
        assert_eq!(compact_at(text, "/a~1b/2"), None);
    }

    #[test]
    fn an_object_may_hold_more_than_its_part() {
        let whole = json!({ "a": { "b": 1, "c": 2 }, "d": [1] });
        assert!(is_subset(&json!({ "a": { "b": 1 } }), &whole));
        assert!(!is_subset(&json!({ "a": { "b": 2 } }), &whole));
        assert!(!is_subset(&json!({ "d": [] }), &whole));
    }
}
