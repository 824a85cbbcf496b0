//! What the server says, version by version.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::{Value, json};
use snodo_types::{
    CallToolResult, CompleteResult, Content, ErrorObject, GetPromptResult, LoggingLevel, Prompt,
    PromptArgument, PromptMessage, ProtocolVersion, ReadResourceResult, Resource, ResourceContents,
    ResourceTemplate, Tool,
};

use super::{Call, Server};
use crate::Direct;
use crate::hand::{Peer, initialize, stateless, with_meta};

const SESSIONS: [&str; 2] = ["2025-11-25", "2025-06-18"];

#[derive(Deserialize)]
struct Add {
    a: i64,
    b: i64,
}

async fn add(args: Add, _call: Call) -> Result<CallToolResult, ErrorObject> {
    Ok(CallToolResult::from_text((args.a + args.b).to_string()))
}

async fn count(_args: Value, call: Call) -> Result<CallToolResult, ErrorObject> {
    for step in [1.0, 2.0] {
        call.progress(step, Some(2.0), Some("step")).await;
    }
    Ok(CallToolResult::from_text("counted"))
}

async fn chat(_args: Value, call: Call) -> Result<CallToolResult, ErrorObject> {
    call.log(LoggingLevel::Debug, json!("small")).await;
    call.log(LoggingLevel::Error, json!({ "much": 1 })).await;
    Ok(CallToolResult::from_text("said"))
}

fn server() -> Server {
    let object = || json!({ "type": "object" });
    let note = Resource::new("note://1", "note");
    let user = ResourceTemplate::new("user://{id}", "user");
    let review = Prompt::new("review")
        .with_argument(PromptArgument::required("code"))
        .with_argument(PromptArgument::optional("style"));
    Server::new("demo", "0.1.0")
        .title("Demo")
        .instructions("Adds.")
        .tool("add", object(), add)
        .tool("count", object(), count)
        .tool("chat", object(), chat)
        .resource(note, |request, _| async move {
            Ok(ReadResourceResult::new(vec![ResourceContents::text(request.uri(), "milk")]))
        })
        .template(user, |request, _| async move {
            let id = request.variable("id").unwrap_or_default().to_owned();
            Ok(ReadResourceResult::new(vec![ResourceContents::text(request.uri(), id)]))
        })
        .prompt(review, |args: HashMap<String, String>, _| async move {
            Ok(GetPromptResult::new(vec![PromptMessage::user(&args["code"])]))
        })
        .completion(|params, _| async move {
            let typed = params.argument.value;
            Ok(CompleteResult::new((0..250).map(|number| format!("{typed}{number}"))))
        })
}

fn call(name: &str, arguments: Value) -> Value {
    json!({ "name": name, "arguments": arguments })
}

// DISC-01, VER-12
#[test]
fn discovery_tells_versions_and_capabilities_and_the_server_beside_them() {
    let result = Peer::new(server()).result("server/discover", stateless(json!({})));
    assert_eq!(
        result,
        json!({
            "supportedVersions": ["2026-07-28", "2025-11-25", "2025-06-18"],
            "capabilities": {
                "tools": {}, "resources": {}, "prompts": {}, "completions": {}, "logging": {},
            },
            "instructions": "Adds.",
            "ttlMs": 0,
            "cacheScope": "private",
            "resultType": "complete",
            "_meta": { "io.modelcontextprotocol/serverInfo":
                { "name": "demo", "title": "Demo", "version": "0.1.0" } },
        })
    );
}

// CACHE-01
#[test]
fn a_stateless_result_is_complete_and_what_may_be_cached_says_how_long() {
    let peer = Peer::new(server());
    let requests = [
        ("tools/list", json!({}), true),
        ("prompts/list", json!({}), true),
        ("resources/list", json!({}), true),
        ("resources/templates/list", json!({}), true),
        ("resources/read", json!({ "uri": "note://1" }), true),
        ("tools/call", call("add", json!({ "a": 1, "b": 2 })), false),
        ("prompts/get", call("review", json!({ "code": "x" })), false),
        ("completion/complete", completion("x"), false),
    ];
    for (method, params, cached) in requests {
        let result = peer.result(method, stateless(params));
        assert_eq!(result["resultType"], "complete", "{method}");
        let server = &result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"];
        assert_eq!(server, "demo", "{method}");
        let hints = (&result["ttlMs"], &result["cacheScope"]);
        let wanted = if cached { (json!(0), json!("private")) } else { (Value::Null, Value::Null) };
        assert_eq!(hints, (&wanted.0, &wanted.1), "{method}");
    }
}

