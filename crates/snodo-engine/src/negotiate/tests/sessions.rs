//! `initialize`, and what skips the probe.

use serde_json::{Value, json};
use snodo_types::{
    Envelope, Error, Kind, Message, Outside, ProtocolVersion, SessionId, TransportError,
    TransportFault,
};

use super::{
    ALL, HTTP, PIPE, PROBE, Talk, V25A, V25B, V26, both, data, fault, message, plan, status,
};
use crate::Step;

fn initialized(version: &str) -> Value {
    json!({ "protocolVersion": version, "capabilities": {}, "serverInfo": { "name": "s" } })
}

/// An answer to the last request that came with a session id.
fn with_session(talk: &Talk, result: &Value) -> Message {
    let session = SessionId::new("6f1c");
    assert!(session.is_some());
    Message::result(&talk.last_id.into(), &result.to_string())
        .with_outside(Outside { session, ..Outside::default() })
}

// S-18
#[test]
fn a_stateless_pin_sends_nothing() {
    for carrier in [PIPE, HTTP] {
        let opened = Talk::over(carrier, &[V26]).opened(V26);
        assert!(opened.session.is_none() && opened.discovered.is_none());
    }
}

// S-18, INIT-01, INIT-02
#[test]
fn an_initialize_era_pin_or_set_asks_initialize_at_once() {
    let table: [(&[ProtocolVersion], ProtocolVersion); 3] =
        [(&[V25A], V25A), (&[V25B], V25B), (&[V25A, V25B], V25B)];
    for (allowed, version) in table {
        for carrier in [PIPE, HTTP] {
            let asked = Talk::over(carrier, allowed).asks("initialize", version);
            assert!(asked.opens_session && asked.routing.is_empty());
        }
    }
}

#[test]
fn an_empty_set_of_versions_is_refused_before_anything_is_sent() {
    let error = Talk::over(PIPE, &[]).failed();
    assert_eq!((error.kind(), error.code()), (Kind::Protocol, -32602));
}

// S-20, S-24, INIT-01, INIT-08
#[test]
fn initialize_says_who_asks_and_what_it_can_and_is_never_cancelled() {
    let asked = Talk::over(HTTP, &[V25B]).asks("initialize", V25B);
    let sent: Value = serde_json::from_str(&asked.message).expect("JSON");
    let expected = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": { "roots": { "listChanged": false } },
        "clientInfo": { "name": "agent", "version": "1" },
    });
    assert_eq!(sent["params"], expected);
    assert!(asked.abandon.is_none());
}

