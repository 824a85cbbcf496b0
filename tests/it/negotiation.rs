//! Every answer that servers of the field were seen to give to the probe, over HTTP, and what
//! comes of it. Those over a pipe are transcripts (`probe-*.txt`).

use std::net::TcpListener;
use std::time::Duration;

use serde_json::{Value, json};
use snodo::{Client, Error};
use snodo_http::Http;
use snodo_testkit::{Loopback, Reply, Request};
use snodo_types::{Cause, Kind, ProtocolVersion};

/// What an older server answers to the probe.
type Answer = fn(&Request) -> Reply;

/// A server that begins with `initialize`, with a session, and answers the probe in its own way.
async fn older(probe: Answer) -> Loopback {
    Loopback::serve(move |request| async move {
        let rpc = request.rpc().unwrap_or_default();
        match (request.method.as_str(), rpc.as_str()) {
            ("POST", "server/discover") => probe(&request),
            ("POST", "initialize") => {
                let result = json!({
                    "protocolVersion": "2025-11-25",
                    "capabilities": {},
                    "serverInfo": { "name": "older", "version": "1" },
                });
                Reply::new(200).header("Mcp-Session-Id", "right").json(result_of(&request, &result))
            }
            ("POST", "ping") => Reply::new(200).json(result_of(&request, &json!({}))),
            ("POST", _) => Reply::new(202),
            ("DELETE", _) => Reply::new(200),
            _ => Reply::new(405),
        }
    })
    .await
    .expect("a port")
}

fn result_of(request: &Request, result: &Value) -> String {
    let id = request.json().unwrap_or_default()["id"].clone();
    json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string()
}

fn error_of(id: &Value, code: i64, message: &str) -> String {
    let error = json!({ "code": code, "message": message });
    json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string()
}

fn id(request: &Request) -> Value {
    request.json().unwrap_or_default()["id"].clone()
}

async fn connect(server: &Loopback) -> Result<Client, Error> {
    Client::connect(Http::new(server.url()).expect("a URL")).await
}

fn methods(server: &Loopback) -> Vec<String> {
    server.requests().iter().filter_map(Request::rpc).collect()
}

const UNSUPPORTED: &str =
    "Bad Request: Unsupported protocol version: 2026-07-28 (supported versions: 2025-11-25)";

/// The answers of ../docs field observations, by their number there.
const ANSWERS: [(&str, Answer); 14] = [
    ("H1", |_| {
        Reply::new(400).json(error_of(&Value::Null, -32000, "Bad Request: Server not initialized"))
    }),
    ("H2", |_| {
        Reply::new(400).text(error_of(&Value::Null, -32000, "Bad Request: Server not initialized"))
    }),
    ("H3", |_| Reply::new(400).json(error_of(&Value::Null, -32000, UNSUPPORTED))),
    ("H4", |_| {
        let body = error_of(&json!("server-error"), -32600, "Bad Request: Missing session ID");
        Reply::new(400).header("Mcp-Session-Id", "wrong").json(body)
    }),
    ("H5", |_| Reply::new(400).json(error_of(&json!("server-error"), -32600, UNSUPPORTED))),
    ("H6", |request| Reply::new(404).json(error_of(&id(request), -32601, "Method not found"))),
    ("H7", |request| {
        let error = json!({ "code": -32000, "message": "no", "data": { "reason": "server_missing_modern_protocol_support" } });
        let body = json!({ "jsonrpc": "2.0", "id": id(request), "error": error }).to_string();
        Reply::new(400).header("Content-Type", "application/json; charset=utf-8").text(body)
    }),
    ("H8", |_| Reply::new(415).text("fail to deserialize request body unknown variant")),
    ("H11, JSON", |_| Reply::new(406).json(error_of(&Value::Null, -32000, "Not Acceptable"))),
    ("H11, empty", |_| Reply::new(406)),
    ("H11, text", |_| Reply::new(406).text("Not Acceptable: Client must accept both")),
    ("H12", |_| Reply::new(422).text("Unexpected message, expect initialize request")),
    ("H13", |_| Reply::new(500).json(error_of(&Value::Null, -32603, "Error in httpTransport: "))),
    ("H14", |request| {
        let body = error_of(&id(request), -32602, "Invalid request parameters");
        Reply::new(200).events([body.as_str()])
    }),
];

