//! A client over the transport of 2024-11-05, in its version, with a server that knows nothing else.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use snodo::{Client, Error, ProtocolVersion, Restart};
use snodo_http::Http;
use snodo_sse_legacy::SseLegacy;
use snodo_testkit::{Loopback, Reply, Request};
use snodo_types::{Kind, Roots};
use tokio::sync::mpsc;

/// What clients said, and where each is answered.
#[derive(Clone, Default)]
struct Server(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    heard: Vec<Value>,
    streams: HashMap<String, mpsc::UnboundedSender<Said>>,
}

enum Said {
    End,
    Message(Value),
}

impl Server {
    async fn start(&self) -> Loopback {
        let server = self.clone();
        let serve = move |request: Request| {
            let reply = server.reply(&request);
            async move { reply }
        };
        Loopback::serve(serve).await.expect("a port")
    }

    fn reply(&self, request: &Request) -> Reply {
        let mut state = self.0.lock().expect("no panic");
        if request.method == "GET" {
            let (say, mut said) = mpsc::unbounded_channel();
            let session = format!("{}", state.streams.len());
            state.streams.insert(session.clone(), say);
            return Reply::new(200).stream(|events| async move {
                events.raw(format!("event: endpoint\ndata: /messages?session={session}\n\n")).await;
                while let Some(Said::Message(message)) = said.recv().await {
                    events.message(&message.to_string()).await;
                }
            });
        }
        let session = request.path.rsplit('=').next().unwrap_or_default();
        let message = request.json().expect("a message");
        let say = state.streams[session].clone();
        for said in answers(&message) {
            // A client that is gone hears nothing.
            let _ = say.send(said);
        }
        state.heard.push(message);
        Reply::new(202).text("Accepted")
    }

    fn heard(&self, method: &str) -> Vec<Value> {
        let state = self.0.lock().expect("no panic");
        state.heard.iter().filter(|message| message["method"] == method).cloned().collect()
    }
}

/// What the server says to a message.
fn answers(message: &Value) -> Vec<Said> {
    let answer = |result: Value| {
        Said::Message(json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }))
    };
    let text = |text: &str| json!({ "content": [{ "type": "text", "text": text }] });
    match (message["method"].as_str(), message["params"]["name"].as_str()) {
        (Some("initialize"), _) => vec![answer(json!({
            "protocolVersion": "2024-11-05",
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "old", "version": "0" },
        }))],
        (_, Some("ask")) => {
            let question = json!({ "jsonrpc": "2.0", "id": "r1", "method": "roots/list" });
            vec![Said::Message(question), answer(text("asked"))]
        }
        (_, Some("fall")) => vec![Said::End],
        (_, Some("hang")) => vec![],
        (Some("tools/call"), _) => vec![answer(text("done"))],
        _ => vec![],
    }
}

async fn connect(listening: &Loopback) -> Result<Client, Error> {
    let stream = Http::new(format!("{}/sse", listening.origin()))?;
    Client::builder()
        .protocol([ProtocolVersion::V2024_11_05])
        .restart(Restart::ALWAYS)
        .on_roots(|_| async { Ok(Roots::new().with("file:///work", "work")) })
        .connect(SseLegacy::new(stream))
        .await
}

async fn until(mut happened: impl FnMut() -> bool) {
    let waiting = async {
        while !happened() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), waiting).await.expect("it happens");
}

#[tokio::test]
async fn its_own_version_is_spoken_and_the_server_s_questions_are_answered() {
    let server = Server::default();
    let listening = server.start().await;
    let client = connect(&listening).await.expect("a client");
    assert_eq!(client.protocol(), ProtocolVersion::V2024_11_05);
    let asked = client.call_tool("ask", json!({})).await.expect("an answer");
    assert_eq!(asked.text(), "asked");
    let is_answer = |message: &Value| {
        message["id"] == "r1" && message["result"]["roots"][0]["uri"] == "file:///work"
    };
    until(|| server.0.lock().expect("no panic").heard.iter().any(is_answer)).await;
    client.close().await;
}

#[tokio::test]
async fn a_call_that_is_dropped_is_cancelled_on_the_endpoint() {
    let server = Server::default();
    let listening = server.start().await;
    let client = connect(&listening).await.expect("a client");
    let hanging = tokio::spawn({
        let client = client.clone();
        async move { client.call_tool("hang", json!({})).await.map(|reply| reply.text()) }
    });
    until(|| server.heard("tools/call").len() == 1).await;
    hanging.abort();
    until(|| server.heard("notifications/cancelled").len() == 1).await;
    let cancelled = &server.heard("notifications/cancelled")[0];
    assert_eq!(cancelled["params"]["requestId"], server.heard("tools/call")[0]["id"]);
}

#[tokio::test]
async fn a_stream_that_ends_fails_what_waits_and_the_next_call_opens_another() {
    let server = Server::default();
    let listening = server.start().await;
    let client = connect(&listening).await.expect("a client");
    let error = client.call_tool("fall", json!({})).await.expect_err("the stream ended");
    assert_eq!(error.kind(), Kind::Transport);
    let reply = client.call_tool("again", json!({})).await.expect("another stream");
    assert_eq!(reply.text(), "done");
    assert_eq!(server.heard("initialize").len(), 2);
    assert_eq!(server.heard("tools/call").len(), 2, "nothing was repeated");
}
