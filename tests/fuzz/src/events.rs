//! The reader of event streams against the standard, done slowly.

use bytes::Bytes;
use snodo_http::internal::{Reader, TooLong};

use crate::{head, pieces};

/// Whatever the pieces, the events, the last id and the wait are those of the whole. With a limit, they are until one is
/// too long.
///
/// # Panics
///
/// Where they are not.
pub fn check(input: &[u8]) {
    let ([limit, lengths @ ..], bytes) = head::<5>(input);
    // 0 stands for none.
    let limit = if limit == 0 { usize::MAX } else { usize::from(limit) };
    let (expected, id, retry) = reference(bytes);
    let mut expected = expected.into_iter();
    let mut reader = Reader::new(limit);
    for piece in pieces(&lengths, bytes) {
        reader.feed(Bytes::copy_from_slice(piece));
        while let Some(event) = reader.next_event() {
            match event {
                Ok(event) => {
                    assert!(event.data.len() <= limit.saturating_mul(3), "it is too long");
                    assert_eq!(Some((event.name, event.data)), expected.next());
                }
                Err(TooLong { .. }) => {
                    assert!(limit < bytes.len(), "nothing can be too long");
                    return;
                }
            }
        }
    }
    assert_eq!(expected.next(), None);
    assert_eq!(reader.last_id(), id);
    assert_eq!(reader.retry(), retry);
}

/// The events of a whole stream by WHATWG HTML, "Server-sent events", and what stands when it ends.
type Whole = (Vec<(String, String)>, String, Option<u64>);

fn reference(bytes: &[u8]) -> Whole {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let (mut events, mut last, mut retry) = (Vec::new(), String::new(), None);
    let (mut name, mut id, mut data) = (String::new(), String::new(), None::<Vec<u8>>);
    for line in whole_lines(bytes) {
        if line.is_empty() {
            last.clone_from(&id);
            let name = std::mem::take(&mut name);
            if let Some(data) = data.take() {
                events.push((name, String::from_utf8_lossy(&data).into_owned()));
            }
            continue;
        }
        let colon = line.iter().position(|byte| *byte == b':');
        let (field, value) = match colon {
            Some(0) => continue,
            Some(at) => (&line[..at], &line[at + 1..]),
            None => (line, &[][..]),
        };
        let value = if value.first() == Some(&b' ') { &value[1..] } else { value };
        match field {
            b"event" => name = String::from_utf8_lossy(value).into_owned(),
            b"data" => match &mut data {
                Some(data) => {
                    data.push(b'\n');
                    data.extend(value);
                }
                None => data = Some(value.to_vec()),
            },
            b"id" if !value.contains(&0) => id = String::from_utf8_lossy(value).into_owned(),
            b"retry" if value.iter().all(u8::is_ascii_digit) => {
                let digits = String::from_utf8_lossy(value);
                // What no number holds, or no digit at all, changes nothing.
                retry = digits.parse().ok().or(retry);
            }
            _ => {}
        }
    }
    (events, last, retry)
}

/// The lines whose end is there.
fn whole_lines(bytes: &[u8]) -> Vec<&[u8]> {
    let (mut lines, mut start, mut at) = (Vec::new(), 0, 0);
    while at < bytes.len() {
        let end = at;
        at += 1;
        match bytes[end] {
            b'\r' if bytes.get(at) == Some(&b'\n') => at += 1,
            b'\r' | b'\n' => {}
            _ => continue,
        }
        lines.push(&bytes[start..end]);
        start = at;
    }
    lines
}
