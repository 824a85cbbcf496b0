//! Connecting: what is sent, what is left behind, what goes with every later message.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use snodo_transport::{Abilities, Connect};
use snodo_types::{Cause, TransportError, TransportFault};

use super::far::question_of;
use super::serving::ada;
use super::{Call, Far, Peer, form, session, settle, stateless, text};
use crate::types::Kind;
use crate::{Client, ProtocolVersion};

/// A server that refuses the probe.
fn old() -> Peer {
    Peer::new(|call: Call| async move {
        if call.method == "server/discover" {
            call.refuse(json!({ "code": -32601, "message": "unknown" })).await;
        }
        call.greet().await;
        Ok(())
    })
}

// S-17
#[tokio::test(start_paused = true)]
async fn the_transport_of_the_probe_is_gone_before_the_next_one_is_made() {
    /// Notes how many transports live whenever another is wanted.
    struct Counting(Peer, Arc<Mutex<Vec<usize>>>);

    impl Connect for Counting {
        type Transport = super::peer::Connection;

        async fn connect(&self) -> Result<Self::Transport, TransportError> {
            self.1.lock().expect("no panic").push(self.0.alive().0);
            self.0.connect().await
        }
    }

    let lives = Arc::new(Mutex::default());
    let peer = old();
    let client = Client::connect(Counting(peer.clone(), Arc::clone(&lives))).await;
    assert_eq!(client.expect("a session").protocol(), super::SESSION);
    assert_eq!(*lives.lock().expect("no panic"), [0, 0]);
    assert_eq!(peer.closed().len(), 1);
}

// S-17
#[tokio::test(start_paused = true)]
async fn a_server_that_cannot_be_reached_again_after_the_probe_is_told_with_its_first_answer() {
    /// Connects once.
    struct Once(Peer);

    impl Connect for Once {
        type Transport = super::peer::Connection;

        async fn connect(&self) -> Result<Self::Transport, TransportError> {
            match self.0.connections() {
                0 => self.0.connect().await,
                _ => Err(TransportError::new(TransportFault::Spawn, "no such program")),
            }
        }
    }

    let error = Client::connect(Once(old())).await.expect_err("it is gone");
    let told = error.to_string();
    assert!(told.contains("no such program") && told.contains("unknown"), "{told}");
    assert!(matches!(error.cause(), Some(Cause::Negotiation { .. })), "{error:?}");
}

// S-13, S-15, S-18
#[tokio::test(start_paused = true)]
async fn versions_are_checked_before_anything_is_connected() {
    let peer = old();
    let error = Client::builder().protocol([]).connect(peer.clone()).await.expect_err("empty");
    assert_eq!((error.code(), error.kind()), (-32602, Kind::Protocol));
    let builder = session().capabilities(json!([1]));
    assert_eq!(builder.connect(peer.clone()).await.expect_err("a list").code(), -32602);
    assert_eq!(peer.connections(), 0);
    let client = stateless().connect(peer.clone()).await.expect("connected");
    assert_eq!((client.protocol(), peer.sent().len()), (super::STATELESS, 0));
    assert!(client.session().is_none());
}

// S-20, INIT-04
#[tokio::test(start_paused = true)]
async fn a_version_that_is_not_allowed_ends_the_connection_unannounced() {
    let peer = Peer::new(|call: Call| async move {
        let info = json!({ "name": "odd", "version": "1" });
        call.answer(
            json!({ "protocolVersion": "2024-11-05", "capabilities": {}, "serverInfo": info }),
        )
        .await;
        Ok(())
    });
    let error = session().connect(peer.clone()).await.expect_err("not allowed");
    assert_eq!((error.code(), error.kind()), (-32602, Kind::Protocol));
    let data: Value = error.data().expect("data").decode().expect("JSON");
    assert_eq!(data, json!({ "negotiated": "2024-11-05", "requested": ["2025-11-25"] }));
    settle().await;
    assert_eq!((peer.methods(), peer.alive()), (vec!["initialize".to_owned()], (0, 0)));
}

// S-21
#[tokio::test(start_paused = true)]
async fn a_transport_that_cannot_notify_opens_no_session() {
    let mute = Abilities { notify: false, ..Abilities::default() };
    let peer = Peer::with(mute, |call: Call| async move {
        call.greet().await;
        Ok(())
    });
    let error = session().connect(peer.clone()).await.expect_err("no session");
    assert_eq!((error.code(), peer.sent().len(), peer.alive()), (-32602, 0, (0, 0)));
}

