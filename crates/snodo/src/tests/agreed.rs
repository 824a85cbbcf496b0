//! What was agreed on holds: the version the server chose, and what each side declared.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use snodo_types::{
    Content, CreateMessageResult, ElicitResult, MetaKey, Raw, Roots, SubscriptionFilter,
    TraceContext,
};

use super::far::question_of;
use super::{Call, Far, Peer, form, session, settle, text};
use crate::{Builder, Client, ProtocolVersion};

const OLDER: ProtocolVersion = ProtocolVersion::V2025_06_18;

/// A client of a pipe whose server chooses this version and declares this.
async fn choosing(
    builder: Builder,
    version: ProtocolVersion,
    capabilities: Value,
) -> (Client, Far) {
    let (near, mut far) = Far::new(64 * 1024);
    let server = async {
        let hello = far.read().await;
        let info = json!({ "name": "far", "version": "1" });
        let result = json!({ "protocolVersion": version.as_str(), "capabilities": capabilities, "serverInfo": info });
        far.answer(&hello, result).await;
        assert_eq!(far.read().await["method"], "notifications/initialized");
    };
    let (client, ()) = tokio::join!(builder.connect(near), server);
    (client.expect("a session"), far)
}

/// A client of both versions with sessions, which answers everything; and how often it opened a page.
fn answering() -> (Builder, Arc<AtomicUsize>) {
    let pages = Arc::new(AtomicUsize::new(0));
    let opened = Arc::clone(&pages);
    let builder = Client::builder()
        .protocol([ProtocolVersion::V2025_11_25, OLDER])
        .capabilities(json!({ "sampling": { "tools": {} } }))
        .on_form(|form| async move { form.accept(json!({ "name": "Ada" })) })
        .on_url(move |_| {
            opened.fetch_add(1, Ordering::SeqCst);
            async { Ok(ElicitResult::consent()) }
        })
        .on_sampling(|_| async { Ok(CreateMessageResult::new("m", Content::text("hi"))) });
    (builder, pages)
}

fn page() -> Value {
    let params = json!({ "mode": "url", "message": "?", "url": "https://example.com", "elicitationId": "e" });
    json!({ "method": "elicitation/create", "params": params })
}

fn sampling(more: Value) -> Value {
    let mut params = json!({ "messages": [], "maxTokens": 5 });
    for (name, value) in more.as_object().into_iter().flatten() {
        params[name] = value.clone();
    }
    json!({ "method": "sampling/createMessage", "params": params })
}

// INIT-09, INIT-13, SRV-07, SRV-08, SRV-10
#[tokio::test(start_paused = true)]
async fn a_server_that_chose_the_older_version_is_spoken_to_in_it_whatever_was_declared() {
    let tools = || sampling(json!({ "tools": [{ "name": "t", "inputSchema": {} }] }));
    for (version, rich) in [(OLDER, false), (ProtocolVersion::V2025_11_25, true)] {
        let (builder, pages) = answering();
        let (client, mut far) = choosing(builder, version, json!({})).await;
        assert_eq!(client.protocol(), version);
        let table = [
            (page(), rich),
            (tools(), rich),
            (sampling(json!({ "toolChoice": {} })), rich),
            (sampling(json!({})), true),
            (form(), true),
        ];
        for (id, (question, answered)) in table.into_iter().enumerate() {
            far.ask(id as u64, &question).await;
            let answer = far.read().await;
            assert_eq!(answer["id"], id, "{answer}");
            let code = if answered { Value::Null } else { json!(-32602) };
            assert_eq!(answer["error"]["code"], code, "{version}: {question}");
            if question == sampling(json!({})) {
                let one = json!({ "type": "text", "text": "hi" });
                assert_eq!(answer["result"]["content"], one, "one block, and no list of them");
            }
            if question == form() {
                assert_eq!(question["params"].get("mode"), None);
                assert_eq!(answer["result"]["content"], json!({ "name": "Ada" }));
            }
        }
        assert_eq!(pages.load(Ordering::SeqCst), usize::from(rich));
        if !rich {
            let error = client.request("tasks/list", ()).await.expect_err("not of this version");
            assert_eq!(error.code(), -32601);
            assert!(far.is_silent().await);
        }
    }
}

