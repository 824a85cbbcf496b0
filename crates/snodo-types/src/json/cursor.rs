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
        self.blank();
        if self.at == self.text.len() { Ok(()) } else { Err(Unsure) }
    }

    /// The first byte of what comes next, blanks left out.
    pub(super) fn peek(&mut self) -> Result<u8, Unsure> {
        self.blank();
        self.text.as_bytes().get(self.at).copied().ok_or(Unsure)
    }

    /// Takes this byte.
    pub(crate) fn take(&mut self, wanted: u8) -> Result<(), Unsure> {
        if self.takes(wanted) { Ok(()) } else { Err(Unsure) }
    }

    /// Takes this byte, if it is what comes next.
    pub(crate) fn takes(&mut self, wanted: u8) -> bool {
        self.blank();
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
        let first = self.at;
        self.skip_to_quote()?;
        // What is written is never longer than what it is written for, so that nothing is ever moved.
        let mut string = String::with_capacity(self.at - 1 - start);
        let bytes = &self.text.as_bytes()[..self.at - 1];
        string.push_str(&self.text[start..first]);
        let mut at = first;
        while at < bytes.len() {
            let (character, length) = unescape(&bytes[at..])?;
            string.push(character);
            at += length;
            let run = plain(&bytes[at..]);
            string.push_str(&self.text[at..at + run]);
            at += run;
        }
        Ok(string)
    }

    /// Goes behind the quote that ends the string.
    fn skip_to_quote(&mut self) -> Result<(), Unsure> {
        loop {
            self.at += plain(self.rest());
            match self.rest().first() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => self.at += escape_length(self.rest())?,
                _ => return Err(Unsure),
            }
        }
    }

    /// The text of the next value, whatever it is; its nesting is counted in the bits of one word.
    pub(crate) fn skip(&mut self) -> Result<&'a str, Unsure> {
        self.blank();
        let start = self.at;
        // From the innermost on: 1 for an object, 0 for a list; the topmost 1 is the end.
        let mut open: u128 = 1;
        loop {
            match self.peek()? {
                b'{' => {
                    self.at += 1;
                    if !self.takes(b'}') {
                        open = push(open, 1)?;
                        self.skip_name()?;
                        continue;
                    }
                }
                b'[' => {
                    self.at += 1;
                    if !self.takes(b']') {
                        open = push(open, 0)?;
                        continue;
                    }
                }
                b'"' => {
                    self.at += 1;
                    self.skip_to_quote()?;
                }
                _ => self.skip_scalar()?,
            }
            while open != 1 && !self.takes(b',') {
                self.take(if open & 1 == 1 { b'}' } else { b']' })?;
                open >>= 1;
            }
            if open == 1 {
                return Ok(&self.text[start..self.at]);
            }
            if open & 1 == 1 {
                self.skip_name()?;
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

    fn skip_name(&mut self) -> Result<(), Unsure> {
        self.take(b'"')?;
        self.skip_to_quote()?;
        self.take(b':')
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

    fn blank(&mut self) {
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = self.text.as_bytes().get(self.at) {
            self.at += 1;
        }
    }
}

fn digits(bytes: &[u8]) -> usize {
    bytes.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(bytes.len())
}

fn push(open: u128, kind: u128) -> Result<u128, Unsure> {
    if open >> 127 == 0 { Ok(open << 1 | kind) } else { Err(Unsure) }
}
