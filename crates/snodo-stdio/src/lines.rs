//! Bytes into lines.

use memchr::memchr;

/// Cuts what was read into lines, at the byte 0x0A and nowhere else.
///
/// Nothing here waits, so dropping a read half way loses nothing: read into [`room`](Self::room),
/// then take lines until there is none.
///
/// ```
/// use snodo_stdio::internal::{Line, Lines};
///
/// let mut lines = Lines::new(1024);
/// lines.room().extend_from_slice(b"{}\r\n{\"a\"");
/// assert_eq!(lines.take(), Some(Line::Text(b"{}".to_vec())));
/// assert_eq!(lines.take(), None);
/// ```
#[derive(Debug)]
pub struct Lines {
    buffer: Vec<u8>,
    /// Where the line begins that is not taken yet.
    start: usize,
    /// How far the buffer was searched.
    seen: usize,
    limit: usize,
    /// The rest of an over-long line is thrown away as it comes.
    skipping: bool,
    /// Nothing was taken yet: a byte order mark may stand here.
    first: bool,
}

/// One line of text without its end, never blank.
///
/// ```
/// use snodo_stdio::internal::{Line, Lines};
///
/// let mut lines = Lines::new(4);
/// lines.room().extend_from_slice(b"longer\n");
/// assert!(matches!(lines.take(), Some(Line::TooLong(start)) if start.starts_with(b"long")));
/// ```
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Line {
    /// A line within the limit.
    Text(Vec<u8>),
    /// The beginning, 4 KiB at most, of a line past the limit.
    TooLong(Vec<u8>),
}

impl Lines {
    /// Takes the most bytes a line may have.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self { buffer: Vec::new(), start: 0, seen: 0, limit, skipping: false, first: true }
    }

    /// Where to read to: as much as there is spare capacity for, and no more.
    pub fn room(&mut self) -> &mut Vec<u8> {
        self.buffer.drain(..self.start);
        self.seen -= self.start;
        self.start = 0;
        if self.buffer.is_empty() && self.buffer.capacity() > 4 * CHUNK {
            self.buffer = Vec::new();
        }
        let spare = self.buffer.capacity() - self.buffer.len();
        if spare < CHUNK / 8 {
            // An unfinished line is within the limit, so that this ends there too. Growing a large
            // block remaps it; nothing is copied.
            let left = self.limit.saturating_sub(self.buffer.len()).saturating_add(CHUNK);
            self.buffer.reserve_exact(self.buffer.len().max(CHUNK).min(left));
        }
        &mut self.buffer
    }

    /// The next whole line.
    pub fn take(&mut self) -> Option<Line> {
        loop {
            let Some(found) = memchr(b'\n', &self.buffer[self.seen..]) else {
                self.seen = self.buffer.len();
                return self.give_up_on_a_long_line();
            };
            let end = self.seen + found;
            if std::mem::take(&mut self.skipping) {
                (self.start, self.seen) = (end + 1, end + 1);
            } else if let Some(line) = self.cut(end) {
                return Some(line);
            }
        }
    }

    /// What is left when nothing more comes: a last line without its end.
    pub fn finish(&mut self) -> Option<Line> {
        if self.skipping { None } else { self.cut(self.buffer.len()) }
    }

    fn give_up_on_a_long_line(&mut self) -> Option<Line> {
        if self.skipping {
            self.forget_everything();
            return None;
        }
        // One byte more may be the carriage return of a line that just fits.
        let (from, to) = self.trim(self.buffer.len());
        if to - from <= self.limit.saturating_add(1) {
            return None;
        }
        let line = self.too_long(from, to);
        self.forget_everything();
        self.skipping = true;
        Some(line)
    }

    fn forget_everything(&mut self) {
        self.buffer.clear();
        (self.start, self.seen) = (0, 0);
    }

    /// Takes the line that ends before `end`; `None` for a blank one.
    fn cut(&mut self, end: usize) -> Option<Line> {
        let (from, to) = self.trim(end);
        let next = (end + 1).min(self.buffer.len());
        self.first = false;
        let length = to - from;
        if length > self.limit {
            let line = self.too_long(from, to);
            (self.start, self.seen) = (next, next);
            return Some(line);
        }
        if self.buffer[from..to].trim_ascii().is_empty() {
            (self.start, self.seen) = (next, next);
            return None;
        }
        if length < MOVED || length < self.buffer.capacity() / 2 {
            let text = self.buffer[from..to].to_vec();
            (self.start, self.seen) = (next, next);
            return Some(Line::Text(text));
        }
        // A long line takes the buffer along, and what follows it starts a small new one.
        let rest = self.buffer[next..].to_vec();
        let mut text = std::mem::replace(&mut self.buffer, rest);
        text.truncate(to);
        text.drain(..from);
        (self.start, self.seen) = (0, 0);
        Some(Line::Text(text))
    }

    /// The line that ends before `end`, without a byte order mark and a carriage return.
    fn trim(&self, end: usize) -> (usize, usize) {
        let line = &self.buffer[self.start..end];
        let mark = if self.first && line.starts_with(BYTE_ORDER_MARK) { 3 } else { 0 };
        let from = self.start + mark;
        let to = if line.ends_with(b"\r") { end - 1 } else { end };
        (from, to.max(from))
    }

    fn too_long(&mut self, from: usize, to: usize) -> Line {
        self.first = false;
        Line::TooLong(self.buffer[from..to.min(from + HEAD)].to_vec())
    }
}

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// What one read takes at most, and what a pipe holds on Linux.
const CHUNK: usize = 64 * 1024;

/// Shorter lines are copied out of the buffer, which stays: an allocator gives a block of such a size back to the system
/// when it is freed, and every page of the next one is fetched anew.
const MOVED: usize = 128 * 1024;

/// What is kept of a line that is too long: its id stands near the front.
const HEAD: usize = 4 * 1024;

#[cfg(test)]
#[path = "lines_tests.rs"]
mod tests;
