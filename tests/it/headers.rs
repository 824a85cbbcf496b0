//! Arguments of tools that travel as headers, and tools whose schemas get them wrong, over HTTP.

use serde_json::{Value, json};
use snodo::{Builder, Client, ListKind};
use snodo_http::Http;
use snodo_testkit::{Loopback, Reply, Request};
use snodo_types::Tool;

use crate::logs::Log;
use crate::script::{server, session, stateless, text};

/// A tool with one argument that carries this annotation.
fn tool(name: &str, annotation: &Value) -> Value {
    let property = json!({ "type": "string", "x-mcp-header": annotation });
    let schema = json!({ "type": "object", "properties": { "region": property } });
    json!({ "name": name, "inputSchema": schema })
}

/// Tools on two pages: the second and the fourth break the rules for headers.
fn tools(params: &Value) -> Value {
    match params.get("cursor") {
        None => json!({
            "tools": [tool("good", &json!("Region")), tool("empty", &json!(""))],
            "nextCursor": "2",
        }),
        Some(_) => json!({
            "tools": [
                { "name": "plain", "inputSchema": { "type": "object" } },
                tool("spaced", &json!("My Region")),
                tool("last", &json!("Zone")),
            ],
        }),
    }
}

/// A server over HTTP, of either era, that lists those tools and answers each call in its own way.
async fn over_http(call: fn(&Request) -> Result<Value, Value>) -> Loopback {
    let server = Loopback::serve(move |request| async move {
        let message = request.json().unwrap_or_default();
        let said = match (request.method.as_str(), request.rpc().as_deref()) {
            ("POST", Some("initialize")) => {
                Ok(json!({ "protocolVersion": "2025-11-25", "capabilities": {} }))
            }
            ("POST", Some("tools/list")) => Ok(tools(&message["params"])),
            ("POST", Some("tools/call")) => call(&request),
            ("POST", _) => return Reply::new(202),
            _ => return Reply::new(405),
        };
        let (status, member, said) = match said {
            Ok(result) => (200, "result", result),
            Err(error) => (400, "error", error),
        };
        let body = json!({ "jsonrpc": "2.0", "id": message["id"], member: said });
        Reply::new(status).json(body.to_string())
    });
    server.await.expect("a port")
}

/// Refuses a call whose annotated argument is not beside it, as 2026-07-28 wants servers to.
fn strict(request: &Request) -> Result<Value, Value> {
    let region = request.json().expect("JSON")["params"]["arguments"]["region"].clone();
    match request.header("mcp-param-region") {
        Some(header) if region == header => Ok(text("called")),
        other => Err(json!({ "code": -32020, "message": format!("the header is {other:?}") })),
    }
}

async fn connect(server: &Loopback, builder: Builder) -> Client {
    builder.connect(Http::new(server.url()).expect("a URL")).await.expect("a client")
}

fn methods(server: &Loopback) -> Vec<String> {
    server.requests().iter().filter_map(Request::rpc).collect()
}

fn names(tools: &[Tool]) -> Vec<&str> {
    tools.iter().map(|tool| tool.name.as_str()).collect()
}

// S-32, HDR-10
#[tokio::test]
async fn a_tool_that_breaks_the_rules_is_left_out_with_a_warning_and_the_others_stay() {
    let log = Log::default();
    let _guard = tracing::subscriber::set_default(log.clone());
    let server = over_http(strict).await;
    let client = connect(&server, stateless()).await;
    let listed = client.list_tools().await.expect("a list");
    assert_eq!(names(&listed), ["good", "plain", "last"]);
    let warnings = log.warnings();
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    for (warning, name) in warnings.iter().zip(["empty", "spaced"]) {
        assert!(warning.contains(&format!("tool={name:?}")), "{warning}");
        let reason = warning.split("reason=").nth(1).unwrap_or_default();
        assert!(reason.len() > 10, "{warning}");
    }

    let page = client.list_page(ListKind::TOOLS, None).await.expect("a page");
    assert_eq!((names(&page.items), page.next_cursor.as_deref()), (vec!["good"], Some("2")));
    let error = client
        .call_tool(&serde_json::from_value::<Tool>(tool("empty", &json!(""))).expect("a tool"), ());
    assert_eq!(error.await.expect_err("its schema is wrong").code(), -32602);
    assert_eq!(methods(&server), ["tools/list", "tools/list", "tools/list"], "it was not called");
}

