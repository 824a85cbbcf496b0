//! What lines turn out to be.

use super::{Item, Skipped, Sorter};
use crate::lines::Lines;

/// The messages, and how many lines were skipped.
fn sort(pieces: &[&[u8]]) -> (Vec<String>, usize) {
    let mut lines = Lines::new(1024 * 1024);
    let mut sorter = Sorter { limit: 1024 * 1024, warned: Vec::new() };
    let mut items = Vec::new();
    for piece in pieces {
        lines.room().extend_from_slice(piece);
        items.extend(std::iter::from_fn(|| lines.take()).map(|line| sorter.sort(line)));
    }
    items.extend(lines.finish().map(|line| sorter.sort(line)));
    let (mut messages, mut skipped) = (Vec::new(), 0);
    for item in items {
        match item {
            Item::Message(message) => messages.push(message.text().to_owned()),
            Item::Skipped { .. } => skipped += 1,
        }
    }
    (messages, skipped)
}

/// The same at every single cut and byte by byte.
fn check(output: &[u8], messages: &[&str], skipped: usize) {
    let expected = (messages.iter().map(|&text| text.to_owned()).collect(), skipped);
    for at in 0..=output.len() {
        let (front, back) = output.split_at(at);
        assert_eq!(sort(&[front, back]), expected, "cut at {at}");
    }
    assert_eq!(sort(&output.chunks(1).collect::<Vec<_>>()), expected, "byte by byte");
}

fn sort_one(line: &str) -> Item {
    let mut sorter = Sorter { limit: 10, warned: Vec::new() };
    sorter.sort(crate::lines::Line::Text(line.as_bytes().to_vec()))
}

const ONE: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
const TWO: &str = r#"{"jsonrpc":"2.0","id":2,"result":{"a":1}}"#;
const NEWS: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;

// STDIO-03, STDIO-14
#[test]
fn a_banner_is_skipped_and_what_follows_is_read() {
    // The public case SF-01.
    check(format!("ready, waiting on stdio\n{ONE}\n").as_bytes(), &[ONE], 1);
}

// STDIO-14
#[test]
fn carriage_returns_before_line_ends_do_not_matter() {
    // The public case SF-03.
    check(format!("{ONE}\r\n{TWO}\n{NEWS}\r\n").as_bytes(), &[ONE, TWO, NEWS], 0);
}

#[test]
fn a_line_past_64_kib_is_nothing_special() {
    // The public case SF-05.
    let text = "x".repeat(70_000);
    let line = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"t":"{text}"}}}}"#);
    assert_eq!(sort(&[line.as_bytes(), b"\n"]), (vec![line.clone()], 0));
}

#[test]
fn separators_of_unicode_end_no_line() {
    // The public case SF-07.
    let line = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"t\":\"a\u{2028}b\u{2029}c\u{85}d\"}}";
    check(format!("{line}\n").as_bytes(), &[line], 0);
}

#[test]
fn the_last_message_may_lack_its_line_end() {
    // The public case SF-09.
    check(format!("{ONE}\n{TWO}").as_bytes(), &[ONE, TWO], 0);
}

#[test]
fn bytes_that_are_not_utf_8_spoil_their_line_only() {
    // The public case SF-11.
    check(format!("{ONE}\n").into_bytes().as_slice(), &[ONE], 0);
    check(&[b"\xFF\xFE\n", ONE.as_bytes(), b"\n"].concat(), &[ONE], 1);
}

#[test]
fn a_message_that_was_cut_is_skipped() {
    // The public case SF-13.
    check(format!("{{\"jsonrpc\":\"2.0\",\"id\":\n{ONE}\n").as_bytes(), &[ONE], 1);
}

#[test]
fn batches_are_skipped_and_log_lines_in_brackets_are_none() {
    let kind = |line: &str| match sort_one(line) {
        Item::Skipped { kind, fails: None } => kind,
        _ => panic!("skipped without failing a call: {line}"),
    };
    assert_eq!(kind(&format!("[{ONE}]")), Skipped::Batch);
    assert_eq!(kind("[info] ready"), Skipped::NoJson);
    assert_eq!(kind("[]"), Skipped::NoJson);
    assert_eq!(kind("\"text\""), Skipped::NoJson);
    assert_eq!(kind("{ready}"), Skipped::NoMessage);
}

#[test]
fn a_broken_answer_names_the_call_it_breaks() {
    let fails = |item: Item| match item {
        Item::Skipped { fails, .. } => fails.map(|(id, _)| id),
        Item::Message(_) => panic!("no message"),
    };
    assert_eq!(fails(sort_one(r#"{"jsonrpc":"2.0","id":4,"result":[]}"#)), Some(4));
    assert_eq!(fails(sort_one(r#"{"jsonrpc":"2.0","id":"4","result":{"a":}}"#)), Some(4));
    assert_eq!(fails(sort_one(r#"{"jsonrpc":"2.0","id":4,"method":7}"#)), None);
    let mut sorter = Sorter { limit: 10, warned: Vec::new() };
    let bytes = b"{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{\"a\":\"\xFF\"}}".to_vec();
    assert_eq!(fails(sorter.sort(crate::lines::Line::Text(bytes))), Some(4));
}
