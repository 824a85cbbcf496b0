//! What the reader makes of bytes, however they are cut.

use std::time::{Duration, Instant};

use bytes::Bytes;

use super::{Event, Reader, TooLong};

const PLENTY: usize = 1 << 24;

/// Everything a reader says about chunks: `name|data` of each event, then the last id.
fn read<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> (Vec<String>, String, Option<u64>) {
    let mut reader = Reader::new(PLENTY);
    let mut events = Vec::new();
    for chunk in chunks {
        reader.feed(Bytes::copy_from_slice(chunk));
        while let Some(event) = reader.next_event() {
            let Event { name, data } = event.expect("within the limit");
            events.push(format!("{name}|{data}"));
        }
    }
    (events, reader.last_id().to_owned(), reader.retry())
}

/// Reads a text whole, byte by byte, and cut once at every place.
fn check(text: &[u8], events: &[&str], last_id: &str, retry: Option<u64>) {
    let expected = (events.iter().map(ToString::to_string).collect(), last_id.to_owned(), retry);
    assert_eq!(read([text]), expected, "whole: {:?}", text.escape_ascii().to_string());
    assert_eq!(read(text.chunks(1)), expected, "bytewise: {:?}", text.escape_ascii().to_string());
    for at in 0..=text.len() {
        let (head, tail) = text.split_at(at);
        assert_eq!(read([head, tail]), expected, "cut at {at}: {}", text.escape_ascii());
    }
}

// HTTP-17
#[test]
fn every_line_end_ends_a_line_and_may_be_mixed() {
    for text in [
        "event: message\ndata: {\"id\":1}\n\n",
        "event: message\r\ndata: {\"id\":1}\r\n\r\n",
        "event: message\rdata: {\"id\":1}\r\r",
        "event: message\rdata: {\"id\":1}\r\n\n",
        "event:message\ndata:{\"id\":1}\r\r\n",
    ] {
        check(text.as_bytes(), &["message|{\"id\":1}"], "", None);
    }
}

#[test]
fn data_lines_are_joined_by_a_newline() {
    check(b"data: {\"a\":\r\ndata: 1}\r\n\r\n", &["|{\"a\":\n1}"], "", None);
    check(b"data\ndata\n\ndata:\n\n", &["|\n", "|"], "", None);
    check(b"data:  two\n\n", &["| two"], "", None);
}

#[test]
fn one_byte_order_mark_at_the_very_start_is_left_out() {
    check(b"\xEF\xBB\xBFdata: x\n\n", &["|x"], "", None);
    check(b"\xEF\xBB\xBF: hi\ndata: x\n\n\xEF\xBB\xBFdata: y\n\n", &["|x"], "", None);
    check(b": hi\n\xEF\xBB\xBFdata: y\n\n", &[], "", None);
}

// HTTP-08
#[test]
fn comments_and_unknown_fields_say_nothing() {
    check(b":\r\n\r\n: ping\ndata: a\n: in between\ndata: b\n\n", &["|a\nb"], "", None);
    check(b"foo: x\nDATA: y\n data: z\n\n", &[], "", None);
}

#[test]
fn events_of_another_type_are_told_apart() {
    let (events, ..) =
        read([&b"event: ping\ndata: x\n\nevent: message\ndata: y\n\ndata: z\n\n"[..]]);
    assert_eq!(events, ["ping|x", "message|y", "|z"]);
    let event = |name: &str| Event { name: name.to_owned(), data: String::new() }.is_message();
    assert_eq!((event("ping"), event("message"), event("")), (false, true, true));
    check(b"event: ping\n\ndata: x\n\n", &["|x"], "", None);
}

