//! A transport of a crate that knows the seam and the words only.

use custom_transport::Bus;
use serde_json::{Value, json};
use snodo::Client;
use snodo_testkit::{Peer, check_transport};
use snodo_types::{Kind, ProtocolVersion};

/// Answers discovery and calls of a tool, and tells progress to who wants it.
fn orders(text: &str) -> Vec<String> {
    let request: Value = serde_json::from_str(text).expect("JSON");
    let result = match request["method"].as_str() {
        Some("server/discover") => {
            json!({ "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} } })
        }
        Some("tools/call") => {
            let text = format!("ordered {}", request["params"]["arguments"]["what"]);
            json!({ "content": [{ "type": "text", "text": text }] })
        }
        _ => return Vec::new(),
    };
    let mut said = Vec::new();
    if let Some(token) = request["params"]["_meta"].get("progressToken") {
        let params = json!({ "progressToken": token, "progress": 1 });
        let notice =
            json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params });
        said.push(notice.to_string());
    }
    said.push(json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }).to_string());
    said
}

// S-07, S-12
#[tokio::test]
async fn a_client_speaks_over_a_transport_that_a_stranger_wrote() {
    let bus = Bus::new();
    bus.serve("orders", orders);
    let client = Client::connect(bus.address("orders")).await.expect("a client");
    assert_eq!(client.protocol(), ProtocolVersion::V2026_07_28);
    let told = std::sync::Arc::new(std::sync::Mutex::new(0.0));
    let telling = std::sync::Arc::clone(&told);
    let reply = client
        .call_tool("order", json!({ "what": "tea" }))
        .progress(move |progress| *telling.lock().expect("no panic") += progress.progress)
        .await
        .expect("an answer");
    assert_eq!(reply.text(), "ordered \"tea\"");
    assert!((*told.lock().expect("no panic") - 1.0).abs() < f64::EPSILON);
}

// S-05, S-12
#[tokio::test]
async fn what_a_stranger_s_transport_fails_with_is_told() {
    let error = Client::connect(Bus::new().address("orders")).await.expect_err("nobody");
    assert_eq!((error.code(), error.kind()), (-32000, Kind::Transport));
    assert_eq!(error.to_string(), "connect at orders: nobody is at orders (-32000)");
}

// S-12
#[test]
fn it_depends_on_the_seam_and_the_words_alone() {
    let manifest = include_str!("../custom-transport/Cargo.toml");
    let (_, rest) = manifest.split_once("[dependencies]\n").expect("dependencies");
    let (dependencies, _) = rest.split_once("\n[").expect("another table");
    let names: Vec<_> = dependencies.lines().filter_map(|line| line.split(" =").next()).collect();
    assert_eq!(names.join(" ").trim(), "snodo-transport snodo-types");
}

// S-12
#[tokio::test]
async fn a_function_is_a_transport_too() {
    let peer = Peer::new();
    let server = peer.clone();
    let transport = snodo_transport::from_fn(move |envelope| {
        let server = server.clone();
        async move { server.reply(envelope.message).await }
    });
    check_transport(&transport, &peer).await.expect("every rule");
    let builder = Client::builder().protocol([ProtocolVersion::V2026_07_28]);
    let client = builder.connect(transport).await.expect("a client");
    let echoed = client.request("echo", json!({ "a": 1 })).await.expect("an answer");
    let echoed: Value = serde_json::from_str(echoed.raw()).expect("JSON");
    assert_eq!(echoed["a"], 1);
}
