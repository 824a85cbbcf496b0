//! A forward-only JSON scanner: it finds members of an object without building
//! anything. It trusts its input to be well formed (the peers under test send
//! nothing else) and answers `None` where it is not.

mod cursor;

pub use cursor::{Cursor, Malformed};
use memchr::memchr2;

fn ws(b: &[u8], mut i: usize) -> usize {
    while i < b.len() && matches!(b[i], b' ' | b'\t' | b'\r' | b'\n') {
        i += 1;
    }
    i
}

/// `i` is at the opening quote; returns the index after the closing quote.
fn skip_string(b: &[u8], i: usize) -> Option<usize> {
    let mut j = i + 1;
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::*;
        // Most strings are short: a few steps in place before the call of a search.
        let near = (j + 64).min(b.len());
        while j + 16 <= near {
            // SAFETY: SSE2 is part of x86-64, and the load ends at `near`.
            let m = unsafe {
                let v = _mm_loadu_si128(b.as_ptr().add(j).cast());
                let q = _mm_cmpeq_epi8(v, _mm_set1_epi8(b'"' as i8));
                let s = _mm_cmpeq_epi8(v, _mm_set1_epi8(b'\\' as i8));
                _mm_movemask_epi8(_mm_or_si128(q, s))
            };
            if m == 0 {
                j += 16;
                continue;
            }
            j += m.trailing_zeros() as usize;
            if b[j] == b'"' {
                return Some(j + 1);
            }
            j += 2;
        }
    }
    loop {
        j += memchr2(b'"', b'\\', b.get(j..)?)?;
        if b[j] == b'"' {
            return Some(j + 1);
        }
        j += 2;
    }
}

/// Returns the index after the value that starts at `i`.
fn skip_value(b: &[u8], i: usize) -> Option<usize> {
    match *b.get(i)? {
        b'"' => skip_string(b, i),
        b'{' | b'[' => {
            let mut depth = 0usize;
            let mut j = i;
            loop {
                match *b.get(j)? {
                    b'"' => {
                        j = skip_string(b, j)?;
                        continue;
                    }
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' => {
                        depth -= 1;
                        if depth == 0 {
                            return Some(j + 1);
                        }
                    }
                    _ => {}
                }
                j += 1;
            }
        }
        _ => {
            let mut j = i;
            while j < b.len() && !matches!(b[j], b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t')
            {
                j += 1;
            }
            Some(j)
        }
    }
}

/// Iterates over the members of one object as (key without quotes, raw value).
pub struct Members<'a> {
    b: &'a [u8],
    i: usize,
}

pub fn members(b: &[u8]) -> Members<'_> {
    let i = ws(b, 0);
    let i = if b.get(i) == Some(&b'{') { i + 1 } else { b.len() };
    Members { b, i }
}

impl<'a> Iterator for Members<'a> {
    type Item = (&'a [u8], &'a [u8]);
    fn next(&mut self) -> Option<Self::Item> {
        let b = self.b;
        let mut i = ws(b, self.i);
        if b.get(i) == Some(&b',') {
            i = ws(b, i + 1);
        }
        if b.get(i) != Some(&b'"') {
            return None;
        }
        let ke = skip_string(b, i)?;
        let key = &b[i + 1..ke - 1];
        let mut v = ws(b, ke);
        if b.get(v) != Some(&b':') {
            return None;
        }
        v = ws(b, v + 1);
        let ve = skip_value(b, v)?;
        self.i = ve;
        Some((key, &b[v..ve]))
    }
}

pub fn get<'a>(obj: &'a [u8], key: &str) -> Option<&'a [u8]> {
    members(obj).find(|(k, _)| *k == key.as_bytes()).map(|(_, v)| v)
}

/// The inside of a raw JSON string (still escaped), or `None` where it is no string.
pub fn string(raw: &[u8]) -> Option<&[u8]> {
    if raw.len() >= 2 && raw[0] == b'"' { Some(&raw[1..raw.len() - 1]) } else { None }
}