#[test]
fn an_id_stays_until_another_one_and_holds_no_nul() {
    check(b"id: a\ndata: x\n\nid: b\0c\ndata: y\n\ndata: z\n\n", &["|x", "|y", "|z"], "a", None);
    check(b"id: a\ndata: x\n\nid\ndata: y\n\n", &["|x", "|y"], "", None);
    check("id: evt-00a:3/\u{fc}=\ndata: x\n\n".as_bytes(), &["|x"], "evt-00a:3/\u{fc}=", None);
}

#[test]
fn an_id_counts_once_its_event_is_complete_even_without_data() {
    check(b"id: 7\n\n", &[], "7", None);
    check(b"id: 7\n\nid: 8\ndata: cut", &[], "7", None);
}

#[test]
fn a_retry_is_digits_or_nothing() {
    check(b"retry: 3000\n\n", &[], "", Some(3000));
    check(b"data:\nid: 0/1\nretry: 250\n\n", &["|"], "0/1", Some(250));
    check(
        b"retry: 10\nretry: -1\nretry: 1s\nretry:\nretry: 99999999999999999999\n",
        &[],
        "",
        Some(10),
    );
}

#[test]
fn what_is_no_utf_8_is_replaced() {
    check(b"data: a\xFFb\n\n", &["|a\u{fffd}b"], "", None);
    check("data: \u{1F980}\n\n".as_bytes(), &["|\u{1F980}"], "", None);
}

#[test]
fn an_event_without_its_blank_line_is_a_remainder_and_no_event() {
    for text in ["data: {}", "data: {}\n", "data:{}\r", "event: message\ndata: {}"] {
        let mut reader = Reader::new(PLENTY);
        for byte in text.as_bytes().chunks(1) {
            reader.feed(Bytes::copy_from_slice(byte));
            assert_eq!(reader.next_event(), None);
        }
        assert_eq!(reader.remainder().expect("a remainder").data, "{}", "{text:?}");
        assert_eq!(reader.remainder(), None);
    }
    assert_eq!(Reader::new(PLENTY).remainder(), None);
}

#[test]
fn an_event_over_the_limit_is_refused_and_a_long_keep_alive_is_not() {
    let first = |chunks: &[&str]| {
        let mut reader = Reader::new(16);
        for chunk in chunks {
            reader.feed(Bytes::copy_from_slice(chunk.as_bytes()));
            if let Some(event) = reader.next_event() {
                return Some(event.map(|event| event.data));
            }
        }
        None
    };
    assert_eq!(first(&["data: 0123456789\n\n"]), Some(Ok("0123456789".to_owned())));
    assert_eq!(first(&["data: 01234567890123456789\n\n"]), Some(Err(TooLong)));
    assert_eq!(first(&["data: 0123456789", "0123456789"]), Some(Err(TooLong)));
    assert_eq!(first(&["data: 012345678\ndata: 9\ndata: 012345\n\n"]), Some(Err(TooLong)));
    assert_eq!(first(&["x-unknown-field: no end in sight"]), Some(Err(TooLong)));
    let comments = ": a comment that is longer than the limit\n".repeat(3);
    assert_eq!(
        first(&[&comments, ": and on", " and on and on and on", "\ndata: x\n\n"]),
        Some(Ok("x".to_owned()))
    );
}

#[test]
fn time_grows_with_the_bytes_whatever_their_split() {
    let started = Instant::now();
    let long = format!("data: {}\n\n", "x".repeat(4 << 20));
    let (events, ..) = read(long.as_bytes().chunks(1024));
    assert_eq!(events[0].len(), (4 << 20) + 1);
    let many = "data: x\n\n".repeat(50_000) + "data: last\n\n";
    let (events, ..) = read([many.as_bytes()]);
    assert_eq!((events.len(), events[50_000].as_str()), (50_001, "|last"));
    let lines = format!("{}\n", "data: \n".repeat(500_000));
    let (events, ..) = read(lines.as_bytes().chunks(100));
    assert_eq!(events[0].len(), 500_000);
    assert!(started.elapsed() < Duration::from_secs(6), "{:?}", started.elapsed());
}
