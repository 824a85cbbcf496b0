//! What an answer is read as.

use serde_json::json;
use snodo_types::{Cause, Error, Message, Outcome, ProtocolVersion};

use super::{V25A, V25B, V26};
use crate::{Outfit, Params, Request, dialect};

fn read(
    version: ProtocolVersion,
    method: &'static str,
    text: &str,
) -> Result<Outcome<Message>, Error> {
    let answer = Message::parse(text).expect("a message");
    dialect(version).read(&Request::new(method, Params::new()), answer, &Outfit::default())
}

fn result(version: ProtocolVersion, result: &str) -> Result<Outcome<Message>, Error> {
    read(version, "tools/call", &format!(r#"{{"jsonrpc":"2.0","id":5,"result":{result}}}"#))
}

fn is_complete(outcome: &Result<Outcome<Message>, Error>) -> bool {
    matches!(outcome, Ok(Outcome::Complete(_)))
}

// BASE-07, BASE-12
#[test]
fn a_result_without_a_type_is_complete_whatever_else_is_in_it() {
    let deep = format!(r#"{{"x":{}{}}}"#, "[".repeat(10_000), "]".repeat(10_000));
    let results = [
        "{}",
        r#"{"resultType":"complete"}"#,
        r#"{"more":1,"resultType":"complete","_meta":5}"#,
        r#"{"resultType":"\u0063omplete"}"#,
        r#"{"resultType":null}"#,
        r#"{"nested":{"resultType":"input_required"}}"#,
        r#"{"resulttype":"task"}"#,
        r#"{"same":1,"same":2}"#,
        &deep,
    ];
    for text in results {
        for version in [V26, V25B, V25A] {
            let outcome = result(version, text);
            let Ok(Outcome::Complete(answer)) = outcome else { panic!("{text}: {outcome:?}") };
            assert!(answer.text().contains(text), "kept as it came");
        }
    }
}

// BASE-08
#[test]
fn of_a_type_that_is_told_twice_the_last_counts() {
    let twice = |first: &str, last: &str| {
        result(V26, &format!(r#"{{"resultType":"{first}","a":1,"resultType":"{last}"}}"#))
    };
    assert!(is_complete(&twice("complete", "complete")));
    assert!(is_complete(&twice("task", "complete")));
    let error = twice("complete", "task").expect_err("unknown");
    assert!(matches!(error.cause(), Some(Cause::UnknownResultType(name)) if name == "task"));
    assert!(is_complete(&result(V26, r#"{"resultType":"task","resultType":null}"#)));
}

// BASE-08
#[test]
fn a_type_that_is_no_text_cannot_be_read() {
    for value in ["5", "true", "{}", r#"["complete"]"#] {
        let error = result(V26, &format!(r#"{{"resultType":{value}}}"#)).expect_err(value);
        assert!(matches!(error.cause(), Some(Cause::Decode(_))), "{error:?}");
    }
}

// MRTR-01, MRTR-03
#[test]
fn a_result_that_asks_is_read_with_its_requests_and_its_state() {
    let asking = json!({
        "resultType": "input_required",
        "inputRequests": {
            "2": { "method": "roots/list" },
            "10": { "method": "elicitation/create", "params": { "message": "m" } },
        },
        "requestState": "",
    });
    let outcome = result(V26, &asking.to_string());
    let Ok(Outcome::InputRequired(asked)) = outcome else { panic!("{outcome:?}") };
    let requests: Vec<_> =
        asked.requests().map(|(id, request)| (id, request.method.as_str())).collect();
    assert_eq!(requests, [("10", "elicitation/create"), ("2", "roots/list")]);
    assert_eq!(asked.request_state.map(|state| state.as_str().len()), Some(0));
}

// MRTR-02
#[test]
fn a_method_that_may_not_be_answered_by_asking_says_so() {
    let text = r#"{"jsonrpc":"2.0","id":5,"result":{"resultType":"input_required"}}"#;
    for method in ["tools/list", "server/discover", "com.example/do"] {
        let error = read(V26, method, text).expect_err(method);
        assert!(error.message().contains(method), "{}", error.message());
    }
}

// BASE-10
#[test]
fn an_error_is_the_server_s_own_in_every_version() {
    let text = r#"{"jsonrpc":"2.0","id":5,"error":{"code":-32602,"message":"no","data":{"uri":"u"},"more":1}}"#;
    for version in [V26, V25B, V25A] {
        let error = read(version, "resources/read", text).expect_err("an error");
        assert_eq!((error.code(), error.message()), (-32602, "no"));
        assert_eq!(
            error.data().map(|data| data.text().to_owned()).as_deref(),
            Some(r#"{"uri":"u"}"#)
        );
        assert!(error.cause().is_none());
    }
}

#[test]
fn what_is_no_response_is_no_answer() {
    for text in [
        r#"{"jsonrpc":"2.0","id":5,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/message"}"#,
    ] {
        for version in [V26, V25B] {
            assert_eq!(read(version, "tools/call", text).expect_err("no response").code(), -32000);
        }
    }
}