// S-20, S-22, INIT-05, HTTPL-13, HTTPL-18
#[test]
fn a_session_is_told_of_at_the_version_the_server_chose() {
    let mut talk = Talk::initializing(HTTP);
    talk.hears(with_session(&talk, &initialized("2025-06-18")));
    let told = talk.announces();
    assert_eq!(told.routing.value("MCP-Protocol-Version"), Some("2025-06-18"));
    assert_eq!(told.routing.value("Mcp-Session-Id"), Some("6f1c"));
    let opened = talk.opened(V25A);
    let session = opened.session.expect("a session");
    assert_eq!(session.id.map(|id| id.as_str().to_owned()).as_deref(), Some("6f1c"));
    assert!(session.answer.text().contains(r#""name":"s""#));
    assert_eq!(opened.outfit.routing(), &told.routing);
}

// S-22, HTTPL-22
#[test]
fn a_session_id_on_any_other_answer_is_left_alone() {
    let session = Outside { session: SessionId::new("strange"), ..Outside::default() };
    let error = json!({ "code": -32600, "message": "Missing session ID" });
    let refused = json!({ "jsonrpc": "2.0", "id": "server-error", "error": error });

    let mut talk = Talk::probing(HTTP);
    talk.hears(message(&refused).with_outside(Outside { status: Some(400), ..session }));
    talk.reopens();
    assert_eq!(talk.asks("initialize", V25B).routing.value("Mcp-Session-Id"), None);
    talk.result(&initialized("2025-11-25"));
    assert_eq!(talk.announces().routing.value("Mcp-Session-Id"), None);
    assert!(talk.opened(V25B).session.expect("a session").id.is_none());
}

// S-20, INIT-04
#[test]
fn a_version_that_is_not_allowed_is_refused_and_the_session_not_begun() {
    for version in ["2024-11-05", "2025-03-26", "2031-01-01", "2026-07-28", ""] {
        let mut talk = Talk::initializing(PIPE);
        talk.result(&initialized(version));
        let error = talk.failed();
        assert_eq!((error.kind(), error.code()), (Kind::Protocol, -32602), "{version}");
        let told = json!({ "negotiated": version, "requested": ["2025-11-25", "2025-06-18"] });
        assert_eq!(data(&error), told);
    }
    let mut talk = Talk::over(PIPE, &[V25B]);
    talk.asks("initialize", V25B);
    talk.result(&initialized("2025-06-18"));
    assert_eq!(data(&talk.failed())["negotiated"], "2025-06-18");
}

// HTTPL-15
#[test]
fn a_session_that_is_forgotten_before_it_is_open_is_followed_by_one_other() {
    let mut talk = Talk::initializing(HTTP);
    talk.hears(with_session(&talk, &initialized("2025-06-18")));
    assert!(matches!(talk.step(), Some(Step::Send(_))));
    talk.negotiation.handle_closed(Some(status(404)));
    assert_eq!(talk.asks("initialize", V25A).routing.value("Mcp-Session-Id"), None);
    talk.hears(with_session(&talk, &initialized("2025-06-18")));
    assert!(matches!(talk.step(), Some(Step::Send(_))));
    talk.negotiation.handle_closed(Some(status(404)));
    let error = talk.failed();
    assert_eq!(error.transport().and_then(TransportError::status), Some(404), "once");

    let mut talk = Talk::initializing(HTTP);
    talk.result(&initialized("2025-06-18"));
    assert!(matches!(talk.step(), Some(Step::Send(_))));
    talk.negotiation.handle_closed(Some(status(404)));
    talk.failed();
}

// INIT-04
#[test]
fn a_session_that_nobody_will_use_is_to_be_ended_and_none_is_where_there_is_none() {
    let mut talk = Talk::initializing(HTTP);
    talk.hears(with_session(&talk, &initialized("2031-01-01")));
    talk.failed();
    let ending = talk.negotiation.take_session().expect("a session was opened");
    assert_eq!(ending.value("Mcp-Session-Id"), Some("6f1c"));
    assert_eq!(ending.value("MCP-Protocol-Version"), Some("2025-11-25"));
    assert!(talk.negotiation.take_session().is_none(), "once");

    let mut talk = Talk::initializing(HTTP);
    talk.hears(with_session(&talk, &initialized("2025-06-18")));
    assert!(matches!(talk.step(), Some(Step::Send(_))));
    talk.negotiation.handle_closed(Some(TransportError::new(TransportFault::Connect, "gone")));
    talk.failed();
    let ending = talk.negotiation.take_session().expect("a session was opened");
    assert_eq!(ending.value("MCP-Protocol-Version"), Some("2025-06-18"));

    let mut talk = Talk::initializing(HTTP);
    talk.result(&initialized("2031-01-01"));
    talk.failed();
    assert!(talk.negotiation.take_session().is_none());
}

// INIT-09
#[test]
fn what_was_agreed_on_is_known_as_the_server_is_told_of_it() {
    let mut talk = Talk::initializing(HTTP);
    let agreed = |talk: &Talk| talk.negotiation.agreed().map(|dialect| dialect.version());
    assert_eq!(agreed(&talk), None);
    talk.result(&initialized("2025-06-18"));
    assert!(matches!(talk.step(), Some(Step::Send(_))));
    assert_eq!(agreed(&talk), Some(V25A));
}

// S-20
#[test]
fn an_answer_that_names_no_version_cannot_be_read_and_of_two_the_last_counts() {
    for result in [json!({}), json!({ "protocolVersion": 5 }), json!({ "protocolVersion": null })] {
        let mut talk = Talk::initializing(PIPE);
        talk.result(&result);
        let error = talk.failed();
        assert_eq!((error.kind(), error.code()), (Kind::Transport, -32000), "{result}");
    }
    let twice = r#"{"protocolVersion":"1999-01-01","protocolVersion":"2025-06-18"}"#;
    let mut talk = Talk::initializing(PIPE);
    talk.hears(Message::result(&talk.last_id.into(), twice));
    talk.announces();
    talk.opened(V25A);
}

// S-21
#[test]
fn a_transport_without_notifications_opens_no_session() {
    let without = |allowed: &[ProtocolVersion]| {
        let mut plan = plan(HTTP, allowed);
        plan.notifies = false;
        Talk::by(plan)
    };
    let refused = |error: Error| {
        assert_eq!((error.kind(), error.code()), (Kind::Protocol, -32602));
        data(&error)["requested"].clone()
    };
    assert_eq!(refused(without(&[V25A]).failed()), json!(["2025-06-18"]));

    let mut talk = without(&ALL);
    talk.asks("server/discover", V26);
    talk.breaks(status(404));
    assert_eq!(refused(talk.failed()), json!(["2025-11-25", "2025-06-18"]));

    let mut talk = without(&ALL);
    talk.asks("server/discover", V26);
    talk.result(&json!({ "supportedVersions": ["2025-11-25"] }));
    assert_eq!(refused(talk.failed()), json!(["2025-11-25"]));

    let mut talk = without(&ALL);
    talk.asks("server/discover", V26);
    talk.result(&json!({ "supportedVersions": ["2026-07-28"] }));
    talk.opened(V26);
}

// S-17
#[test]
fn where_nothing_could_be_made_anew_after_the_probe_the_error_tells_both() {
    let mut talk = Talk::probing(PIPE);
    talk.error(&json!({ "code": -32601, "message": "no such method" }));
    assert!(matches!(talk.step(), Some(Step::Reopen)));
    let why = TransportError::new(TransportFault::Spawn, "no such program");
    talk.negotiation.handle_reopen_failed(why.into());
    assert_eq!(talk.negotiation.doing(), "connect");
    let error = talk.failed();
    let told = error.message();
    assert!(told.contains("no such program") && told.contains("no such method"), "{told}");
    assert!(matches!(error.cause(), Some(snodo_types::Cause::Negotiation { .. })), "{error:?}");
}

// S-17, VER-21
#[test]
fn where_both_eras_failed_the_error_tells_both_answers() {
    type Answer = (fn(&mut Talk), Kind, i64, &'static str);
    let table: [Answer; 4] = [
        (
            |talk| talk.error(&json!({ "code": -32603, "message": "broken", "data": { "n": 1 } })),
            Kind::Execution,
            -32603,
            "broken",
        ),
        (|talk| talk.breaks(status(503)), Kind::Transport, -32000, "HTTP 503"),
        (|talk| talk.waits(super::LIMIT), Kind::Transport, -32001, "no answer within"),
        (|talk| talk.result(&initialized("1999-01-01")), Kind::Protocol, -32602, "1999-01-01"),
    ];
    for (answer, kind, code, words) in table {
        let mut talk = Talk::probing(PIPE);
        talk.error(&json!({ "code": -32601, "message": "no such method" }));
        talk.reopens();
        talk.asks("initialize", V25B);
        answer(&mut talk);
        assert_eq!(talk.negotiation.doing(), "initialize");
        let error = talk.failed();
        assert_eq!((error.kind(), error.code()), (kind, code));
        assert!(error.message().contains(words), "{}", error.message());
        assert!(error.message().contains("no such method"), "{}", error.message());
        let (probe, initialize) = both(&error);
        assert_eq!((probe.code(), initialize.code()), (-32601, code));
        assert_eq!(error.data(), initialize.data());
        assert_eq!(error.is_timeout(), initialize.is_timeout());
        let status = |error: &Error| error.transport().and_then(TransportError::status);
        assert_eq!(status(&error), status(initialize));
    }
}

#[test]
fn without_a_probe_the_error_is_that_of_initialize_alone() {
    let mut talk = Talk::initializing(PIPE);
    talk.breaks(fault(TransportFault::Exited));
    let error = talk.failed();
    assert!(error.is_closed() && error.transport().is_some());
}

#[test]
fn a_session_that_cannot_be_announced_fails_with_the_reason() {
    let announcing = || {
        let mut talk = Talk::initializing(HTTP);
        talk.result(&initialized("2025-11-25"));
        let Some(Step::Send(Envelope { id: None, .. })) = talk.step() else { panic!("told") };
        talk
    };
    let mut talk = announcing();
    talk.breaks(status(400));
    assert_eq!(talk.negotiation.doing(), "notifications/initialized");
    assert_eq!(talk.failed().transport().and_then(TransportError::status), Some(400));

    let mut talk = announcing();
    talk.negotiation.handle_closed(None);
    let below = talk.failed().transport().map(TransportError::fault);
    assert_eq!(below, Some(TransportFault::StreamEnded));
}

// INIT-07, INIT-17
#[test]
fn what_a_server_asks_or_tells_before_the_session_is_open_is_handed_on() {
    let ping = json!({ "jsonrpc": "2.0", "id": 0, "method": "ping" });
    let log = json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": {} });
    let mut talk = Talk::initializing(HTTP);
    talk.hears(message(&ping));
    assert!(matches!(talk.step(), Some(Step::Serve(asked)) if asked.text().contains("ping")));
    talk.hears(message(&log));
    assert!(matches!(talk.step(), Some(Step::Notify(_))));
    talk.rests();
    talk.result(&initialized("2025-11-25"));
    talk.announces();
    talk.opened(V25B);
}

// BASE-06
#[test]
fn what_comes_before_the_answer_to_the_probe_does_not_end_it_and_a_request_gets_no_answer() {
    let mut talk = Talk::probing(HTTP);
    talk.hears(message(&json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" })));
    talk.rests();
    talk.hears(message(&json!({ "jsonrpc": "2.0", "method": "window/logMessage" })));
    assert!(matches!(talk.step(), Some(Step::Notify(_))));
    assert_eq!(talk.patience(), Some(PROBE));
    talk.result(&json!({ "supportedVersions": ["2026-07-28"] }));
    talk.opened(V26);
}
