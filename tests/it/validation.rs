//! Arguments and results of tools, held against the tools' schemas.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use snodo::types::{
    CallToolResult, Cause, Error, Kind, SchemaFault, SchemaSide, SubscriptionFilter, Tool,
};
use snodo::{Client, Event, Validate};
use snodo_direct::Server;
use snodo_transport::{Abilities, Connect, Exchange, Incoming, Transport};
use snodo_types::{Envelope, Message, TransportError};

use crate::script::{Far, Sent, server, session, stateless, text};

fn counts() -> Value {
    json!({
        "type": "object",
        "properties": { "n": { "type": "integer", "maximum": 9 }, "list": { "items": { "type": "string" } } },
        "required": ["n"],
    })
}

/// A server with one tool of these schemas, which always gives this result.
fn tool(input: Value, output: Option<Value>, result: Value) -> (impl Connect, Sent) {
    let mut tool = json!({ "name": "count", "inputSchema": input });
    if let Some(output) = output {
        tool["outputSchema"] = output;
    }
    server(move |request| match request["method"].as_str() {
        Some("tools/list") => json!({ "tools": [tool], "ttlMs": 0, "cacheScope": "private" }),
        _ => result.clone(),
    })
}

fn methods(sent: &Sent) -> Vec<String> {
    let method = |message: &Value| message["method"].as_str().map(str::to_owned);
    sent.all().iter().filter_map(method).collect()
}

fn fault(error: &Error) -> &SchemaFault {
    let Some(Cause::Schema(fault)) = error.cause() else { panic!("{error:?}") };
    fault
}

async fn result_of(output: Value, result: Value) -> Result<CallToolResult, Error> {
    let (transport, _) = tool(json!({ "type": "object" }), Some(output), result);
    let client = stateless().validate(Validate::results()).connect(transport).await?;
    client.call_tool("count", ()).await.map(snodo::Reply::into_inner)
}

// TOOL-18
#[tokio::test]
async fn arguments_that_do_not_fit_are_refused_before_anything_is_sent() {
    let (transport, sent) = tool(counts(), None, text("done"));
    let client = stateless().validate(Validate::arguments()).connect(transport).await.unwrap();
    for (arguments, pointer, expected) in [
        (json!({ "n": "5ecret" }), "/n", "integer"),
        (json!({ "n": 1, "list": ["a", 77] }), "/list/1", "string"),
        (json!({ "n": 77 }), "/n", "at most 9"),
        (json!({}), "", "a property `n`"),
        (json!(null), "", "a property `n`"),
    ] {
        let error = client.call_tool("count", &arguments).await.expect_err("it does not fit");
        assert_eq!((error.kind(), error.code()), (Kind::Protocol, -32602), "{error}");
        let found = fault(&error);
        assert_eq!((found.tool(), found.side()), ("count", SchemaSide::Arguments));
        assert_eq!((found.pointer(), found.reason()), (Some(pointer), expected));
        let shown = format!("{error} {error:?}");
        assert!(!shown.contains("5ecret") && !shown.contains("77"), "{shown}");
    }
    assert_eq!(methods(&sent), ["tools/list"], "the tool was looked up, and never called");
    client.call_tool("count", json!({ "n": 9 })).await.expect("it fits");
    client.request("tools/call", json!({ "name": "count" })).await.expect_err("generic, too");
    client.call_tool("count", ()).unchecked().await.expect("nobody looks");
    assert_eq!(methods(&sent), ["tools/list", "tools/call", "tools/call"]);
}

// TOOL-05
#[tokio::test]
async fn a_result_that_does_not_fit_fails_its_call_and_is_kept() {
    let result = json!({ "content": [], "structuredContent": { "n": "5ecret" }, "x": 1 });
    let error = result_of(counts(), result.clone()).await.expect_err("it does not fit");
    assert_eq!((error.kind(), error.code()), (Kind::Execution, -32603));
    let found = fault(&error);
    assert_eq!(
        (found.side(), found.pointer(), found.reason()),
        (SchemaSide::Result, Some("/n"), "integer")
    );
    assert!(!format!("{error} {error:?}").contains("5ecret"));
    assert!(error.to_string().contains("`count`") && error.to_string().contains("/n"), "{error}");
    let kept: Value = found.result().expect("kept").decode().unwrap();
    assert_eq!(kept, result);
    let fitting = json!({ "content": [], "structuredContent": { "n": 1 } });
    assert_eq!(result_of(counts(), fitting).await.unwrap().structured::<Value>().unwrap()["n"], 1);
}

