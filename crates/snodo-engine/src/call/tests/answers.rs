//! What an answer means.

use std::sync::Arc;

use serde_json::{Value, json};
use snodo_dialect::{Carrier, Params, Request, dialect};
use snodo_types::TransportFault::{Closed, Exited};
use snodo_types::{
    Cause, ErrorObject, Kind, Message, Outcome, Outside, RequestState, SessionId, TransportError,
    TransportFault,
};

use super::{Line, V25A, V25B, V26, data, patient};
use crate::Step;

// S-02, S-03, BASE-12
#[test]
fn a_result_is_handed_on_as_it_came() {
    let result = json!({
        "content": [{ "type": "text", "text": "hi" }, { "type": "hologram", "x": 1 }],
        "isError": true,
        "com.example/more": { "deep": [null, 1.50] },
    });
    for version in [V26, V25B, V25A] {
        let mut line = Line::calling(version);
        line.result(&result);
        assert_eq!(line.complete(), result, "{version}");
    }
}

// S-04, ERR-01, ERR-06
#[test]
fn a_server_s_error_keeps_its_words_and_its_code_says_the_kind() {
    let table = [
        (-32700, Kind::JsonRpc),
        (-32600, Kind::JsonRpc),
        (-32601, Kind::Protocol),
        (-32602, Kind::Protocol),
        (-32603, Kind::Execution),
        (-32000, Kind::Protocol),
        (-32001, Kind::Protocol),
        (-32002, Kind::Protocol),
        (-32021, Kind::Protocol),
        (17, Kind::Protocol),
    ];
    for (code, kind) in table {
        for version in [V26, V25B] {
            let mut line = Line::calling(version);
            line.error(&json!({ "code": code, "message": "no", "data": { "why": [1] } }));
            let error = line.failed();
            assert_eq!((error.code(), error.kind(), error.message()), (code, kind, "no"));
            assert_eq!(data(&error), json!({ "why": [1] }));
            assert!(error.cause().is_none() && !error.is_timeout() && !error.is_closed());
        }
    }
}

// BASE-11
#[test]
fn an_error_without_an_id_answers_the_request_on_whose_stream_it_comes() {
    for id in [json!({ "id": null }), json!({})] {
        let mut error = id;
        error["jsonrpc"] = json!("2.0");
        error["error"] = json!({ "code": -32600, "message": "bad" });
        let mut line = Line::calling(V26);
        line.hears(&error);
        assert_eq!(line.failed().code(), -32600);
    }
}

#[test]
fn an_error_that_is_none_cannot_be_read() {
    for error in [json!({}), json!({ "code": "x", "message": "no" }), json!({ "code": -32601 })] {
        let mut line = Line::calling(V25B);
        line.error(&error);
        let failed = line.failed();
        assert_eq!((failed.kind(), failed.code()), (Kind::Transport, -32000), "{error}");
        assert!(matches!(failed.cause(), Some(Cause::Decode(_))));
    }
}

// BASE-07, BASE-08, BASE-09
#[test]
fn a_result_of_a_type_nobody_announced_is_an_error_that_names_it() {
    for complete in [json!({}), json!({ "resultType": "complete" }), json!({ "resultType": null })]
    {
        let mut line = Line::calling(V26);
        line.result(&complete);
        assert_eq!(line.complete(), complete);
    }
    for name in ["task", "Complete", ""] {
        let mut line = Line::calling(V26);
        line.result(&json!({ "resultType": name, "content": [] }));
        let error = line.failed();
        assert_eq!((error.kind(), error.code()), (Kind::Transport, -32000));
        let named = matches!(error.cause(), Some(Cause::UnknownResultType(told)) if told == name);
        assert!(named, "{error:?}");
    }
    let mut line = Line::calling(V26);
    line.result(&json!({ "resultType": 5 }));
    assert!(matches!(line.failed().cause(), Some(Cause::Decode(_))));
}

// INIT-15
#[test]
fn in_the_initialize_era_a_member_called_result_type_means_nothing() {
    for version in [V25B, V25A] {
        for name in ["input_required", "task"] {
            let result = json!({ "resultType": name, "inputRequests": {} });
            let mut line = Line::calling(version);
            line.result(&result);
            assert_eq!(line.complete(), result);
        }
    }
}

fn ask() -> Value {
    let form = json!({ "method": "elicitation/create", "params": { "message": "Who?" } });
    json!({ "resultType": "input_required", "inputRequests": { "a": form }, "requestState": "s1" })
}

// S-02, MRTR-02, RES-03
#[test]
fn three_methods_may_be_answered_by_asking_for_input() {
    for method in ["tools/call", "prompts/get", "resources/read"] {
        let mut line = Line::asking(V26, method, patient());
        line.result(&ask());
        let outcome = line.done().expect("an outcome");
        let Outcome::InputRequired(asked) = outcome else { panic!("{method}: {outcome:?}") };
        assert_eq!(asked.requests().map(|(id, _)| id).collect::<Vec<_>>(), ["a"]);
        assert_eq!(asked.request_state.as_ref().map(RequestState::as_str), Some("s1"));
    }
}

