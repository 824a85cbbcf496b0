//! Every failure that the documentation names: its kind, code, data and cause, and how it reads.

use std::future::IntoFuture;

use serde_json::{Value, json};
use snodo_transport::Incoming;

use super::peer::status;
use super::{Call, Peer, session, stateless};
use crate::types::{Cause, Kind, TransportError, TransportFault};
use crate::{Client, Error};

/// A stateless peer that answers everything with this result.
async fn result(result: Value) -> Client {
    let peer = Peer::new(move |call: Call| {
        let result = result.clone();
        async move {
            call.answer(result).await;
            Ok(())
        }
    });
    stateless().connect(peer).await.expect("connected")
}

/// The same with an error object.
async fn error(error: Value) -> Client {
    let peer = Peer::new(move |call: Call| {
        let error = error.clone();
        async move {
            call.refuse(error).await;
            Ok(())
        }
    });
    stateless().connect(peer).await.expect("connected")
}

fn data(error: &Error) -> Option<Value> {
    error.data().map(|data| data.decode().expect("JSON"))
}

// S-04, ERR-01
#[tokio::test(start_paused = true)]
async fn a_server_s_error_keeps_code_message_and_data_and_its_kind_follows_the_code() {
    let table = [
        (-32700, Kind::JsonRpc),
        (-32600, Kind::JsonRpc),
        (-32601, Kind::Protocol),
        (-32602, Kind::Protocol),
        (-32603, Kind::Execution),
        (-32000, Kind::Protocol),
        (-32001, Kind::Protocol),
        (-32042, Kind::Protocol),
        (0, Kind::Protocol),
        (i64::MAX, Kind::Protocol),
        (i64::MIN, Kind::Protocol),
    ];
    for (code, kind) in table {
        let client = error(json!({ "code": code, "message": "m", "data": { "x": [1] } })).await;
        let error = client.call_tool("x", ()).await.expect_err("refused");
        assert_eq!((error.code(), error.kind(), error.message()), (code, kind, "m"));
        assert_eq!(data(&error), Some(json!({ "x": [1] })));
        assert!(error.cause().is_none() && error.transport().is_none());
        assert!(!error.is_timeout() && !error.is_closed(), "{code} is the server's own word");
        assert_eq!(error.to_string(), format!("tools/call \"x\" at the peer: m ({code})"));
    }
}

// S-05
#[tokio::test(start_paused = true)]
async fn an_error_says_which_tool_prompt_or_resource_it_is_about() {
    let client = error(json!({ "code": -32602, "message": "m" })).await;
    let said = [
        client.get_prompt("p", ()).await.expect_err("refused").to_string(),
        client.read_resource("file:///a").await.expect_err("refused").to_string(),
        client.read_resource("https://ada:pw@a/b?key=1").await.expect_err("refused").to_string(),
        client.call_tool("x", "text").await.expect_err("no object").to_string(),
        client.list_page(crate::ListKind::TOOLS, None).await.expect_err("refused").to_string(),
    ];
    let expected = [
        "prompts/get \"p\" at the peer: m (-32602)",
        "resources/read \"file:///a\" at the peer: m (-32602)",
        "resources/read \"https://a/b?…\" at the peer: m (-32602)",
        "tools/call \"x\" at the peer: arguments are a JSON object, and a string was given (-32602)",
        "tools/list at the peer: m (-32602)",
    ];
    assert_eq!(said, expected);
}

// ERR-01
#[tokio::test(start_paused = true)]
async fn an_error_object_that_is_none_is_an_answer_that_cannot_be_read() {
    for object in [json!({}), json!({ "code": "x", "message": 5 }), json!({ "message": "m" })] {
        let client = error(object.clone()).await;
        let error = client.call_tool("x", ()).await.expect_err("refused");
        assert!(!error.to_string().is_empty() && error.code() < 0, "{object}: {error:?}");
    }
}

