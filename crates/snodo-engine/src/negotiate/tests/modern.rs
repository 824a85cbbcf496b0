//! Answers of servers that speak a stateless version.

use serde_json::{Value, json};
use snodo_types::{Kind, ProtocolVersion, TransportFault};

use super::{
    ALL, HTTP, PIPE, PROBE, Talk, V25A, V25B, V26, data, fault, message, status, with_status,
};

fn discover(versions: Value) -> Value {
    json!({ "resultType": "complete", "supportedVersions": versions, "capabilities": {} })
}

fn refusal(code: i64, supported: Value) -> Value {
    json!({ "code": code, "message": "no", "data": { "supported": supported, "requested": "x" } })
}

// S-16, VER-05, VER-12, DISC-02
#[test]
fn the_newest_version_that_both_sides_speak_is_taken_whatever_the_order() {
    let table = [
        ("TypeScript v2, Python, mcp-proxy", json!(["2026-07-28"])),
        ("rmcp", json!(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"])),
        ("tower-mcp", json!(["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"])),
        ("a newer one beside it", json!(["2031-01-01", "2026-07-28"])),
        ("what is no text", json!([20_260_728, null, "2026-07-28"])),
    ];
    for (name, versions) in table {
        for carrier in [PIPE, HTTP] {
            let mut talk = Talk::probing(carrier);
            talk.result(&discover(versions.clone()));
            let opened = talk.opened(V26);
            assert!(opened.session.is_none(), "{name}");
            let discovered = opened.discovered.expect("what it told");
            assert!(discovered.text().contains("supportedVersions"), "{name}");
        }
    }
}

// S-16
#[test]
fn a_discover_result_needs_nothing_but_its_versions() {
    let mut talk = Talk::probing(PIPE);
    talk.result(&json!({ "supportedVersions": ["2026-07-28"], "serverInfo": { "name": "old" } }));
    talk.opened(V26);
}

// S-16, VER-04, HDR-01, HDR-02, VER-03
#[test]
fn the_probe_is_dressed_like_any_request_of_the_newest_version() {
    let mut talk = Talk::over(HTTP, &ALL);
    let probe = talk.asks("server/discover", V26);
    let sent: Value = serde_json::from_str(&probe.message).expect("JSON");
    let meta = &sent["params"]["_meta"];
    assert_eq!(meta["io.modelcontextprotocol/clientCapabilities"], json!({ "roots": {} }));
    assert_eq!(meta["io.modelcontextprotocol/clientInfo"]["name"], json!("agent"));
    assert_eq!(probe.routing.value("MCP-Protocol-Version"), Some("2026-07-28"));
    assert_eq!(probe.routing.value("Mcp-Method"), Some("server/discover"));
    assert!(!probe.opens_session);
    assert_eq!(talk.patience(), Some(PROBE));
}

// S-17, VER-02, VER-05, VER-08, ERR-02
#[test]
fn a_refusal_that_lists_the_version_is_asked_once_more_and_then_taken_at_its_word() {
    for (carrier, status) in [(PIPE, None), (HTTP, Some(400)), (HTTP, Some(404)), (HTTP, None)] {
        let refuse = |talk: &mut Talk| {
            let error = refusal(-32022, json!(["2025-11-25", "2026-07-28"]));
            let text = json!({ "jsonrpc": "2.0", "id": talk.last_id, "error": error });
            let text = message(&text);
            talk.hears(match status {
                Some(status) => with_status(text, status),
                None => text,
            });
        };
        let mut talk = Talk::probing(carrier);
        refuse(&mut talk);
        talk.waits(PROBE / 2);
        talk.asks("server/discover", V26);
        assert_eq!(talk.patience(), Some(PROBE), "each attempt has its own time");
        refuse(&mut talk);
        let opened = talk.opened(V26);
        assert!(opened.session.is_none() && opened.discovered.is_none());
    }
}

// S-17
#[test]
fn a_second_probe_that_is_answered_settles_it() {
    let mut talk = Talk::probing(PIPE);
    talk.error(&refusal(-32022, json!(["2026-07-28"])));
    talk.asks("server/discover", V26);
    talk.result(&discover(json!(["2026-07-28"])));
    assert!(talk.opened(V26).discovered.is_some());
}

// VER-05
#[test]
fn a_server_that_listed_a_stateless_version_is_never_asked_to_initialize() {
    let second: [fn(&mut Talk); 3] = [
        |talk| talk.error(&json!({ "code": -32601, "message": "Method not found" })),
        |talk| talk.breaks(fault(TransportFault::Exited)),
        |talk| talk.waits(PROBE),
    ];
    for answer in second {
        let mut talk = Talk::probing(PIPE);
        talk.error(&refusal(-32022, json!(["2026-07-28", "2025-11-25"])));
        talk.asks("server/discover", V26);
        answer(&mut talk);
        talk.failed();
    }
}

// S-17, VER-05, VER-14
#[test]
fn a_wrong_header_or_a_missing_capability_is_a_word_of_a_modern_server() {
    for code in [-32020, -32021] {
        let mut talk = Talk::probing(HTTP);
        let error =
            json!({ "code": code, "message": "no", "data": { "requiredCapabilities": {} } });
        let text = json!({ "jsonrpc": "2.0", "id": talk.last_id, "error": error });
        talk.hears(with_status(message(&text), 400));
        assert!(talk.opened(V26).discovered.is_none(), "{code}");
    }
}

// S-19, VER-13
#[test]
fn a_list_with_none_but_older_versions_in_common_leads_to_initialize_with_those() {
    let table: [(&[ProtocolVersion], Value, ProtocolVersion); 3] = [
        (&ALL, json!(["2025-11-25", "2025-06-18"]), V25B),
        (&ALL, json!(["2024-11-05", "2025-06-18"]), V25A),
        (&[V26, V25A], json!(["2025-11-25", "2025-06-18"]), V25A),
    ];
    for (allowed, versions, best) in table {
        let answers: [Value; 2] = [
            json!({ "result": discover(versions.clone()) }),
            json!({ "error": refusal(-32022, versions.clone()) }),
        ];
        for mut answer in answers {
            let mut talk = Talk::over(PIPE, allowed);
            talk.asks("server/discover", V26);
            answer["jsonrpc"] = json!("2.0");
            answer["id"] = json!(talk.last_id);
            talk.hears(message(&answer));
            talk.asks("initialize", best);
        }
    }
}

// S-19
#[test]
fn initialize_after_a_list_takes_no_version_that_the_list_lacks() {
    let mut talk = Talk::probing(PIPE);
    talk.result(&discover(json!(["2025-11-25"])));
    talk.asks("initialize", V25B);
    talk.result(&json!({ "protocolVersion": "2025-06-18", "capabilities": {} }));
    let error = talk.failed();
    assert_eq!(data(&error), json!({ "negotiated": "2025-06-18", "requested": ["2025-11-25"] }));
}

// S-19, VER-02
#[test]
fn no_version_in_common_is_an_error_with_both_lists() {
    for versions in [json!(["2024-11-05", "2031-01-01"]), json!([])] {
        let answers: [fn(&mut Talk, &Value); 2] = [
            |talk, versions| talk.result(&discover(versions.clone())),
            |talk, versions| talk.error(&refusal(-32022, versions.clone())),
        ];
        for answer in answers {
            let mut talk = Talk::over(HTTP, &[V26, V25B]);
            talk.asks("server/discover", V26);
            answer(&mut talk, &versions);
            let error = talk.failed();
            assert_eq!((error.kind(), error.code()), (Kind::Protocol, -32602));
            let told = json!({ "requested": ["2026-07-28", "2025-11-25"], "supported": versions });
            assert_eq!(data(&error), told);
        }
    }
}

// S-17
#[test]
fn a_modern_server_that_was_too_slow_for_the_probe_is_known_by_its_refusal_of_initialize() {
    let mut talk = Talk::probing(PIPE);
    talk.waits(PROBE);
    talk.reopens();
    talk.asks("initialize", V25B);
    talk.error(&refusal(-32022, json!(["2026-07-28"])));
    let opened = talk.opened(V26);
    assert!(opened.session.is_none());
}

// INIT-10
#[test]
fn an_older_server_s_refusal_of_a_version_is_not_taken_for_a_modern_one() {
    let mut talk = Talk::probing(HTTP);
    talk.breaks(status(404));
    talk.reopens();
    talk.asks("initialize", V25B);
    talk.error(&refusal(-32602, json!(["2026-07-28"])));
    let error = talk.failed();
    assert_eq!((error.code(), error.message().starts_with("no")), (-32602, true));
    assert_eq!(data(&error)["supported"], json!(["2026-07-28"]));
}

// S-18
#[test]
fn a_refusal_that_names_a_stateless_version_opens_none_that_is_not_allowed() {
    let mut talk = Talk::initializing(PIPE);
    talk.error(&refusal(-32022, json!(["2026-07-28"])));
    assert_eq!(talk.failed().code(), -32022);
}
