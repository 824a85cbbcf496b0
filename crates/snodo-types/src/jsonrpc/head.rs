//! The head of a message: which members the outermost object has, and what that makes it.

use std::ops::Range;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::RequestId;
use super::message::{Form, Kind, Name};
use crate::json::{Cursor, Unsure};

/// Reads the head of a message.
///
/// # Errors
///
/// Why the text is no message.
pub(super) fn form(text: &str) -> Result<Form, String> {
    let head = Head::read_quickly(text)
        .or_else(|Unsure| serde_json::from_str::<Thorough<'_>>(text).map(Head::from));
    head.map_err(|error| error.to_string())?.form(text)
}

/// The texts of the members that count; one that is `null` reads as absent.
#[derive(Default)]
struct Head<'a> {
    jsonrpc: Option<&'a str>,
    id: Option<&'a str>,
    method: Option<&'a str>,
    params: Option<&'a str>,
    result: Option<&'a str>,
    error: Option<&'a str>,
    /// The member `resultType` of the result, where it was looked for.
    kind: Option<Option<&'a str>>,
}

impl<'a> Head<'a> {
    /// Reads it in one pass, the result's own head with it.
    fn read_quickly(text: &'a str) -> Result<Self, Unsure> {
        let mut cursor = Cursor::new(text);
        let mut head = Self::default();
        let (mut first, mut seen) = (true, 0_u8);
        cursor.take(b'{')?;
        while let Some(name) = cursor.name(std::mem::take(&mut first))? {
            let (place, bit) = match &*name {
                "jsonrpc" => (&mut head.jsonrpc, 1),
                "id" => (&mut head.id, 2),
                "method" => (&mut head.method, 4),
                "params" => (&mut head.params, 8),
                "result" => (&mut head.result, 16),
                "error" => (&mut head.error, 32),
                _ => {
                    cursor.skip()?;
                    continue;
                }
            };
            // A member that comes twice is refused, with a reason that is not ours to give.
            if seen & bit != 0 {
                return Err(Unsure);
            }
            seen |= bit;
            let value = if bit == 16 {
                let (result, kind) = cursor.skip_noting("resultType")?;
                head.kind = Some(kind);
                result
            } else {
                cursor.skip()?
            };
            *place = Some(value).filter(|value| *value != "null");
        }
        cursor.end()?;
        Ok(head)
    }

    fn form(self, text: &str) -> Result<Form, String> {
        let found = |reason: &str| Err(reason.to_owned());
        if self.jsonrpc.is_none_or(|version| !is_two(version)) {
            return found("`jsonrpc` is not \"2.0\"");
        }
        let id = match self.id {
            None => None,
            Some(raw) => Some(RequestId::read(raw).ok_or("`id` is neither a string nor a number")?),
        };
        let params = self.params.map(|params| span(text, params));
        match (self.method, self.result, self.error) {
            (Some(method), None, None) => {
                let odd = self.params.is_some_and(|params| !params.starts_with('{'));
                let method = name(text, method)?;
                match id {
                    // Whoever it is for refuses it: a request is answered, whatever is wrong with it
                    // (2025-11-25, base protocol, "Responses").
                    Some(id) => Ok(Form::Request { id, method, params }),
                    None if odd => found("`params` is not an object"),
                    None => Ok(Form::Notification { method, params }),
                }
            }
            (None, Some(result), None) => match id {
                None => found("a result without an id"),
                Some(_) if !result.starts_with('{') => found("`result` is not an object"),
                Some(id) => {
                    let kind = match self.kind {
                        None => Kind::Unknown,
                        Some(None) => Kind::Absent,
                        Some(Some(kind)) => Kind::At(span(text, kind)),
                    };
                    Ok(Form::Result { id, result: span(text, result), kind })
                }
            },
            (None, None, Some(error)) if error.starts_with('{') => {
                Ok(Form::Error { id, error: span(text, error) })
            }
            (None, None, Some(_)) => found("`error` is not an object"),
            (None, None, None) => found("neither `method` nor `result` nor `error`"),
            _ => found("more than one of `method`, `result` and `error`"),
        }
    }
}

/// The same by serde, which refuses a member that comes twice, and skips what is not named here
/// without building it, however deep it is nested.
#[derive(Deserialize)]
struct Thorough<'a> {
    #[serde(borrow, default)]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<&'a RawValue>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
    #[serde(borrow, default)]
    result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

impl<'a> From<Thorough<'a>> for Head<'a> {
    fn from(head: Thorough<'a>) -> Self {
        Self {
            jsonrpc: head.jsonrpc.map(RawValue::get),
            id: head.id.map(RawValue::get),
            method: head.method.map(RawValue::get),
            params: head.params.map(RawValue::get),
            result: head.result.map(RawValue::get),
            error: head.error.map(RawValue::get),
            kind: None,
        }
    }
}

/// Nearly always these five characters; JSON lets any of them be escaped.
fn is_two(raw: &str) -> bool {
    raw == r#""2.0""#
        || raw.contains('\\') && serde_json::from_str::<String>(raw).is_ok_and(|text| text == "2.0")
}

fn name(text: &str, raw: &str) -> Result<Name, String> {
    let quoted = raw.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    match quoted {
        Some(plain) if !plain.contains('\\') => Ok(Name::At(span(text, plain))),
        Some(_) => serde_json::from_str::<String>(raw)
            .map(|name| Name::Unescaped(name.into()))
            .map_err(|error| error.to_string()),
        None => Err("`method` is not a string".to_owned()),
    }
}

/// Where a piece of the text stands in it.
fn span(text: &str, piece: &str) -> Range<usize> {
    let start = piece.as_ptr().addr() - text.as_ptr().addr();
    start..start + piece.len()
}

#[cfg(test)]
mod tests {
    use super::{Head, Thorough};

    /// Both ways of reading say the same of it, or the quick one leaves it to the other.
    fn agree(text: &str) -> bool {
        let thorough = serde_json::from_str::<Thorough<'_>>(text).map(Head::from);
        let Ok(quick) = Head::read_quickly(text) else { return false };
        let thorough = thorough.unwrap_or_else(|error| panic!("{text}: {error}"));
        let members = |head: &Head<'_>| {
            [head.jsonrpc, head.id, head.method, head.params, head.result, head.error]
                .map(|member| member.map(str::to_owned))
        };
        assert_eq!(members(&quick), members(&thorough), "{text}");
        true
    }

    #[test]
    fn both_ways_read_the_same_head() {
        for text in [
            r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[]}}"#,
            r#" { "id" : "a" , "jsonrpc" : "2.0" , "error" : { } , "more" : [ 1.5e3 ] } "#,
            r#"{"jsonrpc":"2.0","m\u0065thod":"x","params":null,"result":null}"#,
            "{}",
        ] {
            assert!(agree(text), "{text}");
        }
    }

    #[test]
    fn what_is_broken_or_comes_twice_is_left_to_serde() {
        for text in [
            r#"{"id":1,"id":2}"#,
            r#"{"id":null,"id":2}"#,
            r#"{"jsonrpc":"2.0",}"#,
            r#"{"jsonrpc":"2.0"} x"#,
            r#"{"result":{"a":01}}"#,
            "[]",
            "",
        ] {
            assert!(!agree(text), "{text}");
        }
    }
}
