//! A server that says how long it wants to be left alone.

use std::time::Duration;

use serde_json::json;
use snodo_types::{Message, Outside, TransportError, TransportFault};

use super::{Line, SECOND, V25A, V25B, V26, patient};
use crate::{Limits, Waits};

fn refusal(status: u16, wait: Option<Duration>) -> TransportError {
    let error = TransportError::new(TransportFault::Status, "HTTP").with_status(status);
    match wait {
        Some(wait) => error.with_retry_after(wait),
        None => error,
    }
}

fn line(method: &'static str) -> Line {
    let mut line = Line::asking(V26, method, patient());
    line.call = line.call.waiting(Waits::default());
    line
}

fn status(line: &mut Line) -> Option<u16> {
    line.failed().transport().and_then(TransportError::status)
}

#[test]
fn what_only_reads_is_sent_again_when_the_wait_is_over_and_not_before() {
    for version in [V26, V25B, V25A] {
        let mut line = Line::asking(version, "tools/list", patient());
        line.call = line.call.waiting(Waits::default());
        let first = line.last_id;
        line.call.handle_failure(refusal(429, Some(3 * SECOND)), line.now);
        line.rests();
        line.waits(2 * SECOND);
        line.rests();
        line.waits(SECOND);
        line.sends();
        assert!(line.last_id > first, "under an id of its own");
        line.result(&json!({ "tools": [] }));
        line.complete();
    }
}

#[test]
fn it_is_put_off_so_often_and_then_the_refusal_stands() {
    let mut line = line("tools/list");
    for _ in 0..2 {
        line.call.handle_failure(refusal(503, Some(SECOND)), line.now);
        line.waits(SECOND);
        line.sends();
    }
    line.call.handle_failure(refusal(503, Some(SECOND)), line.now);
    assert_eq!(status(&mut line), Some(503));
}

#[test]
fn nothing_else_is_put_off() {
    for (method, status_told, wait, why) in [
        ("tools/call", 429, Some(SECOND), "it may change something"),
        ("tools/list", 429, None, "no time was named"),
        ("tools/list", 500, Some(SECOND), "a status that says something else"),
        ("tools/list", 429, Some(11 * SECOND), "longer than anybody wants to wait"),
    ] {
        let mut line = line(method);
        line.call.handle_failure(refusal(status_told, wait), line.now);
        let error = line.failed();
        let told = error.transport().map(|below| (below.status(), below.retry_after()));
        assert_eq!(told, Some((Some(status_told), wait)), "{why}");
    }
    let mut never = Line::asking(V26, "tools/list", patient());
    never.call.handle_failure(refusal(429, Some(SECOND)), never.now);
    assert_eq!(status(&mut never), Some(429));
    let mut trusted = line("tools/call");
    trusted.call = trusted.call.idempotent();
    trusted.call.handle_failure(refusal(429, Some(SECOND)), trusted.now);
    trusted.waits(SECOND);
    trusted.sends();
}

// As the given case HT-15 has it.
#[test]
fn nobody_waits_past_the_end_of_the_call_whose_clock_runs_on() {
    let limits = Limits { timeout: Some(10 * SECOND), ..Limits::default() };
    let waiting = || {
        let mut line = Line::asking(V26, "tools/list", limits);
        line.call = line.call.waiting(Waits { times: 9, longest: 60 * SECOND });
        line
    };
    let mut line = waiting();
    line.call.handle_failure(refusal(429, Some(10 * SECOND)), line.now);
    assert_eq!(status(&mut line), Some(429));

    let mut line = waiting();
    line.call.handle_failure(refusal(429, Some(6 * SECOND)), line.now);
    line.waits(6 * SECOND);
    line.sends();
    line.waits(4 * SECOND);
    assert!(line.failed().is_timeout(), "ten seconds in all");
}

#[test]
fn a_refusal_in_json_rpc_is_one_too() {
    let mut line = line("tools/list");
    let text =
        json!({ "jsonrpc": "2.0", "id": line.last_id, "error": { "code": 1, "message": "busy" } });
    let outside = Outside { status: Some(503), retry_after: Some(SECOND), ..Outside::default() };
    let message = Message::parse(text.to_string()).expect("a message").with_outside(outside);
    line.call.handle_message(message, &line.agreed.terms(), line.now);
    line.rests();
    line.waits(SECOND);
    line.sends();
}
