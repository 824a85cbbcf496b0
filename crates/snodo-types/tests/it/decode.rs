//! What real servers have sent, and what has to come of it.

use std::time::Duration;

use serde_json::{Value, json};
use snodo_types::*;

fn read<T: serde::de::DeserializeOwned>(text: &str) -> T {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn written<T: serde::Serialize>(value: &T) -> Value {
    serde_json::to_value(value).expect("JSON")
}

fn names(page: &ListToolsResult) -> Vec<&str> {
    page.items.iter().map(|tool| tool.name.as_str()).collect()
}

/// DS-01: a tool whose schema stands under the wrong name.
#[test]
fn a_tool_without_an_input_schema_is_left_out_with_its_name_and_the_rest_stays() {
    let page: ListToolsResult = read(
        r#"{"tools":[{"name":"a","description":"d","schema":{}},
                     {"name":"b","inputSchema":{"type":"object"}}]}"#,
    );
    assert_eq!(names(&page), ["b"]);
    assert_eq!(page.left_out.count(), 1);
    assert_eq!(
        page.left_out.items()[0].to_string(),
        "item 0 (\"a\"): Tool: `inputSchema`: is missing"
    );
}

/// DS-03: schemas of a shape that older versions do not allow.
// TOOL-02
#[test]
fn a_schema_is_kept_as_it_is_whatever_its_shape() {
    let page: ListToolsResult = read(
        r#"{"tools":[{"name":"a","inputSchema":{"anyOf":[{"type":"object"},{"type":"object"}]}},
                     {"name":"c","inputSchema":true},
                     {"name":"b","inputSchema":{"type":"object", "x":1.0}}]}"#,
    );
    assert_eq!(names(&page), ["a", "c", "b"]);
    assert!(page.left_out.is_empty());
    assert_eq!(page.items[2].input_schema.text(), r#"{"type":"object", "x":1.0}"#);
}

/// DS-05: things in a list that are no tools.
#[test]
fn what_is_no_tool_is_left_out_and_counted_and_a_list_that_is_not_there_is_an_error() {
    let page: ListToolsResult = read(
        r#"{"tools":[null,5,{"name":"b","inputSchema":{"type":"object"}},{"inputSchema":{}}]}"#,
    );
    assert_eq!(names(&page), ["b"]);
    let left: Vec<_> = page.left_out.items().iter().map(ToString::to_string).collect();
    assert_eq!(left, ["item 0: null", "item 1: not an object", "item 3: Tool: `name`: is missing"]);
    for text in ["{}", r#"{"tools":null}"#, r#"{"tools":{}}"#, r#"{"prompts":[]}"#] {
        let error = serde_json::from_str::<ListToolsResult>(text).expect_err(text);
        assert!(error.to_string().contains("`tools`"), "{error}");
    }
}

/// DS-07: hints with values that nobody knows.
// RES-05
#[test]
fn hints_never_lose_what_they_stand_beside() {
    let text = r#"{"content":[{"type":"text","text":"t",
        "annotations":{"audience":["system","user"],"priority":2,"lastModified":5}}]}"#;
    let result: CallToolResult = read(text);
    assert_eq!(result.text(), "t");
    let Content::Text(block) = &result.content[0] else { panic!("a block of text") };
    let hints = block.annotations();
    assert_eq!(hints.audience, Some(vec![Role::Other("system".into()), Role::User]));
    assert_eq!((hints.priority, hints.last_modified), (Some(2.0), None));
    assert_eq!(written(&result), read::<Value>(text));
    let wild: TextContent = read(r#"{"text":"t","annotations":"loud"}"#);
    assert_eq!(wild.annotations(), Annotations::default());
}

/// DS-09: an answer that asks for something must not pass for an empty one.
#[test]
fn a_result_that_asks_for_input_is_told_by_its_type_before_it_is_read() {
    let text = r#"{"resultType":"input_required","requestState":"s",
        "inputRequests":{"q":{"method":"roots/list","params":{}}},
        "_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}}"#;
    assert_eq!(ResultType::of(&read(text)), ResultType::InputRequired);
    let ask: InputRequired = read(text);
    assert_eq!(ask.request_state.as_ref().map(RequestState::as_str), Some("s"));
    assert_eq!(
        ask.requests().map(|(id, ask)| (id, &*ask.method)).collect::<Vec<_>>(),
        [("q", "roots/list")]
    );
    assert_eq!(ask.meta().server_info().expect("told").name, "s");
    let result: CallToolResult = read(text);
    assert_eq!(
        result.result_type,
        Some(ResultType::InputRequired),
        "and it is seen afterwards too"
    );
}

