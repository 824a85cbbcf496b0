//! The line reader against one that cuts everything at once.

use snodo_stdio::internal::{Line, Lines};

use crate::{head, pieces};

/// Whatever the pieces, the lines are those of the whole.
///
/// # Panics
///
/// Where they are not.
pub fn check(input: &[u8]) {
    let ([limit, lengths @ ..], bytes) = head::<5>(input);
    // With no room at all not even a byte order mark would fit, half of which has come.
    let limit = usize::from(limit) + 1;
    let mut expected = reference(limit, bytes).into_iter();
    let mut lines = Lines::new(limit);
    for mut piece in pieces(&lengths, bytes) {
        while !piece.is_empty() {
            let room = lines.room();
            let spare = room.capacity() - room.len();
            assert!(spare > 0, "there is always room to read into");
            let (now, later) = piece.split_at(spare.min(piece.len()));
            room.extend_from_slice(now);
            piece = later;
            while let Some(line) = lines.take() {
                compare(limit, &line, expected.next());
            }
        }
        assert!(lines.room().capacity() <= MOST, "what is kept is bounded");
    }
    if let Some(line) = lines.finish() {
        compare(limit, &line, expected.next());
    }
    let left: Vec<_> = expected.collect();
    assert!(left.is_empty(), "missing: {left:?}");
}

/// Every line that is not blank, whole.
fn reference(limit: usize, bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut lines: Vec<_> = bytes.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    // What stands behind the last end is a line if it is anything.
    if lines.last().is_some_and(Vec::is_empty) {
        lines.pop();
    }
    for (number, line) in lines.iter_mut().enumerate() {
        if number == 0 && line.starts_with(b"\xEF\xBB\xBF") {
            line.drain(..3);
        }
        if line.ends_with(b"\r") {
            line.pop();
        }
    }
    lines.retain(|line| line.len() > limit || !line.trim_ascii().is_empty());
    lines
}

fn compare(limit: usize, line: &Line, expected: Option<Vec<u8>>) {
    let whole = expected.expect("a line that is not there");
    match line {
        Line::Text(text) => {
            assert!(text.len() <= limit, "it is longer than the limit");
            assert_eq!(*text, whole);
        }
        Line::TooLong(start) => {
            assert!(whole.len() > limit, "it is within the limit");
            assert!(whole.starts_with(start) && start.len() <= 4096);
            assert!(start.len() >= whole.len().min(limit), "too little to know it by");
        }
        other => panic!("{other:?}"),
    }
}

/// Far above any line here, and what one read takes.
const MOST: usize = 512 * 1024;
