//! Values that travel as headers.

use std::borrow::Cow;

use snodo_types::Error;

const BEFORE: &str = "=?base64?";
const AFTER: &str = "?=";
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Writes a value so that it survives as a header (2026-07-28, Streamable HTTP, "Value Encoding").
///
/// Visible ASCII with spaces inside goes as it is; anything else, and what looks like an encoded
/// value itself, goes as the standard Base64 of its UTF-8 between two marks.
///
/// ```
/// use snodo_dialect::encode_header;
///
/// assert_eq!(encode_header("us west"), "us west");
/// assert_eq!(encode_header(" padded "), "=?base64?IHBhZGRlZCA=?=");
/// ```
#[must_use]
pub fn encode_header(value: &str) -> Cow<'_, str> {
    let visible = value.bytes().all(|byte| (0x20..=0x7E).contains(&byte));
    let trimmed = !value.starts_with(' ') && !value.ends_with(' ');
    let marked = value.starts_with(BEFORE) && value.ends_with(AFTER);
    if visible && trimmed && !marked {
        return Cow::Borrowed(value);
    }
    let mut text = String::with_capacity(BEFORE.len() + value.len().div_ceil(3) * 4 + AFTER.len());
    text.push_str(BEFORE);
    push_base64(&mut text, value.as_bytes());
    text.push_str(AFTER);
    Cow::Owned(text)
}

/// Checks a header that a caller wants to send with one request: what
/// [`Request::routing`](crate::Request::routing) may hold.
///
/// The name is a token (RFC 9110, section 5.6.2), the value visible ASCII with spaces and tabs.
///
/// ```
/// use snodo_dialect::check_header;
///
/// assert!(check_header("x-request-id", "7").is_ok());
/// assert!(check_header("Mcp-Session-Id", "stolen").is_err());
/// ```
///
/// # Errors
///
/// The name is no token, or one that the protocol or the transport sets itself; the value has
/// other characters (-32602). The value is not shown.
pub fn check_header(name: &str, value: &str) -> Result<(), Error> {
    if !is_token(name) {
        return Err(Error::usage(format!("{name:?} is not the name of a header")));
    }
    if is_own(name) {
        return Err(Error::usage(format!("the header {name} is set by the client itself")));
    }
    if !value.bytes().all(|byte| matches!(byte, b'\t' | b' '..=b'~')) {
        let text =
            format!("the value of the header {name} has a character that is not visible ASCII");
        return Err(Error::usage(text));
    }
    Ok(())
}

/// Whether a header frames the message or is the protocol's.
fn is_own(name: &str) -> bool {
    let protocol = name.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("mcp-"));
    protocol || is_framing(name)
}

/// Whether a header is the transport's own.
pub(crate) fn is_framing(name: &str) -> bool {
    FRAMING.iter().any(|own| own.eq_ignore_ascii_case(name))
}

const FRAMING: [&str; 15] = [
    "accept",
    "accept-encoding",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "expect",
    "host",
    "keep-alive",
    "last-event-id",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Whether a text is a token, of which header names are made (RFC 9110, section 5.6.2).
pub(crate) fn is_token(text: &str) -> bool {
    let part = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(part)
}

fn push_base64(text: &mut String, bytes: &[u8]) {
    for group in bytes.chunks(3) {
        let byte = |at: usize| u32::from(group.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            if at > group.len() {
                text.push('=');
            } else {
                text.push(char::from(ALPHABET[(bits >> (18 - 6 * at) & 63) as usize]));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{check_header, encode_header};

    // HDR-07, HDR-08, HDR-09, HDR-20
    #[test]
    fn only_what_a_header_cannot_carry_is_encoded() {
        let table = [
            ("tool_name", "tool_name"),
            ("two words", "two words"),
            ("file:///path/to/file%20name.txt", "file:///path/to/file%20name.txt"),
            ("", ""),
            ("-7", "-7"),
            (" lead", "=?base64?IGxlYWQ=?="),
            ("trail ", "=?base64?dHJhaWwg?="),
            ("a\tb", "=?base64?YQli?="),
            ("a\r\nb", "=?base64?YQ0KYg==?="),
            ("日本", "=?base64?5pel5pys?="),
            ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
            ("=?base64?open", "=?base64?open"),
        ];
        for (value, header) in table {
            assert_eq!(encode_header(value), header, "{value:?}");
        }
    }

    // HDR-16
    #[test]
    fn a_caller_s_header_is_a_header_and_nobody_else_s() {
        for (name, value) in
            [("x-request-id", "7"), ("Authorization", "Bearer t"), ("x!", ""), ("mcp", "a\tb c")]
        {
            assert!(check_header(name, value).is_ok(), "{name}: {value}");
        }
        for name in [
            "",
            "a b",
            "a:b",
            "ä",
            "a\r\nb",
            "Host",
            "content-type",
            "Content-Length",
            "TRANSFER-ENCODING",
            "connection",
            "Accept",
            "Last-Event-ID",
            "MCP-Session-Id",
            "mcp-protocol-version",
            "Mcp-Method",
            "Mcp-Name",
            "mcp-param-region",
            "Mcp-Anything",
        ] {
            assert_eq!(check_header(name, "x").expect_err(name).code(), -32602);
        }
        for value in ["a\rb", "a\nb", "a\0b", "secret\u{7f}", "ü"] {
            let error = check_header("x-a", value).expect_err("a value");
            assert!(!error.message().contains("secret"), "{error}");
        }
    }
}
