//! Numbers that are never used twice, and many calls at once.

use std::collections::HashSet;
use std::future::IntoFuture;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;

use super::peer::status;
use super::{Call, Far, Peer, asks, form, session, settle, stateless, text};

/// The ids of all requests that were sent, in order.
fn ids(peer: &Peer) -> Vec<u64> {
    let sent = peer.sent();
    let requests = sent.iter().filter(|message| message.get("method").is_some());
    requests.filter_map(|request| request["id"].as_u64()).collect()
}

fn assert_fresh(ids: &[u64]) {
    let known: HashSet<_> = ids.iter().collect();
    assert_eq!(known.len(), ids.len(), "each id once");
    assert!(ids.iter().all(|id| *id < 1 << 53));
}

// S-01, BASE-03, INIT-14, MRTR-06
#[tokio::test(start_paused = true)]
async fn ten_thousand_calls_rounds_and_retries_never_use_an_id_twice() {
    let count = Arc::new(AtomicUsize::new(0));
    let peer = Peer::new(move |call: Call| {
        let nth = count.fetch_add(1, Ordering::SeqCst);
        async move {
            let first = call.message["params"].get("inputResponses").is_none();
            match nth % 7 {
                0 if first => call.answer(asks(json!({ "q": form() }), Some("s"))).await,
                1 => {
                    let supported = json!({ "supported": ["2026-07-28"] });
                    let error = json!({ "code": -32022, "message": "again", "data": supported });
                    call.refuse(error).await;
                }
                2 => call.refuse(json!({ "code": -32603, "message": "no" })).await,
                _ => call.answer(text("done")).await,
            }
            Ok(())
        }
    });
    let client = stateless().on_form(|form| async move { form.decline() });
    let client = client.connect(peer.clone()).await.expect("connected");
    for _ in 0..10_000 {
        let _ = client.clone().call_tool("x", ()).await;
    }
    let ids = ids(&peer);
    assert!(ids.len() > 12_000, "{}", ids.len());
    assert_fresh(&ids);
}

// S-01, INIT-14, HTTPL-15, HTTPL-21
#[tokio::test(start_paused = true)]
async fn ids_run_on_over_probes_reopened_transports_and_renewed_sessions() {
    let peer = Peer::own_stream(|call: Call| async move {
        match (call.method.as_str(), call.connection) {
            ("server/discover", _) => {
                call.refuse(json!({ "code": -32601, "message": "unknown" })).await;
            }
            ("initialize", connection) => call.open_session(&format!("s-{connection}")).await,
            ("tools/call", 2 | 3) => return Err(status(404)),
            ("tools/call", _) => call.answer(text("done")).await,
            _ => drop(call.greet().await),
        }
        Ok(())
    });
    let client = crate::Client::connect(peer.clone()).await.expect("a session");
    let calls: Vec<_> =
        (0..50).map(|_| tokio::spawn(client.call_tool("x", ()).into_future())).collect();
    for call in calls {
        let _ = call.await.expect("no panic");
    }
    client.call_tool("x", ()).await.expect("answered");
    assert!(peer.connections() > 2);
    assert_fresh(&ids(&peer));
}

// S-01
#[tokio::test(start_paused = true)]
async fn a_thousand_calls_answered_in_reverse_each_get_their_own_answer() {
    let (client, mut far) = Far::plain().await;
    let calls: Vec<_> = (0..1000)
        .map(|number| {
            let call = client.call_tool("echo", json!({ "number": number }));
            tokio::spawn(async move { call.await.map(|reply| reply.text().to_string()) })
        })
        .collect();
    let mut asked = Vec::new();
    for _ in 0..1000 {
        asked.push(far.read().await);
    }
    for request in asked.iter().rev() {
        let number = &request["params"]["arguments"]["number"];
        far.answer(request, text(&number.to_string())).await;
    }
    for (number, call) in calls.into_iter().enumerate() {
        assert_eq!(call.await.expect("no panic").expect("answered"), number.to_string());
    }
}

// S-01, CAN-05
#[tokio::test(start_paused = true)]
async fn answers_to_nobody_answers_twice_and_answers_of_others_reach_no_call() {
    let (client, mut far) = Far::plain().await;
    let mut call = Box::pin(client.call_tool("slow", ()).into_future());
    assert!(super::once(&mut call).await.is_pending());
    let asked = far.read().await;
    let id = asked["id"].as_u64().expect("a number");
    let answer =
        |id: serde_json::Value| json!({ "jsonrpc": "2.0", "id": id, "result": text("no") });
    far.say_all(&[
        answer(json!(id + 1)),
        answer(json!(id - 1)),
        answer(json!(0)),
        answer(json!(-1)),
        answer(json!(9_007_199_254_740_993_u64)),
        answer(json!("x")),
        json!({ "jsonrpc": "2.0", "id": null, "error": { "code": -32700, "message": "?" } }),
        json!({ "jsonrpc": "2.0", "id": id, "method": "roots/list" }),
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } }),
    ])
    .await;
    assert_eq!(far.read().await["error"]["code"], -32601, "its own number, its own question");
    settle().await;
    assert!(super::once(&mut call).await.is_pending());
    far.answer(&asked, text("yes")).await;
    far.answer(&asked, text("twice")).await;
    assert_eq!(call.await.expect("answered").text(), "yes");
    assert!(far.is_silent().await);
}

// S-01, BASE-10, BASE-16
#[tokio::test(start_paused = true)]
async fn a_result_for_another_request_is_no_answer_though_it_came_on_the_stream_of_this_one() {
    let peer = Peer::own_stream(|call: Call| async move {
        let id = call.id.expect("a request");
        let result = |id: serde_json::Value, said: &str| json!({ "jsonrpc": "2.0", "id": id, "result": text(said) });
        call.say(result(json!(id + 1), "another's")).await;
        call.say(result(json!("x"), "nobody's")).await;
        if call.message["params"]["name"] == "late" {
            call.say(result(json!(id.to_string()), "this one's")).await;
        }
        Ok(())
    });
    let client = stateless().connect(peer.clone()).await.expect("connected");
    assert_eq!(client.call_tool("late", ()).await.expect("answered").text(), "this one's");
    let error = client.call_tool("never", ()).await.expect_err("no answer");
    let fault = error.transport().expect("a transport failure").fault();
    assert_eq!((error.code(), fault), (-32000, crate::types::TransportFault::StreamEnded));
}

// S-01
#[test]
fn clients_calls_and_answers_may_go_from_thread_to_thread() {
    fn crosses<T: Send + Sync>() {}
    fn moves<T: Send>(_: &T) {}
    crosses::<crate::Client>();
    crosses::<crate::Error>();
    let connecting = session().connect(Peer::new(|_| std::future::pending()));
    moves(&connecting);
}
