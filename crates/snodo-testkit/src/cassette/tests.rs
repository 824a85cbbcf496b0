//! Sessions recorded and replayed.

use std::time::Duration;

use snodo_transport::{Connect, Exchange, Incoming, Transport, from_fn};
use snodo_types::{
    Body, Envelope, Message, Outside, Routing, SessionId, TransportError, TransportFault,
};

use super::{Recorder, Replay};
use crate::{Peer, Transcript, check_transport};

fn replay(text: &str) -> Replay {
    Replay::new(&Transcript::parse("t", text).expect("a transcript"))
}

fn request(id: u64, method: &str, params: &str) -> Envelope {
    Message::request(&id.into(), method, Some(params)).into()
}

/// What an exchange gives, up to its end: texts, `sent`, `! ` and a failure, `…` where it waits.
async fn all(exchange: &mut Exchange) -> Vec<String> {
    let mut seen = Vec::new();
    loop {
        let next = tokio::time::timeout(Duration::from_millis(20), exchange.next()).await;
        seen.push(match next {
            Err(_) => "…".to_owned(),
            Ok(None) => return seen,
            Ok(Some(Ok(Incoming::Message(message)))) => message.text().to_owned(),
            Ok(Some(Ok(_))) => "sent".to_owned(),
            Ok(Some(Err(error))) => format!("! {error}"),
        });
        if seen.last().is_some_and(|last| last == "…") {
            return seen;
        }
    }
}

async fn ask(transport: &impl Transport, id: u64, method: &str, params: &str) -> Vec<String> {
    all(&mut transport.exchange(request(id, method, params))).await
}

// S-12
#[tokio::test]
async fn a_recorder_takes_nothing_from_the_transport_below() {
    let peer = Peer::new();
    check_transport(&Recorder::new(peer.clone()), &peer).await.expect("every rule");
}

