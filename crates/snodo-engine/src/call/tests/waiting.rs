//! How long a call waits.

use serde_json::json;
use snodo_dialect::{Params, Request};
use snodo_types::{Cause, Kind};

use super::{Limits, Line, SECOND, V25B, V26, data, notification, patient};

/// Progress puts the end off, up to 50 seconds after the sending.
fn prolonged() -> Limits {
    Limits { max_total_timeout: Some(50 * SECOND), ..patient() }
}

// S-05, S-41, CAN-06
#[test]
fn an_answer_that_does_not_come_in_time_is_a_timeout() {
    let mut line = Line::calling(V26);
    assert_eq!(line.patience(), patient().timeout);
    line.waits(29 * SECOND);
    line.rests();
    line.waits(SECOND);
    let error = line.failed();
    assert_eq!((error.kind(), error.code(), error.is_timeout()), (Kind::Transport, -32001, true));
    assert_eq!(data(&error), json!({ "timeoutMs": 30_000 }));
}

#[test]
fn time_counts_from_the_sending() {
    let mut line = Line::new(V26, Request::new("tools/list", Params::new()), patient());
    assert_eq!(line.call.deadline(), None);
    line.waits(100 * SECOND);
    line.sends();
    assert_eq!(line.patience(), patient().timeout);
}

#[test]
fn a_call_without_a_limit_waits_for_ever() {
    let mut line = Line::asking(V25B, "tools/call", Limits::default());
    assert_eq!(line.patience(), None);
    line.waits(1_000_000 * SECOND);
    line.progress(&json!(8));
    assert!(line.step().is_some());
    line.result(&json!({}));
    line.complete();
}

// S-41
#[test]
fn without_the_option_progress_does_not_put_the_end_off() {
    let mut line = Line::calling(V26);
    line.waits(20 * SECOND);
    line.progress(&json!(8));
    assert!(line.step().is_some());
    assert_eq!(line.patience(), Some(10 * SECOND));
}

// S-41, CAN-07
#[test]
fn with_the_option_progress_puts_the_end_off_up_to_the_total() {
    let mut line = Line::asking(V26, "tools/call", prolonged());
    line.waits(15 * SECOND);
    line.progress(&json!(8));
    assert!(line.step().is_some());
    assert_eq!(line.patience(), prolonged().timeout);
    line.waits(25 * SECOND);
    line.progress(&json!(8));
    assert!(line.step().is_some());
    assert_eq!(line.patience(), Some(10 * SECOND));
    line.waits(10 * SECOND);
    let error = line.failed();
    assert_eq!((error.code(), error.message()), (-32001, "Maximum total timeout exceeded"));
    assert_eq!(data(&error), json!({ "maxTotalTimeoutMs": 50_000 }));
    assert!(matches!(error.cause(), Some(Cause::MaxTotalTimeout)));
}

// S-41
#[test]
fn a_request_that_is_sent_again_begins_with_a_fresh_clock() {
    let mut line = Line::asking(V26, "tools/call", prolonged());
    line.waits(25 * SECOND);
    line.progress(&json!(8));
    assert!(line.step().is_some());
    let list = json!({ "supported": ["2026-07-28"] });
    line.error(&json!({ "code": -32022, "message": "no", "data": list }));
    line.sends();
    assert_eq!(line.patience(), Some(30 * SECOND));
    line.waits(30 * SECOND);
    assert_eq!(data(&line.failed()), json!({ "timeoutMs": 30_000 }));
}

// S-41
#[test]
fn only_the_call_s_own_progress_puts_its_end_off() {
    let mut line = Line::asking(V26, "tools/call", prolonged());
    line.waits(15 * SECOND);
    line.progress(&json!(7));
    line.hears(&notification("notifications/message", &json!({ "level": "info" })));
    assert!(line.step().is_some());
    line.waits(15 * SECOND);
    let error = line.failed();
    assert_eq!(data(&error), json!({ "timeoutMs": 30_000 }), "it was not the total that ended it");
}

// S-41
#[test]
fn a_flood_does_not_hide_the_end() {
    let floods = [
        notification("notifications/message", &json!({ "level": "info" })),
        notification("notifications/progress", &json!({ "progressToken": 8, "progress": 1 })),
        notification("notifications/progress", &json!({ "progressToken": 9, "progress": 1 })),
        json!({ "jsonrpc": "2.0", "id": 0, "method": "ping" }),
    ];
    for text in floods {
        let mut line = Line::asking(V25B, "tools/call", prolonged());
        line.now += 30 * SECOND;
        line.hears(&text);
        assert!(line.failed().is_timeout(), "{text}");
    }
}

#[test]
fn an_answer_that_is_there_counts_though_the_timer_is_late() {
    let mut line = Line::calling(V26);
    line.now += 31 * SECOND;
    line.result(&json!({ "n": 1 }));
    assert_eq!(line.complete(), json!({ "n": 1 }));
}

#[test]
fn the_clock_stands_while_a_person_is_waited_for() {
    let mut line = Line::calling(V26);
    line.waits(10 * SECOND);
    line.call.handle_held(line.now);
    assert_eq!(line.patience(), None);
    line.waits(200 * SECOND);
    line.rests();
    line.call.handle_released(line.now);
    assert_eq!(line.patience(), Some(20 * SECOND));
    line.waits(20 * SECOND);
    assert!(line.failed().is_timeout());
}
