//! What travels beside a message.

use serde_json::{Value, json};

use super::{HTTP, PIPE, V25A, V25B, V26, dress, outfit, raw, request, routing};
use crate::{Params, Request, dialect};

// S-44, HDR-01, HDR-02, HDR-03
#[test]
fn a_stateless_request_over_http_mirrors_its_version_its_method_and_its_name() {
    let params = json!({ "name": "n", "uri": "u", "taskId": "t" });
    for entry in dialect(V26).catalog().iter() {
        let dressed = dress(V26, HTTP, &request(entry.method(), &params));
        let mut expected =
            vec![("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", entry.method())];
        match entry.method() {
            "tools/call" | "prompts/get" => expected.push(("Mcp-Name", "n")),
            "resources/read" => expected.push(("Mcp-Name", "u")),
            _ => {}
        }
        assert_eq!(routing(&dressed), expected);
    }
    let extension = dress(V26, HTTP, &request("com.example/do", &params));
    let expected = [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "com.example/do")];
    assert_eq!(routing(&extension), expected);
}

// S-44, HDR-07, HDR-09, HDR-20
#[test]
fn a_name_that_no_header_can_carry_is_encoded() {
    let table = [
        ("r://ü", "=?base64?cjovL8O8?="),
        (" padded ", "=?base64?IHBhZGRlZCA=?="),
        ("a\r\nX-Injected: 1", "=?base64?YQ0KWC1JbmplY3RlZDogMQ==?="),
        ("plain-name_1", "plain-name_1"),
        ("", ""),
    ];
    for (value, header) in table {
        for (method, member) in
            [("tools/call", "name"), ("prompts/get", "name"), ("resources/read", "uri")]
        {
            let dressed = dress(V26, HTTP, &request(method, &json!({ member: value })));
            assert_eq!(dressed.routing.value("Mcp-Name"), Some(header), "{value:?}");
        }
    }
    let odd = dress(V26, HTTP, &Request::new("x/\u{e4}", Params::new()));
    assert_eq!(odd.routing.value("Mcp-Method"), Some("=?base64?eC/DpA==?="));
}

// HDR-03
#[test]
fn a_name_that_is_missing_or_no_text_is_not_mirrored() {
    for params in [json!({}), json!({ "name": 5 }), json!({ "name": null }), json!({ "uri": "u" })]
    {
        let dressed = dress(V26, HTTP, &request("tools/call", &params));
        assert_eq!(dressed.routing.value("Mcp-Name"), None, "{params}");
    }
}

#[test]
fn of_a_name_that_is_given_twice_the_last_is_mirrored() {
    let dressed = dress(V26, HTTP, &request("tools/call", &raw(r#"{"name":"a","name":"b"}"#)));
    assert_eq!(dressed.routing.value("Mcp-Name"), Some("b"));
}

// HDR-01, S-39
#[test]
fn the_header_follows_a_version_that_the_caller_put_into_the_metadata() {
    const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
    let by_params = json!({ "_meta": { VERSION: "2027-01-01" } });
    let mut request = request("tools/list", &by_params);
    let sent = |request: &Request| {
        let dressed = dress(V26, HTTP, request);
        let text: Value = serde_json::from_str(&dressed.message).expect("JSON");
        let body = text["params"]["_meta"][VERSION].as_str().map(str::to_owned);
        let header = dressed.routing.value("MCP-Protocol-Version").map(str::to_owned);
        assert_eq!(body, header);
        header
    };
    assert_eq!(sent(&request).as_deref(), Some("2027-01-01"));
    request.meta = vec![(VERSION.to_owned(), raw(r#""2027-02-02""#))];
    assert_eq!(sent(&request).as_deref(), Some("2027-02-02"));
    request.meta.push((VERSION.to_owned(), raw(r#""2027-03-03""#)));
    assert_eq!(sent(&request).as_deref(), Some("2027-03-03"));
}

// STDIO-07, S-44
#[test]
fn beside_a_message_on_a_pipe_there_is_nothing() {
    let call = request("tools/call", &json!({ "name": "echo" }));
    for version in [V26, V25B, V25A] {
        assert!(dress(version, PIPE, &call).routing.is_empty(), "{version}");
        let wrapped = outfit(version, PIPE, Some("6f1c")).wrap("{}".to_owned());
        assert!(wrapped.routing.is_empty(), "{version}");
    }
}

// S-22, HTTPL-13, HTTPL-18, HTTPL-19
#[test]
fn a_message_of_a_session_carries_its_version_and_its_id_and_no_more() {
    let call = request("tools/call", &json!({ "name": "echo" }));
    for version in [V25B, V25A] {
        for session in [None, Some("6f1c")] {
            let outfit = outfit(version, HTTP, session);
            let mut expected = vec![("MCP-Protocol-Version", version.as_str())];
            expected.extend(session.map(|id| ("Mcp-Session-Id", id)));
            let dressed = dialect(version).dress(&call, 5, &outfit).expect("it can be written");
            assert_eq!(routing(&dressed), expected);
            let told = outfit.wrap("{}".to_owned());
            assert_eq!((routing(&told), told.id), (expected.clone(), None));
            let abandon = dressed.abandon.expect("it can be cancelled");
            assert_eq!(abandon.routing().iter().collect::<Vec<_>>(), expected);
        }
    }
}

// HTTP-11
#[test]
fn a_stateless_version_knows_no_session() {
    let outfit = outfit(V26, HTTP, Some("6f1c"));
    assert_eq!(outfit.routing().value("Mcp-Session-Id"), None);
    let dressed = dialect(V26).dress(&Request::new("tools/list", Params::new()), 5, &outfit);
    assert_eq!(dressed.expect("it can be written").routing.value("Mcp-Session-Id"), None);
}

// S-44, HDR-16
#[test]
fn a_header_of_one_request_goes_beside_that_request_and_wins_over_nothing() {
    let mut call = request("tools/call", &json!({ "name": "echo" }));
    call.routing.set("x-request-id", "7");
    call.routing.set("mcp-protocol-version", "1999-01-01");
    call.routing.set("mcp-session-id", "stolen");
    call.routing.set("x-split", "a\r\nhost: elsewhere");
    for version in [V26, V25B, V25A] {
        let outfit = outfit(version, HTTP, Some("6f1c"));
        let dressed = dialect(version).dress(&call, 5, &outfit).expect("it can be written");
        let beside = &dressed.routing;
        assert_eq!(beside.value("x-request-id"), Some("7"), "{version}");
        assert_eq!(beside.value("MCP-Protocol-Version"), Some(version.as_str()));
        assert_eq!(beside.value("x-split"), None);
        assert_eq!(beside.value("Mcp-Session-Id"), (version != V26).then_some("6f1c"));
        if version != V26 {
            let abandon = dressed.abandon.expect("it can be cancelled");
            assert_eq!(abandon.routing().value("x-request-id"), None, "the request's alone");
        }
        assert_eq!(outfit.wrap("{}".to_owned()).routing.value("x-request-id"), None);
        assert!(dress(version, PIPE, &call).routing.is_empty(), "{version}");
    }
    let mut opening = request("initialize", &json!({}));
    opening.routing.set("x-request-id", "7");
    assert_eq!(routing(&dress(V25B, HTTP, &opening)), [("x-request-id", "7")]);
}