#[tokio::test(start_paused = true)]
async fn a_session_is_written_down_and_played_back_under_other_ids() {
    let recorder = Recorder::new(Peer::new());
    let transport = recorder.connect().await.expect("a connection");
    let counted = ask(&transport, 7, "count", r#"{"to":2,"text":"x"}"#).await;
    let failed = ask(&transport, 8, "fail", r#"{"a":1}"#).await;
    let told = Envelope::notification(r#"{"jsonrpc":"2.0","method":"told"}"#.to_owned());
    assert_eq!(all(&mut transport.exchange(told)).await, ["sent"]);
    assert_eq!((counted.len(), failed.len()), (3, 1));
    assert_eq!(
        recorder.text(),
        concat!(
            "# Recorded from the server.\n",
            "@ abilities notify listen own_stream same_task\n",
            r#"> {"id":"$7","method":"count","params":{"to":2,"text":"x"}}"#,
            "\n",
            r#"< {"jsonrpc":"2.0","method":"notifications/progress","params":{"message":"x","progress":1,"progressToken":"$7"}}"#,
            "\n",
            r#"< {"jsonrpc":"2.0","method":"notifications/progress","params":{"message":"x","progress":2,"progressToken":"$7"}}"#,
            "\n",
            r#"< {"jsonrpc":"2.0","id":"$7","result":{}}"#,
            "\n",
            r#"> {"id":"$8","method":"fail","params":{"a":1}}"#,
            "\n",
            r#"< {"jsonrpc":"2.0","id":"$8","error":{"code":-32000,"message":"as asked","data":{"a":1}}}"#,
            "\n",
            "> {\"method\":\"told\"}\n",
        )
    );

    let replay = Replay::new(&recorder.transcript("t").expect("a transcript"));
    let transport = replay.connect().await.expect("a connection");
    // The other way round, and under other ids.
    let swap = |texts: Vec<String>, from: u64, to: u64| -> Vec<String> {
        let replace = |text: String| {
            text.replace(&format!("\"id\":{from}"), &format!("\"id\":{to}"))
                .replace(&format!("\"progressToken\":{from}"), &format!("\"progressToken\":{to}"))
        };
        texts.into_iter().map(replace).collect()
    };
    let again = ask(&transport, 1, "fail", r#"{"a":1,"_meta":{"x":1}}"#).await;
    assert_eq!(again, swap(failed, 8, 1));
    assert!(replay.finish().is_err());
    let again = ask(&transport, 2, "count", r#"{"text":"x","to":2}"#).await;
    assert_eq!(again, swap(counted, 7, 2));
    replay.finish().expect("every line");
}

#[tokio::test(start_paused = true)]
async fn no_secret_gets_into_a_recording() {
    let server = from_fn(|envelope| async move {
        let result = r#"{"my-tenant":1,"accessToken":"tok-1","pin":1234,"text":"Bearer abcDEF123 and my-tenant, $5","user":"$ref"}"#;
        let session = SessionId::new("session-1");
        let message = envelope.id.map(|id| Message::result(&id.into(), result));
        Ok(message.map(|message| {
            message.with_outside(Outside { session, status: Some(202), ..Outside::default() })
        }))
    });
    let recorder = Recorder::new(server);
    recorder.hide_text("my-tenant");
    recorder.hide_member("p-i-n");
    let transport = recorder.connect().await.expect("a connection");
    let params = r#"{"_meta":{"x":"meta-1"},"password":"pw-1","a":{"apiKey":["key-1"],"b":"$5","c":"is my-tenant"}}"#;
    let mut envelope = request(1, "log", params);
    envelope.routing = Routing::new().with("authorization", "routed-1");
    let said = all(&mut transport.exchange(envelope)).await;
    let text = recorder.text();
    for secret in [
        "tok-1",
        "1234",
        "abcDEF123",
        "my-tenant",
        "session-1",
        "meta-1",
        "pw-1",
        "key-1",
        "routed-1",
    ] {
        assert!(!text.contains(secret), "{secret} stands in {text}");
    }
    assert!(!format!("{recorder:?} {transport:?}").contains("my-tenant"));
    assert!(said[0].contains("my-tenant"), "who asked is told everything");

    // What was hidden stands for anything on the way back, and what looks like a name is none.
    let replay = Replay::new(&recorder.transcript("t").expect("a transcript"));
    let transport = replay.connect().await.expect("a connection");
    let params = r#"{"password":"other","a":{"apiKey":["other"],"b":"$5","c":"other"}}"#;
    let mut exchange = transport.exchange(request(1, "log", params));
    let Some(Ok(Incoming::Message(message))) = exchange.next().await else { panic!("an answer") };
    let Body::Result { result, .. } = message.body() else { panic!("a result") };
    let result: serde_json::Value = serde_json::from_str(result).expect("JSON");
    assert_eq!(result["user"], "$ref");
    assert_eq!(result["pin"], 0);
    assert_eq!(result["accessToken"], "(hidden)");
    let outside = message.outside().expect("a session");
    assert_eq!(outside.session.as_ref().map(SessionId::as_str), Some("s1"));
    assert_eq!(outside.status, Some(202));
}

#[tokio::test(start_paused = true)]
async fn failures_come_back_as_what_they_were() {
    let server = from_fn(|envelope| async move {
        Err::<Option<Message>, _>(match envelope.id {
            Some(1) => TransportError::new(TransportFault::Status, "HTTP 503: later,\nplease")
                .with_status(503)
                .with_retry_after(Duration::from_secs(2)),
            Some(2) => {
                TransportError::new(TransportFault::Exited, "it exited").with_exit("signal 9")
            }
            _ => TransportError::new(TransportFault::Connect, "refused").not_processed(),
        })
    });
    let recorder = Recorder::new(server);
    let transport = recorder.connect().await.expect("a connection");
    let mut errors = Vec::new();
    for id in 1..=3 {
        errors.push(transport.exchange(request(id, "ask", r#"{"n":1}"#)).next().await);
    }
    let replay = Replay::new(&recorder.transcript("t").expect("a transcript"));
    let transport = replay.connect().await.expect("a connection");
    for (id, before) in (11..).zip(errors) {
        let after = transport.exchange(request(id, "ask", r#"{"n":1}"#)).next().await;
        let (Some(Err(before)), Some(Err(after))) = (before, after) else { panic!("two failures") };
        assert_eq!(before.message().replace('\n', " "), after.message());
        assert_eq!(
            (
                before.fault(),
                before.status(),
                before.retry_after(),
                before.exit(),
                before.processed()
            ),
            (after.fault(), after.status(), after.retry_after(), after.exit(), after.processed()),
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_could_not_be_made_cannot_be_made_again() {
    let connect = snodo_transport::connect_fn(|| async {
        Err::<Peer, _>(TransportError::new(TransportFault::Spawn, "no such program"))
    });
    let recorder = Recorder::new(connect);
    assert!(recorder.connect().await.is_err());
    assert!(recorder.connect().await.is_err());
    let replay = Replay::new(&recorder.transcript("t").expect("a transcript"));
    for _ in 0..2 {
        let error = replay.connect().await.expect_err("no server");
        assert_eq!((error.fault(), error.message()), (TransportFault::Spawn, "no such program"));
    }
}

#[tokio::test(start_paused = true)]
async fn an_exchange_that_is_given_up_is_written_as_such_and_one_that_was_answered_is_not() {
    let peer = Peer::new();
    let recorder = Recorder::new(peer.clone());
    let transport = recorder.connect().await.expect("a connection");
    let mut held = transport.exchange(request(1, "hold", "{}"));
    assert!(tokio::time::timeout(Duration::from_millis(1), held.next()).await.is_err());
    drop(held);
    let mut answered = transport.exchange(request(2, "echo", "{}"));
    assert!(answered.next().await.is_some());
    drop(answered);
    drop(transport.exchange(request(3, "echo", "{}")));
    let text = recorder.text();
    assert_eq!(text.matches("closes").count(), 1, "{text}");
    assert!(text.contains("> closes \"$1\"\n") && !text.contains("$3"), "{text}");

    // Nobody gives up this time: the answer that never came does not come.
    let replay = Replay::new(&recorder.transcript("t").expect("a transcript"));
    let transport = replay.connect().await.expect("a connection");
    assert_eq!(ask(&transport, 5, "hold", "{}").await, ["…"]);
    assert_eq!(ask(&transport, 6, "echo", "{}").await.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_recording_that_is_full_says_so() {
    let recorder = Recorder::with_max_bytes(Peer::new(), 100);
    let transport = recorder.connect().await.expect("a connection");
    for id in 1..=3 {
        ask(&transport, id, "echo", r#"{"a":"some words"}"#).await;
    }
    assert!(recorder.is_full());
    assert!(recorder.text().ends_with("# The recording was full here, at 100 bytes.\n"));
    recorder.transcript("t").expect("it can still be read");
}

#[tokio::test(start_paused = true)]
async fn a_request_without_a_line_is_unknown_and_told() {
    let replay = replay(
        "> {\"id\":\"$a\",\"method\":\"ping\"}\n< {\"jsonrpc\":\"2.0\",\"id\":\"$a\",\"result\":{}}",
    );
    let transport = replay.connect().await.expect("a connection");
    assert!(ask(&transport, 1, "tools/list", "{}").await[0].contains("-32601"));
    assert_eq!(ask(&transport, 2, "ping", "{}").await.len(), 1);
    assert!(ask(&transport, 3, "ping", "{}").await[0].contains("-32601"), "each line serves once");
    let told = replay.finish().expect_err("two strays").to_string();
    assert_eq!(told.matches("no line for").count(), 2, "{told}");
    assert!(told.contains(r#""method":"tools/list""#), "{told}");
}

#[tokio::test(start_paused = true)]
async fn the_line_that_is_equal_is_preferred_to_one_that_is_held() {
    let replay = replay(concat!(
        "> {\"id\":\"$a\",\"method\":\"list\"}\n< {\"jsonrpc\":\"2.0\",\"id\":\"$a\",\"result\":{\"page\":1}}\n",
        "> {\"id\":\"$b\",\"method\":\"list\",\"params\":{\"cursor\":\"2\"}}\n< {\"jsonrpc\":\"2.0\",\"id\":\"$b\",\"result\":{\"page\":2}}\n",
    ));
    let transport = replay.connect().await.expect("a connection");
    assert!(ask(&transport, 1, "list", r#"{"cursor":"2"}"#).await[0].contains("\"page\":2"));
    assert!(ask(&transport, 2, "list", r#"{"more":true}"#).await[0].contains("\"page\":1"));
}

#[tokio::test(start_paused = true)]
async fn an_answer_waits_for_what_the_client_says_to_a_question_before_it() {
    let replay = replay(concat!(
        "> {\"id\":\"$a\",\"method\":\"call\"}\n",
        "< {\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"roots/list\"}\n",
        "> {\"id\":\"q\",\"result\":{\"roots\":[]}}\n",
        "< {\"jsonrpc\":\"2.0\",\"id\":\"$a\",\"result\":{}}\n",
        "< {\"jsonrpc\":\"2.0\",\"method\":\"later\"}\n@ closes",
    ));
    let transport = replay.connect().await.expect("a connection");
    let mut unasked = transport.unsolicited(Routing::new()).expect("it has one");
    let mut call = transport.exchange(request(1, "call", "{}"));
    assert_eq!(all(&mut call).await, ["…"]);
    assert!(all(&mut unasked).await[0].contains("roots/list"));
    let said =
        Envelope::notification(r#"{"jsonrpc":"2.0","id":"q","result":{"roots":[]}}"#.to_owned());
    assert_eq!(all(&mut transport.exchange(said)).await, ["sent"]);
    assert_eq!(all(&mut call).await.len(), 1);
    let rest = all(&mut unasked).await;
    assert!(rest[0].contains("later"), "{rest:?}");
    assert_eq!(rest[1], "! the server ended the connection");
    assert_eq!(ask(&transport, 2, "call", "{}").await, ["! the server ended the connection"]);
    replay.finish().expect("everything");
}

#[tokio::test(start_paused = true)]
async fn an_event_waits_for_what_the_client_did_before_it() {
    let meta = r#""_meta":{"io.modelcontextprotocol/subscriptionId":"$l"}"#;
    let replay = replay(&format!(
        "> {{\"id\":\"$l\",\"method\":\"listen\"}}\n\
         > {{\"id\":\"$a\",\"method\":\"call\"}}\n< {{\"jsonrpc\":\"2.0\",\"id\":\"$a\",\"result\":{{}}}}\n\
         < {{\"jsonrpc\":\"2.0\",\"method\":\"event\",\"params\":{{{meta}}}}}\n",
    ));
    let transport = replay.connect().await.expect("a connection");
    let mut envelope = request(3, "listen", "{}");
    envelope.listen = true;
    let mut listening = transport.exchange(envelope);
    assert_eq!(all(&mut listening).await, ["…"]);
    assert_eq!(ask(&transport, 4, "call", "{}").await.len(), 1);
    let events = all(&mut listening).await;
    assert!(events[0].contains("\"io.modelcontextprotocol/subscriptionId\":3"), "{events:?}");
    assert_eq!(events[1], "…");
}

#[tokio::test(start_paused = true)]
async fn each_connection_plays_its_own_lines_and_the_last_ones_again() {
    let line = |page: u8| {
        format!(
            "> {{\"id\":\"$a\",\"method\":\"ask\"}}\n< {{\"jsonrpc\":\"2.0\",\"id\":\"$a\",\"result\":{{\"page\":{page}}}}}\n"
        )
    };
    let replay = replay(&format!(
        "{}! {{\"message\":\"gone\"}}\n> reopens\n{}{}",
        line(1),
        line(2),
        line(3)
    ));
    for (page, id) in [(1, 5), (2, 6), (3, 7)] {
        let transport = replay.connect().await.expect("a connection");
        let answer = ask(&transport, id, "ask", "{}").await;
        assert_eq!(
            answer,
            [format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"page":{page}}}}}"#)]
        );
        let after = ask(&transport, 9, "ping", "{}").await;
        assert_eq!(after[0].starts_with("! gone"), page == 1, "{after:?}");
    }
}