#[test]
fn a_result_within_a_session_is_the_result_alone() {
    for version in SESSIONS {
        let peer = Peer::initialized(server(), version);
        let requests = [
            ("tools/list", json!({}), "tools"),
            ("resources/read", json!({ "uri": "note://1" }), "contents"),
            ("tools/call", call("add", json!({ "a": 1, "b": 2 })), "content"),
            ("prompts/get", call("review", json!({ "code": "x" })), "messages"),
        ];
        for (method, params, member) in requests {
            let result = peer.result(method, params);
            let names: Vec<&String> = result.as_object().expect("an object").keys().collect();
            assert_eq!(names, [member], "{method}");
        }
        assert_eq!(peer.result("ping", json!({})), json!({}));
    }
}

// META-04
#[test]
fn a_stateless_request_without_version_or_capabilities_is_refused() {
    let peer = Peer::new(server());
    let version = "io.modelcontextprotocol/protocolVersion";
    for params in [
        json!({}),
        json!({ "_meta": {} }),
        json!({ "_meta": { version: 5 } }),
        json!({ "_meta": { version: "2026-07-28" } }),
        with_meta(json!({}), json!({ "io.modelcontextprotocol/clientCapabilities": [] })),
    ] {
        assert_eq!(peer.refusal("tools/list", params.clone()).0, -32602, "{params}");
    }
}

#[test]
fn a_version_that_is_not_enabled_is_refused_with_those_that_are() {
    let enabled = [ProtocolVersion::V2025_06_18, ProtocolVersion::V2026_07_28];
    let peer = Peer::new(server().versions(enabled));
    for requested in ["2099-01-01", "2025-11-25", "2025-06-18"] {
        let meta = json!({ "io.modelcontextprotocol/protocolVersion": requested });
        let (code, data) = peer.refusal("tools/list", with_meta(json!({}), meta));
        let supported = ["2026-07-28", "2025-06-18"];
        let wanted = json!({ "supported": supported, "requested": requested });
        assert_eq!((code, data), (-32022, wanted));
    }
}

#[test]
fn a_stateless_server_answers_initialize_with_its_versions() {
    let peer = Peer::new(server().versions([ProtocolVersion::V2026_07_28]));
    let (code, data) = peer.refusal("initialize", initialize("2025-11-25"));
    let wanted = json!({ "supported": ["2026-07-28"], "requested": "2025-11-25" });
    assert_eq!((code, data), (-32022, wanted));
}

// INIT-03
#[test]
fn a_session_is_opened_in_the_version_asked_for_or_the_newest_that_has_sessions() {
    let all = ProtocolVersion::ALL;
    let old = &[ProtocolVersion::V2025_06_18][..];
    let table = [
        (all, "2025-11-25", "2025-11-25"),
        (all, "2025-06-18", "2025-06-18"),
        (all, "2026-07-28", "2025-11-25"),
        (all, "2024-11-05", "2025-11-25"),
        (old, "2025-11-25", "2025-06-18"),
    ];
    for (enabled, asked, settled) in table {
        let peer = Peer::new(server().versions(enabled.iter().copied()));
        let result = peer.result("initialize", initialize(asked));
        assert_eq!(result["protocolVersion"], settled, "{asked}");
        assert_eq!(result["serverInfo"]["name"], "demo");
        assert_eq!(result["instructions"], "Adds.");
        assert_eq!(result["capabilities"]["tools"], json!({}));
    }
}

