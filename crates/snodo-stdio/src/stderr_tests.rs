//! What is kept, and what is shown.

use std::sync::{Arc, Mutex};

use super::{PIECE, Stderr, Tail, drain, printable};

async fn lines(output: &[u8]) -> (Vec<String>, Tail) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&seen);
    let sink = Stderr::lines(move |line| sink.lock().expect("no panic").push(line.to_owned()));
    let tail = Tail::default();
    drain(output, tail.clone(), sink, "server".to_owned()).await;
    let seen = seen.lock().expect("no panic").clone();
    (seen, tail)
}

// STDIO-04
#[tokio::test]
async fn lines_come_one_by_one_and_the_last_needs_no_end() {
    let (seen, _) = lines(b"one\r\n\ntwo \xFF\nthree").await;
    assert_eq!(seen, ["one", "two \u{fffd}", "three"]);
}

#[tokio::test]
async fn a_line_without_an_end_comes_in_pieces() {
    let (seen, _) = lines(&b"x".repeat(3 * PIECE + 1)).await;
    assert_eq!(seen.concat().len(), 3 * PIECE + 1);
    assert!(seen.iter().all(|line| line.len() <= PIECE));
}

#[tokio::test]
async fn a_function_that_panics_is_not_called_again_and_the_stream_is_read_on() {
    let calls = Arc::new(Mutex::new(0));
    let counter = Arc::clone(&calls);
    let sink = Stderr::lines(move |_| {
        *counter.lock().expect("not held") += 1;
        panic!("not today");
    });
    let tail = Tail::default();
    let output = b"a\n".repeat(PIECE);
    drain(&output[..], tail.clone(), sink, "server".to_owned()).await;
    assert_eq!(*calls.lock().unwrap_or_else(std::sync::PoisonError::into_inner), 1);
    assert_eq!(tail.lock().len(), PIECE);
}

#[tokio::test]
async fn the_last_words_are_few_and_printable() {
    let (_, tail) = lines(b"\x1b[31mError:\x1b[0m no\tdatabase\x07\r\n\n").await;
    assert_eq!(tail.last_words(), "; its error output ends: Error: no database");
    let (_, tail) = lines("é ".repeat(2 * PIECE).as_bytes()).await;
    let words = tail.last_words();
    assert!(words.starts_with("; its error output ends: … "));
    assert!((290..350).contains(&words.chars().count()), "{}", words.chars().count());
    assert_eq!(lines(b" \n").await.1.last_words(), "");
}

#[test]
fn nothing_that_steers_a_terminal_is_left() {
    assert_eq!(printable("a\u{1b}[1;31mb\u{1b}[0mc\u{7}d\u{9b}e\u{1b}]0;t"), "abc d e]0;t");
    assert_eq!(printable("\u{1b}"), "");
    assert_eq!(printable("\u{1b}["), "");
}