// S-05
#[tokio::test(start_paused = true)]
async fn a_transport_s_failure_is_told_by_its_class_and_never_by_the_server_s_codes() {
    let failure = |fault: TransportFault| TransportError::new(fault, "it broke");
    let table = [
        (failure(TransportFault::Closed), Kind::Transport, -32000, true),
        (failure(TransportFault::Exited), Kind::Transport, -32000, true),
        (failure(TransportFault::StreamEnded), Kind::Transport, -32000, false),
        (failure(TransportFault::Malformed), Kind::Transport, -32000, false),
        (failure(TransportFault::TooLarge), Kind::Transport, -32000, false),
        (failure(TransportFault::Timeout), Kind::Transport, -32001, false),
        (failure(TransportFault::Credentials), Kind::Authorization, -32000, false),
        (status(401), Kind::Authorization, -32000, false),
        (status(403), Kind::Authorization, -32000, false),
        (status(500), Kind::Transport, -32000, false),
    ];
    for (failure, kind, code, closed) in table {
        let failed = failure.clone();
        let peer = Peer::own_stream(move |_| std::future::ready(Err(failed.clone())));
        let client = stateless().connect(peer).await.expect("connected");
        let error = client.call_tool("x", ()).await.expect_err("it broke");
        assert_eq!(
            (error.kind(), error.code(), error.is_closed()),
            (kind, code, closed),
            "{failure:?}"
        );
        assert!(matches!(error.cause(), Some(Cause::Transport(_))));
        assert_eq!(error.transport().expect("below").fault(), failure.fault());
        assert_eq!(error.is_timeout(), failure.fault() == TransportFault::Timeout);
        assert!(std::error::Error::source(&error).is_some());
        assert!(error.to_string().starts_with("tools/call \"x\" at the peer: "), "{error}");
    }
}

// S-05
#[tokio::test(start_paused = true)]
async fn a_stream_that_ends_or_is_cut_without_an_answer_is_a_failure() {
    let peer = Peer::own_stream(|call: Call| async move {
        call.progress(1).await;
        call.tell(Incoming::Sent).await;
        call.tell(Incoming::Dropped(3)).await;
        Ok(())
    });
    let client = stateless().connect(peer).await.expect("connected");
    let error = client.call_tool("x", ()).await.expect_err("no answer");
    assert_eq!(error.transport().expect("below").fault(), TransportFault::StreamEnded);
}

// S-05, BASE-07, BASE-08, MRTR-02
#[tokio::test(start_paused = true)]
async fn a_result_of_the_wrong_kind_is_an_error_that_says_what_is_wrong() {
    for odd in [json!({ "content": 5 }), json!({ "contents": 7, "content": "x" })] {
        let error = result(odd.clone()).await.call_tool("x", ()).await;
        let Err(error) = error else { continue };
        assert_eq!((error.kind(), error.code()), (Kind::Transport, -32000), "{odd}");
        assert!(matches!(error.cause(), Some(Cause::Decode(_))), "{odd}: {error:?}");
    }
    let client = result(json!({ "resultType": "surprise" })).await;
    let error = client.call_tool("x", ()).await.expect_err("nobody announced it");
    assert!(
        matches!(error.cause(), Some(Cause::UnknownResultType(name)) if name == "surprise"),
        "{error:?}"
    );
    let client = result(json!({ "resultType": "input_required", "requestState": "s" })).await;
    for error in [
        client.list_tools().await.expect_err("it may not ask"),
        client.discover().await.expect_err("it may not ask"),
        client.complete(&completion()).await.expect_err("it may not ask"),
    ] {
        assert_eq!((error.kind(), error.code()), (Kind::Transport, -32000), "{error:?}");
    }
}

fn completion() -> crate::types::CompleteParams {
    serde_json::from_value(json!({
        "ref": { "type": "ref/prompt", "name": "p" }, "argument": { "name": "a", "value": "" }
    }))
    .expect("parameters")
}