#[test]
fn a_server_with_sessions_alone_does_nothing_before_one_is_open_but_answer_a_ping() {
    let peer = Peer::new(server().versions([ProtocolVersion::V2025_11_25]));
    assert_eq!(peer.refusal("tools/list", json!({})).0, -32600);
    assert_eq!(peer.refusal("server/discover", stateless(json!({}))).0, -32601);
    assert_eq!(peer.result("ping", json!({})), json!({}));
    peer.result("initialize", initialize("2025-11-25"));
    assert_eq!(peer.result("tools/list", json!({}))["tools"][0]["name"], "add");
}

// VER-11
#[test]
fn one_connection_may_speak_both_eras_and_a_session_is_its_own() {
    let direct = Direct::new(server());
    let (one, two) = (Peer::of(&direct), Peer::of(&direct));
    one.result("initialize", initialize("2025-11-25"));
    assert_eq!(one.result("tools/list", json!({}))["resultType"], Value::Null);
    assert_eq!(one.result("tools/list", stateless(json!({})))["resultType"], "complete");
    assert_eq!(two.refusal("tools/list", json!({})).0, -32602);
}

#[test]
fn a_method_that_the_version_does_not_have_is_not_found() {
    let peer = Peer::new(server());
    for method in ["ping", "initialize", "logging/setLevel", "resources/subscribe", "x/y"] {
        assert_eq!(peer.refusal(method, stateless(json!({}))).0, -32601, "{method}");
    }
    for version in SESSIONS {
        let peer = Peer::initialized(server(), version);
        for method in ["server/discover", "resources/subscribe", "roots/list", "tasks/list"] {
            assert_eq!(peer.refusal(method, json!({})).0, -32601, "{method}");
        }
    }
}

// DISC-06
#[test]
fn what_is_not_offered_is_not_declared_and_not_found() {
    let bare = Server::new("bare", "1");
    let stated = Peer::new(bare.clone()).result("server/discover", stateless(json!({})));
    assert_eq!(stated["capabilities"], json!({ "logging": {} }));
    // A session takes no notice of what a stateless request says of itself.
    for enabled in [ProtocolVersion::V2026_07_28, ProtocolVersion::V2025_11_25] {
        let peer = Peer::new(bare.clone().versions([enabled]));
        peer.ask("initialize", initialize("2025-11-25"));
        for (method, params) in [
            ("tools/list", json!({})),
            ("tools/call", json!({ "name": "x" })),
            ("resources/list", json!({})),
            ("resources/templates/list", json!({})),
            ("resources/read", json!({ "uri": "x" })),
            ("prompts/list", json!({})),
            ("prompts/get", json!({ "name": "x" })),
            ("completion/complete", completion("x")),
        ] {
            assert_eq!(peer.refusal(method, stateless(params)).0, -32601, "{method}");
        }
    }
}

// TOOL-11
#[test]
fn wrong_arguments_are_told_the_model_or_in_the_oldest_version_the_client() {
    let wrong = || call("add", json!({ "a": "one", "b": 2 }));
    let modern = Peer::new(server());
    let recent = Peer::initialized(server(), "2025-11-25");
    let told =
        [modern.result("tools/call", stateless(wrong())), recent.result("tools/call", wrong())];
    for result in told {
        assert_eq!(result["isError"], true);
        let text = result["content"][0]["text"].as_str().expect("text");
        assert!(text.contains("invalid type"), "{text}");
    }
    let oldest = Peer::initialized(server(), "2025-06-18");
    assert_eq!(oldest.refusal("tools/call", wrong()).0, -32602);
    for version in SESSIONS {
        let peer = Peer::initialized(server(), version);
        assert_eq!(peer.refusal("tools/call", call("nobody", json!({}))).0, -32602);
    }
    assert_eq!(modern.refusal("tools/call", stateless(call("nobody", json!({})))).0, -32602);
}

#[test]
fn parameters_that_are_none_of_the_method_are_refused() {
    let peer = Peer::initialized(server(), "2025-11-25");
    for (method, params) in [
        ("tools/call", json!({})),
        ("tools/call", call("add", json!([1, 2]))),
        ("tools/list", json!({ "cursor": 5 })),
        ("resources/read", json!({ "uri": 5 })),
        ("prompts/get", call("review", json!([]))),
        ("prompts/get", call("review", json!({ "code": 5 }))),
        ("completion/complete", json!({ "ref": { "type": "ref/prompt" }, "argument": {} })),
        ("logging/setLevel", json!({ "level": "loud" })),
        ("initialize", json!({})),
    ] {
        assert_eq!(peer.refusal(method, params.clone()).0, -32602, "{method} {params}");
    }
}