// TOOL-03, TOOL-04, TOOL-05, TOOL-06
#[tokio::test]
async fn a_result_is_what_it_says_be_it_null_an_array_or_absent() {
    let array = json!({ "type": "array", "items": { "type": "integer" } });
    for (output, content, fits) in [
        (array.clone(), json!([1, 2]), true),
        (array.clone(), json!([1, "2"]), false),
        (json!({ "type": "null" }), json!(null), true),
        (json!({ "type": "string" }), json!(null), false),
        (json!(true), json!(null), true),
    ] {
        let result = json!({ "content": [], "structuredContent": content });
        let answer = result_of(output.clone(), result).await;
        assert_eq!(answer.is_ok(), fits, "{output} {content}: {answer:?}");
    }
    let error = result_of(json!(true), text("only words")).await.expect_err("it is absent");
    assert_eq!((fault(&error).pointer(), fault(&error).side()), (Some(""), SchemaSide::Result));
    // A failure is told in words, whatever the schema says.
    let failed = json!({ "content": [{ "type": "text", "text": "disk full" }], "isError": true });
    let answer = result_of(array.clone(), failed).await.expect("a result");
    assert_eq!((answer.text().as_str(), answer.is_error()), ("disk full", true));
    let failed = json!({ "content": [], "structuredContent": "?", "isError": true });
    assert!(result_of(array.clone(), failed).await.is_ok());
    // What comes later is checked later.
    let later = json!({ "resultType": "task", "taskId": "t", "status": "working" });
    let error = result_of(array, later).await.expect_err("nobody spoke of tasks");
    assert!(!matches!(error.cause(), Some(Cause::Schema(_))), "{error:?}");
}

#[tokio::test]
async fn nothing_is_checked_unless_it_is_asked_for() {
    let bad = json!({ "content": [], "structuredContent": { "n": "x" } });
    let (transport, sent) = tool(counts(), Some(counts()), bad.clone());
    let client = stateless().connect(transport).await.unwrap();
    client.call_tool("count", json!({ "n": "x" })).await.expect("nobody looks");
    assert_eq!(methods(&sent), ["tools/call"]);
    let (transport, _) = tool(counts(), Some(counts()), bad.clone());
    let client = stateless().validate(Validate::arguments()).connect(transport).await.unwrap();
    client.call_tool("count", json!({ "n": 1 })).await.expect("nobody looks at results");
    let (transport, _) = tool(counts(), Some(counts()), bad);
    let client = stateless().validate(Validate::results()).connect(transport).await.unwrap();
    let error = client.call_tool("count", json!({ "n": "x" })).await.expect_err("the result");
    assert_eq!(fault(&error).side(), SchemaSide::Result);
}

// JSC-02, JSC-06, JSC-08, TOOL-05
#[tokio::test]
async fn a_tool_whose_schema_cannot_be_used_is_listed_and_its_call_told_so() {
    let external = json!({ "properties": { "n": { "$ref": "https://schemas.example/n.json" } } });
    let broken = json!({ "type": "no type" });
    let unknown = json!({ "$schema": "https://schemas.example/own", "type": "object" });
    for (schema, reason) in
        [(external, "nothing is fetched"), (broken, "no schema"), (unknown, "dialect")]
    {
        let good = json!({ "content": [], "structuredContent": { "n": 1 } });
        let (transport, sent) =
            tool(json!({ "type": "object" }), Some(schema.clone()), good.clone());
        let client = stateless().validate(Validate::both()).connect(transport).await.unwrap();
        assert_eq!(client.list_tools().await.unwrap().len(), 1, "{schema}");
        let error = client.call_tool("count", ()).await.expect_err("it cannot be checked");
        let found = fault(&error);
        assert!(found.is_unusable() && found.reason().contains(reason), "{schema}: {error}");
        assert!(found.result().is_some(), "the tool has run");
        assert_eq!(methods(&sent), ["tools/list", "tools/call"]);

        let (transport, sent) = tool(schema.clone(), None, good.clone());
        let client = stateless().validate(Validate::both()).connect(transport).await.unwrap();
        let error = client.call_tool("count", ()).await.expect_err("it cannot be checked");
        assert_eq!(fault(&error).side(), SchemaSide::Arguments);
        assert_eq!(methods(&sent), ["tools/list"]);

        let (transport, _) = tool(schema.clone(), Some(schema), good);
        let builder = stateless().validate(Validate::both().pass_unusable());
        let client = builder.connect(transport).await.unwrap();
        client.call_tool("count", ()).await.expect("it is let pass");
    }
}

