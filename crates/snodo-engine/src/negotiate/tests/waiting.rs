//! Deadlines, pauses, and what comes too late.

use std::time::Duration;

use serde_json::json;

use super::{ALL, HTTP, LIMIT, PIPE, PROBE, Talk, V25B, V26, both, message, plan};

const SECOND: Duration = Duration::from_secs(1);

/// A negotiation that fell back and waits for the answer to `initialize`.
fn fallen_back() -> Talk {
    let mut talk = Talk::probing(PIPE);
    talk.waits(PROBE);
    talk.reopens();
    talk.asks("initialize", V25B);
    talk
}

// VER-17
#[test]
fn each_step_has_its_own_deadline_and_none_fires_early() {
    let mut talk = Talk::probing(PIPE);
    assert_eq!(talk.patience(), Some(PROBE));
    talk.waits(PROBE - SECOND);
    talk.rests();
    talk.waits(SECOND);
    talk.reopens();
    assert_eq!(talk.patience(), None, "making it anew is the connector's own time");
    talk.waits(100 * LIMIT);
    talk.asks("initialize", V25B);
    assert_eq!(talk.patience(), Some(LIMIT));
    talk.waits(LIMIT - SECOND);
    talk.rests();
    talk.result(&json!({ "protocolVersion": "2025-11-25" }));
    assert!(matches!(talk.step(), Some(crate::Step::Send(_))));
    assert_eq!(talk.patience(), Some(LIMIT), "`initialized` counts anew");
    talk.waits(LIMIT - SECOND);
    talk.rests();
    talk.waits(SECOND);
    let error = talk.failed();
    assert!(error.is_timeout());
    assert_eq!(super::data(&error), json!({ "timeoutMs": 30_000 }));
}

// S-17
#[test]
fn two_silences_are_both_told() {
    let mut talk = fallen_back();
    talk.waits(LIMIT);
    let error = talk.failed();
    assert!(error.is_timeout());
    let (probe, initialize) = both(&error);
    assert_eq!(super::data(probe), json!({ "timeoutMs": 10_000 }));
    assert_eq!(super::data(initialize), json!({ "timeoutMs": 30_000 }));
}

#[test]
fn an_unlimited_client_waits_for_ever() {
    let mut plan = plan(PIPE, &ALL);
    (plan.probe_timeout, plan.timeout) = (None, None);
    let mut talk = Talk::by(plan);
    talk.asks("server/discover", V26);
    assert_eq!(talk.patience(), None);
    talk.waits(1000 * LIMIT);
    talk.rests();
    talk.error(&json!({ "code": -32601, "message": "no" }));
    talk.reopens();
    talk.asks("initialize", V25B);
    talk.waits(1000 * LIMIT);
    talk.rests();
}

#[test]
fn the_clock_stands_while_a_person_logs_in() {
    let mut talk = Talk::probing(HTTP);
    talk.waits(4 * SECOND);
    talk.holds();
    assert_eq!(talk.patience(), None);
    talk.waits(200 * SECOND);
    talk.rests();
    talk.goes_on();
    assert_eq!(talk.patience(), Some(6 * SECOND));
    talk.waits(6 * SECOND);
    assert!(talk.failed().is_timeout());
}

#[test]
fn a_flood_hides_no_deadline_and_a_late_answer_that_is_there_counts() {
    let floods = [
        json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": {} }),
        json!({ "jsonrpc": "2.0", "id": 0, "method": "ping" }),
    ];
    for text in floods {
        let mut talk = Talk::probing(HTTP);
        talk.now += PROBE;
        talk.hears(message(&text));
        assert!(talk.failed().is_timeout(), "{text}");
        let mut talk = fallen_back();
        talk.now += LIMIT;
        talk.hears(message(&text));
        assert!(talk.failed().is_timeout(), "{text}");
    }
    let mut talk = Talk::probing(HTTP);
    talk.now += PROBE;
    talk.result(&json!({ "supportedVersions": ["2026-07-28"] }));
    talk.opened(V26);
}

// VER-17, BASE-15
#[test]
fn what_comes_too_late_or_out_of_turn_changes_nothing() {
    let late =
        json!({ "jsonrpc": "2.0", "id": 41, "result": { "supportedVersions": ["2026-07-28"] } });
    let stray = |talk: &mut Talk| {
        talk.hears(message(&late));
        talk.negotiation.handle_sent();
        talk.negotiation.handle_reopened();
    };

    let mut talk = Talk::over(PIPE, &ALL);
    stray(&mut talk);
    talk.negotiation.handle_closed(None);
    talk.waits(LIMIT);
    talk.asks("server/discover", V26);
    talk.negotiation.handle_sent();
    talk.waits(PROBE);
    stray(&mut talk);
    talk.negotiation.handle_closed(None);
    talk.reopens();
    let mut talk = fallen_back();
    talk.negotiation.handle_sent();
    talk.negotiation.handle_reopened();
    talk.result(&json!({ "protocolVersion": "2025-11-25" }));
    stray(&mut talk);
    talk.announces();
    stray(&mut talk);
    talk.negotiation.handle_closed(None);
    talk.opened(V25B);
    stray(&mut talk);
    talk.negotiation.handle_closed(None);
    talk.waits(LIMIT);
    talk.is_over();
}
