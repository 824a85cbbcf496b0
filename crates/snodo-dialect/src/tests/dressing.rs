//! The exact text of requests.

use serde_json::{Value, json};
use snodo_types::{InboxLimits, InputResponses, RequestState, TraceContext};

use super::{HTTP, PIPE, V25A, V25B, V26, dress, raw, request, try_dress};
use crate::{Params, Request};

const META: &str = concat!(
    r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
    r#""io.modelcontextprotocol/clientCapabilities":{"roots":{}},"#,
    r#""io.modelcontextprotocol/clientInfo":{"name":"agent","version":"1"}"#,
);

/// A request under the id 5, as text.
fn text(method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":5,"method":"{method}"{params}}}"#)
}

/// Its parameters with the metadata of 2026-07-28, and more behind that.
fn modern(method: &str, members: &str, more: &str) -> String {
    text(method, &format!(r#","params":{{{members}"_meta":{{{META}{more}}}}}"#))
}

// META-01, META-02, META-03, S-24, BASE-01, BASE-02
#[test]
fn a_stateless_request_tells_its_version_and_its_client_even_without_parameters() {
    for carrier in [PIPE, HTTP] {
        for method in ["tools/list", "server/discover", "com.example/do"] {
            let dressed = dress(V26, carrier, &Request::new(method, Params::new()));
            assert_eq!(dressed.message, modern(method, "", ""));
            assert_eq!(dressed.id, Some(5));
        }
    }
    let page = dress(V26, PIPE, &request("tools/list", &json!({ "cursor": "" })));
    assert_eq!(page.message, modern("tools/list", r#""cursor":"","#, ""));
}

// S-37, VER-22
#[test]
fn a_request_of_the_initialize_era_carries_its_own_parameters_and_nothing_else() {
    let table = [
        (json!(null), ""),
        (json!({}), ""),
        (json!({ "_meta": {} }), ""),
        (json!({ "_meta": null }), ""),
        (json!({ "cursor": "" }), r#","params":{"cursor":""}"#),
        (json!({ "_meta": { "k": 1 } }), r#","params":{"_meta":{"k":1}}"#),
        (json!({ "_meta": { "k": 1 }, "a": [] }), r#","params":{"a":[],"_meta":{"k":1}}"#),
    ];
    for (params, written) in table {
        for version in [V25B, V25A] {
            let dressed = dress(version, HTTP, &request("tools/list", &params));
            assert_eq!(dressed.message, text("tools/list", written), "{params}");
        }
    }
}

// S-37, S-39
#[test]
fn metadata_of_the_option_wins_over_the_parameters_and_those_over_the_version_s_own() {
    let params = json!({ "name": "echo", "_meta": {
        "com.example/a": 1,
        "com.example/b": 1,
        "io.modelcontextprotocol/clientCapabilities": { "extensions": {} },
        "io.modelcontextprotocol/clientInfo": { "name": "params" },
    }});
    let mut request = request("tools/call", &params);
    request.meta = vec![
        ("com.example/b".to_owned(), raw("2")),
        ("com.example/c".to_owned(), raw("2")),
        ("io.modelcontextprotocol/clientInfo".to_owned(), raw(r#"{"name":"option"}"#)),
        ("com.example/c".to_owned(), raw("3")),
    ];
    request.progress = true;
    let meta = concat!(
        r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
        r#""io.modelcontextprotocol/clientCapabilities":{"extensions":{}},"#,
        r#""io.modelcontextprotocol/clientInfo":{"name":"option"},"#,
        r#""com.example/a":1,"com.example/b":2,"com.example/c":3,"progressToken":5"#,
    );
    let expected = format!(r#","params":{{"name":"echo","_meta":{{{meta}}}}}"#);
    assert_eq!(dress(V26, PIPE, &request).message, text("tools/call", &expected));
}

// S-39
#[test]
fn the_option_wins_over_the_parameters_in_the_initialize_era_too() {
    let mut request = request("tools/list", &json!({ "_meta": { "a": 1, "b": 1 } }));
    request.meta = vec![("b".to_owned(), raw("2"))];
    let expected = text("tools/list", r#","params":{"_meta":{"a":1,"b":2}}"#);
    assert_eq!(dress(V25B, PIPE, &request).message, expected);
}

const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

// META-11, S-39
#[test]
fn a_trace_wins_over_metadata_and_takes_a_state_without_its_parent_along() {
    let params = json!({ "_meta": { "traceparent": "params", "a": 1 } });
    let mut request = request("tools/list", &params);
    request.meta = vec![
        ("tracestate".to_owned(), raw(r#""old=1""#)),
        ("traceparent".to_owned(), raw(r#""option""#)),
    ];
    request.progress = true;
    let sent = |request: &Request| {
        [V26, V25B, V25A].map(|version| {
            let sent: Value =
                serde_json::from_str(&dress(version, PIPE, request).message).expect("JSON");
            sent["params"]["_meta"].clone()
        })
    };
    for meta in sent(&request) {
        assert_eq!(
            (&meta["traceparent"], &meta["tracestate"]),
            (&json!("option"), &json!("old=1"))
        );
    }
    let trace = TraceContext::new(PARENT).expect("a parent");
    request.trace = Some(trace.clone());
    for meta in sent(&request) {
        assert_eq!((&meta["traceparent"], meta.get("tracestate")), (&json!(PARENT), None));
        assert_eq!((&meta["a"], &meta["progressToken"]), (&json!(1), &json!(5)));
    }
    request.trace = Some(trace.with_state(r#"a=q"\"#).expect("a state"));
    for meta in sent(&request) {
        assert_eq!(meta["tracestate"], json!(r#"a=q"\"#));
    }
}

// META-11
#[test]
fn a_trace_alone_stands_behind_the_version_s_own_metadata_under_bare_names() {
    let mut request = Request::new("tools/list", Params::new());
    request.trace = TraceContext::new(PARENT).and_then(|trace| trace.with_state("a=1")).ok();
    let trace = format!(r#""traceparent":"{PARENT}","tracestate":"a=1""#);
    let expected = modern("tools/list", "", &format!(",{trace}"));
    assert_eq!(dress(V26, PIPE, &request).message, expected);
    let expected = text("tools/list", &format!(r#","params":{{"_meta":{{{trace}}}}}"#));
    assert_eq!(dress(V25B, PIPE, &request).message, expected);
}

// S-40, PROG-01
#[test]
fn the_id_is_the_progress_token_where_progress_is_wanted() {
    let mut request = Request::new("tools/call", Params::new());
    request.progress = true;
    let token = r#","progressToken":5"#;
    assert_eq!(dress(V26, PIPE, &request).message, modern("tools/call", "", token));
    for version in [V25B, V25A] {
        let expected = text("tools/call", r#","params":{"_meta":{"progressToken":5}}"#);
        assert_eq!(dress(version, PIPE, &request).message, expected);
    }
}

// S-40
#[test]
fn a_progress_token_of_the_caller_s_own_stands_only_where_no_progress_is_wanted() {
    let by_params = || request("tools/call", &json!({ "_meta": { "progressToken": "mine" } }));
    let by_option = || {
        let mut request = Request::new("tools/call", Params::new());
        request.meta = vec![("progressToken".to_owned(), raw(r#""mine""#))];
        request
    };
    for version in [V26, V25B, V25A] {
        for mut request in [by_params(), by_option()] {
            let dressed = dress(version, PIPE, &request);
            assert!(dressed.message.contains(r#""progressToken":"mine""#));
            request.progress = true;
            let error = try_dress(version, PIPE, &request).expect_err("two tokens");
            assert_eq!(error.code(), -32602);
        }
    }
}

// MRTR-04, MRTR-05, MRTR-07
#[test]
fn answers_and_state_go_beside_the_unchanged_parameters() {
    let state = "s\"1\\\n\u{1F512}";
    let mut request = request("tools/call", &raw(r#"{"name":"book","arguments":{}}"#));
    request.input_responses =
        Some(InputResponses::new().with("b", &json!({ "roots": [] })).with("a", &json!(1)));
    let answers = r#""name":"book","arguments":{},"inputResponses":{"a":1,"b":{"roots":[]}},"#;
    assert_eq!(dress(V26, PIPE, &request).message, modern("tools/call", answers, ""));

    request.request_state = Some(RequestState::from(state));
    let sent: Value = serde_json::from_str(&dress(V26, PIPE, &request).message).expect("JSON");
    assert_eq!(sent["params"]["requestState"], json!(state));

    let mut alone = Request::new("tools/call", Params::new());
    alone.request_state = Some(RequestState::from("s"));
    assert_eq!(
        dress(V26, PIPE, &alone).message,
        modern("tools/call", r#""requestState":"s","#, "")
    );
}

#[test]
fn what_stands_in_the_parameters_and_in_an_option_is_written_once_as_the_option_has_it() {
    let params = json!({ "name": "book", "requestState": "old", "inputResponses": { "q": {} } });
    let mut request = request("tools/call", &params);
    request.request_state = Some(RequestState::from("new"));
    request.input_responses = Some(InputResponses::new());
    let text = dress(V26, HTTP, &request).message;
    assert_eq!(text.matches("requestState").count(), 1, "{text}");
    assert_eq!(text.matches("inputResponses").count(), 1, "{text}");
    let sent: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(sent["params"]["requestState"], json!("new"));
    assert_eq!(sent["params"]["inputResponses"], json!({}));
    assert_eq!(sent["params"]["name"], json!("book"));
}

// BASE-01
#[test]
fn whatever_a_caller_names_is_written_as_json() {
    let odd = "a\"b\\c\n\u{0}\u{7f}\u{2028}ü";
    let params = Params::from_object(&json!({ odd: odd, "_meta": { odd: odd } })).expect("object");
    let mut request = Request::new(odd.to_owned(), params);
    request.meta = vec![(format!("{odd}2"), raw("null"))];
    for version in [V26, V25B] {
        let message = dress(version, PIPE, &request).message;
        assert!(!message.contains('\n'), "one line");
        let sent: Value = serde_json::from_str(&message).expect("JSON");
        assert_eq!((&sent["method"], &sent["params"][odd]), (&json!(odd), &json!(odd)));
        let meta = &sent["params"]["_meta"];
        assert_eq!((&meta[odd], &meta[format!("{odd}2")]), (&json!(odd), &json!(null)));
    }
}

#[test]
fn parameters_keep_their_numbers_their_order_and_their_depth() {
    let deep = format!("{}{}", "[".repeat(1000), "]".repeat(1000));
    let members =
        format!(r#""z":1.50,"a":18446744073709551616,"m":{{"b":1,"a":1e400,"b":2}},"deep":{deep}"#);
    let params = Params::from_object(&raw(&format!("{{{members}}}"))).expect("an object");
    let dressed = dress(V25B, PIPE, &Request::new("x", params));
    assert_eq!(dressed.message, text("x", &format!(r#","params":{{{members}}}"#)));
}

// S-20, S-44, VER-22, INIT-08
#[test]
fn initialize_opens_a_session_and_wears_nothing() {
    let opening = request("initialize", &json!({ "protocolVersion": "2025-11-25" }));
    for version in [V25B, V25A] {
        let dressed = dress(version, HTTP, &opening);
        let expected = text("initialize", r#","params":{"protocolVersion":"2025-11-25"}"#);
        assert_eq!(dressed.message, expected);
        assert!(dressed.opens_session && !dressed.resumable);
        assert!(dressed.routing.is_empty() && dressed.abandon.is_none());
        let other = dress(version, HTTP, &Request::new("tools/list", Params::new()));
        assert!(!other.opens_session && other.resumable);
    }
}

// HTTP-09
#[test]
fn a_stateless_request_neither_opens_a_session_nor_is_taken_up_again() {
    for method in ["server/discover", "tools/call", "initialize"] {
        let dressed = dress(V26, HTTP, &Request::new(method, Params::new()));
        assert!(!dressed.opens_session && !dressed.resumable, "{method}");
    }
}

#[test]
fn what_the_transport_has_to_know_of_the_answer_goes_with_the_request() {
    let mut request = Request::new("subscriptions/listen", Params::new());
    assert!(!dress(V26, PIPE, &request).listen);
    request.listen = true;
    request.inbox.capacity = 3;
    for version in [V26, V25B] {
        let dressed = dress(version, PIPE, &request);
        assert!(dressed.listen);
        assert_eq!(dressed.inbox.capacity, 3);
        assert_eq!(dressed.inbox.bytes, InboxLimits::default().bytes);
    }
}

// TASKL-08
#[test]
fn a_call_that_asks_to_become_a_task_is_not_cancelled_by_a_notification() {
    let plain = request("tools/call", &json!({ "name": "t", "arguments": { "task": 1 } }));
    let task = request("tools/call", &json!({ "name": "t", "task": {} }));
    for carrier in [PIPE, HTTP] {
        assert!(dress(V25B, carrier, &plain).abandon.is_some());
        assert!(dress(V25B, carrier, &task).abandon.is_none());
        assert!(dress(V25A, carrier, &task).abandon.is_some(), "it is no task there");
    }
}
