//! Lines, however they are cut.

use super::{CHUNK, HEAD, Line, Lines, MOVED};

/// Feeds the bytes in pieces of at most `size`; gives the lines as text, too long ones as `!head`.
fn cut(bytes: &[u8], size: usize, limit: usize) -> Vec<String> {
    let mut lines = Lines::new(limit);
    let mut seen = Vec::new();
    for piece in bytes.chunks(size) {
        lines.room().extend_from_slice(piece);
        while let Some(line) = lines.take() {
            seen.push(show(line));
        }
    }
    seen.extend(lines.finish().map(show));
    assert!(lines.take().is_none() && lines.finish().is_none(), "the end is the end");
    seen
}

fn show(line: Line) -> String {
    match line {
        Line::Text(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Line::TooLong(head) => format!("!{}", String::from_utf8_lossy(&head)),
    }
}

/// Every size of pieces gives the same lines.
fn check(bytes: &[u8], limit: usize, expected: &[&str]) {
    for size in 1..=bytes.len() {
        assert_eq!(cut(bytes, size, limit), expected, "in pieces of {size}");
    }
}

// STDIO-14
#[test]
fn line_ends_may_be_mixed_and_blank_lines_are_passed_over() {
    check(b"a\r\nb\n\n \t\n\r\nc\r\n", 99, &["a", "b", "c"]);
    check(b"\r\n\n", 99, &[]);
    check(b"in\rside\n", 99, &["in\rside"]);
}

// STDIO-14
#[test]
fn a_byte_order_mark_is_taken_off_at_the_very_start_only() {
    check(b"\xEF\xBB\xBFa\nb\n", 99, &["a", "b"]);
    check(b"\xEF\xBB\xBF\r\nb\n", 99, &["b"]);
    check(b"a\n\xEF\xBB\xBFb\n", 99, &["a", "\u{feff}b"]);
}

#[test]
fn a_last_line_without_its_end_counts() {
    check(b"a\nlast", 99, &["a", "last"]);
    check(b"a\nlast\r", 99, &["a", "last"]);
    check(b"a\n  ", 99, &["a"]);
}

// STDIO-14
#[test]
fn a_line_over_the_limit_gives_its_head_and_the_next_line_lives() {
    check(b"12345\n123456\n1\n", 5, &["12345", "!123456", "1"]);
    check(b"12345\r\n1\n", 5, &["12345", "1"]);
    let long = [&b"x".repeat(3 * HEAD)[..], b"\nok\n"].concat();
    let expected = [format!("!{}", "x".repeat(HEAD)), "ok".to_owned()];
    for size in [CHUNK, HEAD, 1000] {
        assert_eq!(cut(&long, size, 2 * HEAD), expected, "in pieces of {size}");
    }
    assert_eq!(cut(&b"y".repeat(100), 100, 10), [format!("!{}", "y".repeat(100))]);
}

#[test]
fn a_line_without_an_end_never_takes_more_memory_than_the_limit() {
    let limit = 5 * CHUNK;
    let mut lines = Lines::new(limit);
    let mut told = 0;
    for _ in 0..1000 {
        let room = lines.room();
        let spare = room.capacity() - room.len();
        assert!(spare > 0, "there is always room to read to");
        room.resize(room.capacity(), b'x');
        assert!(room.capacity() <= limit + CHUNK, "{} bytes", room.capacity());
        told += std::iter::from_fn(|| lines.take()).count();
    }
    assert_eq!(told, 1, "it is told once");
}

#[test]
fn long_lines_take_their_buffer_along_and_short_ones_are_copied() {
    let long = "l".repeat(3 * MOVED);
    let bytes = format!("short\n{long}\nafter\n{long}\nrest");
    for size in [7, CHUNK / 3, CHUNK, 4 * CHUNK] {
        let expected = ["short", &long, "after", &long, "rest"];
        assert_eq!(cut(bytes.as_bytes(), size, 8 * CHUNK), expected, "in pieces of {size}");
    }
}

#[test]
fn a_buffer_that_grew_is_given_back() {
    let mut lines = Lines::new(usize::MAX);
    let half = [&b"x".repeat(3 * CHUNK)[..], b"\n"].concat();
    let room = lines.room();
    room.reserve_exact(10 * CHUNK);
    room.extend_from_slice(&half);
    assert!(lines.take().is_some() && lines.take().is_none());
    assert!(lines.room().capacity() <= 2 * CHUNK);
}
