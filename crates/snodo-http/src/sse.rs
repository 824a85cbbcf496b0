//! Server-sent events, read where they stand.
//!
//! WHATWG HTML, "Server-sent events": three line ends, one byte order mark, comments, fields with
//! or without a space, data lines joined by a newline. Bytes are looked at once, however they are
//! cut; an event of one line within one chunk is copied once, when it is handed out.

use bytes::{Buf as _, Bytes};

/// One event of an event stream.
///
/// ```
/// # fn read(event: snodo_http::Event) {
/// if event.name == "endpoint" {
///     println!("messages go to {}", event.data);
/// }
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Event {
    /// The type; empty stands for `message`.
    pub name: String,
    /// The lines of data, joined by newlines.
    pub data: String,
}

impl Event {
    /// Only events of the default type carry messages.
    #[must_use]
    pub fn is_message(&self) -> bool {
        self.name.is_empty() || self.name == "message"
    }
}

/// An event, or a line, is longer than the limit.
///
/// ```
/// use snodo_http::internal::{Reader, TooLong};
///
/// let mut reader = Reader::new(8);
/// reader.feed("data: more than that\n\n".into());
/// assert!(matches!(reader.next_event(), Some(Err(TooLong { .. }))));
/// ```
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TooLong;

/// Turns chunks into events.
///
/// ```
/// use snodo_http::internal::Reader;
///
/// let mut reader = Reader::new(1024);
/// reader.feed("data: {}\n".into());
/// assert_eq!(reader.next_event(), None);
/// reader.feed("\n".into());
/// let event = reader.next_event();
/// assert!(matches!(event, Some(Ok(event)) if event.is_message() && event.data == "{}"));
/// ```
#[derive(Debug)]
pub struct Reader {
    limit: usize,
    input: Bytes,
    /// The start of a line whose end has not come.
    line: Vec<u8>,
    /// The line that goes on is a data line: its start was moved to `data` already.
    in_data: bool,
    /// A carriage return ended the last line; a line feed now belongs to it.
    after_return: bool,
    /// Nothing but the first line may begin with a byte order mark.
    first: bool,
    data: Vec<u8>,
    /// A data field was seen, be it empty.
    has_data: bool,
    name: String,
    /// The id of the event being read; it stays for those after it.
    id: String,
    last_id: String,
    retry: Option<u64>,
}

