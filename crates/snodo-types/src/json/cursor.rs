//! One place in a text, and what can be read there.

use std::borrow::Cow;

use super::Unsure;
use super::string::{escape_length, has_control, next_run_end, run_end, unescape};

/// Reads a JSON text from its front to its end.
pub(crate) struct Cursor<'a, L = Checking> {
    text: &'a str,
    at: usize,
    look: L,
    /// How many objects and lists are open around this place, of those that are read.
    pub(super) depth: u8,
}

/// How closely a cursor looks at what it passes.
pub(crate) trait Look: Copy {
    /// Whether the text is known to be JSON.
    const KNOWS: bool;

    /// Whether a piece of a string holds only what one may hold.
    fn passes(self, piece: Option<&[u8]>) -> bool;
}

/// A text of which nothing is known yet.
#[derive(Clone, Copy)]
pub(crate) struct Checking {
    /// Whether there is a control character in it: a blank between tokens, or a fault within a string.
    controls: bool,
}

/// A text that was looked at before, and is JSON. What is passed need not be looked at closely; where the text is no JSON
/// after all, what is read of it may be wrong, and nothing else is.
#[derive(Clone, Copy)]
pub(crate) struct Knowing;

impl Look for Checking {
    const KNOWS: bool = false;

    #[inline]
    fn passes(self, piece: Option<&[u8]>) -> bool {
        !self.controls || piece.is_some_and(|piece| !has_control(piece))
    }
}

impl Look for Knowing {
    const KNOWS: bool = true;

    #[inline]
    fn passes(self, _: Option<&[u8]>) -> bool {
        true
    }
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let controls = has_control(text.as_bytes());
        Self { text, at: 0, look: Checking { controls }, depth: 0 }
    }
}

impl<'a> Cursor<'a, Knowing> {
    /// Reads a text that is known to be JSON.
    pub(crate) fn knowing(text: &'a str) -> Self {
        Self { text, at: 0, look: Knowing, depth: 0 }
    }
}