/// A plain unsigned integer, as ids are.
pub fn digits(raw: &[u8]) -> Option<u64> {
    if raw.is_empty() || raw.len() > 19 {
        return None;
    }
    raw.iter().try_fold(0u64, |a, c| c.is_ascii_digit().then(|| a * 10 + u64::from(c - b'0')))
}

pub fn number(raw: &[u8]) -> Option<u64> {
    std::str::from_utf8(raw).ok()?.parse::<f64>().ok().map(|f| f as u64)
}

/// Iterates over the elements of one array as raw values.
pub struct Elements<'a> {
    b: &'a [u8],
    i: usize,
}

pub fn elements(b: &[u8]) -> Elements<'_> {
    let i = ws(b, 0);
    let i = if b.get(i) == Some(&b'[') { i + 1 } else { b.len() };
    Elements { b, i }
}

impl<'a> Iterator for Elements<'a> {
    type Item = &'a [u8];
    fn next(&mut self) -> Option<&'a [u8]> {
        let mut i = ws(self.b, self.i);
        if self.b.get(i) == Some(&b',') {
            i = ws(self.b, i + 1);
        }
        if matches!(self.b.get(i), None | Some(b']')) {
            return None;
        }
        let e = skip_value(self.b, i)?;
        self.i = e;
        Some(&self.b[i..e])
    }
}

/// The text of a raw JSON string: checked as UTF-8, escapes undone.
pub fn text(raw: &[u8]) -> Option<String> {
    Cursor::new(raw).string().ok()
}

/// Undoes the escape whose letter is at `i`; returns the index after it.
fn escape(s: &[u8], mut i: usize, out: &mut Vec<u8>) -> Option<usize> {
    let c = *s.get(i)?;
    i += 1;
    match c {
        b'n' => out.push(b'\n'),
        b't' => out.push(b'\t'),
        b'r' => out.push(b'\r'),
        b'b' => out.push(8),
        b'f' => out.push(12),
        b'"' | b'\\' | b'/' => out.push(c),
        b'u' => {
            let hex = |at: usize| {
                u32::from_str_radix(std::str::from_utf8(s.get(at..at + 4)?).ok()?, 16).ok()
            };
            let mut u = hex(i)?;
            i += 4;
            if (0xD800..0xDC00).contains(&u) {
                if s.get(i..i + 2)? != b"\\u" {
                    return None;
                }
                let lo = hex(i + 2)?;
                if !(0xDC00..0xE000).contains(&lo) {
                    return None;
                }
                u = 0x10000 + ((u - 0xD800) << 10) + (lo - 0xDC00);
                i += 6;
            }
            out.extend_from_slice(char::from_u32(u)?.encode_utf8(&mut [0; 4]).as_bytes());
        }
        _ => return None,
    }
    Some(i)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_members_and_texts() {
        let o = br#" { "a" : {"x":["}",1]}, "b":"q\"\\\n\u00e9\ud83d\ude00z" , "c":12 } "#;
        let m: Vec<_> = members(o).collect();
        assert_eq!(m.len(), 3);
        assert_eq!(m[0].1, br#"{"x":["}",1]}"#);
        assert_eq!(text(m[1].1).unwrap(), "q\"\\\n\u{e9}\u{1f600}z");
        assert_eq!(number(m[2].1), Some(12));
        for n in 0..200 {
            let t: String = (0..n)
                .map(|i| if i % 7 == 3 { '\n' } else { (b'a' + (i % 26) as u8) as char })
                .collect();
            let raw = format!("\"{}\"", t.replace('\n', "\\n"));
            assert_eq!(text(raw.as_bytes()).unwrap(), t);
            assert_eq!(text(&raw.as_bytes()[..raw.len() - 1]), None);
        }
        assert_eq!(elements(br#"[1,"]",[2],{"a":[]}]"#).count(), 4);
        assert_eq!(elements(b"[ ]").count(), 0);
    }
}
