//! The inside of strings: where they end, and what their escapes mean.

use super::Unsure;

/// How many bytes from the front stand for themselves: none is a quote, a backslash or a control character.
#[inline]
pub(super) fn plain(bytes: &[u8]) -> usize {
    // Most strings are names and words, and end within two machine words.
    let mut at = 0;
    while at < 2 * WORD {
        let Some(word) = bytes[at..].first_chunk() else {
            let rest = bytes[at..].iter();
            return at + rest.take_while(|byte| !is_special(**byte)).count();
        };
        let marks = special_marks(u64::from_le_bytes(*word));
        if marks != 0 {
            return at + (marks.trailing_zeros() / 8) as usize;
        }
        at += WORD;
    }
    at + plain_long(&bytes[at..])
}

const WORD: usize = size_of::<u64>();

/// The same for what is long: searched first, and then held against the control characters, both many bytes at a time.
fn plain_long(bytes: &[u8]) -> usize {
    let end = memchr::memchr2(b'"', b'\\', bytes).unwrap_or(bytes.len());
    let run = &bytes[..end];
    if !has_control(run) {
        return end;
    }
    run.iter().take_while(|byte| !is_special(**byte)).count()
}

/// Whether a control character is among these bytes.
fn has_control(run: &[u8]) -> bool {
    let Some(last) = run.last_chunk::<LANES>() else {
        return run.iter().any(|byte| *byte < 0x20);
    };
    // In lanes of their own and without an end inside, which the compiler turns into wide instructions. The last lanes
    // look at some bytes twice, which is less than looking at the rest one by one.
    let mut least = [u8::MAX; LANES];
    let (blocks, _) = run.as_chunks::<LANES>();
    for block in blocks.iter().chain([last]) {
        for (least, byte) in least.iter_mut().zip(block) {
            *least = (*least).min(byte & 0xE0);
        }
    }
    least.contains(&0)
}

const LANES: usize = 16;

fn is_special(byte: u8) -> bool {
    byte == b'"' || byte == b'\\' || byte < 0x20
}

/// The top bit of the first byte that is special, and of some behind it.
#[inline]
fn special_marks(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const TOPS: u64 = 0x8080_8080_8080_8080;
    // A borrow reaches only bytes behind the first that is zero, so that the lowest mark is always true.
    let zeros = |word: u64| word.wrapping_sub(ONES) & !word;
    let quotes = zeros(word ^ (ONES * 0x22));
    let backslashes = zeros(word ^ (ONES * 0x5C));
    let controls = word.wrapping_sub(ONES * 0x20) & !word;
    (quotes | backslashes | controls) & TOPS
}

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
    use super::{plain, unescape};

    #[test]
    fn a_special_byte_is_found_wherever_it_stands() {
        for special in [b'"', b'\\', 0, 0x1F, b'\n'] {
            for length in 0..70 {
                let mut bytes = vec![b'a'; length];
                assert_eq!(plain(&bytes), length);
                for at in 0..length {
                    bytes[at] = special;
                    // What stands behind the first one never counts.
                    bytes[length - 1] = special;
                    assert_eq!(plain(&bytes), at, "{special} at {at} of {length}");
                    bytes[at] = [0x20, 0x7F, 0x80, 0xFF, b'!', b'#', b'[', b']'][at % 8];
                }
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
