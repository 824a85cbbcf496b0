//! JSON text copied piece by piece: what is not edited stays as it came.

use serde_json::value::RawValue;

/// Copies the text of a JSON value on one line, without the space between its tokens. Each scalar
/// is shown to `edit` with the name of the member it stands in (an empty one outside of objects),
/// and replaced by what `edit` gives. The text has to be JSON; what is none is copied somehow.
pub(super) fn copy(text: &str, mut edit: impl FnMut(&str, &str) -> Option<String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut open: Vec<Open> = Vec::new();
    let mut at = 0;
    while let Some(byte) = text.as_bytes().get(at) {
        let start = at;
        at += 1;
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' => {}
            b'{' | b'[' => {
                let (object, within) = (*byte == b'{', name_in(&open).to_owned());
                open.push(Open { object, awaits_name: object, name: within });
                out.push(char::from(*byte));
            }
            b'}' | b']' | b',' | b':' => {
                if matches!(byte, b'}' | b']') {
                    open.pop();
                } else if let Some(open) = open.last_mut() {
                    open.awaits_name = open.object && *byte == b',';
                }
                out.push(char::from(*byte));
            }
            _ => {
                at = end_of_scalar(text, start);
                let scalar = &text[start..at];
                match open.last_mut() {
                    Some(open) if open.awaits_name => {
                        open.name = unquote(scalar);
                        out.push_str(scalar);
                    }
                    _ => match edit(name_in(&open), scalar) {
                        Some(edited) => out.push_str(&edited),
                        None => out.push_str(scalar),
                    },
                }
            }
        }
    }
    out
}

/// The text in a quoted JSON string.
pub(super) fn unquote(scalar: &str) -> String {
    serde_json::from_str(scalar).unwrap_or_else(|_| scalar.trim_matches('"').to_owned())
}

/// The text as a quoted JSON string.
pub(super) fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The members of an object in their order, their names and values as they stand in the text.
pub(super) fn members(text: &str) -> Vec<(String, &str)> {
    serde_json::from_str::<Members<'_>>(text).map(|members| members.0).unwrap_or_default()
}

/// An object or an array that is being copied.
struct Open {
    object: bool,
    awaits_name: bool,
    /// The member that was named last; of an array, the member it stands in.
    name: String,
}

fn name_in(open: &[Open]) -> &str {
    open.last().map_or("", |open| &open.name)
}

/// Where the string, the number or the word that starts here ends.
fn end_of_scalar(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    if bytes[start] != b'"' {
        let ends = |byte: &u8| {
            matches!(
                byte,
                b',' | b':' | b'[' | b']' | b'{' | b'}' | b'"' | b' ' | b'\t' | b'\r' | b'\n'
            )
        };
        return bytes[start..].iter().position(ends).map_or(bytes.len(), |length| start + length);
    }
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

struct Members<'a>(Vec<(String, &'a str)>);

impl<'de: 'a, 'a> serde::Deserialize<'de> for Members<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> serde::de::Visitor<'de> for InOrder {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(
                self,
                mut map: A,
            ) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some((name, value)) = map.next_entry::<String, &'de RawValue>()? {
                    members.push((name, value.get()));
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

#[cfg(test)]
mod tests {
    use super::{copy, members};

    #[test]
    fn what_is_not_edited_stays_as_it_came_but_for_the_space_between() {
        let text = "{ \"b\" : 1.50 ,\n \"a\" : [ true, null, \"x \\\" \\\\\" , {} ] }";
        assert_eq!(copy(text, |_, _| None), r#"{"b":1.50,"a":[true,null,"x \" \\",{}]}"#);
    }

    #[test]
    fn each_scalar_is_shown_with_the_member_it_stands_in() {
        let mut seen = Vec::new();
        let text = r#"{"a":1,"b":{"c":[2,{"d":3},4]},"e":"f"}"#;
        let edited = copy(text, |name, scalar| {
            seen.push(format!("{name}={scalar}"));
            (name == "d").then(|| "0".to_owned())
        });
        assert_eq!(seen, ["a=1", "c=2", "d=3", "c=4", "e=\"f\""]);
        assert_eq!(edited, r#"{"a":1,"b":{"c":[2,{"d":0},4]},"e":"f"}"#);
    }

    #[test]
    fn what_is_no_json_ends_too() {
        for text in ["", "{", "\"", "}}]", "\"\\", "{\"a\":", "é{\"é\":é"] {
            copy(text, |_, _| None);
        }
    }

    #[test]
    fn members_keep_their_order_and_their_text() {
        assert_eq!(
            members(r#"{"b":{"x": 1},"a":1.0}"#),
            [("b".to_owned(), "{\"x\": 1}"), ("a".to_owned(), "1.0")]
        );
        assert!(members("[]").is_empty());
    }
}