// INIT-13
#[tokio::test(start_paused = true)]
async fn before_the_version_is_known_nothing_is_answered_that_only_some_have() {
    let (builder, pages) = answering();
    let (near, mut far) = Far::new(64 * 1024);
    let server = async {
        let hello = far.read().await;
        far.say(question_of(1, &page())).await;
        assert_eq!(far.read().await["error"]["code"], -32602);
        let info = json!({ "name": "far", "version": "1" });
        let version = ProtocolVersion::V2025_11_25.as_str();
        let result = json!({ "protocolVersion": version, "capabilities": {}, "serverInfo": info });
        far.answer(&hello, result).await;
        assert_eq!(far.read().await["method"], "notifications/initialized");
        // As soon as it was told that the session is open.
        far.say(question_of(2, &page())).await;
        assert_eq!(far.read().await["result"]["action"], "accept");
    };
    let (client, ()) = tokio::join!(builder.connect(near), server);
    let _client = client.expect("a session");
    assert_eq!(pages.load(Ordering::SeqCst), 1);
}

// INIT-09
#[tokio::test(start_paused = true)]
async fn every_message_behind_initialize_is_of_the_version_the_server_chose() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&seen);
    let peer = Peer::own_stream(move |call: Call| {
        let noted = Arc::clone(&noted);
        async move {
            let version = call.envelope.routing.value("MCP-Protocol-Version").map(str::to_owned);
            noted.lock().expect("no panic").push((call.method.clone(), version));
            if call.method == "initialize" {
                let info = json!({ "name": "peer", "version": "1" });
                call.answer(json!({ "protocolVersion": OLDER.as_str(), "capabilities": {}, "serverInfo": info })).await;
            } else if !call.greet().await {
                // A version without rounds of questions makes nothing of this.
                let mut result = text("done");
                result["resultType"] = "input_required".into();
                call.answer(result).await;
            }
            Ok(())
        }
    });
    let client = answering().0.connect(peer.clone()).await.expect("a session");
    assert_eq!(client.call_tool("x", ()).await.expect("answered").text(), "done");
    let seen = seen.lock().expect("no panic");
    let methods: Vec<_> = seen.iter().map(|(method, _)| method.as_str()).collect();
    assert_eq!(methods, ["initialize", "notifications/initialized", "tools/call"]);
    for (method, version) in &seen[1..] {
        assert_eq!(version.as_deref(), Some(OLDER.as_str()), "{method}");
    }
}

// INIT-09, S-61, DISC-07
#[tokio::test(start_paused = true)]
async fn a_subscription_asks_for_nothing_that_the_server_did_not_declare() {
    let declared = json!({ "tools": { "listChanged": true }, "prompts": {}, "resources": {} });
    let (client, mut far) = choosing(session(), super::SESSION, declared).await;
    let filter = || SubscriptionFilter::new().tools_list_changed();
    let asked = filter().prompts_list_changed().resources_list_changed().resource("file:///a");
    let events = client.listen(asked.task("t-1")).await.expect("a part of it");
    assert_eq!(events.accepted(), &filter());
    drop(events);
    assert!(far.is_silent().await);
}

// INIT-09, SRV-04
#[tokio::test(start_paused = true)]
async fn changes_of_roots_are_told_each_time_and_only_where_that_was_declared() {
    let roots = |builder: Builder| builder.on_roots(|_| async { Ok(Roots::new()) });
    let (client, mut far) = choosing(roots(session()), super::SESSION, json!({})).await;
    assert_eq!(client.roots_changed().await.expect_err("not declared").code(), -32602);
    assert!(far.is_silent().await);

    let telling = session().capabilities(json!({ "roots": { "listChanged": true } }));
    let (client, mut far) = choosing(roots(telling), super::SESSION, json!({})).await;
    for _ in 0..2 {
        client.roots_changed().await.expect("told");
        let told = json!({ "jsonrpc": "2.0", "method": "notifications/roots/list_changed" });
        assert_eq!(far.read().await, told);
    }
}

