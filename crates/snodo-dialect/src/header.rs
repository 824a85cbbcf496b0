//! Values that travel as headers.

use std::borrow::Cow;

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
    use super::encode_header;

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
}