// JSC-07
#[tokio::test]
async fn a_schema_bomb_and_a_hostile_pattern_fail_their_call_and_nothing_else() {
    let twice = |at: u8| json!({ "anyOf": [{ "$ref": format!("#/$defs/d{at}") }, { "$ref": format!("#/$defs/d{at}") }] });
    let mut definitions = json!({ "d0": { "type": "integer" } });
    for at in 1..60_u8 {
        definitions[format!("d{at}")] = twice(at - 1);
    }
    let bomb = json!({ "$defs": definitions, "$ref": "#/$defs/d59" });
    let pattern = json!({ "properties": { "s": { "pattern": "(a|b)*a(a|b){2000}$" } } });
    let long = json!({ "s": "ab".repeat(100_000) });
    for (schema, content) in [(bomb, json!({})), (pattern, long)] {
        let result = json!({ "content": [], "structuredContent": content });
        let answer = tokio::time::timeout(Duration::from_secs(60), result_of(schema, result));
        let error = answer.await.expect("in time").expect_err("it is no bomb");
        assert!(fault(&error).is_unusable(), "{error}");
    }
}

#[tokio::test]
async fn a_tool_is_looked_up_once_and_one_that_is_not_listed_is_not_checked() {
    let (transport, sent) = tool(counts(), None, text("done"));
    let client = stateless().validate(Validate::both()).connect(transport).await.unwrap();
    let call = |name: &'static str, n: u8| client.call_tool(name, json!({ "n": n }));
    let (a, b, c) = tokio::join!(call("count", 1), call("count", 2), call("other", 3));
    assert!(a.is_ok() && b.is_ok() && c.is_ok());
    client.call_tool("other", json!({ "n": "?" })).await.expect("nothing is known of it");
    let lists = methods(&sent).iter().filter(|method| *method == "tools/list").count();
    assert!(lists <= 2, "{:?}", methods(&sent));
    // One that was listed or is given needs no lookup at all.
    let (transport, sent) = tool(counts(), None, text("done"));
    let client = stateless().validate(Validate::both()).connect(transport).await.unwrap();
    let tool = Tool::new("count", counts());
    client.call_tool(&tool, json!({ "n": 77 })).await.expect_err("too many");
    client.call_tool("count", json!({ "n": 77 })).await.expect_err("known by now");
    assert!(methods(&sent).is_empty(), "{:?}", methods(&sent));
}

#[tokio::test(start_paused = true)]
async fn looking_a_tool_up_takes_no_longer_than_the_call_may() {
    let (client, mut far) = Far::open(session().validate(Validate::both())).await;
    let call = client.call_tool("count", ()).timeout(Duration::from_secs(3));
    let (error, ()) = tokio::join!(call, async {
        assert_eq!(far.read().await["method"], "tools/list");
    });
    let error = error.expect_err("nobody answers");
    assert!(error.is_timeout() && error.to_string().contains("tools/call"), "{error}");
    // The time of the lookup is that of the call.
    let call = client.call_tool("count", ()).timeout(Duration::from_secs(3));
    let (error, ()) = tokio::join!(call, async {
        assert_eq!(far.read().await["method"], "notifications/cancelled");
        let list = far.read().await;
        tokio::time::sleep(Duration::from_secs(2)).await;
        far.answer(&list, json!({ "tools": [] })).await;
        assert_eq!(far.read().await["method"], "tools/call");
        let sent = tokio::time::Instant::now();
        assert_eq!(far.read().await["method"], "notifications/cancelled");
        assert_eq!(sent.elapsed().as_millis(), 1000);
    });
    assert!(error.expect_err("nobody answers").is_timeout());
}

