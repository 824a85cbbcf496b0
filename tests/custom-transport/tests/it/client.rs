//! A client over a transport that its authors never heard of.

use std::sync::{Arc, Mutex};

use custom_transport::WebSocket;
use serde_json::{Value, json};
use snodo::{Client, ProtocolVersion};
use tokio::sync::mpsc;

use crate::server::Server;

/// Answers discovery and calls of a tool, and tells progress to who wants it.
async fn orders(mut heard: mpsc::Receiver<String>, say: mpsc::Sender<String>) {
    while let Some(text) = heard.recv().await {
        let request: Value = serde_json::from_str(&text).expect("JSON");
        let result = match request["method"].as_str() {
            Some("server/discover") => {
                json!({ "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} } })
            }
            Some("tools/call") => {
                let text = format!("ordered {}", request["params"]["arguments"]["what"]);
                json!({ "content": [{ "type": "text", "text": text }] })
            }
            _ => continue,
        };
        if let Some(token) = request["params"]["_meta"].get("progressToken") {
            let params = json!({ "progressToken": token, "progress": 1 });
            let notice =
                json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params });
            say.send(notice.to_string()).await.expect("a client");
        }
        let answer = json!({ "jsonrpc": "2.0", "id": request["id"], "result": result });
        say.send(answer.to_string()).await.expect("a client");
    }
}

// S-07, S-12
#[tokio::test]
async fn a_client_speaks_over_a_transport_that_a_stranger_wrote() {
    let server = Server::start(orders).await;
    let client = Client::connect(server.target()).await.expect("a client");
    assert_eq!(client.protocol(), ProtocolVersion::V2026_07_28);
    let told = Arc::new(Mutex::new(0.0));
    let telling = Arc::clone(&told);
    let reply = client
        .call_tool("order", json!({ "what": "tea" }))
        .progress(move |progress| *telling.lock().expect("no panic") += progress.progress)
        .await
        .expect("an answer");
    assert_eq!(reply.text(), "ordered \"tea\"");
    assert!((*told.lock().expect("no panic") - 1.0_f64).abs() < f64::EPSILON);
    client.close().await;
}

// S-05, S-12
#[tokio::test]
async fn what_a_stranger_s_transport_fails_with_is_told() {
    // A port that was free a moment ago.
    let port = {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        listener.local_addr().expect("an address").port()
    };
    let url = format!("ws://127.0.0.1:{port}/mcp");
    let error = Client::connect(WebSocket::new(&url)).await.expect_err("nobody");
    assert_eq!((error.code(), error.kind()), (-32000, snodo::types::Kind::Transport));
    assert!(error.to_string().starts_with(&format!("connect at {url}: ")), "{error}");
}
