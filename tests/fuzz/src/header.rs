//! Values that travel as headers, there and back.

use snodo_dialect::{check_header, encode_header};

/// What is written can be sent and is read as it was.
///
/// # Panics
///
/// Where it cannot, or is not.
pub fn check(input: &[u8]) {
    let Ok(value) = std::str::from_utf8(input) else { return };
    let written = encode_header(value);
    assert!(written.bytes().all(|byte| matches!(byte, b' '..=b'~')), "{written:?}");
    assert_eq!(written.trim_matches(' '), written, "whoever receives it trims it");
    assert!(check_header("x-value", &written).is_ok());
    assert_eq!(decode(&written).as_deref(), Some(value.as_bytes()), "{written:?}");
    // What a caller writes by hand is held to the same alphabet, and tabs.
    let plain = value.bytes().all(|byte| matches!(byte, b'\t' | b' '..=b'~'));
    assert_eq!(check_header("x-value", value).is_ok(), plain);
}

/// Reads a value as a server does (2026-07-28, Streamable HTTP, "Value Encoding").
fn decode(written: &str) -> Option<Vec<u8>> {
    let marked = written.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?="));
    let Some(text) = marked else { return Some(written.as_bytes().to_vec()) };
    let digits = text.trim_end_matches('=');
    let padding = text.len() - digits.len();
    if text.len() % 4 != 0 || padding > 2 {
        return None;
    }
    let (mut bytes, mut bits, mut held) = (Vec::new(), 0u32, 0u32);
    for digit in digits.bytes() {
        let six = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        held = held << 6 | u32::from(six);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push((held >> bits) as u8);
            held &= (1 << bits) - 1;
        }
    }
    // What is left over is nothing but zeros.
    (held == 0).then_some(bytes)
}