/// DS-11: prompts say whatever tools say.
#[test]
fn a_message_of_a_prompt_holds_any_kind_of_block() {
    let text = r#"{"messages":[
        {"role":"user","content":{"type":"audio","data":"AAAA","mimeType":"audio/wav"}},
        {"role":"assistant","content":{"type":"resource","resource":{"uri":"r://1","text":"x"}}},
        {"role":"user","content":{"type":"resource_link","uri":"r://2","name":"n"}}]}"#;
    let prompt: GetPromptResult = read(text);
    let kinds: Vec<_> = prompt.messages.iter().map(|message| message.content.kind()).collect();
    assert_eq!(kinds, ["audio", "resource", "resource_link"]);
    assert_eq!(written(&prompt), read::<Value>(text));
}

/// DS-13: sizes of icons, and of resources.
// ICON-01
#[test]
fn sizes_come_as_one_string_or_a_list_and_bytes_past_32_bits() {
    let text = r#"{"resources":[
        {"uri":"r://1","name":"n","size":5000000000,
         "icons":[{"src":"data:,","sizes":"48x48"},{"src":"data:,","sizes":["any"]},{"href":"?"}]},
        {"uri":"r://2","name":"m","size":null},
        {"uri":"r://3","name":"o","size":9223372036854775807}]}"#;
    let page: ListResourcesResult = read(text);
    let sizes: Vec<_> = page.items.iter().map(|resource| resource.size).collect();
    assert_eq!(sizes, [Some(5_000_000_000), None, Some(i64::MAX as u64)]);
    let icons = page.items[0].icons();
    let sizes: Vec<_> = icons.iter().map(|icon| icon.sizes.as_deref().expect("told")).collect();
    assert_eq!(sizes, [["48x48"], ["any"]], "what is no icon is left out of the reading");
    assert_eq!(written(&page)["resources"][0], read::<Value>(text)["resources"][0]);
}

