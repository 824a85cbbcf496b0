//! One place in a text, and what can be read there.

use std::borrow::Cow;

use super::Unsure;
use super::string::{escape_length, plain, unescape};

/// Reads a JSON text from its front to its end.
pub(crate) struct Cursor<'a> {
    text: &'a str,
    at: usize,
    /// How many objects and lists are open around this place, of those that are read.
    pub(super) depth: u8,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, at: 0, depth: 0 }
    }

    /// The text of the last member of this name in an object.
    pub(crate) fn find(text: &'a str, name: &str) -> Result<Option<&'a str>, Unsure> {
        let mut cursor = Self::new(text);
        if cursor.peek()? != b'{' {
            return Err(Unsure);
        }
        let (_, found) = cursor.skip_noting(name)?;
        Ok(found)
    }

    /// Nothing but blanks follows.
    pub(crate) fn end(&mut self) -> Result<(), Unsure> {
        self.at = blank(self.text.as_bytes(), self.at);
        if self.at == self.text.len() { Ok(()) } else { Err(Unsure) }
    }

    /// The first byte of what comes next, blanks left out.
    #[inline]
    pub(super) fn peek(&mut self) -> Result<u8, Unsure> {
        self.at = blank(self.text.as_bytes(), self.at);
        self.text.as_bytes().get(self.at).copied().ok_or(Unsure)
    }

    /// Takes this byte.
    #[inline]
    pub(crate) fn take(&mut self, wanted: u8) -> Result<(), Unsure> {
        if self.takes(wanted) { Ok(()) } else { Err(Unsure) }
    }

    /// Takes this byte, if it is what comes next.
    #[inline]
    pub(crate) fn takes(&mut self, wanted: u8) -> bool {
        self.at = blank(self.text.as_bytes(), self.at);
        let there = self.text.as_bytes().get(self.at) == Some(&wanted);
        self.at += usize::from(there);
        there
    }

    /// Takes a word such as `true`.
    pub(super) fn word(&mut self, word: &str) -> Result<(), Unsure> {
        if !self.rest().starts_with(word.as_bytes()) {
            return Err(Unsure);
        }
        self.at += word.len();
        Ok(())
    }

    /// The next member's name, with the colon behind it; `None` at the end of the object. `first` says that nothing
    /// was read of it yet.
    pub(crate) fn name(&mut self, first: bool) -> Result<Option<Cow<'a, str>>, Unsure> {
        if self.takes(b'}') {
            return Ok(None);
        }
        if !first {
            self.take(b',')?;
        }
        let name = self.string()?;
        self.take(b':')?;
        Ok(Some(name))
    }

    /// A string, borrowed where it has no escapes.
    pub(crate) fn string(&mut self) -> Result<Cow<'a, str>, Unsure> {
        self.take(b'"')?;
        let start = self.at;
        let length = plain(self.rest());
        self.at += length;
        match self.rest().first() {
            Some(b'"') => {
                self.at += 1;
                Ok(Cow::Borrowed(&self.text[start..start + length]))
            }
            Some(b'\\') => self.unescaped(start).map(Cow::Owned),
            _ => Err(Unsure),
        }
    }

    /// The string that began at `start`, whose first escape is here.
    fn unescaped(&mut self, start: usize) -> Result<String, Unsure> {
        let bytes = self.text.as_bytes();
        // What a string stands for is never longer than what is written; a long one grows as it comes.
        let most = (bytes.len() - start).min(RESERVED);
        let mut string = String::with_capacity(most);
        string.push_str(&self.text[start..self.at]);
        loop {
            match bytes.get(self.at) {
                Some(b'"') => break,
                Some(b'\\') => {}
                _ => return Err(Unsure),
            }
            let (character, length) = unescape(&bytes[self.at..])?;
            string.push(character);
            self.at += length;
            let run = plain(&bytes[self.at..]);
            string.push_str(&self.text[self.at..self.at + run]);
            self.at += run;
        }
        self.at += 1;
        if string.len() < string.capacity() / 2 {
            string.shrink_to_fit();
        }
        Ok(string)
    }

    /// The text of the next value, whatever it is; its nesting is counted in the bits of one word.
    pub(crate) fn skip(&mut self) -> Result<&'a str, Unsure> {
        let bytes = self.text.as_bytes();
        let mut at = blank(bytes, self.at);
        let start = at;
        // From the innermost on: 1 for an object, 0 for a list; the topmost 1 is the end.
        let mut open: u128 = 1;
        loop {
            match bytes.get(at) {
                Some(b'"') => at = string_end(bytes, at + 1)?,
                Some(b'{') => {
                    at = blank(bytes, at + 1);
                    if bytes.get(at) == Some(&b'}') {
                        at += 1;
                    } else {
                        open = push(open, 1)?;
                        at = name_end(bytes, at)?;
                        continue;
                    }
                }
                Some(b'[') => {
                    at = blank(bytes, at + 1);
                    if bytes.get(at) == Some(&b']') {
                        at += 1;
                    } else {
                        open = push(open, 0)?;
                        continue;
                    }
                }
                _ => {
                    self.at = at;
                    self.skip_scalar()?;
                    at = self.at;
                }
            }
            loop {
                if open == 1 {
                    self.at = at;
                    return Ok(&self.text[start..at]);
                }
                at = blank(bytes, at);
                match (bytes.get(at), open & 1) {
                    (Some(b','), 1) => {
                        at = name_end(bytes, blank(bytes, at + 1))?;
                        break;
                    }
                    (Some(b','), _) => {
                        at = blank(bytes, at + 1);
                        break;
                    }
                    (Some(b'}'), 1) | (Some(b']'), 0) => {
                        at += 1;
                        open >>= 1;
                    }
                    _ => return Err(Unsure),
                }
            }
        }
    }

    /// The text of the next value; where it is an object, also that of its last member of this name.
    pub(crate) fn skip_noting(
        &mut self,
        wanted: &str,
    ) -> Result<(&'a str, Option<&'a str>), Unsure> {
        if self.peek()? != b'{' {
            return self.skip().map(|text| (text, None));
        }
        let start = self.at;
        self.at += 1;
        let (mut noted, mut first) = (None, true);
        while let Some(name) = self.name(std::mem::take(&mut first))? {
            let value = self.skip()?;
            if name == wanted {
                noted = Some(value);
            }
        }
        Ok((&self.text[start..self.at], noted))
    }

    fn skip_scalar(&mut self) -> Result<(), Unsure> {
        match self.peek()? {
            b't' => self.word("true"),
            b'f' => self.word("false"),
            b'n' => self.word("null"),
            _ => self.number().map(drop),
        }
    }

    /// The text of a number (RFC 8259, section 6).
    pub(super) fn number(&mut self) -> Result<&'a str, Unsure> {
        let bytes = self.rest();
        let mut at = usize::from(bytes.first() == Some(&b'-'));
        let whole = digits(&bytes[at..]);
        if whole == 0 || (whole > 1 && bytes[at] == b'0') {
            return Err(Unsure);
        }
        at += whole;
        if bytes.get(at) == Some(&b'.') {
            let fraction = digits(&bytes[at + 1..]);
            if fraction == 0 {
                return Err(Unsure);
            }
            at += 1 + fraction;
        }
        if let Some(b'e' | b'E') = bytes.get(at) {
            let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
            let exponent = digits(&bytes[at + 1 + sign..]);
            if exponent == 0 {
                return Err(Unsure);
            }
            at += 1 + sign + exponent;
        }
        let number = &self.text[self.at..self.at + at];
        self.at += at;
        Ok(number)
    }

    fn rest(&self) -> &'a [u8] {
        &self.text.as_bytes()[self.at..]
    }
}