impl Reader {
    /// A reader that refuses events longer than `limit` bytes.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self::behind("", None, limit)
    }

    /// A reader for a stream that goes on behind another: with the id and the wait of that one.
    #[must_use]
    pub fn behind(id: &str, retry: Option<u64>, limit: usize) -> Self {
        Self {
            limit,
            input: Bytes::new(),
            line: Vec::new(),
            in_data: false,
            after_return: false,
            first: true,
            data: Vec::new(),
            has_data: false,
            name: String::new(),
            id: id.to_owned(),
            last_id: id.to_owned(),
            retry,
        }
    }

    /// Takes the next chunk. All events of the one before must have been read.
    pub fn feed(&mut self, chunk: Bytes) {
        debug_assert!(self.input.is_empty(), "events are left in the last chunk");
        self.input = chunk;
    }

    /// The next event of the chunk; `None` when it is used up.
    pub fn next_event(&mut self) -> Option<Result<Event, TooLong>> {
        loop {
            if self.after_return && !self.input.is_empty() {
                self.after_return = false;
                if self.input[0] == b'\n' {
                    self.input.advance(1);
                }
            }
            let Some(end) = memchr::memchr2(b'\n', b'\r', &self.input) else {
                let rest = std::mem::take(&mut self.input);
                return self.keep(&rest).err().map(Err);
            };
            let line = self.input.split_to(end);
            self.after_return = self.input[0] == b'\r';
            self.input.advance(1);
            match self.end_line(&line) {
                Ok(None) => {}
                Ok(Some(event)) => return Some(Ok(event)),
                Err(long) => return Some(Err(long)),
            }
        }
    }

    /// What was read of an event that the end of the stream cut off.
    ///
    /// The standard drops it. Some servers never write the last blank line; whether the text is
    /// whole can be told by reading it. Its id does not count: a server that resumes sends it again.
    pub(crate) fn remainder(&mut self) -> Option<Event> {
        let line = std::mem::take(&mut self.line);
        if self.in_data || !line.is_empty() {
            self.end_line(&line).ok()?;
        }
        self.take_event()
    }

    /// The id to resume after: that of the last event which was complete.
    #[must_use]
    pub fn last_id(&self) -> &str {
        &self.last_id
    }

    /// The milliseconds to wait before resuming, where the server said so.
    #[must_use]
    pub fn retry(&self) -> Option<u64> {
        self.retry
    }

    /// Keeps a piece of a line. A data line goes where it is needed in the end.
    fn keep(&mut self, piece: &[u8]) -> Result<(), TooLong> {
        if self.is_comment(piece) {
            // Its first byte is enough to know it by, so that its length is nobody's trouble.
            self.line.clear();
            self.line.push(b':');
            return Ok(());
        }
        if self.line.len() + self.data.len() + piece.len() > self.limit {
            return Err(TooLong);
        }
        if self.in_data {
            self.data.extend_from_slice(piece);
            return Ok(());
        }
        self.line.extend_from_slice(piece);
        // One byte behind the colon tells whether there is a space to leave out.
        if self.line.len() > DATA.len() && self.line.starts_with(DATA) {
            let start = DATA.len() + usize::from(self.line[DATA.len()] == b' ');
            self.start_data();
            self.data.extend_from_slice(&self.line[start..]);
            self.line.clear();
            self.first = false;
            self.in_data = true;
        }
        Ok(())
    }

    fn end_line(&mut self, rest: &[u8]) -> Result<Option<Event>, TooLong> {
        if self.is_comment(rest) {
            self.line.clear();
            self.first = false;
            return Ok(None);
        }
        if self.line.len() + self.data.len() + rest.len() > self.limit {
            return Err(TooLong);
        }
        if self.in_data {
            self.in_data = false;
            self.data.extend_from_slice(rest);
            return Ok(None);
        }
        if self.line.is_empty() {
            return Ok(self.take_line(rest));
        }
        let mut line = std::mem::take(&mut self.line);
        line.extend_from_slice(rest);
        let event = self.take_line(&line);
        line.clear();
        self.line = line;
        Ok(event)
    }

    /// Whether the line that goes on with these bytes is a comment.
    fn is_comment(&self, rest: &[u8]) -> bool {
        let start = if self.line.is_empty() { rest } else { &self.line };
        !self.in_data && start.first() == Some(&b':')
    }

    fn take_line(&mut self, mut line: &[u8]) -> Option<Event> {
        if std::mem::take(&mut self.first) {
            line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
        }
        if line.is_empty() {
            return self.dispatch();
        }
        let (field, value) = match memchr::memchr(b':', line) {
            Some(at) => (&line[..at], &line[at + 1..]),
            None => (line, &[][..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => {
                self.start_data();
                self.data.extend_from_slice(value);
            }
            b"event" => self.name = text(value.to_vec()),
            b"id" if !value.contains(&0) => self.id = text(value.to_vec()),
            b"retry" if value.iter().all(u8::is_ascii_digit) => {
                self.retry = std::str::from_utf8(value)
                    .ok()
                    .and_then(|digits| digits.parse().ok())
                    .or(self.retry);
            }
            _ => {}
        }
        None
    }

    fn start_data(&mut self) {
        if std::mem::replace(&mut self.has_data, true) {
            self.data.push(b'\n');
        }
    }

    fn dispatch(&mut self) -> Option<Event> {
        if self.last_id != self.id {
            self.last_id.clone_from(&self.id);
        }
        self.take_event()
    }

    fn take_event(&mut self) -> Option<Event> {
        let name = std::mem::take(&mut self.name);
        let data = std::mem::take(&mut self.data);
        std::mem::take(&mut self.has_data).then(|| Event { name, data: text(data) })
    }
}

/// The standard decodes what is no UTF-8 with replacement characters.
fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

const DATA: &[u8] = b"data:";

#[cfg(test)]
#[path = "sse_tests.rs"]
mod tests;