// S-16, S-17, S-20, S-22, VER-05, VER-08, VER-09, VER-22, HTTPL-13, VER-07
#[tokio::test]
async fn every_answer_of_an_older_server_leads_to_initialize() {
    for (name, answer) in ANSWERS {
        let server = older(answer).await;
        let client = connect(&server).await.unwrap_or_else(|error| panic!("{name}: {error:?}"));
        assert_eq!(client.protocol(), ProtocolVersion::V2025_11_25, "{name}");
        let session = client.session().expect("a session");
        assert_eq!(session.id(), Some("right"), "{name}: taken from the 200 to initialize alone");
        client.ping().await.expect("an answer");
        let seen = server.requests();
        let asked = ["server/discover", "initialize", "notifications/initialized", "ping"];
        assert_eq!(methods(&server), asked, "{name}");
        let initialize = seen[1].json().expect("JSON");
        assert_eq!(initialize["params"]["protocolVersion"], "2025-11-25", "{name}");
        assert_eq!(initialize["params"].get("_meta"), None, "{name}");
        assert_eq!(seen[1].header("mcp-session-id"), None, "{name}");
        assert_eq!(seen[1].header("mcp-method"), None, "{name}");
        for later in &seen[2..] {
            assert_eq!(later.header("mcp-session-id"), Some("right"), "{name}");
            assert_eq!(later.header("mcp-protocol-version"), Some("2025-11-25"), "{name}");
        }
    }
}

// S-17
#[tokio::test]
async fn a_redirect_ends_it_and_both_answers_are_told() {
    // H9: nothing but redirects, at any request.
    let server = Loopback::serve(|_| async { Reply::new(307).header("Location", "/mcp/") });
    let server = server.await.expect("a port");
    let error = connect(&server).await.expect_err("a redirect");
    assert!(format!("{error:?}").contains("/mcp/"), "{error:?}");
    assert_eq!(error.kind(), Kind::Transport);
}

// S-17, VER-15
#[tokio::test]
async fn a_refusal_ends_it_without_initialize() {
    // H10 is the 403.
    for (status, kind) in [
        (401, Kind::Authorization),
        (403, Kind::Authorization),
        (408, Kind::Transport),
        (425, Kind::Transport),
        (429, Kind::Transport),
        (502, Kind::Transport),
        (503, Kind::Transport),
        (504, Kind::Transport),
    ] {
        let server = Loopback::serve(move |_| async move {
            Reply::new(status).text("Access is only allowed at localhost:1")
        });
        let server = server.await.expect("a port");
        let error = connect(&server).await.expect_err("a refusal");
        let transport = error.transport().expect("a failure of the transport");
        assert_eq!((transport.status(), error.kind()), (Some(status), kind));
        assert_eq!(methods(&server), ["server/discover"], "{status}");
    }
}

// S-05, S-17
#[tokio::test]
async fn nobody_who_listens_is_a_failure_and_no_older_server() {
    let port = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("its address");
    let target = Http::new(format!("http://{port}/mcp")).expect("a URL");
    let error = Client::connect(target).await.expect_err("nobody listens");
    assert_eq!((error.code(), error.kind()), (-32000, Kind::Transport));
}

// S-17
#[tokio::test]
async fn when_initialize_fails_too_both_answers_are_told() {
    let server = Loopback::serve(|request| async move {
        match request.rpc().as_deref() {
            Some("server/discover") => Reply::new(404).text("no such thing"),
            _ => Reply::new(400).json(error_of(&id(&request), -32600, "go away")),
        }
    });
    let server = server.await.expect("a port");
    let error = connect(&server).await.expect_err("two refusals");
    let Some(Cause::Negotiation { probe, initialize, .. }) = error.cause() else {
        panic!("{error:?}");
    };
    assert_eq!(probe.transport().and_then(|below| below.status()), Some(404));
    assert_eq!(initialize.message(), "go away");
    assert_eq!(methods(&server), ["server/discover", "initialize"]);
}

/// A stateless server that refuses the first request, and what follows.
async fn modern(refusal: fn(&Request) -> Reply) -> Loopback {
    Loopback::serve(move |request| async move {
        let version = request.header("mcp-protocol-version").unwrap_or_default().to_owned();
        match request.rpc().as_deref() {
            Some("server/discover") => refusal(&request),
            Some("initialize") => {
                let result = json!({ "protocolVersion": "2025-06-18", "capabilities": {} });
                Reply::new(200).json(result_of(&request, &result))
            }
            _ if version == "2026-07-28" => {
                Reply::new(200).json(result_of(&request, &json!({ "tools": [] })))
            }
            _ => Reply::new(202),
        }
    })
    .await
    .expect("a port")
}

fn unsupported(request: &Request, supported: &[&str]) -> Reply {
    let error = json!({
        "code": -32022,
        "message": "Unsupported protocol version",
        "data": { "supported": supported, "requested": "?" },
    });
    let body = json!({ "jsonrpc": "2.0", "id": id(request), "error": error });
    Reply::new(400).json(body.to_string())
}

// S-19, VER-12, VER-13
#[tokio::test]
async fn a_modern_refusal_whose_best_common_version_is_older_leads_to_initialize_in_it() {
    let server = modern(|request| unsupported(request, &["2025-06-18", "2024-11-05"])).await;
    let client = connect(&server).await.expect("a client");
    assert_eq!(client.protocol(), ProtocolVersion::V2025_06_18);
    let initialize = server.requests()[1].json().expect("JSON");
    assert_eq!(initialize["params"]["protocolVersion"], "2025-06-18");
}