// PAG-02, PAG-04
#[test]
fn the_empty_cursor_goes_on_and_only_absence_ends_a_list() {
    let cursor = |text| read::<ListToolsResult>(text).next_cursor;
    assert_eq!(cursor(r#"{"tools":[],"nextCursor":""}"#).as_deref(), Some(""));
    assert_eq!(cursor(r#"{"tools":[],"nextCursor":null}"#), None);
    assert_eq!(cursor(r#"{"tools":[]}"#), None);
}

#[test]
fn a_broken_character_or_number_stays_with_its_item() {
    let page: ListResourcesResult = read(
        r#"{"resources":[{"uri":"a","name":"cut \ud83d"},{"uri":"b","name":"b"},
            {"uri":"c","name":"c","size":1e999}]}"#,
    );
    assert_eq!(page.items.len(), 1);
    assert_eq!(page.items[0].uri, "b");
    let left: Vec<_> =
        page.left_out.items().iter().map(|item| (item.index, item.name.as_deref())).collect();
    assert_eq!(left, [(0, Some("a")), (2, Some("c"))]);
}

#[test]
fn a_page_read_in_one_go_is_the_page_read_item_by_item() {
    let tool = r#"{"name":"a","inputSchema":{"type":"object"},"title":5}"#;
    for text in [
        format!(
            r#"{{"tools":[{tool},{tool}],"nextCursor":"x","ttlMs":5,"cacheScope":"public","z":[1.50]}}"#
        ),
        format!(
            r#"{{"tools":[null,{{"name":"b"}},{tool},5],"_meta":{{"k":1}},"resultType":"complete"}}"#
        ),
        format!(
            r#"{{"tools":[{tool},{{"name":"c","title":"\ud83d","inputSchema":{{}}}},{tool}]}}"#
        ),
        r#"{"tools":[],"nextCursor":null,"ttlMs":null}"#.to_owned(),
    ] {
        let page = ListToolsResult::parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(page, read(&text), "{text}");
    }
    for text in ["{}", r#"{"tools":null}"#, "[]", "", r#"{"tools":["#] {
        let error = ListToolsResult::parse(text).expect_err(text).to_string();
        assert_eq!(
            error,
            serde_json::from_str::<ListToolsResult>(text).expect_err(text).to_string()
        );
    }
}

#[test]
fn of_the_items_left_out_all_are_counted_and_sixteen_explained() {
    let page: ListPromptsResult = read(&json!({ "prompts": vec![json!({}); 100] }).to_string());
    assert_eq!((page.left_out.count(), page.left_out.items().len()), (100, 16));
    let long = json!({ "tools": [{ "name": "x".repeat(10_000), "inputSchema": null }] });
    let page: ListToolsResult = read(&long.to_string());
    assert_eq!(page.left_out.items()[0].name.as_ref().expect("told").len(), 128);
}

// TOOL-04
#[test]
fn structured_content_may_be_anything_and_null_is_not_absence() {
    for value in ["null", "[]", "3", "\"x\"", "{\"a\":1}", "false"] {
        let text = format!(r#"{{"content":[],"structuredContent":{value}}}"#);
        let result: CallToolResult = read(&text);
        assert_eq!(result.structured_content.as_ref().map(Raw::text), Some(value));
        assert_eq!(serde_json::to_string(&result).expect("text"), text);
    }
    let null: CallToolResult = read(r#"{"content":[],"structuredContent":null}"#);
    assert_eq!(null.structured::<Option<u8>>().expect("null"), None);
    let none: CallToolResult = read(r#"{"content":[]}"#);
    assert!(matches!(none.structured::<Option<u8>>(), Err(StructuredError::Absent)));
    let other: CallToolResult = read(r#"{"content":[],"structuredContent":"x"}"#);
    assert!(matches!(other.structured::<u8>(), Err(StructuredError::Mismatch(_))));
}

// TOOL-10
#[test]
fn a_tool_that_failed_says_so_in_its_result() {
    let failed: CallToolResult =
        read(r#"{"content":[{"type":"text","text":"no"}],"isError":true}"#);
    assert!(failed.is_error());
    assert_eq!(failed.text(), "no");
    assert!(CallToolResult::error("no").is_error());
    assert!(!read::<CallToolResult>(r#"{"content":[]}"#).is_error());
    assert!(!read::<CallToolResult>(r#"{"content":[],"isError":null}"#).is_error());
}

// TOOL-13
#[test]
fn what_a_tool_does_not_say_of_itself_is_the_worse() {
    let silent: Tool =
        read(r#"{"name":"a","inputSchema":{},"annotations":{"readOnlyHint":"yes"}}"#);
    let hints = silent.annotations();
    assert!(!hints.is_read_only() && hints.is_destructive());
    assert!(!hints.is_idempotent() && hints.is_open_world());
}

// TOOL-14
#[test]
fn a_tool_is_shown_by_its_title_then_that_of_the_hints_then_its_name() {
    let name = |text: &str| read::<Tool>(text).display_name();
    let hints = r#""annotations":{"title":"C"}"#;
    assert_eq!(name(&format!(r#"{{"name":"a","inputSchema":{{}},"title":"B",{hints}}}"#)), "B");
    assert_eq!(name(&format!(r#"{{"name":"a","inputSchema":{{}},{hints}}}"#)), "C");
    assert_eq!(name(r#"{"name":"a","inputSchema":{},"title":null}"#), "a");
}

// TOOL-15
#[test]
fn names_that_servers_should_not_give_are_taken_all_the_same() {
    for name in ["", "a b", "été/☃", &"x".repeat(500)] {
        let tool: Tool = read(&json!({ "name": name, "inputSchema": {} }).to_string());
        assert_eq!(tool.name, name);
    }
}

// TOOL-19
#[test]
fn a_list_keeps_the_order_of_its_server() {
    let tools: Vec<_> =
        ["z", "a", "m"].map(|name| json!({ "name": name, "inputSchema": {} })).into();
    assert_eq!(names(&read(&json!({ "tools": tools }).to_string())), ["z", "a", "m"]);
}

// RES-02, RES-09
#[test]
fn a_resource_may_be_empty_or_come_in_parts_of_other_names() {
    let parts: ReadResourceResult = read(
        r#"{"contents":[{"uri":"d://1/a","text":"x"},{"uri":"d://1/b","mimeType":"image/png","blob":"AA=="}]}"#,
    );
    assert_eq!(parts.contents[1].blob.as_deref(), Some("AA=="));
    assert_eq!(parts.text(), None, "not all of it is text");
    assert!(read::<ReadResourceResult>(r#"{"contents":[]}"#).contents.is_empty());
    assert!(serde_json::from_str::<ReadResourceResult>("{}").is_err());
}

// CACHE-01
#[test]
fn what_may_be_kept_is_told_by_the_result_itself() {
    let page: ListToolsResult = read(r#"{"tools":[],"ttlMs":60000,"cacheScope":"public"}"#);
    assert_eq!(page.cache_hints().ttl, Duration::from_secs(60));
    let contents: ReadResourceResult = read(r#"{"contents":[],"ttlMs":-1,"cacheScope":"galaxy"}"#);
    assert_eq!(contents.cache_hints().ttl, Duration::ZERO);
    assert_eq!(contents.cache_hints().scope, CacheScope::Private);
    let found: DiscoverResult = read(r#"{"supportedVersions":[],"capabilities":{},"ttlMs":5}"#);
    assert_eq!(found.cache_hints().ttl, Duration::from_millis(5));
}

// MRTR-08, TASK-31
#[test]
fn what_is_a_servers_own_business_or_a_key_to_a_task_is_not_shown() {
    let ask: InputRequired = read(r#"{"resultType":"input_required","requestState":"hush"}"#);
    let task: DetailedTask = read(r#"{"taskId":"hush","status":"working","ttlMs":1}"#);
    let params: CallToolParams = read(r#"{"name":"n","requestState":"hush"}"#);
    let shown = format!("{ask:?} {task:?} {params:?} {:?}", TaskParams::new("hush"));
    assert!(!shown.contains("hush"), "{shown}");
    assert!(written(&ask)["requestState"] == "hush" && written(&task)["taskId"] == "hush");
}

// MRTR-19
#[test]
fn a_result_that_asks_for_nothing_and_has_no_state_is_void() {
    let void = |text| read::<InputRequired>(text).is_void();
    assert!(void(r#"{"resultType":"input_required"}"#));
    assert!(void(r#"{"resultType":"input_required","inputRequests":{}}"#));
    assert!(!void(r#"{"resultType":"input_required","requestState":""}"#));
    assert!(!void(
        r#"{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"}}}"#
    ));
}

#[test]
fn inputs_are_asked_for_in_the_order_of_the_characters_of_their_ids() {
    let ask: InputRequired = read(
        r#"{"inputRequests":{"2":{"method":"c"},"a":{"method":"d"},"10":{"method":"b"},"":{"method":"a"}}}"#,
    );
    let methods: Vec<_> = ask.requests().map(|(_, request)| request.method.as_str()).collect();
    assert_eq!(methods, ["a", "b", "c", "d"]);
}

#[test]
fn a_request_that_is_none_leaves_no_other_to_be_asked() {
    let text = r#"{"inputRequests":{"a":{"method":"roots/list"},"b":null,"c":{"method":"x"}},"requestState":"s"}"#;
    let ask: InputRequired = read(text);
    assert_eq!(ask.requests().count(), 0);
    assert_eq!(written(&ask), read::<Value>(text), "and nothing is lost");
}

// BASE-07
#[test]
fn a_type_that_is_absent_means_complete_and_an_unknown_one_is_named() {
    let kind = |text: &str| ResultType::of(&read(text));
    assert_eq!(kind("{}"), ResultType::Complete);
    assert_eq!(kind(r#"{"resultType":null}"#), ResultType::Complete);
    assert_eq!(kind(r#"{"resultType":"complete"}"#), ResultType::Complete);
    assert_eq!(kind(r#"{"resultType":"maybe"}"#), ResultType::Other("maybe".into()));
    assert_eq!(kind(r#"{"resultType":5}"#), ResultType::Other("5".into()));
}

// ELI-02
#[test]
fn a_question_without_a_mode_is_a_form() {
    assert_eq!(read::<ElicitParams>(r#"{"message":"?"}"#).mode(), ElicitMode::Form);
    assert_eq!(read::<ElicitParams>(r#"{"message":"?","mode":"url"}"#).mode(), ElicitMode::Url);
    let odd: ElicitParams = read(r#"{"message":"?","mode":"dance"}"#);
    assert_eq!(odd.mode(), ElicitMode::Other("dance".into()));
}

// SAM-03
#[test]
fn what_a_model_says_is_one_block_or_a_list_and_written_as_it_came() {
    let one = r#"{"role":"assistant","content":{"type":"text","text":"a"},"model":"m"}"#;
    let many = r#"{"role":"assistant","content":[{"type":"text","text":"a"},
        {"type":"tool_use","id":"1","name":"t","input":{"x":1},"_meta":{"k":"v"}}],"model":"m","stopReason":"odd"}"#;
    for text in
        [one, many, r#"{"role":"assistant","content":[{"type":"text","text":"a"}],"model":"m"}"#]
    {
        let said: CreateMessageResult = read(text);
        assert_eq!(said.content[0].as_text(), Some("a"));
        assert_eq!(written(&said), read::<Value>(text));
    }
    assert!(
        serde_json::from_str::<CreateMessageResult>(r#"{"role":"user","content":5,"model":"m"}"#)
            .is_err()
    );
}

// SAM-13
#[test]
fn meta_of_tool_blocks_comes_along_when_they_are_sent_again() {
    let text = r#"{"role":"user","content":{"type":"tool_result","toolUseId":"1",
        "content":[{"type":"image","data":"AA==","mimeType":"image/png"}],"structuredContent":null,"isError":false,
        "_meta":{"com.example/k":[1.50]}}}"#;
    let message: SamplingMessage = read(text);
    let Content::ToolResult(result) = &message.content[0] else { panic!("a tool result") };
    assert_eq!(result.meta.as_ref().map(Raw::text), Some(r#"{"com.example/k":[1.50]}"#));
    assert_eq!(written(&message), read::<Value>(text));
}

// TASK-10, TASK-11
#[test]
fn a_task_is_told_by_its_status_whatever_type_its_result_has() {
    for kind in ["task", "complete"] {
        let task: DetailedTask = read(&format!(
            r#"{{"resultType":"{kind}","taskId":"t","status":"completed","ttlMs":null,
                "result":{{"content":[{{"type":"text","text":"no"}}],"isError":true}}}}"#
        ));
        assert!(task.status.is_final());
        assert!(task.result::<CallToolResult>().expect("a result").expect("told").is_error());
    }
    let failed: DetailedTask =
        read(r#"{"taskId":"t","status":"failed","ttlMs":5,"error":{"code":-32603,"message":"m"}}"#);
    assert_eq!(failed.error.expect("told").code, -32603);
}

// ERR-10, TASK-26, META-05
#[test]
fn the_numbers_of_drafts_mean_nothing_and_data_of_another_shape_neither() {
    let supported = json!({ "supported": ["2026-07-28"], "requested": "x" });
    let draft = ErrorObject::new(-32004, "no").with_data(supported.clone());
    assert!(draft.unsupported_version().is_none());
    let real = ErrorObject::new(-32022, "no").with_data(supported);
    assert_eq!(real.unsupported_version().expect("told").supported, ["2026-07-28"]);
    assert!(ErrorObject::new(-32022, "no").unsupported_version().is_none());
    let odd = ErrorObject::new(-32022, "no").with_data(json!({ "supported": "all" }));
    assert!(odd.unsupported_version().is_none());
    let capability = json!({ "requiredCapabilities": { "sampling": {} } });
    assert!(
        ErrorObject::new(-32003, "no").with_data(capability.clone()).missing_capability().is_none()
    );
    let missing = ErrorObject::new(-32021, "no").with_data(capability).missing_capability();
    assert!(missing.expect("told").required_capabilities.sampling());
}

// ROOT-02
#[test]
fn a_root_is_a_file_uri() {
    for uri in ["file:///", "FILE:///a", "file://host/a"] {
        assert!(Root::new(uri).is_file(), "{uri}");
    }
    for uri in ["file:/a", "https://a", "/a", "", "fil\u{e9}://a"] {
        assert!(!Root::new(uri).is_file(), "{uri}");
    }
}

#[test]
fn a_server_that_does_not_say_who_it_is_is_still_opened() {
    let silent: InitializeResult = read(r#"{"protocolVersion":"2025-06-18"}"#);
    assert!(silent.server_info.is_none() && !silent.capabilities.tools());
    let odd: InitializeResult =
        read(r#"{"protocolVersion":"2025-06-18","capabilities":null,"serverInfo":{"version":1}}"#);
    assert!(odd.server_info.is_none());
    assert_eq!(odd.other.get("serverInfo").map(Raw::text), Some(r#"{"version":1}"#));
}

#[test]
fn depth_is_no_matter_where_the_text_is_not_read() {
    let deep = format!("{}1{}", "[".repeat(5000), "]".repeat(5000));
    let text = format!(
        r#"{{"content":[{{"type":"x","y":{deep}}}],"structuredContent":{deep},"_meta":{{"k":{deep}}},"z":{deep}}}"#
    );
    let result: CallToolResult = read(&text);
    assert_eq!(serde_json::to_string(&result).expect("text").len(), text.len());
    assert!(result.structured::<Value>().is_err(), "decoding ends at a depth of 128");
    let nested = |depth: usize| {
        let open = r#"{"type":"tool_result","toolUseId":"1","content":["#.repeat(depth);
        format!("{open}{}", "]}".repeat(depth))
    };
    assert!(serde_json::from_str::<Content>(&nested(60)).is_ok());
    assert!(serde_json::from_str::<Content>(&nested(100_000)).is_err(), "and no stack is overrun");
}