// S-36, S-37, S-38
#[tokio::test(start_paused = true)]
async fn what_a_caller_gets_wrong_is_refused_before_anything_is_sent() {
    let peer = Peer::new(|call: Call| async move {
        call.greet().await;
        Ok(())
    });
    let old = session().connect(peer.clone()).await.expect("a session");
    let sent = peer.sent().len();
    let new = stateless().connect(peer.clone()).await.expect("connected");
    let table = [
        (old.discover().into_future_error().await, -32601),
        (old.request("no/such", ()).into_future_error().await, -32601),
        (old.request("elicitation/create", ()).into_future_error().await, -32601),
        (old.request("notifications/initialized", ()).into_future_error().await, -32601),
        (old.request("subscriptions/listen", ()).into_future_error().await, -32602),
        (new.request("subscriptions/listen", ()).into_future_error().await, -32602),
        (new.request("roots/list", ()).into_future_error().await, -32601),
        (new.request("notifications/cancelled", ()).into_future_error().await, -32601),
        (new.request("tools/call", [1]).into_future_error().await, -32602),
        (new.request("tools/call", "x").into_future_error().await, -32602),
        (new.call_tool("x", [1]).into_future_error().await, -32602),
        (new.call_tool("x", f64::NAN.to_string()).into_future_error().await, -32602),
        (new.ping().progress(|_| {}).meta("progressToken", 5).into_future_error().await, -32602),
        (new.ping().header("host", "x").into_future_error().await, -32602),
        (new.ping().header("x-y", "a\r\nb: c").into_future_error().await, -32602),
    ];
    for (number, (error, code)) in table.iter().enumerate() {
        assert_eq!((error.code(), error.kind()), (*code, Kind::Protocol), "{number}: {error}");
    }
    let refused = data(&table[1].0).expect("data");
    assert_eq!(refused, json!({ "method": "no/such", "protocolVersion": "2025-11-25" }));
    assert_eq!(peer.sent().len(), sent);
}

/// Awaits the error of a request.
trait IntoFutureError {
    async fn into_future_error(self) -> Error;
}

impl<T: serde::de::DeserializeOwned> IntoFutureError for crate::Request<T> {
    async fn into_future_error(self) -> Error {
        match self.into_future().await {
            Err(error) => error,
            Ok(_) => panic!("it was sent"),
        }
    }
}

// S-04
#[tokio::test(start_paused = true)]
async fn nothing_that_a_server_says_steers_the_terminal_of_who_prints_an_error() {
    let nasty = "\u{1b}[2J\u{1b}]0;x\u{7}\r\n\u{9b}31m\u{0}\u{8}\u{7f}\u{202e}";
    let client = error(json!({ "code": 1, "message": nasty, "data": nasty })).await;
    let request = client.request(format!("x/{nasty}"), ());
    let error = request.await.expect_err("refused");
    for shown in [error.to_string(), format!("{error:?}")] {
        assert!(!shown.chars().any(char::is_control), "{shown:?}");
    }
    assert_eq!(error.message(), nasty, "who asks for it gets it as it came");
}

// S-17
#[tokio::test(start_paused = true)]
async fn where_both_eras_fail_the_error_tells_both_answers() {
    let peer = Peer::new(|call: Call| async move {
        match call.method.as_str() {
            "server/discover" => call.refuse(json!({ "code": -32601, "message": "what?" })).await,
            _ => call.refuse(json!({ "code": -32603, "message": "no room", "data": 7 })).await,
        }
        Ok(())
    });
    let error = Client::connect(peer.clone()).await.expect_err("neither");
    assert_eq!(
        (error.kind(), error.code(), data(&error)),
        (Kind::Execution, -32603, Some(json!(7)))
    );
    let Some(Cause::Negotiation { probe, initialize }) = error.cause() else { panic!("{error:?}") };
    assert_eq!((probe.message(), initialize.message()), ("what?", "no room"));
    let shown = error.to_string();
    assert!(shown.starts_with("initialize at the peer: ") && shown.contains("what?"), "{shown}");
    super::settle().await;
    assert_eq!(peer.alive(), (0, 0));
}
