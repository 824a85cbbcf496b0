//! Whatever happens in whatever order: a call waits for something, or it is over.

use serde_json::json;
use snodo_types::{TransportError, TransportFault};

use super::{Limits, Line, SECOND, V25B, V26, notification, patient};
use crate::Step;

const EVENTS: &[fn(&mut Line)] = &[
    |line| line.waits(SECOND),
    |line| line.waits(20 * SECOND),
    |line| line.call.handle_held(line.now),
    |line| line.call.handle_released(line.now),
    |line| line.call.handle_closed(None),
    |line| {
        line.call.handle_closed(Some(TransportError::new(TransportFault::Closed, "closed")));
    },
    |line| line.result(&json!({})),
    |line| line.result(&json!({ "resultType": "task" })),
    |line| line.result(&json!({ "resultType": "input_required", "requestState": "s" })),
    |line| line.error(&json!({ "code": -32603, "message": "no" })),
    |line| line.error(&json!({ "code": null })),
    |line| {
        let list = json!({ "supported": ["2026-07-28"] });
        line.error(&json!({ "code": -32022, "message": "no", "data": list }));
    },
    |line| line.progress(&json!(line.last_id)),
    |line| line.progress(&json!("x")),
    |line| line.hears(&notification("notifications/message", &json!({}))),
    |line| line.hears(&json!({ "jsonrpc": "2.0", "id": 0, "method": "ping" })),
];

#[test]
fn whatever_happens_a_call_ends_once_or_waits_for_something() {
    let prolonged = Limits { max_total_timeout: Some(45 * SECOND), ..patient() };
    // Every sequence of so many events.
    let depth = 3;
    let step = if cfg!(miri) { 467 } else { 1 };
    for sequence in (0..EVENTS.len().pow(depth)).step_by(step) {
        for (version, limits) in [(V26, patient()), (V25B, prolonged)] {
            let mut line = Line::asking(version, "tools/call", limits);
            let (mut done, mut sent) = (0, 1);
            for place in 0..=depth {
                match place {
                    place if place < depth => {
                        EVENTS[sequence / EVENTS.len().pow(place) % EVENTS.len()](&mut line);
                    }
                    // Left alone, it gives up within its deadline.
                    _ => {
                        line.call.handle_released(line.now);
                        line.waits(100 * SECOND);
                    }
                }
                for _ in 0..3 {
                    let Some(step) = line.step() else { break };
                    assert_eq!(done, 0, "nothing follows the end: {step:?}");
                    match step {
                        Step::Done(_) => done += 1,
                        Step::Send(_) => sent += 1,
                        Step::Notify(_) | Step::Progress(_) | Step::Serve(_) => {}
                        step => panic!("a call has nothing to do with this: {step:?}"),
                    }
                }
                line.rests();
                assert!(done == 0 || line.call.deadline().is_none());
            }
            assert_eq!(done, 1, "{sequence} at {version}");
            assert!(sent <= 2, "{sequence} at {version}");
        }
    }
}