// MRTR-02
#[test]
fn any_other_method_answered_by_asking_for_input_is_an_error() {
    let methods =
        ["tools/list", "server/discover", "completion/complete", "resources/list", "com.example/x"];
    for method in methods {
        let mut line = Line::asking(V26, method, patient());
        line.result(&ask());
        let error = line.failed();
        assert_eq!((error.kind(), error.code()), (Kind::Transport, -32000), "{method}");
        assert!(error.message().contains(method), "{}", error.message());
    }
}

fn refusal(supported: &Value) -> Value {
    json!({ "code": -32022, "message": "no", "data": { "supported": supported, "requested": "x" } })
}

// VER-02, BASE-03
#[test]
fn a_refused_version_that_the_server_lists_is_sent_once_more_under_a_new_id() {
    let mut line = Line::calling(V26);
    let first = line.last_id;
    line.waits(10 * super::SECOND);
    line.error(&refusal(&json!(["2025-11-25", "2026-07-28"])));
    let again = line.sends();
    assert_eq!(again.id, Some(first + 1));
    assert!(again.message.contains(&format!(r#""progressToken":{}"#, first + 1)));
    assert_eq!(line.patience(), patient().timeout, "each sending has its own time");
    line.error(&refusal(&json!(["2026-07-28"])));
    let error = line.failed();
    assert_eq!(error.code(), -32022);
    assert_eq!(data(&error)["supported"], json!(["2026-07-28"]));
}

// VER-02
#[test]
fn a_refused_version_is_not_sent_again_where_the_list_does_not_help() {
    let lists = [json!(["2025-11-25"]), json!(["2031-01-01"]), json!([]), json!("2026-07-28")];
    for list in lists {
        let mut line = Line::calling(V26);
        line.error(&refusal(&list));
        assert_eq!((line.failed().code(), line.last_id), (-32022, 8), "{list}");
    }
    let mut line = Line::calling(V26);
    line.agreed.allowed = vec![V25B];
    line.error(&refusal(&json!(["2026-07-28"])));
    assert_eq!(line.failed().code(), -32022);
    let mut line = Line::calling(V25B);
    line.error(&refusal(&json!(["2026-07-28", "2025-11-25"])));
    assert_eq!(line.failed().code(), -32022);
}

// ERR-03
#[test]
fn no_other_code_makes_a_call_ask_again() {
    for code in [-32602, -32020, -32000, -32004, -32603] {
        let mut line = Line::calling(V26);
        let list = json!({ "supported": ["2026-07-28"] });
        line.error(&json!({ "code": code, "message": "no", "data": list }));
        assert_eq!(line.failed().code(), code);
    }
}

// S-05
#[test]
fn a_closed_connection_is_told_with_its_reason_or_as_a_stream_that_ended() {
    let mut line = Line::calling(V26);
    let why = TransportError::new(TransportFault::Status, "HTTP 503").with_status(503);
    line.call.handle_closed(Some(why));
    let error = line.failed();
    assert_eq!(
        (error.kind(), error.code(), error.message()),
        (Kind::Transport, -32000, "HTTP 503")
    );
    assert_eq!(error.transport().and_then(TransportError::status), Some(503));

    let mut line = Line::calling(V25B);
    line.call.handle_closed(None);
    let error = line.failed();
    assert_eq!(error.code(), -32000);
    assert_eq!(error.transport().map(TransportError::fault), Some(TransportFault::StreamEnded));

    let mut line = Line::calling(V25B);
    line.call.handle_closed(Some(TransportError::new(TransportFault::Timeout, "no connection")));
    let error = line.failed();
    assert_eq!((error.kind(), error.code()), (Kind::Transport, -32001));
}

#[test]
fn a_request_that_only_reads_is_sent_once_more_where_the_server_hung_up_before_it_heard_it() {
    let unheard = || TransportError::new(Closed, "closed").hardly_processed();
    for version in [V26, V25B, V25A] {
        let mut line = Line::asking(version, "tools/list", patient());
        let first = line.last_id;
        line.call.handle_closed(Some(unheard()));
        line.sends();
        assert!(line.last_id > first, "under an id of its own");
        line.call.handle_closed(Some(unheard()));
        assert_eq!(line.failed().transport().map(TransportError::fault), Some(Closed));

        let mut line = Line::calling(version);
        line.call.handle_closed(Some(unheard()));
        assert_eq!(line.failed().transport().map(TransportError::fault), Some(Closed), "a tool");

        let mut line = Line::asking(version, "tools/list", patient());
        line.call.handle_closed(Some(TransportError::new(Closed, "closed")));
        assert_eq!(line.failed().transport().map(TransportError::fault), Some(Closed), "heard");
    }
}

#[test]
fn an_error_says_whether_the_request_may_be_made_again() {
    let closed = || Some(TransportError::new(Closed, "closed"));
    for (method, idempotent, repeats) in
        [("tools/list", false, true), ("tools/call", false, false), ("tools/call", true, true)]
    {
        let mut line = Line::new(V25B, Request::new(method, Params::new()), patient());
        if idempotent {
            line.call = line.call.idempotent();
        }
        line.sends();
        line.call.handle_closed(closed());
        assert_eq!(line.failed().may_be_repeated(), repeats, "{method}");
    }
}

// HTTPL-15, HTTPL-21
#[test]
fn a_session_lost_while_a_stream_is_resumed_repeats_what_only_reads_and_no_tool() {
    use TransportFault::{Status, StreamEnded};
    for (method, fault, renews) in [
        ("tools/call", Status, true),
        ("tools/call", StreamEnded, false),
        ("tools/list", StreamEnded, true),
    ] {
        let mut line = Line::new(V25B, Request::new(method, Params::new()), patient());
        let carrier = Carrier { routes: true, own_stream: true };
        let session = SessionId::new("s").expect("an id");
        line.agreed.outfit = dialect(V25B).outfit(&line.agreed.identity, carrier, Some(&session));
        line.sends();
        line.call.handle_closed(Some(TransportError::new(fault, "HTTP 404").with_status(404)));
        if renews {
            assert!(matches!(line.step(), Some(Step::Reopen)), "{method}");
        } else {
            let status = line.failed().transport().and_then(TransportError::status);
            assert_eq!(status, Some(404), "{method}");
        }
    }
}

// PAG-07
#[test]
fn what_asks_behind_a_cursor_is_repeated_in_no_other_session_and_after_a_restart_where_there_are_none()
 {
    let exited = || TransportError::new(Exited, "it is gone").not_processed();
    for (version, cursor, repeats) in
        [(V25B, true, false), (V25A, true, false), (V25B, false, true), (V26, true, true)]
    {
        let params = match cursor {
            true => Params::new().with("cursor", "c").expect("JSON"),
            false => Params::new(),
        };
        let mut line = Line::new(version, Request::new("tools/list", params), patient());
        line.call = line.call.restarting();
        line.sends();
        line.call.handle_closed(Some(exited()));
        assert!(matches!(line.step(), Some(Step::Reopen)), "{version}");
        line.call.handle_reopened(Ok(()));
        match repeats {
            true => drop(line.sends()),
            false => assert_eq!(line.failed().transport().map(TransportError::fault), Some(Exited)),
        }
    }
}

// HTTPL-15
#[test]
fn of_the_statuses_a_caller_named_an_error_that_names_the_request_is_an_answer() {
    let bad = ErrorObject::new(-32000, "Bad Request: no valid session");
    for (status, named, of_it, renews) in [
        (400, true, false, true),
        (400, true, true, false),
        (400, false, false, false),
        (401, true, false, false),
        (404, false, true, true),
        (404, true, false, true),
    ] {
        let mut line = Line::new(V25B, Request::new("tools/call", Params::new()), patient());
        let session = SessionId::new("s").expect("an id");
        let carrier = Carrier { routes: true, own_stream: true };
        line.agreed.outfit = dialect(V25B).outfit(&line.agreed.identity, carrier, Some(&session));
        if named {
            line.call = line.call.lost_on(Arc::new([400]));
        }
        line.sends();
        let id = of_it.then(|| line.last_id.into());
        let outside = Outside { status: Some(status), ..Outside::default() };
        let refused = Message::error(id.as_ref(), &bad).with_outside(outside);
        line.call.handle_message(refused, &line.agreed.terms(), line.now);
        let step = line.step();
        assert_eq!(
            matches!(step, Some(Step::Reopen)),
            renews,
            "{status} {named} {of_it}: {step:?}"
        );
    }
}

// S-38
#[test]
fn what_the_version_does_not_let_a_client_ask_is_refused_before_it_is_sent() {
    for (version, method) in [(V25B, "server/discover"), (V25A, "x"), (V26, "roots/list")] {
        let mut line = Line::new(version, Request::new(method, Params::new()), patient());
        let error = line.failed();
        assert_eq!((error.kind(), error.code()), (Kind::Protocol, -32601), "{method}");
        assert_eq!(data(&error), json!({ "method": method, "protocolVersion": version.as_str() }));
    }
}

#[test]
fn a_request_that_cannot_be_written_ends_at_once() {
    let mut request = Request::new("tools/list", Params::new());
    request.progress = true;
    request.meta.push(("progressToken".to_owned(), json!("mine").into()));
    assert_eq!(Line::new(V26, request, patient()).failed().code(), -32602);
}
