//! The inside of strings: where they end, and what their escapes mean.

use super::Unsure;

/// Where the first quote or backslash stands from here on; the end of the text, if there is none.
#[inline]
pub(super) fn run_end(bytes: &[u8], mut at: usize) -> usize {
    // Most strings are names and words, and end within two machine words.
    for _ in 0..2 {
        let Some(word) = bytes.get(at..at + WORD).and_then(|word| word.try_into().ok()) else {
            return long_run_end(bytes, at);
        };
        let marks = marks(u64::from_le_bytes(word));
        if marks != 0 {
            return at + (marks.trailing_zeros() / 8) as usize;
        }
        at += WORD;
    }
    long_run_end(bytes, at)
}

const WORD: usize = size_of::<u64>();

/// The same behind an escape, where the run before it was so long: lines of a text are as long as each other.
#[inline]
pub(super) fn next_run_end(bytes: &[u8], at: usize, last: usize) -> usize {
    if last > 2 * WORD { long_run_end(bytes, at) } else { run_end(bytes, at) }
}

/// The same for what is long.
fn long_run_end(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    at + memchr::memchr2(b'"', b'\\', rest).unwrap_or(rest.len())
}

/// The top bit of the first byte that is a quote or a backslash, and of some behind it.
#[inline]
fn marks(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const TOPS: u64 = 0x8080_8080_8080_8080;
    // A borrow reaches only bytes behind the first that is zero, so that the lowest mark is always true.
    let zeros = |word: u64| word.wrapping_sub(ONES) & !word;
    (zeros(word ^ (ONES * 0x22)) | zeros(word ^ (ONES * 0x5C))) & TOPS
}

/// Whether a control character is among these bytes.
pub(super) fn has_control(bytes: &[u8]) -> bool {
    // In lanes of their own and without an end inside, which the compiler turns into wide instructions.
    let mut least = [u8::MAX; LANES];
    let (blocks, rest) = bytes.as_chunks::<LANES>();
    for block in blocks {
        for (least, byte) in least.iter_mut().zip(block) {
            *least = (*least).min(*byte);
        }
    }
    let least = least.iter().fold(u8::MAX, |least, byte| least.min(*byte));
    rest.iter().fold(least, |least, byte| least.min(*byte)) < 0x20
}

const LANES: usize = 32;

/// How long the escape is whose backslash is the first byte, whatever it stands for.
pub(super) fn escape_length(bytes: &[u8]) -> Result<usize, Unsure> {
    match bytes.get(1) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(2),
        Some(b'u') => four_hex(bytes, 2).map(|_| 6),
        _ => Err(Unsure),
    }
}

/// What the escape stands for whose backslash is the first byte, and how long it is.
pub(super) fn unescape(bytes: &[u8]) -> Result<(char, usize), Unsure> {
    let character = match bytes.get(1) {
        Some(b'n') => '\n',
        Some(b'"') => '"',
        Some(b'\\') => '\\',
        Some(b'/') => '/',
        Some(b't') => '\t',
        Some(b'r') => '\r',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'u') => return unescape_unit(bytes),
        _ => return Err(Unsure),
    };
    Ok((character, 2))
}

fn unescape_unit(bytes: &[u8]) -> Result<(char, usize), Unsure> {
    let unit = four_hex(bytes, 2)?;
    if !(0xD800..0xDC00).contains(&unit) {
        // The other half of a pair is no character alone.
        return char::from_u32(unit).map(|character| (character, 6)).ok_or(Unsure);
    }
    if bytes.get(6..8) != Some(b"\\u") {
        return Err(Unsure);
    }
    let low = four_hex(bytes, 8)?;
    if !(0xDC00..0xE000).contains(&low) {
        return Err(Unsure);
    }
    let character = char::from_u32(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00));
    character.map(|character| (character, 12)).ok_or(Unsure)
}

fn four_hex(bytes: &[u8], at: usize) -> Result<u32, Unsure> {
    let digits = bytes.get(at..at + 4).ok_or(Unsure)?;
    digits.iter().try_fold(0, |number, digit| {
        char::from(*digit).to_digit(16).map(|digit| number << 4 | digit).ok_or(Unsure)
    })
}

#[cfg(test)]
mod tests {
    use super::{has_control, run_end, unescape};

    /// Two rounds of all lanes and some bytes more; one round where each byte is slow.
    const MOST: usize = if cfg!(miri) { 36 } else { 70 };

    #[test]
    fn a_quote_or_a_backslash_is_found_wherever_it_stands() {
        for special in [b'"', b'\\'] {
            for length in 0..MOST {
                let mut bytes = vec![b'a'; length];
                assert_eq!(run_end(&bytes, 0), length);
                for at in 0..length {
                    bytes[at] = special;
                    // What stands behind the first one never counts.
                    bytes[length - 1] = special;
                    for from in (0..=at).step_by(if cfg!(miri) { 5 } else { 1 }) {
                        assert_eq!(run_end(&bytes, from), at, "{special} at {at} of {length}");
                    }
                    bytes[at] = [0x20, 0x7F, 0x80, 0xFF, b'!', b'#', b'[', b']'][at % 8];
                }
            }
        }
    }

    #[test]
    fn a_control_character_is_found_wherever_it_stands() {
        for length in 0..MOST {
            let mut bytes: Vec<u8> =
                (0..length).map(|at| [0x20, 0x7F, 0x80, 0xFF][at % 4]).collect();
            assert!(!has_control(&bytes), "{length}");
            for at in 0..length {
                let plain = std::mem::replace(&mut bytes[at], [0, 0x1F, b'\n'][at % 3]);
                assert!(has_control(&bytes), "{at} of {length}");
                bytes[at] = plain;
            }
        }
    }

    #[test]
    fn half_a_pair_and_no_escape_at_all_are_left_to_others() {
        assert_eq!(unescape(br"\ud83d\ude00"), Ok(('\u{1F600}', 12)));
        assert_eq!(unescape(br"\u00E9x"), Ok(('\u{e9}', 6)));
        for broken in [&br"\ud83d"[..], br"\ude00", br"\ud83d\u0041", br"\u00g0", br"\x", br"\"] {
            assert!(unescape(broken).is_err(), "{broken:?}");
        }
    }
}
