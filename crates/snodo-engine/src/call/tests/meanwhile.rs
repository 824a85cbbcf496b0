//! What comes between a request and its answer.

use serde_json::json;
use snodo_types::{Kind, Message};

use super::{Line, V25A, V25B, V26, notification};
use crate::Step;

// S-40, PROG-01, PROG-04, BASE-16, HTTP-19
#[test]
fn progress_is_told_under_its_own_token_alone() {
    for version in [V26, V25B] {
        let mut line = Line::calling(version);
        for own in [json!(8), json!("8"), json!(8.0)] {
            line.progress(&own);
            let step = line.step();
            assert!(matches!(step, Some(Step::Progress(_))), "{own}: {step:?}");
            line.rests();
        }
        for foreign in [json!(7), json!(9), json!("token"), json!(null), json!({})] {
            line.progress(&foreign);
            line.rests();
        }
        line.result(&json!({}));
        line.complete();
        line.progress(&json!(8));
        line.rests();
    }
}

// PROG-04
#[test]
fn a_request_that_was_sent_again_hears_progress_under_its_new_token_alone() {
    let mut line = Line::calling(V26);
    let list = json!({ "supported": ["2026-07-28"] });
    line.error(&json!({ "code": -32022, "message": "no", "data": list }));
    line.sends();
    line.progress(&json!(8));
    line.rests();
    line.progress(&json!(9));
    assert!(matches!(line.step(), Some(Step::Progress(_))));
}

// S-40
#[test]
fn progress_comes_before_the_answer_that_follows_it() {
    let mut line = Line::calling(V26);
    line.progress(&json!(8));
    line.result(&json!({}));
    assert!(matches!(line.step(), Some(Step::Progress(_))));
    line.complete();
}

// INIT-07, SRV-19, HTTP-19
#[test]
fn any_other_notification_is_handed_on() {
    let told = [
        notification("notifications/message", &json!({ "level": "info", "data": 1 })),
        notification("notifications/cancelled", &json!({ "requestId": 8 })),
        json!({ "jsonrpc": "2.0", "method": "notifications/progress" }),
        json!({ "jsonrpc": "2.0", "method": "window/logMessage" }),
    ];
    for version in [V26, V25B] {
        let mut line = Line::calling(version);
        for text in &told {
            line.hears(text);
            let step = line.step();
            let Some(Step::Notify(message)) = step else { panic!("{text}: {step:?}") };
            let same = Message::parse(text.to_string()).expect("a message");
            assert_eq!(message.text(), same.text());
            line.rests();
        }
        line.result(&json!({ "n": 1 }));
        assert_eq!(line.complete(), json!({ "n": 1 }), "the call goes on");
    }
}

// SRV-01, SRV-02
#[test]
fn a_request_of_the_server_is_served_in_the_initialize_era() {
    for version in [V25B, V25A] {
        let mut line = Line::calling(version);
        // The server's numbers are its own: this one is not the call's.
        line.hears(&json!({ "jsonrpc": "2.0", "id": 8, "method": "roots/list" }));
        let step = line.step();
        let Some(Step::Serve(asked)) = step else { panic!("it is served: {step:?}") };
        assert!(asked.text().contains("roots/list"));
        line.rests();
        line.result(&json!({}));
        line.complete();
    }
}

// BASE-05, BASE-06
#[test]
fn a_request_of_a_stateless_server_is_neither_served_nor_answered() {
    let mut line = Line::calling(V26);
    for method in ["ping", "sampling/createMessage", "elicitation/create"] {
        line.hears(&json!({ "jsonrpc": "2.0", "id": 8, "method": method, "params": {} }));
        line.rests();
    }
    line.result(&json!({}));
    line.complete();
}

// CAN-05, BASE-15
#[test]
fn what_comes_after_the_end_changes_nothing() {
    let ends: [fn(&mut Line); 3] = [
        |line| line.result(&json!({})),
        |line| line.waits(30 * super::SECOND),
        |line| line.call.handle_closed(None),
    ];
    for end in ends {
        for told in [false, true] {
            let mut line = Line::calling(V25B);
            end(&mut line);
            let before = told.then(|| line.done());
            line.error(&json!({ "code": -32603, "message": "late" }));
            line.result(&json!({ "late": true }));
            line.hears(&json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }));
            line.progress(&json!(8));
            line.call.handle_closed(None);
            line.waits(100 * super::SECOND);
            match before.unwrap_or_else(|| line.done()) {
                Ok(_) => {}
                Err(error) => assert_eq!(error.kind(), Kind::Transport),
            }
            line.rests();
        }
    }
}
