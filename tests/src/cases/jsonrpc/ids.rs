//! The ids of a case in the numbers that the client really uses.
//!
//! A client numbers its requests itself, so the text that a case has the server say names the
//! wrong ones. Here they are replaced where they stand, in the shape they have (`1`, `1.0`, `"1"`):
//! reading and writing the text would mend what is wrong with it.

use serde_json::Value;

/// A request in flight, as the case and as the client call it.
#[derive(Clone, Debug)]
pub(crate) struct Alias {
    pub(crate) case: Value,
    pub(crate) token: Option<Value>,
    pub(crate) real: u64,
}

/// The text of a server's message with the client's numbers in it.
pub(crate) fn translate(text: &str, aliases: &[Alias]) -> String {
    let text = match head_id(text) {
        Some((start, end)) => {
            let literal = &text[start..end];
            let id = aliases
                .iter()
                .find_map(|alias| real_shape(literal, &alias.case, alias.real))
                .unwrap_or_else(|| apart(literal, aliases));
            format!("{}{id}{}", &text[..start], &text[end..])
        }
        None => text.to_owned(),
    };
    let with_tokens = aliases.iter().filter_map(|alias| Some((alias.token.as_ref()?, alias.real)));
    let text =
        with_tokens.fold(text, |text, (token, real)| named(&text, "progressToken", token, real));
    aliases.iter().fold(text, |text, alias| {
        named(&text, "io.modelcontextprotocol/subscriptionId", &alias.case, alias.real)
    })
}

/// The text with the client's number where a member names a request.
fn named(text: &str, member: &str, case: &Value, real: u64) -> String {
    text.replace(&format!("\"{member}\":{case}"), &format!("\"{member}\":{real}"))
}

/// The value with the client's numbers for what it names.
pub(crate) fn translate_value(value: &Value, aliases: &[Alias]) -> Value {
    let mut value = value.clone();
    if let Some(id) = value.pointer_mut("/params/requestId")
        && let Some(alias) = aliases.iter().find(|alias| alias.case == *id)
    {
        *id = alias.real.into();
    }
    value
}

/// The id in the same shape, if it is the one of this request.
fn real_shape(literal: &str, case: &Value, real: u64) -> Option<String> {
    let known = case.to_string();
    if case.is_string() {
        return (literal == known).then(|| real.to_string());
    }
    let (open, digits, close) = match literal.strip_prefix('"').and_then(|l| l.strip_suffix('"')) {
        Some(inside) => ("\"", inside, "\""),
        None => ("", literal, ""),
    };
    let whole = digits.split(['.', 'e', 'E']).next().unwrap_or_default();
    let tail = &digits[whole.len()..];
    // A number with another value, such as 1.5, is nobody's.
    let is_whole = tail.chars().all(|character| matches!(character, '.' | '0' | 'e' | 'E' | '+'));
    (whole == known && is_whole).then(|| format!("{open}{real}{tail}{close}"))
}

/// An id that is nobody's in the case must not be somebody's by chance.
fn apart(literal: &str, aliases: &[Alias]) -> String {
    let is_taken =
        aliases.iter().any(|alias| real_shape(literal, &alias.real.into(), alias.real).is_some());
    if is_taken { literal.replacen(char::is_numeric, "99999", 1) } else { literal.to_owned() }
}

/// Where the id of a response stands; `None` for what has none, and for requests, whose ids are the
/// server's own.
fn head_id(text: &str) -> Option<(usize, usize)> {
    let (mut depth, mut found) = (0, None);
    let mut at = 0;
    let bytes = text.as_bytes();
    while at < bytes.len() {
        match bytes[at] {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            b'"' => {
                let end = end_of_string(bytes, at);
                let colon = skip_blanks(bytes, end);
                if depth == 1 && bytes.get(colon) == Some(&b':') {
                    match &text[at..end] {
                        "\"id\"" => found = Some(literal(bytes, colon + 1)),
                        // A null method is as good as none.
                        "\"method\"" if !text[colon + 1..].trim_start().starts_with("null") => {
                            return None;
                        }
                        _ => {}
                    }
                }
                at = end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    found
}

fn literal(bytes: &[u8], from: usize) -> (usize, usize) {
    let start = skip_blanks(bytes, from);
    let end = match bytes.get(start) {
        Some(b'"') => end_of_string(bytes, start),
        _ => {
            let rest = bytes[start..].iter();
            let length = rest.take_while(|byte| !b",}] \t".contains(byte)).count();
            start + length
        }
    };
    (start, end)
}

/// Behind the closing quote of the string that opens here.
fn end_of_string(bytes: &[u8], open: usize) -> usize {
    let mut at = open + 1;
    while at < bytes.len() && bytes[at] != b'"' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(bytes.len())
}

fn skip_blanks(bytes: &[u8], from: usize) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    from + rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Alias, translate};

    #[test]
    fn an_id_is_replaced_in_the_shape_that_it_has() {
        let aliases = [Alias { case: json!(1), token: Some(json!("t")), real: 7 }];
        let told = |text: &str| translate(text, &aliases);
        assert_eq!(told(r#"{"id": 1, "result":{"id":1}}"#), r#"{"id": 7, "result":{"id":1}}"#);
        assert_eq!(told(r#"{"result":{},"id":"1"}"#), r#"{"result":{},"id":"7"}"#);
        assert_eq!(told(r#"{"id":1.0,"error":{}}"#), r#"{"id":7.0,"error":{}}"#);
        assert_eq!(told(r#"{"id":1.5,"error":{}}"#), r#"{"id":1.5,"error":{}}"#);
        assert_eq!(told(r#"{"id":1,"method":"ping"}"#), r#"{"id":1,"method":"ping"}"#);
        assert_eq!(told(r#"{"id":7,"result":{}}"#), r#"{"id":99999,"result":{}}"#);
        assert_eq!(told(r#"{"id":null,"error":{}}"#), r#"{"id":null,"error":{}}"#);
        let progress = r#"{"method":"p","params":{"progressToken":"t"}}"#;
        assert_eq!(told(progress), r#"{"method":"p","params":{"progressToken":7}}"#);
    }
}
