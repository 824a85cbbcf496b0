//! What a message is, and whom it concerns.

use super::{Body, Concern, Message, RequestId};
use crate::ErrorObject;

fn parse(text: &str) -> Message {
    Message::parse(text).expect(text)
}

fn refuse(text: &str) -> super::MalformedMessage {
    Message::parse(text).expect_err(text)
}

// BASE-01, BASE-10
#[test]
fn the_four_kinds_are_told_apart() {
    let request = parse(r#"{"jsonrpc":"2.0","id":"a","method":"ping","params":{"x":1}}"#);
    let id = RequestId::Text("a".to_owned());
    assert_eq!(
        request.body(),
        Body::Request { id: &id, method: "ping", params: Some(r#"{"x":1}"#) }
    );
    let news = parse(r#"{"method":"a\/b","jsonrpc":"2.0"}"#);
    assert_eq!(news.body(), Body::Notification { method: "a/b", params: None });
    let result = parse(r#"{"result":{},"id":0,"jsonrpc":"2.0","extra":[{}]}"#);
    assert_eq!(result.body(), Body::Result { id: &RequestId::Number(0), result: "{}" });
    // Found by the fuzzer: JSON lets any character be escaped.
    let escaped = parse(r#"{"jsonrpc":"\u0032.0","id":0,"\u0072esult":{}}"#);
    assert_eq!(escaped.body(), result.body());
    let error = parse(r#"{"jsonrpc":"2.0","id":2,"error":{"code":1}}"#);
    assert_eq!(
        error.body(),
        Body::Error { id: Some(&RequestId::Number(2)), error: r#"{"code":1}"# }
    );
}

#[test]
fn what_is_written_here_reads_as_what_it_was_written_from() {
    let id = RequestId::Text("a\"b".to_owned());
    let written = [
        Message::request(&id, "odd\n\"name\"", Some(r#"{"x":[1]}"#)),
        Message::request(&RequestId::Number(3), "ping", None),
        Message::notification("notifications/progress", Some(r#"{"progressToken":4}"#)),
        Message::notification("ü\t", None),
        Message::result(&id, r#"{"y":{}}"#),
        Message::error(None, &ErrorObject::new(-32700, "no \"JSON\"")),
        Message::error(Some(&id), &ErrorObject::new(-32601, "?")),
    ];
    for message in written {
        let read = parse(message.text());
        assert_eq!(message.body(), read.body());
        assert_eq!((message.id(), message.concerns()), (read.id(), read.concerns()));
        assert_eq!(read.text().to_owned(), message.into_text());
    }
}

// BASE-11
#[test]
fn an_error_may_come_without_an_id() {
    for text in [
        r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"bad"}}"#,
        r#"{"jsonrpc":"2.0","id":null,"error":{}}"#,
    ] {
        let message = parse(text);
        assert!(matches!(message.body(), Body::Error { id: None, .. }));
        assert_eq!(message.concerns(), Concern::Nobody);
    }
}

#[test]
fn what_breaks_json_rpc_is_refused_and_names_the_call_it_breaks() {
    let answers = [
        r#"{"jsonrpc":"2.0","id":4,"result":{},"error":{"code":1,"message":""}}"#,
        r#"{"jsonrpc":"2.0","id":4,"result":[]}"#,
        r#"{"jsonrpc":"2.0","id":4,"result":null}"#,
        r#"{"jsonrpc":"2.0","id":4,"error":"broken"}"#,
        r#"{"jsonrpc":"1.0","id":4,"result":{}}"#,
        r#"{"id":4,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":4,"result":{},"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":4,"result":{"a":}}"#,
    ];
    for text in answers {
        assert_eq!(refuse(text).id(), Some(&RequestId::Number(4)), "{text}");
    }
    let others = [
        "",
        "[]",
        "[{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}]",
        "\"x\"",
        r#"{"jsonrpc":"2.0"}"#,
        r#"{"jsonrpc":"2.0","result":{}}"#,
        r#"{"jsonrpc":"2.0","id":true,"method":"x"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":7}"#,
        r#"{"jsonrpc":"2.0","method":"x","params":[1]}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"x"} trailing"#,
    ];
    for text in others {
        assert_eq!(refuse(text).id(), None, "{text}");
    }
}

#[test]
fn nested_duplicates_and_any_depth_pass() {
    let deep = format!("{}{}", "[".repeat(5_000), "]".repeat(5_000));
    let text = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"a":1,"a":2,"deep":{deep}}}}}"#);
    assert_eq!(parse(&text).text(), text);
}

// PROG-01, STDIO-06, SUB-06, CAN-01
#[test]
fn a_notification_is_routed_by_what_it_points_at() {
    let concern = |method: &str, params: &str| {
        parse(&format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#)).concerns()
    };
    assert_eq!(
        concern("notifications/progress", r#"{"progressToken":9,"progress":1}"#),
        Concern::Part(9)
    );
    assert_eq!(concern("notifications/progress", r#"{"progressToken":"mine"}"#), Concern::Nobody);
    assert_eq!(concern("notifications/cancelled", r#"{"requestId":3}"#), Concern::Ends(3));
    let event = r#"{"_meta":{"io.modelcontextprotocol/subscriptionId":6}}"#;
    assert_eq!(concern("notifications/tools/list_changed", event), Concern::Part(6));
    assert_eq!(concern("notifications/message", r#"{"_meta":7,"data":[]}"#), Concern::Nobody);
    assert_eq!(concern("notifications/cancelled", "{}"), Concern::Nobody);
}

// As the given case JR-01 has it.
#[test]
fn a_response_whose_number_came_back_as_text_finds_its_call() {
    assert_eq!(parse(r#"{"jsonrpc":"2.0","id":"1","result":{}}"#).concerns(), Concern::Answer(1));
    assert_eq!(parse(r#"{"jsonrpc":"2.0","id":"x","result":{}}"#).concerns(), Concern::Nobody);
    assert_eq!(
        parse(r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#).concerns(),
        Concern::Nobody
    );
}

#[test]
fn what_is_written_reads_back() {
    let id = RequestId::Text("q".to_owned());
    let result = Message::result(&id, r#"{"ok":true}"#);
    assert_eq!(parse(result.text()).body(), result.body());
    let error = ErrorObject::new(-32601, "no \"such\" method");
    let error = Message::error(Some(&id), &error);
    assert_eq!(parse(error.text()).body(), error.body());
}

#[test]
fn debug_shows_the_head_and_never_the_content() {
    let shown = format!("{:?}", parse(r#"{"jsonrpc":"2.0","id":1,"result":{"token":"secret"}}"#));
    assert_eq!(shown, "Result { id: 1, bytes: 52 }");
}

#[test]
fn what_a_message_carries_is_decoded_and_broken_text_in_one_that_was_put_together_is_refused() {
    let read = |text: &str| parse(text).decode::<serde_json::Value>().expect("JSON");
    let long = "a line with \\\"quotes\\\" and more than two words\\n".repeat(3);
    let result = format!(r#"{{"a":[1,{{"b":"\u00e9{long}"}}],"c":null}}"#);
    let text = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#);
    assert_eq!(read(&text), serde_json::from_str::<serde_json::Value>(&result).expect("JSON"));
    assert_eq!(read(r#"{"jsonrpc":"2.0","id":1,"error":{"code":1}}"#)["code"], 1);
    assert_eq!(read(r#"{"jsonrpc":"2.0","method":"m"}"#), serde_json::json!({}));
    assert_eq!(
        read(r#"{"jsonrpc":"2.0","id":1,"method":"m","params":[2]}"#),
        serde_json::json!([2])
    );
    for broken in [r#"{"a":01}"#, r#"{"a":"\x"}"#, "{\"a\":\"\n\"}", r#"{"a":[}]"#, r#"{"a":1"#] {
        let written = Message::result(&1.into(), broken);
        assert!(written.decode::<serde_json::Value>().is_err(), "{broken}");
        assert!(written.decode::<crate::CallToolResult>().is_err(), "{broken}");
    }
}

#[test]
fn a_message_shows_its_head_and_nothing_that_a_peer_said() {
    let shown = |text: &str| {
        let message = Message::try_from(text.to_owned()).expect("a message");
        let shown = format!("{message:?}");
        assert!(!shown.contains("s3cret"), "{shown}");
        shown
    };
    let result = shown(r#"{"jsonrpc":"2.0","id":7,"result":{"a":"s3cret"}}"#);
    assert!(result.starts_with("Result { id: 7, bytes: "), "{result}");
    let request = shown(r#"{"jsonrpc":"2.0","id":"x","method":"m","params":{"a":"s3cret"}}"#);
    assert!(request.starts_with(r#"Request { id: "x", method: "m", bytes: "#), "{request}");
    let told = shown(r#"{"jsonrpc":"2.0","method":"m","params":{"a":"s3cret"}}"#);
    assert!(told.starts_with(r#"Notification { method: "m", bytes: "#), "{told}");
    let error = shown(r#"{"jsonrpc":"2.0","id":1.5,"error":{"code":1,"message":"s3cret"}}"#);
    assert!(error.starts_with("Error { id: 1.5, bytes: "), "{error}");
    let malformed = Message::try_from("{}".to_owned()).expect_err("it is none");
    assert!(!malformed.reason().is_empty() && malformed.to_string().contains(malformed.reason()));
}

#[test]
fn only_a_notification_is_of_a_subscription() {
    let request = r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":4}}}"#;
    assert_eq!(Message::parse(request).expect("a message").subscription_id(), None);
}