/// Where what is no blank begins.
#[inline]
fn blank(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\t' | b'\r') = bytes.get(at) {
        at += 1;
    }
    at
}

/// Where the string ends whose inside begins here: behind its quote.
#[inline]
fn string_end(bytes: &[u8], mut at: usize) -> Result<usize, Unsure> {
    loop {
        at += plain(&bytes[at..]);
        match bytes.get(at) {
            Some(b'"') => return Ok(at + 1),
            Some(b'\\') => at += escape_length(&bytes[at..])?,
            _ => return Err(Unsure),
        }
    }
}

/// Where the value begins whose name stands here.
#[inline]
fn name_end(bytes: &[u8], at: usize) -> Result<usize, Unsure> {
    if bytes.get(at) != Some(&b'"') {
        return Err(Unsure);
    }
    let colon = blank(bytes, string_end(bytes, at + 1)?);
    if bytes.get(colon) != Some(&b':') {
        return Err(Unsure);
    }
    Ok(blank(bytes, colon + 1))
}

fn digits(bytes: &[u8]) -> usize {
    bytes.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(bytes.len())
}

fn push(open: u128, kind: u128) -> Result<u128, Unsure> {
    if open >> 127 == 0 { Ok(open << 1 | kind) } else { Err(Unsure) }
}

/// What is set aside for a string with escapes before its length is known.
const RESERVED: usize = 32 * 1024;