impl<'a, L: Look> Cursor<'a, L> {
    /// The text of the last member of this name in an object.
    pub(crate) fn find(mut self, name: &str) -> Result<Option<&'a str>, Unsure> {
        if self.peek()? != b'{' {
            return Err(Unsure);
        }
        let (_, found) = self.skip_noting(name)?;
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
        match self.peek()? {
            b'}' => {
                self.at += 1;
                return Ok(None);
            }
            b',' if !first => {
                self.at += 1;
                self.peek()?;
            }
            _ if first => {}
            _ => return Err(Unsure),
        }
        let name = self.string()?;
        self.take(b':')?;
        Ok(Some(name))
    }

    /// A string, borrowed where it has no escapes.
    #[inline]
    pub(crate) fn string(&mut self) -> Result<Cow<'a, str>, Unsure> {
        self.take(b'"')?;
        let bytes = self.text.as_bytes();
        let start = self.at;
        let end = run_end(bytes, start);
        match bytes.get(end) {
            _ if !self.look.passes(bytes.get(start..end)) => Err(Unsure),
            Some(b'"') => {
                self.at = end + 1;
                self.text.get(start..end).map(Cow::Borrowed).ok_or(Unsure)
            }
            Some(_) => {
                self.at = end;
                self.unescaped(start).map(Cow::Owned)
            }
            None => Err(Unsure),
        }
    }

    /// The string that began at `start`, whose first escape is here.
    fn unescaped(&mut self, start: usize) -> Result<String, Unsure> {
        let bytes = self.text.as_bytes();
        // What a string stands for is never longer than what is written; a long one grows as it comes.
        let most = (bytes.len() - start).min(RESERVED);
        let mut string = String::with_capacity(most);
        let (mut from, mut at) = (start, self.at);
        loop {
            string.push_str(self.text.get(from..at).ok_or(Unsure)?);
            match bytes.get(at) {
                Some(b'"') => break,
                Some(b'\\') => {}
                _ => return Err(Unsure),
            }
            let (character, length) = unescape(&bytes[at..])?;
            string.push(character);
            let last = at - from;
            from = at + length;
            at = next_run_end(bytes, from, last);
            if !self.look.passes(bytes.get(from..at)) {
                return Err(Unsure);
            }
        }
        self.at = at + 1;
        if string.len() < string.capacity() / 2 {
            string.shrink_to_fit();
        }
        Ok(string)
    }

    /// The text of the next value, whatever it is.
    pub(crate) fn skip(&mut self) -> Result<&'a str, Unsure> {
        let bytes = self.text.as_bytes();
        let start = blank(bytes, self.at);
        self.at = if L::KNOWS { known_end(bytes, start)? } else { self.value_end(start)? };
        self.text.get(start..self.at).ok_or(Unsure)
    }

    /// Where the value ends that begins here, by the grammar; its nesting is counted in the bits of one word.
    fn value_end(&mut self, mut at: usize) -> Result<usize, Unsure> {
        let bytes = self.text.as_bytes();
        let look = self.look;
        // From the innermost on: 1 for an object, 0 for a list; the topmost 1 is the end.
        let mut open: u128 = 1;
        loop {
            match bytes.get(at) {
                Some(b'"') => at = string_end(look, bytes, at + 1)?,
                Some(b'{') => {
                    at = blank(bytes, at + 1);
                    if bytes.get(at) == Some(&b'}') {
                        at += 1;
                    } else {
                        open = push(open, 1)?;
                        at = name_end(look, bytes, at)?;
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
                    return Ok(at);
                }
                at = blank(bytes, at);
                match (bytes.get(at), open & 1) {
                    (Some(b','), 1) => {
                        at = name_end(look, bytes, blank(bytes, at + 1))?;
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
        Ok((self.text.get(start..self.at).ok_or(Unsure)?, noted))
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

/// Where the value ends that begins here, in a text that is JSON: where as much is closed as was opened.
fn known_end(bytes: &[u8], mut at: usize) -> Result<usize, Unsure> {
    let mut open = 0_usize;
    loop {
        match bytes.get(at) {
            Some(b'"') => at = string_end(Knowing, bytes, at + 1)?,
            Some(b'{' | b'[') => {
                open += 1;
                at += 1;
                continue;
            }
            Some(b'}' | b']') => {
                open = open.checked_sub(1).ok_or(Unsure)?;
                at += 1;
            }
            Some(_) if open > 0 => {
                at += 1;
                continue;
            }
            Some(_) => return Ok(scalar_end(bytes, at)),
            None => return Err(Unsure),
        }
        if open == 0 {
            return Ok(at);
        }
    }
}

/// Where a number or a word ends that begins here, in a text that is JSON.
fn scalar_end(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    let ends = |byte: &u8| matches!(byte, b',' | b'}' | b']' | b' ' | b'\n' | b'\t' | b'\r');
    at + rest.iter().position(ends).unwrap_or(rest.len())
}

/// Where the string ends whose inside begins here: behind its quote.
#[inline]
fn string_end<L: Look>(look: L, bytes: &[u8], from: usize) -> Result<usize, Unsure> {
    let at = run_end(bytes, from);
    match bytes.get(at) {
        _ if !look.passes(bytes.get(from..at)) => Err(Unsure),
        Some(b'"') => Ok(at + 1),
        Some(_) => escaped_end(look, bytes, from, at),
        None => Err(Unsure),
    }
}

/// The same of one that began at `from`, and whose first escape is here.
fn escaped_end<L: Look>(
    look: L,
    bytes: &[u8],
    mut from: usize,
    mut at: usize,
) -> Result<usize, Unsure> {
    while bytes.get(at) == Some(&b'\\') {
        let last = at - from;
        // What is escaped by one character is passed with it; what by more, is plain.
        from = at + if L::KNOWS { 2 } else { escape_length(&bytes[at..])? };
        at = next_run_end(bytes, from, last);
        if !look.passes(bytes.get(from..at)) {
            return Err(Unsure);
        }
    }
    if at < bytes.len() { Ok(at + 1) } else { Err(Unsure) }
}

/// Where the value begins whose name stands here.
#[inline]
fn name_end<L: Look>(look: L, bytes: &[u8], at: usize) -> Result<usize, Unsure> {
    if bytes.get(at) != Some(&b'"') {
        return Err(Unsure);
    }
    let colon = blank(bytes, string_end(look, bytes, at + 1)?);
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