#[test]
fn arguments_that_are_absent_are_an_empty_object() {
    let server = Server::new("demo", "1").tool("show", json!({}), |args: Value, _| async move {
        Ok(CallToolResult::from_text(args.to_string()))
    });
    let peer = Peer::new(server);
    for params in [json!({ "name": "show" }), call("show", Value::Null)] {
        let result = peer.result("tools/call", stateless(params));
        assert_eq!(result["content"][0]["text"], "{}");
    }
}

#[test]
fn what_a_handler_refuses_is_the_error_that_the_client_sees() {
    let server = Server::new("demo", "1").tool("no", json!({}), |_: Value, _| async {
        Err(ErrorObject::new(4711, "no").with_data(json!({ "why": "so" })))
    });
    let answer = Peer::new(server).ask("tools/call", stateless(call("no", json!({}))));
    let error = json!({ "code": 4711, "message": "no", "data": { "why": "so" } });
    assert_eq!(answer["error"], error);
}

#[test]
fn what_a_handler_says_of_its_result_stays() {
    let server = Server::new("demo", "1")
        .tool("ask", json!({}), |_: Value, _| async {
            let mut result = CallToolResult::new(vec![Content::text("x")])
                .with_meta(json!({ "com.example/cost": 3 }));
            result.result_type = Some("input_required".into());
            Ok(result)
        })
        .resource(Resource::new("x://1", "x"), |_, _| async {
            let mut result = ReadResourceResult::new(Vec::new());
            (result.ttl_ms, result.cache_scope) = (Some(60_000), Some("public".into()));
            Ok(result)
        });
    let modern = Peer::new(server.clone());
    let result = modern.result("tools/call", stateless(call("ask", json!({}))));
    assert_eq!(result["resultType"], "input_required");
    assert_eq!(result["_meta"]["com.example/cost"], 3);
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "demo");
    let read = modern.result("resources/read", stateless(json!({ "uri": "x://1" })));
    assert_eq!((&read["ttlMs"], &read["cacheScope"]), (&json!(60_000), &json!("public")));
    let session = Peer::initialized(server, "2025-11-25");
    let result = session.result("tools/call", call("ask", json!({})));
    assert_eq!(result["_meta"], json!({ "com.example/cost": 3 }));
    assert_eq!(result["resultType"], Value::Null);
    let read = session.result("resources/read", json!({ "uri": "x://1" }));
    assert_eq!(read, json!({ "contents": [] }));
}

#[test]
fn progress_comes_before_the_result_where_it_was_asked_for() {
    let peers = [
        (Peer::new(server()), stateless(call("count", json!({})))),
        (Peer::initialized(server(), "2025-06-18"), call("count", json!({}))),
    ];
    for (peer, mut params) in peers {
        assert_eq!(peer.hear("tools/call", params.clone()).len(), 1, "nobody asked");
        params["_meta"]["progressToken"] = json!("mine");
        let heard = peer.hear("tools/call", params);
        let said: Vec<&Value> = heard.iter().map(|message| &message["params"]).collect();
        let step = |progress: u8| json!({ "progressToken": "mine", "progress": progress, "total": 2, "message": "step" });
        assert_eq!(said, [&step(1), &step(2), &Value::Null]);
        assert_eq!(heard[0]["method"], "notifications/progress");
        assert_eq!(heard[2]["result"]["content"][0]["text"], "counted");
    }
}

#[test]
fn progress_that_is_no_number_is_not_sent() {
    let server = Server::new("demo", "1").tool("lost", json!({}), |_: Value, call| async move {
        call.progress(f64::NAN, None, None).await;
        call.progress(0.5, Some(f64::INFINITY), None).await;
        call.progress(0.5, None, None).await;
        Ok(CallToolResult::from_text("found"))
    });
    let params = with_meta(call("lost", json!({})), json!({ "progressToken": 7 }));
    let heard = Peer::new(server).hear("tools/call", params);
    assert_eq!(heard.len(), 2);
    assert_eq!(heard[0]["params"], json!({ "progressToken": 7, "progress": 0.5 }));
}

