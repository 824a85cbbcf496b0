//! The programs that people are to write, as short as they are meant to be, against servers that
//! answer. What is not built yet is left out of them.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use snodo::http::Http;
use snodo::stdio::Stdio;
use snodo::types::{
    CallToolResult, ElicitResult, Implementation, InputResponses, Message, Outcome, Roots, Tool,
};
use snodo::{Client, Error, ListKind, ProtocolVersion, direct};
use snodo_testkit::{Loopback, Reply, Request};

use crate::connections::OLD_SERVER;

// S-07, S-30
#[tokio::test]
async fn three_lines_call_a_tool() -> Result<(), Error> {
    let client = Client::connect(Stdio::new(OLD_SERVER).args(["-y", "nothing"])).await?;
    let result = client.call_tool("echo", json!({ "message": "hi" })).await?;
    assert_eq!(result.text(), "hi");
    Ok(())
}

#[derive(Debug, Deserialize, PartialEq)]
struct Weather {
    sky: String,
}

// S-03, S-30, S-40
#[tokio::test]
async fn one_request_carries_all_it_can() -> Result<(), Box<dyn std::error::Error>> {
    let server = demo().await;
    let client = Client::connect(Http::new(server.url())?).await?;
    let tools = client.list_tools().await?;
    let tool: &Tool = &tools[0];
    let (tell, told) = std::sync::mpsc::channel();
    let report = client
        .call_tool(tool, json!({ "year": 2026 }))
        .timeout(Duration::from_secs(60))
        .reset_timeout_on_progress()
        .max_total_timeout(Duration::from_secs(600))
        .progress(move |p| {
            let message = p.message.as_deref().unwrap_or("");
            let _ = tell.send(format!("{} of {:?} {message}", p.progress, p.total));
        })
        .meta("com.example/tenant", "acme")
        .await?;
    let weather: Weather = report.structured()?;
    assert_eq!(weather, Weather { sky: "grey".to_owned() });
    assert!(report.raw().contains(r#""vendor":"kept""#));
    assert_eq!(told.iter().collect::<Vec<_>>(), ["1 of Some(2.0) half"]);
    let sent = server.requests().last().and_then(Request::json).expect("JSON");
    assert_eq!(sent["params"]["_meta"]["com.example/tenant"], "acme");
    Ok(())
}

// S-33, S-34
#[tokio::test]
async fn lists_come_whole_or_by_pages() -> Result<(), Box<dyn std::error::Error>> {
    let server = demo().await;
    let client = Client::connect(Http::new(server.url())?).await?;
    assert_eq!(client.list_tools().await?.len(), 2);
    let mut pages = client.list_tools().pages();
    let mut sizes = Vec::new();
    while let Some(page) = pages.next().await {
        sizes.push(page?.items.len());
    }
    assert_eq!(sizes, [1, 1]);
    let page = client.list_page(ListKind::TOOLS, None).await?;
    assert_eq!((page.items.len(), page.next_cursor.as_deref()), (1, Some("2")));
    assert!(page.raw().contains(r#""page":"first""#));
    Ok(())
}

// S-13, S-14, S-24, S-25
#[tokio::test]
async fn a_configured_client_answers_questions() -> Result<(), Box<dyn std::error::Error>> {
    let server = demo().await;
    let client = Client::builder()
        .protocol([ProtocolVersion::V2026_07_28, ProtocolVersion::V2025_11_25])
        .client_info(Implementation::new("agent", "1.4.0"))
        .timeout(Duration::from_secs(20))
        .on_form(|form| async move { form.accept(json!({ "name": "Ada" })) })
        .on_url(|url| async move {
            if url.host() == "example.com" {
                Ok(ElicitResult::consent())
            } else {
                Ok(ElicitResult::decline())
            }
        })
        .on_roots(|_| async { Ok(Roots::new().with("file:///work", "work")) })
        .connect(Http::new(server.url())?)
        .await?;
    assert_eq!(client.protocol(), ProtocolVersion::V2026_07_28);
    assert_eq!(client.server().info().map(|info| info.name.as_str()), Some("demo"));
    assert_eq!(client.call_tool("book", json!({})).await?.text(), "booked for Ada");
    let first = server.requests()[0].json().expect("JSON");
    let capabilities = &first["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"];
    let declared = json!({ "elicitation": { "form": {}, "url": {} }, "roots": {} });
    assert_eq!(*capabilities, declared);
    Ok(())
}

// S-02
#[tokio::test]
async fn a_question_is_answered_by_hand() -> Result<(), Box<dyn std::error::Error>> {
    let server = demo().await;
    let client = Client::connect(Http::new(server.url())?).await?;
    match client.call_tool("book", json!({})).outcome().await? {
        Outcome::Complete(result) => panic!("no question, but {}", result.text()),
        Outcome::InputRequired(ask) => {
            assert_eq!(ask.requests().map(|(id, _)| id).collect::<Vec<_>>(), ["who"]);
            let answer = ElicitResult::accept(json!({ "name": "Ada" }));
            let answers = InputResponses::new().with("who", &answer);
            let booked = client.call_tool("book", json!({})).answer(&ask, answers).await?;
            assert_eq!(booked.text(), "booked for Ada");
        }
    }
    Ok(())
}

#[derive(Deserialize)]
struct Add {
    a: i64,
    b: i64,
}

// S-07
#[tokio::test]
async fn a_server_in_this_process_takes_ten_lines() -> Result<(), Error> {
    let server = direct::Server::new("demo", "0.1.0").tool(
        "add",
        json!({ "type": "object", "properties": { "a": { "type": "integer" }, "b": { "type": "integer" } } }),
        |args: Add, _cx| async move { Ok(CallToolResult::from_text((args.a + args.b).to_string())) },
    );
    let client = Client::direct(server).auth("Ada").await?;
    assert_eq!(client.call_tool("add", json!({ "a": 2, "b": 3 })).await?.text(), "5");
    Ok(())
}

// S-04
#[tokio::test]
async fn an_error_says_all_it_knows() -> Result<(), Box<dyn std::error::Error>> {
    let server = demo().await;
    let client = Client::connect(Http::new(server.url())?).await?;
    match client.read_resource("file:///gone").await {
        Ok(_) => panic!("it is gone"),
        Err(e) if e.is_timeout() => panic!("it was quick"),
        Err(e) => {
            let shown = format!(
                "{e} kind {:?}, code {}, data {:?}, cause {:?}",
                e.kind(),
                e.code(),
                e.data(),
                e.cause()
            );
            let server = server.url();
            assert_eq!(
                shown,
                format!(
                    "resources/read \"file:///gone\" at {server}: not found (-32602) kind Protocol, code -32602, data Some({{\"uri\":\"file:///gone\"}}), cause None"
                )
            );
        }
    }
    Ok(())
}

// S-03
#[test]
fn the_words_do_alone() -> Result<(), Box<dyn std::error::Error>> {
    let line = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    assert_eq!(Message::parse(line)?.text(), line);
    let text = r#"{"name":"echo","inputSchema":{"type":"object"},"com.example/odd":[1,{}]}"#;
    let tool: Tool = serde_json::from_str(text)?;
    let written: Value = serde_json::from_str(&serde_json::to_string(&tool)?)?;
    assert_eq!(written, serde_json::from_str::<Value>(text)?);
    Ok(())
}

/// A stateless server with two tools on two pages: `report` tells progress, `book` asks who.
async fn demo() -> Loopback {
    Loopback::serve(|request| async move {
        let message = request.json().unwrap_or_default();
        let (id, params) = (&message["id"], &message["params"]);
        let result = match (request.rpc().as_deref(), params["name"].as_str()) {
            (Some("server/discover"), _) => json!({
                "supportedVersions": ["2026-07-28"],
                "capabilities": { "tools": {} },
                "_meta": { "io.modelcontextprotocol/serverInfo": { "name": "demo", "version": "1" } },
            }),
            (Some("tools/list"), _) => page(params),
            (Some("tools/call"), Some("report")) => return report(id),
            (Some("tools/call"), Some("book")) => book(params),
            _ => {
                let error = json!({ "code": -32602, "message": "not found", "data": { "uri": params["uri"] } });
                let body = json!({ "jsonrpc": "2.0", "id": id, "error": error });
                return Reply::new(200).json(body.to_string());
            }
        };
        Reply::new(200).json(json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string())
    })
    .await
    .expect("a port")
}

fn page(params: &Value) -> Value {
    let tool = |name: &str| json!({ "name": name, "inputSchema": { "type": "object" } });
    match params.get("cursor") {
        None => json!({ "tools": [tool("report")], "nextCursor": "2", "page": "first" }),
        Some(_) => json!({ "tools": [tool("book")] }),
    }
}

fn report(id: &Value) -> Reply {
    let progress = json!({ "progressToken": id, "progress": 1, "total": 2, "message": "half" });
    let notice =
        json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": progress });
    let result = json!({ "content": [], "structuredContent": { "sky": "grey" }, "vendor": "kept" });
    let answer = json!({ "jsonrpc": "2.0", "id": id, "result": result });
    Reply::new(200).events([notice.to_string().as_str(), answer.to_string().as_str()])
}

fn book(params: &Value) -> Value {
    let name = &params["inputResponses"]["who"]["content"]["name"];
    if let (Some(name), "s1") = (name.as_str(), params["requestState"].as_str().unwrap_or_default())
    {
        return json!({ "content": [{ "type": "text", "text": format!("booked for {name}") }] });
    }
    let schema = json!({ "type": "object", "properties": { "name": { "type": "string" } } });
    json!({
        "resultType": "input_required",
        "requestState": "s1",
        "inputRequests": {
            "who": { "method": "elicitation/create", "params": { "message": "Who?", "requestedSchema": schema } },
        },
    })
}