// TOOL-20, SRV-21
#[tokio::test]
async fn schemas_are_renewed_when_the_server_says_that_its_tools_changed() {
    let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
    let builder = session().on_notification(move |notice| drop(tell.send(notice)));
    let (client, mut far) = Far::open(builder.validate(Validate::both())).await;
    let listed = |maximum: u8| {
        let tool = json!({ "name": "count", "inputSchema": { "properties": { "n": { "maximum": maximum } } } });
        json!({ "tools": [tool] })
    };
    let call = client.call_tool("count", json!({ "n": 5 }));
    let (error, ()) = tokio::join!(call, async {
        let request = far.read().await;
        far.answer(&request, listed(4)).await;
    });
    assert_eq!(fault(&error.expect_err("too many")).reason(), "at most 4");
    client.call_tool("count", json!({ "n": 5 })).await.expect_err("it is known");
    far.say(json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" })).await;
    assert!(told.recv().await.is_some());
    let call = client.call_tool("count", json!({ "n": 5 }));
    let (answer, ()) = tokio::join!(call, async {
        let request = far.read().await;
        assert_eq!(request["method"], "tools/list");
        far.answer(&request, listed(6)).await;
        let request = far.read().await;
        far.answer(&request, text("done")).await;
    });
    answer.expect("it fits");
}

// TOOL-20
#[tokio::test]
async fn on_the_stateless_version_a_subscription_brings_the_news() {
    let lists = Arc::new(AtomicUsize::new(0));
    let client = stateless().validate(Validate::both()).connect(Telling(Arc::clone(&lists))).await;
    let client = client.expect("a client");
    let mut events =
        client.listen(SubscriptionFilter::new().tools_list_changed()).await.expect("agreed");
    client.call_tool("count", json!({ "n": 1 })).await.expect_err("at most 0");
    client.call_tool("count", json!({ "n": 1 })).await.expect_err("it is known");
    assert_eq!(lists.load(Ordering::Relaxed), 1);
    let event = events.next().await.expect("an event");
    assert!(matches!(event, Event::Notification(_)), "{event:?}");
    client.call_tool("count", json!({ "n": 1 })).await.expect("at most 1 by now");
    assert_eq!(lists.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn a_server_in_the_same_process_is_held_to_its_schemas_too() {
    let output = json!({ "type": "object", "properties": { "sum": { "type": "integer" } } });
    let tool =
        Tool::new("add", json!({ "type": "object", "required": ["a"] })).with_output_schema(output);
    let server = Server::new("demo", "0.1.0").tool_with(tool, |_: Value, _| async move {
        Ok(CallToolResult::from_structured(json!({ "sum": "three" })))
    });
    let client = Client::builder().validate(Validate::both()).direct(server).await.unwrap();
    let error = client.call_tool("add", json!({})).await.expect_err("no a");
    assert_eq!(fault(&error).side(), SchemaSide::Arguments);
    let error = client.call_tool("add", json!({ "a": 1 })).await.expect_err("no integer");
    assert_eq!(fault(&error).pointer(), Some("/sum"));
}

/// Lists a tool that takes one more each time, and tells listeners once that its tools changed.
struct Telling(Arc<AtomicUsize>);

impl Connect for Telling {
    type Transport = Self;

    async fn connect(&self) -> Result<Self, TransportError> {
        Ok(Self(Arc::clone(&self.0)))
    }
}

impl Transport for Telling {
    fn exchange(&self, envelope: Envelope) -> Exchange {
        let message: Value = serde_json::from_str(&envelope.message).expect("JSON");
        let id = envelope.id.expect("a request");
        let result = match message["method"].as_str() {
            Some("subscriptions/listen") => {
                let meta = json!({ "io.modelcontextprotocol/subscriptionId": message["id"] });
                let say = |method: &str, params: Value| {
                    let text = json!({ "jsonrpc": "2.0", "method": method, "params": params });
                    Incoming::Message(Message::parse(text.to_string()).expect("a message"))
                };
                let agreed =
                    json!({ "_meta": meta, "notifications": message["params"]["notifications"] });
                let agreed = say("notifications/subscriptions/acknowledged", agreed);
                let changed = say("notifications/tools/list_changed", json!({ "_meta": meta }));
                return Exchange::generate(|sender| async move {
                    sender.send(agreed).await;
                    sender.send(changed).await;
                    std::future::pending().await
                });
            }
            Some("tools/list") => {
                let most = self.0.fetch_add(1, Ordering::Relaxed);
                let schema = json!({ "properties": { "n": { "maximum": most } } });
                json!({ "tools": [{ "name": "count", "inputSchema": schema }], "ttlMs": 0, "cacheScope": "private" })
            }
            _ => text("done"),
        };
        Exchange::ready(Message::result(&id.into(), &result.to_string()))
    }

    fn abilities(&self) -> Abilities {
        let mut abilities = Abilities::default();
        (abilities.listen, abilities.own_stream) = (true, true);
        abilities
    }
}