// LOG-01
#[test]
fn a_stateless_request_gets_the_log_it_asks_for_and_no_other() {
    let peer = Peer::new(server());
    let levels = |level: Value| {
        let meta = json!({ "io.modelcontextprotocol/logLevel": level });
        let heard = peer.hear("tools/call", with_meta(call("chat", json!({})), meta));
        heard.iter().map(|message| message["params"]["level"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(levels(json!("debug")), [json!("debug"), json!("error"), Value::Null]);
    assert_eq!(levels(json!("warning")), [json!("error"), Value::Null]);
    assert_eq!(levels(Value::Null), [Value::Null]);
    let loud = json!({ "io.modelcontextprotocol/logLevel": "loud" });
    let params = with_meta(call("chat", json!({})), loud);
    assert_eq!(peer.refusal("tools/call", params).0, -32602);
}

#[test]
fn a_session_gets_the_log_from_the_level_on_that_it_has_set() {
    let direct = Direct::new(server());
    let (one, two) = (Peer::of(&direct), Peer::of(&direct));
    one.result("initialize", initialize("2025-11-25"));
    two.result("initialize", initialize("2025-11-25"));
    assert_eq!(one.result("logging/setLevel", json!({ "level": "error" })), json!({}));
    let heard = one.hear("tools/call", call("chat", json!({})));
    assert_eq!(heard.len(), 2);
    assert_eq!(heard[0]["method"], "notifications/message");
    assert_eq!(heard[0]["params"], json!({ "level": "error", "data": { "much": 1 } }));
    assert_eq!(two.hear("tools/call", call("chat", json!({}))).len(), 3, "nothing set");
}

// PAG-05
#[test]
fn a_list_comes_in_pages_and_a_cursor_of_nobody_is_refused() {
    let tools = (0..5).fold(Server::new("demo", "1").page_size(2), |server, number| {
        server.tool(format!("t{number}"), json!({}), add)
    });
    let peer = Peer::new(tools);
    let (mut names, mut cursor) = (Vec::new(), None);
    for size in [2, 2, 1] {
        let params = cursor.map_or_else(|| json!({}), |cursor: String| json!({ "cursor": cursor }));
        let page = peer.result("tools/list", stateless(params));
        let tools = page["tools"].as_array().expect("a list");
        assert_eq!(tools.len(), size);
        names.extend(tools.iter().map(|tool| tool["name"].as_str().expect("text").to_owned()));
        cursor = page.get("nextCursor").map(|cursor| cursor.as_str().expect("text").to_owned());
    }
    assert_eq!(names, ["t0", "t1", "t2", "t3", "t4"]);
    assert_eq!(cursor, None);
    for cursor in ["", "x", "-1", "0", "5", "99999999999999999999"] {
        let params = stateless(json!({ "cursor": cursor }));
        assert_eq!(peer.refusal("tools/list", params).0, -32602, "{cursor:?}");
    }
}

#[test]
fn a_definition_is_listed_as_it_was_made_and_the_last_of_a_name_counts() {
    let first = Tool::new("a", json!({ "type": "object" }));
    let whole = first
        .clone()
        .with_title("A")
        .with_description("does a")
        .with_output_schema(json!({ "type": "object" }))
        .with_annotations(json!({ "readOnlyHint": true }));
    let server = Server::new("demo", "1")
        .tool_with(first, |_: Value, _| async { Ok(CallToolResult::from_text("first")) })
        .tool("b", json!({}), add)
        .tool_with(whole, |_: Value, _| async { Ok(CallToolResult::from_text("second")) });
    let peer = Peer::new(server);
    let tools = peer.result("tools/list", stateless(json!({})))["tools"].take();
    assert_eq!(
        tools,
        json!([
            { "name": "a", "title": "A", "description": "does a",
              "inputSchema": { "type": "object" }, "outputSchema": { "type": "object" },
              "annotations": { "readOnlyHint": true } },
            { "name": "b", "inputSchema": {} },
        ])
    );
    let result = peer.result("tools/call", stateless(call("a", json!({}))));
    assert_eq!(result["content"][0]["text"], "second");
}

#[test]
fn a_resource_is_read_by_its_uri_or_by_a_template_that_fits() {
    let peer = Peer::initialized(server(), "2025-11-25");
    let read = |uri: &str| peer.result("resources/read", json!({ "uri": uri }))["contents"].take();
    assert_eq!(read("note://1"), json!([{ "uri": "note://1", "text": "milk" }]));
    assert_eq!(read("user://a%20b"), json!([{ "uri": "user://a%20b", "text": "a b" }]));
    let list = peer.result("resources/templates/list", json!({}));
    assert_eq!(list["resourceTemplates"][0]["uriTemplate"], "user://{id}");
}

// ERR-05
#[test]
fn a_resource_that_is_not_there_has_the_code_of_its_version() {
    let params = || json!({ "uri": "user://1/2" });
    let data = json!({ "uri": "user://1/2" });
    let modern = Peer::new(server()).refusal("resources/read", stateless(params()));
    assert_eq!(modern, (-32602, data.clone()));
    for version in SESSIONS {
        let peer = Peer::initialized(server(), version);
        assert_eq!(peer.refusal("resources/read", params()), (-32002, data.clone()));
    }
}

// PRM-04
#[test]
fn a_prompt_that_is_unknown_or_lacks_an_argument_is_refused() {
    let peer = Peer::initialized(server(), "2025-11-25");
    let filled = peer.result("prompts/get", call("review", json!({ "code": "x = 1" })));
    let content = json!({ "type": "text", "text": "x = 1" });
    assert_eq!(filled, json!({ "messages": [{ "role": "user", "content": content }] }));
    for (name, arguments) in [("nobody", json!({})), ("review", json!({ "style": "short" }))] {
        assert_eq!(peer.refusal("prompts/get", call(name, arguments)).0, -32602, "{name}");
    }
}

fn completion(typed: &str) -> Value {
    json!({
        "ref": { "type": "ref/prompt", "name": "review" },
        "argument": { "name": "code", "value": typed },
    })
}

// CMP-01
#[test]
fn a_completion_has_a_hundred_values_at_most_and_says_how_many_there_are() {
    let peer = Peer::initialized(server(), "2025-06-18");
    let result = peer.result("completion/complete", completion("x"))["completion"].take();
    assert_eq!(result["values"].as_array().expect("a list").len(), 100);
    assert_eq!(result["values"][99], "x99");
    assert_eq!((&result["total"], &result["hasMore"]), (&json!(250), &json!(true)));
}

// S-23
#[test]
fn a_handler_knows_who_calls_and_in_which_version() {
    let server =
        Server::new("demo", "1").tool("who", json!({}), |_: Value, call: Call| async move {
            let info = call.client_info().map(|info| info.name);
            let sampling = call.client_capabilities().sampling();
            let tenant: Option<String> = call.meta().read("com.example/tenant");
            let said =
                json!([call.auth::<&str>(), call.version().as_str(), info, sampling, tenant]);
            Ok(CallToolResult::from_structured(json!({ "said": said })))
        });
    let direct = Direct::new(server).auth("ada");
    let said = |peer: &Peer<Server>, params| {
        peer.result("tools/call", params)["structuredContent"]["said"].take()
    };
    let peer = Peer::of(&direct);
    let meta = json!({
        "io.modelcontextprotocol/clientInfo": { "name": "new", "version": "1" },
        "com.example/tenant": "t1",
    });
    let modern = said(&peer, with_meta(call("who", json!({})), meta));
    assert_eq!(modern, json!(["ada", "2026-07-28", "new", false, "t1"]));
    peer.result("initialize", initialize("2025-06-18"));
    let session = said(&peer, call("who", json!({})));
    assert_eq!(session, json!(["ada", "2025-06-18", "agent", true, null]));
}
