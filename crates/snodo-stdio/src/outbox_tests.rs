//! Order, withdrawal and notices.

use std::task::{Poll, Waker};

use super::{BATCH, Delivery, Outbox, Withdrawal};

fn text(text: &str) -> Vec<u8> {
    text.as_bytes().to_vec()
}

/// An outbox of one-letter requests, whose tickets are 0, 1, 2 and so on.
fn outbox(letters: &str) -> Outbox {
    let mut outbox = Outbox::default();
    for letter in letters.chars() {
        outbox.push(text(&format!("{letter}{letter}\n")), Some(0), 0);
    }
    outbox
}

/// Writes `count` bytes of what comes next.
fn write(outbox: &mut Outbox, count: usize) -> String {
    let mut batch = Vec::new();
    outbox.gather(&mut batch);
    let count = count.min(batch.len());
    outbox.settle(count);
    String::from_utf8_lossy(&batch[..count]).into_owned()
}

fn rest(outbox: &mut Outbox) -> String {
    write(outbox, usize::MAX)
}

fn poll(outbox: &mut Outbox, ticket: u64) -> Poll<Delivery> {
    outbox.poll(ticket, Waker::noop())
}

#[test]
fn what_gathered_goes_out_together_and_in_order() {
    let mut outbox = outbox("abc");
    assert_eq!(write(&mut outbox, 4), "aa\nb");
    assert_eq!(rest(&mut outbox), "b\ncc\n");
    assert!(outbox.is_empty());
}

#[test]
fn a_message_larger_than_a_batch_goes_out_in_pieces() {
    let mut outbox = Outbox::default();
    let long = "x".repeat(2 * BATCH + 5);
    outbox.push(text(&long), Some(1), 3);
    outbox.push(text("b\n"), Some(2), 0);
    let sent = [rest(&mut outbox), rest(&mut outbox), rest(&mut outbox)];
    assert_eq!(sent.each_ref().map(String::len), [BATCH, BATCH, 4]);
    assert_eq!(sent.concat(), format!("{}b\n", &long[3..]));
}

#[test]
fn what_was_not_begun_is_taken_out_without_a_notice() {
    let mut outbox = outbox("abc");
    assert_eq!(outbox.withdraw(1, Some(text("N\n"))), Withdrawal::TakenOut);
    assert_eq!(rest(&mut outbox), "aa\ncc\n");
}

#[test]
fn what_was_begun_is_finished_and_then_the_notice_follows() {
    let mut outbox = outbox("ab");
    assert_eq!(write(&mut outbox, 1), "a");
    assert_eq!(outbox.withdraw(0, Some(text("N\n"))), Withdrawal::UnderWay);
    assert_eq!(rest(&mut outbox), "a\nbb\nN\n");
}

#[test]
fn what_was_written_gives_the_notice_back() {
    let mut outbox = outbox("ab");
    write(&mut outbox, 3);
    assert_eq!(outbox.withdraw(0, Some(text("N\n"))), Withdrawal::Written(Some(text("N\n"))));
}

#[test]
fn a_withdrawal_during_a_write_waits_for_how_far_it_came() {
    for (written, then) in [(0, ""), (1, "a\nA\n"), (3, "A\n"), (4, "b\nA\nB\n"), (6, "A\nB\n")] {
        let mut outbox = outbox("ab");
        let mut batch = Vec::new();
        outbox.gather(&mut batch);
        assert_eq!(outbox.withdraw(0, Some(text("A\n"))), Withdrawal::UnderWay);
        assert_eq!(outbox.withdraw(1, Some(text("B\n"))), Withdrawal::UnderWay);
        outbox.settle(written);
        assert_eq!(rest(&mut outbox), then, "after {written} bytes");
    }
}

#[test]
fn a_message_that_nothing_answers_learns_what_became_of_it() {
    let mut outbox = outbox("abcd");
    assert!(poll(&mut outbox, 0).is_pending());
    write(&mut outbox, 4);
    assert_eq!(poll(&mut outbox, 0), Poll::Ready(Delivery::Written));
    assert!(poll(&mut outbox, 1).is_pending(), "half of it is missing");
    assert_eq!(outbox.clear().len(), 1, "who waits is woken");
    assert_eq!(poll(&mut outbox, 1), Poll::Ready(Delivery::Torn));
    assert_eq!(poll(&mut outbox, 2), Poll::Ready(Delivery::TakenOut));
}

#[test]
fn requests_are_taken_out_unless_they_were_begun() {
    let mut outbox = Outbox::default();
    outbox.push(text("a\n"), Some(1), 1);
    outbox.push(text("b\n"), Some(2), 0);
    outbox.push(text("n\n"), None, 0);
    outbox.push(text("c\n"), Some(3), 0);
    assert_eq!(outbox.take_requests(), [2, 3]);
    assert_eq!(rest(&mut outbox), "\nn\n");
}
