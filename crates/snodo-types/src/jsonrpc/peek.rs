//! Finding the id of a response that cannot be read as a whole.

use super::RequestId;

/// The id of the response that begins with these bytes, if it can be told.
///
/// For texts that are cut, too long or malformed: looks at the members of the outermost object as
/// far as they can be told apart. An id counts only if `result` or `error` stands there too and
/// `method` does not, since a request's id is the peer's own.
///
/// ```
/// use snodo_types::{RequestId, answered_id};
///
/// assert_eq!(answered_id(br#"{"jsonrpc":"2.0","id":7,"result":{"cut": [1, "#), Some(RequestId::Number(7)));
/// assert_eq!(answered_id(br#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#), None);
/// ```
#[must_use]
pub fn answered_id(head: &[u8]) -> Option<RequestId> {
    let mut cursor = Cursor { bytes: head, at: 0 };
    let (mut id, mut answers) = (None, false);
    cursor.expect(b'{')?;
    while let Some(key) = cursor.key() {
        match key {
            b"\"method\"" => return None,
            b"\"result\"" | b"\"error\"" => answers = true,
            _ => {}
        }
        let Some(value) = cursor.value() else { break };
        if key == b"\"id\"" {
            id = std::str::from_utf8(value).ok().and_then(RequestId::read);
        }
        if cursor.expect(b',').is_none() {
            break;
        }
    }
    id.filter(|_| answers)
}

struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn expect(&mut self, wanted: u8) -> Option<()> {
        self.blank();
        (self.bytes.get(self.at) == Some(&wanted)).then(|| self.at += 1)
    }

    /// A member's name with its quotes; the colon behind it is taken too.
    fn key(&mut self) -> Option<&'a [u8]> {
        self.blank();
        let start = self.at;
        self.string()?;
        let key = &self.bytes[start..self.at];
        self.expect(b':')?;
        Some(key)
    }

    /// Any value, whole; `None` when the bytes end within it.
    fn value(&mut self) -> Option<&'a [u8]> {
        self.blank();
        let start = self.at;
        let mut depth = 0_usize;
        loop {
            match *self.bytes.get(self.at)? {
                b'"' => self.string()?,
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' | b']' if depth == 0 => break,
                b'}' | b']' => {
                    depth -= 1;
                    self.at += 1;
                }
                b',' if depth == 0 => break,
                _ => self.at += 1,
            }
        }
        Some(self.bytes[start..self.at].trim_ascii_end())
    }

    fn string(&mut self) -> Option<()> {
        self.expect(b'"')?;
        loop {
            match *self.bytes.get(self.at)? {
                b'"' => break,
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
        self.at += 1;
        Some(())
    }

    fn blank(&mut self) {
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{RequestId, answered_id};

    #[test]
    fn a_cut_response_still_tells_its_id() {
        let found = Some(RequestId::Number(12));
        assert_eq!(answered_id(br#"{"jsonrpc":"2.0","id":12,"result":{"a":"#), found);
        assert_eq!(answered_id(br#" { "result" : {"a":["}"]} , "id" : 12 }"#), found);
        assert_eq!(answered_id(br#"{"id":12,"error":null,"result":"#), found);
    }

    #[test]
    fn what_is_no_response_tells_nothing() {
        for text in
            ["", "{", "[1]", r#"{"id":1}"#, r#"{"id":1,"method":"x","result":"#, r#"{"id":"a"#]
        {
            assert_eq!(answered_id(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn an_id_inside_a_value_is_not_the_message_s_own() {
        assert_eq!(answered_id(br#"{"result":{"id":5},"more":"#), None);
    }
}
