//! What a request says of itself beside its parameters: in `_meta`, and through an extension in the
//! headers too.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};
use snodo::dialect::{Extension, Params};
use snodo::types::{
    Kind, LoggingLevel, ProtocolVersion, Routing, SubscriptionFilter, TraceContext,
};
use snodo::{Builder, Client};
use snodo_http::Http;
use snodo_testkit::{Loopback, Reply, Request};

use crate::script::{Far, server, session, stateless, text};

/// Reports that take their time, routed by the one they are about.
#[derive(Debug)]
struct Reports;

impl Extension for Reports {
    fn id(&self) -> &str {
        "com.example/reports"
    }

    fn methods(&self) -> &[&str] {
        &["reports/get"]
    }

    fn routing(&self, version: ProtocolVersion, _: &str, params: &Params) -> Routing {
        let report = params.member("report").and_then(|text| serde_json::from_str(&text).ok());
        let report: String = report.unwrap_or_default();
        Routing::new().with("Mcp-Name", report).with("X-Version", version.as_str().to_owned())
    }
}

fn keys(message: &Value) -> BTreeSet<String> {
    let meta = message["params"]["_meta"].as_object();
    meta.into_iter().flat_map(|meta| meta.keys().cloned()).collect()
}

// META-01, META-02, META-09, META-11, S-39, META-14
#[tokio::test]
async fn the_keys_of_a_request_are_the_protocol_s_and_the_caller_s_and_none_is_coined() {
    let trace = || {
        let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        TraceContext::new(parent).and_then(|trace| trace.with_state("a=1")).expect("a trace")
    };
    let everything = |client: &Client| {
        let request = client.call_tool("x", ()).progress(drop).trace_context(trace());
        request.log_level(LoggingLevel::Info).meta("com.example/tenant", "acme")
    };
    let (transport, sent) = server(|_| text("done"));
    let client = stateless().extension(Reports).connect(transport).await.expect("a client");
    everything(&client).await.expect("an answer");
    client.list_tools().await.expect_err("it is no list");
    let own = ["protocolVersion", "clientInfo", "clientCapabilities"];
    let own = own.map(|name| format!("io.modelcontextprotocol/{name}"));
    let plain: BTreeSet<_> = own.iter().cloned().collect();
    let asked = [
        "io.modelcontextprotocol/logLevel",
        "progressToken",
        "traceparent",
        "tracestate",
        "com.example/tenant",
    ];
    let full = plain.iter().cloned().chain(asked.map(str::to_owned)).collect::<BTreeSet<_>>();
    assert_eq!([keys(&sent.all()[0]), keys(&sent.all()[1])], [full, plain]);

    let (client, mut far) = Far::open(session().extension(Reports)).await;
    let call = tokio::spawn(everything(&client).into_future());
    let request = far.read().await;
    far.answer(&request, text("done")).await;
    call.await.expect("no panic").expect("an answer");
    let asked = ["com.example/tenant", "progressToken", "traceparent", "tracestate"];
    assert_eq!(keys(&request), asked.map(str::to_owned).into());
}

// META-08
#[tokio::test]
async fn what_is_no_key_of_a_meta_is_refused_before_anything_is_sent() {
    let (transport, sent) = server(|_| text("done"));
    let client = stateless().connect(transport).await.expect("a client");
    for key in ["-a", "/x", "com..example/x", "1a/x", "a/b/c", "a b", "a\n"] {
        let error = client.call_tool("x", ()).meta(key, 1).await.expect_err(key);
        assert_eq!((error.code(), error.kind()), (-32602, Kind::Protocol), "{key:?}");
        assert_eq!(client.list_tools().meta(key, 1).await.expect_err(key).code(), -32602);
    }
    assert_eq!(sent.all().len(), 0);
    client.call_tool("x", ()).meta("com.example.mcp/a-1.b_c", 1).await.expect("an answer");
}

// META-08, META-11, S-39, S-66
#[tokio::test]
async fn a_trace_given_by_hand_is_one_or_refused_before_anything_is_sent() {
    const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let (transport, sent) = server(|_| text("done"));
    let client = stateless().connect(transport).await.expect("a client");
    let filter = || SubscriptionFilter::new().tools_list_changed();
    let wrong = [
        ("traceparent", json!(PARENT.to_uppercase())),
        ("traceparent", json!({ "parent": PARENT })),
        ("tracestate", json!("a")),
        ("baggage", json!("user")),
    ];
    for (key, value) in wrong {
        let errors = [
            client.call_tool("x", ()).meta(key, &value).await.err(),
            client.list_tools().meta(key, &value).await.err(),
            client.listen(filter()).meta(key, &value).await.err(),
        ];
        for error in errors {
            let error = error.expect(key);
            assert_eq!((error.code(), error.kind()), (-32602, Kind::Protocol), "{key}");
            assert!(error.message().contains(key), "{error}");
        }
    }
    let error = client.listen(filter()).meta("-a", 1).await.expect_err("no key");
    assert_eq!(error.code(), -32602);
    assert_eq!(sent.all().len(), 0);
    let request = client.call_tool("x", ()).meta("traceparent", PARENT).meta("tracestate", "a=1");
    request.meta("baggage", "tenant=acme").await.expect("an answer");
    let meta = &sent.all()[0]["params"]["_meta"];
    assert_eq!(meta["traceparent"], PARENT);
    assert_eq!((&meta["tracestate"], &meta["baggage"]), (&json!("a=1"), &json!("tenant=acme")));
}