// S-22, HTTPL-13, HTTPL-18
#[tokio::test(start_paused = true)]
async fn version_and_session_go_with_every_later_message_answers_and_notices_included() {
    type Seen = Arc<Mutex<Vec<(String, Option<String>, Option<String>)>>>;
    let seen = Seen::default();
    let noted = Arc::clone(&seen);
    let peer = Peer::own_stream(move |call: Call| {
        let noted = Arc::clone(&noted);
        async move {
            let routing = |name| call.envelope.routing.value(name).map(str::to_owned);
            let pair = (routing("MCP-Protocol-Version"), routing("Mcp-Session-Id"));
            noted.lock().expect("no panic").push((call.method.clone(), pair.0, pair.1));
            let abandon = call.envelope.abandon.as_ref().map(|notice| notice.routing().clone());
            if call.method == "initialize" {
                assert!(abandon.is_none());
                call.open_session("s-1").await;
            } else if !call.greet().await {
                let abandon = abandon.expect("a notice");
                assert_eq!(abandon.value("Mcp-Session-Id"), Some("s-1"));
                call.say(question_of(1, &form())).await;
                tokio::time::sleep(super::SECOND).await;
                call.answer(text("done")).await;
            }
            Ok(())
        }
    });
    let client = ada().connect(peer.clone()).await.expect("a session");
    client.call_tool("ask", ()).await.expect("answered");
    assert_eq!(client.session().expect("a session").id(), Some("s-1"));
    let seen = seen.lock().expect("no panic");
    let methods: Vec<_> = seen.iter().map(|(method, ..)| method.as_str()).collect();
    assert_eq!(methods, ["initialize", "notifications/initialized", "tools/call", "="]);
    assert_eq!((&seen[0].1, &seen[0].2), (&None, &None));
    for (method, version, session) in &seen[1..] {
        assert_eq!(version.as_deref(), Some("2025-11-25"), "{method}");
        assert_eq!(session.as_deref(), Some("s-1"), "{method}");
    }
}

// INIT-06, INIT-07, INIT-17
#[tokio::test(start_paused = true)]
async fn what_a_server_asks_before_the_session_is_open_is_answered() {
    let (near, mut far) = Far::new(64 * 1024);
    let server = async {
        let hello = far.read().await;
        far.say(json!({ "jsonrpc": "2.0", "id": "early", "method": "ping" })).await;
        assert_eq!(far.read().await, json!({ "jsonrpc": "2.0", "id": "early", "result": {} }));
        far.ask(hello["id"].as_u64().expect("a number"), &form()).await;
        assert_eq!(far.read().await["result"]["content"], json!({ "name": "Ada" }));
        let info = json!({ "name": "far", "version": "1" });
        let version = hello["params"]["protocolVersion"].clone();
        far.answer(
            &hello,
            json!({ "protocolVersion": version, "capabilities": {}, "serverInfo": info }),
        )
        .await;
        far.read().await
    };
    let (client, notice) = tokio::join!(ada().connect(near), server);
    assert_eq!(client.expect("a session").protocol(), ProtocolVersion::V2025_11_25);
    assert_eq!(notice["method"], "notifications/initialized");
}

// INIT-07, HTTPL-03
#[tokio::test(start_paused = true)]
async fn what_a_server_asks_on_the_stream_of_initialize_is_answered_without_a_session() {
    let answered = Arc::new(tokio::sync::Notify::new());
    let peer = Peer::own_stream(move |call: Call| {
        let answered = Arc::clone(&answered);
        async move {
            if call.method == "=" {
                assert_eq!(call.envelope.routing.value("Mcp-Session-Id"), None);
                answered.notify_one();
            }
            if call.method == "initialize" {
                for id in 0..100 {
                    call.say(json!({ "jsonrpc": "2.0", "id": id, "method": "ping" })).await;
                }
                answered.notified().await;
                call.open_session("s-1").await;
            } else {
                call.greet().await;
            }
            Ok(())
        }
    });
    let (waited, client) = super::timed(session().connect(peer.clone())).await;
    let _client = client.expect("a session");
    settle().await;
    assert_eq!((waited, peer.answers().len()), (std::time::Duration::ZERO, 100));
}