// S-32, HDR-14, HTTPL-19
#[tokio::test]
async fn in_the_initialize_era_and_where_there_are_no_headers_every_tool_stays() {
    let every = ["good", "empty", "plain", "spaced", "last"];
    let server_of_session = over_http(|_| Ok(text("called"))).await;
    let client = connect(&server_of_session, session()).await;
    let listed = client.list_tools().await.expect("a list");
    assert_eq!(names(&listed), every);
    for tool in &listed[..2] {
        client.call_tool(tool, json!({ "region": "eu" })).await.expect("an answer");
    }
    for request in server_of_session.requests() {
        let sent = request.headers_json();
        let mut names = sent.as_object().expect("headers").keys();
        assert!(
            !names.any(|name| name.starts_with("mcp-param-") || name == "mcp-method"),
            "{sent}"
        );
    }

    let (transport, _) = server(|request| tools(&request["params"]));
    let client = stateless().connect(transport).await.expect("a client");
    assert_eq!(names(&client.list_tools().await.expect("a list")), every);
}

// S-30, S-31, HDR-04
#[tokio::test]
async fn with_the_definition_the_first_request_carries_its_arguments_as_headers() {
    let server = over_http(strict).await;
    let good: Tool = serde_json::from_value(tool("good", &json!("Region"))).expect("a tool");
    let client = connect(&server, stateless()).await;
    let reply = client.call_tool(&good, json!({ "region": "eu" })).await.expect("an answer");
    assert_eq!(reply.text(), "called");
    let params = json!({ "name": "good", "arguments": { "region": "us" } });
    client.request("tools/call", params).definition(&good).await.expect("an answer");
    let sent: Vec<_> =
        server.requests().iter().map(|r| r.header("mcp-param-region").map(str::to_owned)).collect();
    assert_eq!(sent, [Some("eu".to_owned()), Some("us".to_owned())]);
}

// S-31, HDR-04
#[tokio::test]
async fn a_tool_that_was_listed_is_called_by_name_with_its_headers() {
    let server = over_http(strict).await;
    let client = connect(&server, stateless()).await;
    client.list_tools().await.expect("a list");
    client.call_tool("good", json!({ "region": "eu" })).await.expect("an answer");
    client.clone().call_tool("good", json!({ "region": "us" })).await.expect("an answer");
    assert_eq!(methods(&server), ["tools/list", "tools/list", "tools/call", "tools/call"]);
}

// S-31, MRTR-13, HDR-15, HDR-19
#[tokio::test]
async fn a_call_by_name_that_misses_its_headers_looks_for_the_definition_and_is_sent_once_more() {
    let server = over_http(strict).await;
    let client = connect(&server, stateless()).await;
    let reply = client.call_tool("good", json!({ "region": "eu" })).await.expect("an answer");
    assert_eq!(reply.text(), "called");
    assert_eq!(methods(&server), ["tools/call", "tools/list", "tools/list", "tools/call"]);
    let calls: Vec<_> = server
        .requests()
        .into_iter()
        .filter(|r| r.rpc().as_deref() == Some("tools/call"))
        .collect();
    let id = |call: &Request| call.json().expect("JSON")["id"].clone();
    assert_ne!(id(&calls[0]), id(&calls[1]));
}

// S-31
#[tokio::test]
async fn where_that_does_not_help_the_first_refusal_stands() {
    // A server that no header contents; a tool that is on no list.
    let deaf: fn(&Request) -> Result<Value, Value> = |request| {
        let id = request.json().expect("JSON")["id"].clone();
        Err(json!({ "code": -32020, "message": format!("refusal of {id}") }))
    };
    let table: [(_, _, &[&str]); 2] = [
        ("good", "refusal of 4", &["tools/call", "tools/list", "tools/list", "tools/call"]),
        ("unheard", "refusal of 1", &["tools/call", "tools/list", "tools/list"]),
    ];
    for (name, message, sent) in table {
        let server = over_http(deaf).await;
        let client = connect(&server, stateless()).await;
        let error = client.call_tool(name, json!({ "region": "eu" })).await.expect_err("refused");
        assert_eq!((error.code(), error.message()), (-32020, message), "{name}");
        assert_eq!(methods(&server), sent, "{name}");
    }
}
