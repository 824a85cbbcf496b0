//! Who gets what on a shared pipe.

use std::task::{Context, Poll, Waker};

use snodo_types::{Envelope, Message, TransportError, TransportFault};

use super::{Pending, Route};
use crate::Incoming;

fn message(text: &str) -> Message {
    Message::parse(text).expect(text)
}

fn answer(id: u64) -> Message {
    Message::result(&id.into(), "{}")
}

fn progress(id: u64) -> Message {
    message(&format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{id},"progress":1}}}}"#
    ))
}

fn cancelled(id: u64) -> Message {
    message(&format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
    ))
}

fn open(pending: &mut Pending, id: u64) {
    pending.open(&Envelope::request(id, String::new())).expect("free");
}

fn poll(pending: &mut Pending, id: u64) -> Poll<Option<Result<Incoming, TransportError>>> {
    pending.poll(id, &Context::from_waker(Waker::noop()))
}

fn got_message(polled: &Poll<Option<Result<Incoming, TransportError>>>) -> bool {
    matches!(polled, Poll::Ready(Some(Ok(Incoming::Message(_)))))
}

// S-01, BASE-15, CAN-05
#[test]
fn answers_find_their_calls_in_any_order_and_late_ones_nobody() {
    let mut pending = Pending::new();
    (1..=1000).for_each(|id| open(&mut pending, id));
    for id in (1..=1000).rev() {
        assert!(matches!(pending.deliver(answer(id)), Route::Delivered(None)));
        assert!(got_message(&poll(&mut pending, id)));
        assert!(matches!(poll(&mut pending, id), Poll::Ready(None)));
    }
    assert_eq!(pending.live(), 0);
    assert!(matches!(pending.deliver(answer(7)), Route::Late));
    assert_eq!(pending.late_messages(), 1);
}

#[test]
fn a_second_answer_to_a_call_is_late_even_before_the_first_is_read() {
    let mut pending = Pending::new();
    open(&mut pending, 1);
    assert!(matches!(pending.deliver(answer(1)), Route::Delivered(_)));
    assert!(matches!(pending.deliver(answer(1)), Route::Late));
    assert!(matches!(pending.deliver(progress(1)), Route::Late));
}

// BASE-03
#[test]
fn a_duplicate_id_fails_its_own_exchange_only() {
    let mut pending = Pending::new();
    open(&mut pending, 1);
    let refused = pending.open(&Envelope::request(1, String::new())).expect_err("live");
    assert_eq!(refused.fault(), TransportFault::Usage);
    pending.deliver(answer(1));
    assert!(got_message(&poll(&mut pending, 1)));
}

// SRV-01, PROG-04
#[test]
fn the_server_s_own_requests_and_news_go_to_the_unsolicited_reader() {
    let mut pending = Pending::new();
    open(&mut pending, 1);
    let cx = Context::from_waker(Waker::noop());
    pending.deliver(message(r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#));
    pending.deliver(message(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#));
    assert!(matches!(pending.deliver(progress(99)), Route::Late), "nobody's progress is dropped");
    assert!(poll(&mut pending, 1).is_pending());
    assert!(got_message(&pending.poll_unsolicited(&cx)));
    assert!(got_message(&pending.poll_unsolicited(&cx)));
    assert!(pending.poll_unsolicited(&cx).is_pending());
    assert!(pending.take_unsolicited() && !pending.take_unsolicited());
}

// CAN-08
#[test]
fn only_a_listening_request_is_ended_by_the_peer() {
    let mut pending = Pending::new();
    open(&mut pending, 1);
    let mut listen = Envelope::request(2, String::new());
    listen.listen = true;
    pending.open(&listen).expect("free");
    pending.deliver(cancelled(1));
    assert!(poll(&mut pending, 1).is_pending());
    assert!(got_message(&pending.poll_unsolicited(&Context::from_waker(Waker::noop()))));
    pending.deliver(cancelled(2));
    assert!(got_message(&poll(&mut pending, 2)));
    assert!(matches!(poll(&mut pending, 2), Poll::Ready(None)));
}

#[test]
fn a_close_fails_everything_once_with_the_first_reason() {
    let mut pending = Pending::new();
    open(&mut pending, 1);
    pending.deliver(progress(1));
    pending.close(TransportError::new(TransportFault::Exited, "first"));
    pending.close(TransportError::new(TransportFault::Closed, "second"));
    assert!(got_message(&poll(&mut pending, 1)), "what came before is read first");
    assert!(
        matches!(poll(&mut pending, 1), Poll::Ready(Some(Err(error))) if error.message() == "first")
    );
    assert!(matches!(poll(&mut pending, 1), Poll::Ready(None)));
    let refused = pending.open(&Envelope::request(2, String::new())).expect_err("closed");
    assert_eq!((refused.message(), refused.processed()), ("first", snodo_types::Processed::No));
    let cx = Context::from_waker(Waker::noop());
    assert!(matches!(pending.poll_unsolicited(&cx), Poll::Ready(Some(Err(_)))));
    assert!(matches!(pending.poll_unsolicited(&cx), Poll::Ready(None)));
}

#[test]
fn forgetting_says_whether_the_peer_may_still_be_at_work() {
    let mut pending = Pending::new();
    open(&mut pending, 1);
    open(&mut pending, 2);
    pending.deliver(answer(2));
    assert!(pending.forget(1));
    assert!(!pending.forget(2), "answered, though nobody read it");
    assert!(!pending.forget(3));
}

#[test]
fn one_exchange_is_failed_beside_the_others() {
    let mut pending = Pending::default();
    open(&mut pending, 1);
    open(&mut pending, 2);
    assert!(poll(&mut pending, 1).is_pending() && poll(&mut pending, 2).is_pending());
    let broken = || TransportError::new(TransportFault::Malformed, "broken");
    assert!(pending.fail(1, broken()).is_some(), "its reader is to be woken");
    assert!(pending.fail(1, broken()).is_none(), "once");
    assert!(pending.fail(3, broken()).is_none(), "there is none");
    let failed = poll(&mut pending, 1);
    assert!(matches!(failed, Poll::Ready(Some(Err(error))) if error.message() == "broken"));
    assert!(poll(&mut pending, 2).is_pending() && pending.closed().is_none());
    pending.close(broken());
    assert_eq!(pending.closed().map(TransportError::fault), Some(TransportFault::Malformed));
}