// INIT-16
#[tokio::test(start_paused = true)]
async fn no_key_that_the_older_version_keeps_for_itself_is_written() {
    let (builder, _) = answering();
    let (client, mut far) = choosing(builder, OLDER, json!({})).await;
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let trace = TraceContext::new(parent).expect("a trace");
    let call = client.call_tool("x", ()).progress(drop).trace_context(trace);
    let call = call.log_level(crate::types::LoggingLevel::Info).meta("com.example/tenant", 1);
    let call = tokio::spawn(call.into_future());
    let mut written = vec![far.read().await];
    far.answer(&written[0], text("done")).await;
    call.await.expect("no panic").expect("answered");
    let listing = tokio::spawn(client.list_tools().into_future());
    written.push(far.read().await);
    far.answer(&written[1], json!({ "tools": [] })).await;
    listing.await.expect("no panic").expect("a list");
    far.ask(1, &form()).await;
    written.push(far.read().await);
    let of = |message: &Value, member: &str| message[member]["_meta"].as_object().cloned();
    let metas = written.iter().flat_map(|message| [of(message, "params"), of(message, "result")]);
    let keys: Vec<_> =
        metas.flatten().flat_map(|meta| meta.into_iter().map(|(key, _)| key)).collect();
    assert!(keys.iter().any(|key| key == "progressToken"), "{keys:?}");
    for key in &keys {
        assert!(!MetaKey::parse(key).expect("a key").is_reserved(), "{key}");
    }
}

// SRV-13
#[tokio::test(start_paused = true)]
async fn word_that_a_page_is_done_harms_nothing_known_unknown_or_twice() {
    let told = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&told);
    let builder = answering().0.on_notification(move |notice| {
        assert_eq!(notice.method(), "notifications/elicitation/complete");
        counted.fetch_add(1, Ordering::SeqCst);
    });
    let (client, mut far) = choosing(builder, super::SESSION, json!({})).await;
    let done = |params: Value| json!({ "jsonrpc": "2.0", "method": "notifications/elicitation/complete", "params": params });
    let call = tokio::spawn(client.call_tool("x", ()).into_future());
    let asked = far.read().await;
    far.ask(1, &page()).await;
    assert_eq!(far.read().await["result"], json!({ "action": "accept" }));
    let notices = [json!({ "elicitationId": "e" }), json!({ "elicitationId": "e" })];
    let odd = [json!({ "elicitationId": "other" }), json!({}), json!({ "elicitationId": 7 })];
    for notice in notices.into_iter().chain(odd) {
        far.say(done(notice)).await;
    }
    settle().await;
    assert_eq!(told.load(Ordering::SeqCst), 5);
    assert!(!call.is_finished(), "the call waits for its own answer");
    far.answer(&asked, text("done")).await;
    assert_eq!(call.await.expect("no panic").expect("answered").text(), "done");
    assert!(far.is_silent().await, "nothing of it is answered");
}

// BASE-11
#[tokio::test(start_paused = true)]
async fn an_error_of_no_request_is_told_on_every_version_and_fails_no_call() {
    for stateless in [true, false] {
        let codes = Arc::new(Mutex::new(Vec::new()));
        let told = Arc::clone(&codes);
        let telling = move |error: crate::Error| {
            let mut told = told.lock().expect("it panics behind it");
            told.push(error.code());
            drop(told);
            assert_ne!(error.code(), -32700, "a caller's mistake");
        };
        let (client, mut far) = if stateless {
            let (near, far) = Far::new(64 * 1024);
            let builder = super::stateless().on_stray_error(telling);
            (builder.connect(near).await.expect("connected"), far)
        } else {
            choosing(session().on_stray_error(telling), super::SESSION, json!({})).await
        };
        let call = tokio::spawn(client.call_tool("x", ()).into_future());
        let asked = far.read().await;
        let stray =
            |code: i64| json!({ "jsonrpc": "2.0", "error": { "code": code, "message": "bad" } });
        far.say_all(&[stray(-32700), stray(-32600)]).await;
        settle().await;
        assert_eq!(*codes.lock().expect("no panic"), [-32700, -32600], "{stateless}");
        far.answer(&asked, text("done")).await;
        assert_eq!(call.await.expect("no panic").expect("answered").text(), "done");
    }
}

// INIT-04
#[tokio::test(start_paused = true)]
async fn a_session_in_a_version_that_is_not_allowed_is_ended_at_the_server() {
    let peer = Peer::own_stream(|call: Call| async move {
        if call.method == "initialize" {
            call.open_session_in("2031-01-01", "s-1").await;
        }
        Ok(())
    });
    let error = session().connect(peer.clone()).await.expect_err("not allowed");
    let data: Value = error.data().map(Raw::decode).expect("data").expect("JSON");
    assert_eq!(data["negotiated"], "2031-01-01");
    assert_eq!(peer.closed_sessions(), ["s-1"]);
    assert_eq!((peer.methods(), peer.alive()), (vec!["initialize".to_owned()], (0, 0)));
}