// META-10
#[tokio::test]
async fn a_reserved_key_of_another_kind_breaks_no_answer_and_no_notice() {
    let odd = json!({
        "io.modelcontextprotocol/serverInfo": 7,
        "io.modelcontextprotocol/subscriptionId": {},
        "io.modelcontextprotocol/related-task": "t",
        "progressToken": [],
        "traceparent": false,
    });
    for odd in [odd, json!({ "io.modelcontextprotocol/serverInfo": { "name": null } }), json!([])] {
        let server = Loopback::serve(move |request| {
            let odd = odd.clone();
            async move {
                let message = request.json().expect("JSON");
                let mut result = match request.rpc().as_deref() {
                    Some("server/discover") => {
                        json!({ "supportedVersions": ["2026-07-28"], "capabilities": {} })
                    }
                    _ => text("done"),
                };
                result["_meta"] = odd.clone();
                let params = json!({ "progressToken": message["id"], "progress": 1, "_meta": odd });
                let notice = json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params });
                let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
                Reply::new(200).events([notice.to_string().as_str(), answer.to_string().as_str()])
            }
        });
        let server = server.await.expect("a port");
        let client = connect(&server, Client::builder()).await;
        assert_eq!(client.server().info(), None);
        let (tell, told) = std::sync::mpsc::channel();
        let call = client.call_tool("x", ()).progress(move |piece| {
            let _ = tell.send(piece.progress);
        });
        assert_eq!(call.await.expect("an answer").text(), "done");
        assert_eq!(told.iter().collect::<Vec<_>>(), [1.0]);
    }
}

async fn connect(server: &Loopback, builder: Builder) -> Client {
    builder.connect(Http::new(server.url()).expect("a URL")).await.expect("a client")
}

/// A stateless server that answers everything.
async fn easy() -> Loopback {
    let server = Loopback::serve(|request| async move {
        let id = request.json().unwrap_or_default()["id"].clone();
        let body = json!({ "jsonrpc": "2.0", "id": id, "result": { "tools": [] } });
        Reply::new(200).json(body.to_string())
    });
    server.await.expect("a port")
}

fn declares(request: &Request) -> bool {
    let message = request.json().expect("JSON");
    let declared = &message["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"];
    declared["extensions"]["com.example/reports"].is_object()
}

// S-43
#[tokio::test]
async fn an_extension_routes_its_methods_over_http_and_is_declared_where_it_is_known() {
    let params = json!({ "report": "r 1\u{e9}" });
    let encoded = Some("=?base64?ciAxw6k=?=");
    let server = easy().await;
    let client = connect(&server, stateless().extension(Reports)).await;
    client.request("reports/get", &params).await.expect("an answer");
    client.list_tools().await.expect("a list");
    client.request("strange/get", &params).await.expect("an answer");
    let sent = server.requests();
    assert!(sent.iter().all(declares));
    assert_eq!(
        sent.iter().map(|r| r.header("mcp-name")).collect::<Vec<_>>(),
        [encoded, None, None]
    );
    assert_eq!(sent[0].header("mcp-method"), Some("reports/get"));
    assert_eq!(sent[0].header("x-version"), Some("2026-07-28"));

    // Named on one request alone.
    let server = easy().await;
    let client = connect(&server, stateless()).await;
    client.request("reports/get", &params).extension(Arc::new(Reports)).await.expect("an answer");
    client.request("reports/get", &params).await.expect("an answer");
    let sent = server.requests();
    assert_eq!(sent.iter().map(declares).collect::<Vec<_>>(), [true, false]);
    assert_eq!(sent.iter().map(|r| r.header("mcp-name")).collect::<Vec<_>>(), [encoded, None]);
}

// S-43
#[tokio::test]
async fn off_http_an_extension_needs_no_routing_and_before_2026_07_28_there_is_none() {
    let (transport, sent) = server(|_| json!({ "state": "ready" }));
    let client = stateless().extension(Reports).connect(transport).await.expect("a client");
    let reply = client.request("reports/get", json!({ "report": "r" })).await.expect("an answer");
    assert_eq!(reply.raw(), r#"{"state":"ready"}"#);
    assert_eq!(sent.all()[0]["params"]["report"], "r");

    let (client, far) = Far::open(session().extension(Reports)).await;
    assert_eq!(far.initialize["params"]["capabilities"], json!({}));
    let error = client.request("reports/get", json!({ "report": "r" })).await;
    assert_eq!(error.expect_err("not in this version").code(), -32601);
}