// S-19, VER-02
#[tokio::test]
async fn no_version_in_common_is_told_with_both_lists() {
    let server = modern(|request| unsupported(request, &["2099-01-01"])).await;
    let error = connect(&server).await.expect_err("nothing in common");
    let data = error.data().expect("both lists").decode::<Value>().expect("JSON");
    assert_eq!(error.code(), -32602);
    assert_eq!(data["supported"], json!(["2099-01-01"]));
    assert_eq!(data["requested"], json!(["2026-07-28", "2025-11-25", "2025-06-18"]));
    assert_eq!(methods(&server), ["server/discover"]);
}

// S-18, VER-01
#[tokio::test]
async fn a_stateless_pin_sends_nothing_until_it_is_asked() {
    let server = modern(|_| Reply::new(500)).await;
    let target = Http::new(server.url()).expect("a URL");
    let builder = Client::builder().protocol([ProtocolVersion::V2026_07_28]);
    let client = builder.connect(target).await.expect("a client");
    assert_eq!((server.requests().len(), server.connections()), (0, 0));
    client.list_tools().await.expect("a list");
    assert_eq!(methods(&server), ["tools/list"]);
}

// S-14
#[tokio::test]
async fn silence_past_the_probe_timeout_is_a_failure_over_http() {
    let server = Loopback::serve(|_| async { Reply::hang() }).await.expect("a port");
    let target = Http::new(server.url()).expect("a URL");
    let builder = Client::builder().probe_timeout(Duration::from_millis(100));
    let error = builder.connect(target).await.expect_err("silence");
    assert!(error.is_timeout(), "{error:?}");
    assert_eq!(methods(&server), ["server/discover"]);
}

/// A server that knows one of the oldest versions and no other, and sends no session.
async fn oldest(version: &'static str) -> Loopback {
    let server = Loopback::serve(move |request| async move {
        let result = match request.rpc().unwrap_or_default().as_str() {
            "initialize" => json!({
                "protocolVersion": version,
                "capabilities": { "tools": {} },
                "serverInfo": { "name": "oldest", "version": "1" },
            }),
            "tools/call" => json!({ "content": [{ "type": "text", "text": "old" }] }),
            "server/discover" => {
                return Reply::new(400).json(error_of(&id(&request), -32601, "Method not found"));
            }
            _ => return Reply::new(202),
        };
        Reply::new(200).json(result_of(&request, &result))
    });
    server.await.expect("a port")
}

// S-13, S-20
#[tokio::test]
async fn the_oldest_versions_are_spoken_where_they_are_named_and_never_else() {
    for version in ProtocolVersion::OLDER {
        let server = oldest(version.as_str()).await;
        let refused = connect(&server).await.expect_err("nobody named it");
        assert_eq!(refused.code(), -32602, "{refused}");
        let data = refused.data().expect("data").to_string();
        assert!(data.contains(version.as_str()) && data.contains("negotiated"), "{data}");

        let builder = Client::builder().protocol([*version]);
        let http = Http::new(server.url()).expect("a URL");
        let client = builder.connect(http).await.expect("it is named");
        assert_eq!(client.protocol(), *version);
        let reply = client.call_tool("echo", json!({})).await.expect("an answer");
        assert_eq!(reply.text(), "old");
        let initialize =
            server.requests().into_iter().rfind(|it| it.rpc().as_deref() == Some("initialize"));
        let initialize = initialize.and_then(|request| request.json()).expect("JSON");
        assert_eq!(initialize["params"]["protocolVersion"], version.as_str());
        let call = server.requests().pop().expect("a call");
        assert_eq!(call.header("mcp-protocol-version"), Some(version.as_str()));
        let discover = client.discover().await.expect_err("it has none");
        assert_eq!(discover.code(), -32601);
    }
}

// S-16
#[tokio::test]
async fn a_server_of_all_versions_is_spoken_to_in_the_newest_that_is_allowed() {
    let lists = r#"["2024-11-05","2025-03-26","2025-06-18","2025-11-25","2026-07-28"]"#;
    let server = Loopback::serve(move |request| async move {
        let lists: Value = serde_json::from_str(lists).expect("JSON");
        let result = json!({
            "supportedVersions": lists, "capabilities": {}, "resultType": "complete",
            "serverInfo": { "name": "all", "version": "1" }, "ttlMs": 0, "cacheScope": "private",
        });
        Reply::new(200).json(result_of(&request, &result))
    });
    let server = server.await.expect("a port");
    let named = ProtocolVersion::ALL.iter().chain(ProtocolVersion::OLDER).copied();
    let http = Http::new(server.url()).expect("a URL");
    let client = Client::builder().protocol(named).connect(http).await.expect("it connects");
    assert_eq!(client.protocol(), ProtocolVersion::V2026_07_28);
}
