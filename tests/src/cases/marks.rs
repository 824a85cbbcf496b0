//! The marks in the text of scripts, such as `@ID@`.

use serde_json::Value;

/// What marks stand for at one moment.
pub(crate) trait Marks {
    /// The value of a mark, named without its signs; `None` leaves it as it is.
    fn value(&self, mark: &str) -> Option<Value>;
}

/// The text with each mark replaced: by a value's JSON, or by a string's characters where the mark
/// is not `@ID@` or `@LASTID@`, which stand for JSON.
pub(crate) fn expand(text: &str, marks: &impl Marks) -> String {
    let mut expanded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('@') {
        expanded.push_str(before);
        let found = behind.split_once('@').and_then(|(mark, after)| {
            let shape = mark.starts_with(|c: char| c.is_ascii_uppercase());
            let value = if shape { value(mark, marks) } else { None };
            Some((mark, value?, after))
        });
        rest = match found {
            Some((mark, value, after)) => {
                match value {
                    Value::String(text) if !mark.ends_with("ID") => expanded.push_str(&text),
                    value => expanded.push_str(&value.to_string()),
                }
                after
            }
            None => {
                expanded.push('@');
                behind
            }
        };
    }
    expanded.push_str(rest);
    expanded
}

/// The value with the marks in its strings replaced; a string that is nothing but a mark becomes
/// what the mark stands for.
pub(crate) fn expand_value(value: &Value, marks: &impl Marks) -> Value {
    match value {
        Value::String(text) => {
            let mark = text.strip_prefix('@').and_then(|rest| rest.strip_suffix('@'));
            let whole = mark.filter(|mark| mark.ends_with("ID")).and_then(|mark| marks.value(mark));
            whole.unwrap_or_else(|| Value::String(expand(text, marks)))
        }
        Value::Array(items) => items.iter().map(|item| expand_value(item, marks)).collect(),
        Value::Object(members) => {
            let expanded =
                members.iter().map(|(name, value)| (name.clone(), expand_value(value, marks)));
            Value::Object(expanded.collect())
        }
        plain => plain.clone(),
    }
}

/// `@X:n@` is the letter, n times; all else is the script's own.
fn value(mark: &str, marks: &impl Marks) -> Option<Value> {
    let repeated = mark.split_once(':').and_then(|(letter, count)| {
        let count = count.parse().ok().filter(|_| letter.len() == 1)?;
        Some(Value::String(letter.to_ascii_lowercase().repeat(count)))
    });
    repeated.or_else(|| marks.value(mark))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Marks, expand, expand_value};

    struct Some7;

    impl Marks for Some7 {
        fn value(&self, mark: &str) -> Option<Value> {
            match mark {
                "ID" => Some(json!("q7")),
                "VER" => Some(json!("one")),
                _ => None,
            }
        }
    }

    #[test]
    fn an_id_is_json_and_other_marks_are_text() {
        assert_eq!(expand("{\"id\":@ID@,\"v\":\"@VER@\"}", &Some7), r#"{"id":"q7","v":"one"}"#);
        assert_eq!(expand("a@b.c @X:3@ @NO@ @", &Some7), "a@b.c xxx @NO@ @");
        assert_eq!(expand_value(&json!({ "id": "@ID@" }), &Some7), json!({ "id": "q7" }));
    }
}
