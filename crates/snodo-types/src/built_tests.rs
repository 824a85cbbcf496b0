//! What is built here is written as the protocol writes it, and what came is read by its names.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::*;

fn written(built: &impl Serialize) -> Value {
    serde_json::to_value(built).expect("JSON")
}

fn read<T: DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).expect("it can be read")
}

fn icon() -> Icon {
    Icon::new("https://a.example/i.png")
        .with_mime_type("image/png")
        .with_sizes(["48x48", "96x96"])
        .with_theme(Theme::Dark)
}

fn icon_written() -> Value {
    json!({ "src": "https://a.example/i.png", "mimeType": "image/png", "sizes": ["48x48", "96x96"], "theme": "dark" })
}

#[test]
fn a_tool_is_written_with_everything_that_was_said_of_it() {
    let tool = Tool::new("t", json!({ "type": "object" }))
        .with_title("T")
        .with_description("does")
        .with_output_schema(json!({ "type": "string" }))
        .with_annotations(json!({ "readOnlyHint": true }))
        .with_icons([icon()])
        .with_meta(json!({ "a.example/k": 1 }));
    let told = json!({
        "name": "t", "title": "T", "description": "does", "inputSchema": { "type": "object" },
        "outputSchema": { "type": "string" }, "annotations": { "readOnlyHint": true },
        "icons": [icon_written()], "_meta": { "a.example/k": 1 },
    });
    assert_eq!(written(&tool), told);
    assert_eq!(tool.icons(), [icon()]);
    assert_eq!(tool.meta().text("a.example/k"), Some("1"));
    assert_eq!(tool.execution().task_support, None);
}

#[test]
fn a_resource_and_a_template_are_written_with_everything_that_was_said_of_them() {
    let resource = Resource::new("file:///a", "a")
        .with_title("A")
        .with_description("is")
        .with_mime_type("text/plain")
        .with_size(3)
        .with_annotations(json!({ "priority": 0.5 }))
        .with_icons([icon()])
        .with_meta(json!({ "a.example/k": 1 }));
    let mut told = json!({
        "uri": "file:///a", "name": "a", "title": "A", "description": "is", "mimeType": "text/plain",
        "size": 3, "annotations": { "priority": 0.5 }, "icons": [icon_written()],
        "_meta": { "a.example/k": 1 },
    });
    assert_eq!(written(&resource), told);
    assert_eq!((resource.annotations().priority, resource.display_name()), (Some(0.5), "A"));
    assert_eq!((resource.icons(), resource.meta().text("a.example/k")), (vec![icon()], Some("1")));
    assert_eq!(written(&Content::resource_link(resource.clone()))["type"], "resource_link");

    let template = ResourceTemplate::new("file:///{x}", "a")
        .with_title("A")
        .with_description("is")
        .with_mime_type("text/plain")
        .with_icons([icon()])
        .with_meta(json!({ "a.example/k": 1 }));
    let members = told.as_object_mut().expect("an object");
    ["uri", "size", "annotations"].iter().for_each(|name| drop(members.remove(*name)));
    members.insert("uriTemplate".to_owned(), json!("file:///{x}"));
    assert_eq!(written(&template), told);
    assert_eq!((template.display_name(), template.annotations().priority), ("A", None));
    assert_eq!((template.icons(), template.meta().text("a.example/k")), (vec![icon()], Some("1")));
    assert_eq!(ResourceTemplate::new("x", "plain").display_name(), "plain");
}

#[test]
fn what_a_resource_holds_is_text_or_bytes() {
    let text = ResourceContents::text("file:///a", "x").with_mime_type("text/plain");
    assert_eq!(
        written(&text),
        json!({ "uri": "file:///a", "mimeType": "text/plain", "text": "x" })
    );
    let blob = ResourceContents::blob("file:///b", "aGk=");
    assert_eq!(written(&blob), json!({ "uri": "file:///b", "blob": "aGk=" }));
    let embedded = written(&Content::resource(text));
    assert_eq!(
        (&embedded["type"], &embedded["resource"]["text"]),
        (&json!("resource"), &json!("x"))
    );
    assert_eq!(written(&ReadResourceParams::new("u")), json!({ "uri": "u" }));
    assert_eq!(written(&ResourceParams::new("u")), json!({ "uri": "u" }));
}

#[test]
fn a_prompt_is_written_with_everything_that_was_said_of_it() {
    let argument = PromptArgument::required("r").with_title("R").with_description("which");
    let prompt = Prompt::new("p")
        .with_title("P")
        .with_description("asks")
        .with_argument(argument)
        .with_argument(PromptArgument::optional("o"))
        .with_icons([icon()])
        .with_meta(json!({ "a.example/k": 1 }));
    let told = json!({
        "name": "p", "title": "P", "description": "asks", "icons": [icon_written()],
        "arguments": [{ "name": "r", "title": "R", "description": "which", "required": true }, { "name": "o" }],
        "_meta": { "a.example/k": 1 },
    });
    assert_eq!(written(&prompt), told);
    assert_eq!((prompt.display_name(), Prompt::new("p").display_name()), ("P", "p"));
    assert_eq!((prompt.icons(), prompt.meta().text("a.example/k")), (vec![icon()], Some("1")));
    let asked = GetPromptParams::new("p").with_argument("r", "\"x\"");
    assert_eq!(written(&asked), json!({ "name": "p", "arguments": { "r": "\"x\"" } }));
    assert_eq!((asked.argument("r").as_deref(), asked.argument("o")), (Some("\"x\""), None));
    assert_eq!(GetPromptParams::new("p").argument("r"), None);
    let messages = vec![PromptMessage::user("a"), PromptMessage::assistant("b")];
    let result = GetPromptResult::new(messages).with_description("both");
    let text = |role: &str, text: &str| json!({ "role": role, "content": { "type": "text", "text": text } });
    let told =
        json!({ "description": "both", "messages": [text("user", "a"), text("assistant", "b")] });
    let mut result = written(&result);
    result.as_object_mut().expect("an object").remove("resultType");
    assert_eq!(result, told);
}

#[test]
fn content_of_every_kind_is_written_under_its_type() {
    let blocks = [
        (
            Content::image("aGk=", "image/png"),
            json!({ "type": "image", "data": "aGk=", "mimeType": "image/png" }),
        ),
        (
            Content::audio("aGk=", "audio/wav"),
            json!({ "type": "audio", "data": "aGk=", "mimeType": "audio/wav" }),
        ),
        (
            Content::tool_use("t", "n", json!({ "a": 1 })),
            json!({ "type": "tool_use", "id": "t", "name": "n", "input": { "a": 1 } }),
        ),
        (
            Content::tool_result("t", vec![Content::text("x")]),
            json!({ "type": "tool_result", "toolUseId": "t", "content": [{ "type": "text", "text": "x" }] }),
        ),
    ];
    for (block, told) in blocks {
        assert_eq!(written(&block), told);
        let again: Content = read(told);
        assert_eq!(again, block);
        let meta = match &again {
            Content::Image(block) | Content::Audio(block) => {
                (block.meta(), block.annotations().priority)
            }
            Content::ToolUse(block) => {
                (block.meta(), block.input::<Value>().is_err().then_some(0.0))
            }
            Content::ToolResult(block) => (block.meta(), None),
            other => panic!("{other:?}"),
        };
        assert_eq!((meta.0.text("k"), meta.1), (None, None));
    }
    let marked = json!({ "type": "text", "text": "x", "annotations": { "priority": 1 }, "_meta": { "k": 2 } });
    let Content::Text(text) = read::<Content>(marked) else { panic!("a text") };
    assert_eq!(text.meta().text("k"), Some("2"));
    let held = json!({ "type": "resource", "resource": { "uri": "u", "text": "x", "_meta": { "k": 3 } }, "_meta": { "k": 2 } });
    let Content::Resource(held) = read::<Content>(held) else { panic!("a resource") };
    assert_eq!((held.meta().text("k"), held.resource.meta().text("k")), (Some("2"), Some("3")));
    assert_eq!(held.annotations().priority, None);
}

#[test]
fn a_call_and_its_result_say_what_they_hold() {
    #[derive(Debug, PartialEq, serde::Deserialize)]
    struct Wanted {
        n: Option<u8>,
    }
    let call = CallToolParams::new("t").with_arguments(json!({ "n": 1 }));
    assert_eq!(written(&call), json!({ "name": "t", "arguments": { "n": 1 } }));
    assert_eq!(call.arguments::<Wanted>().expect("arguments"), Wanted { n: Some(1) });
    assert_eq!(CallToolParams::new("t").arguments::<Wanted>().expect("none"), Wanted { n: None });

    let told = CallToolResult::from_structured(json!({ "n": 1 })).with_meta(json!({ "k": 1 }));
    let text = json!({ "type": "text", "text": "{\"n\":1}" });
    assert_eq!(written(&told)["content"], json!([text]), "old clients read the text");
    assert_eq!(written(&told)["structuredContent"], json!({ "n": 1 }));
    assert_eq!(told.meta().text("k"), Some("1"));
    assert_eq!(told.structured_or_text::<Wanted>().expect("structured"), Wanted { n: Some(1) });
    let text = CallToolResult::from_text("{\"n\":2}");
    assert_eq!(text.structured_or_text::<Wanted>().expect("text"), Wanted { n: Some(2) });
    let two = text.clone().with(Content::text("x"));
    assert!(matches!(two.structured_or_text::<Wanted>(), Err(StructuredError::Absent)));
    let none = CallToolResult::from_text("no JSON");
    assert!(matches!(none.structured_or_text::<Wanted>(), Err(StructuredError::Mismatch(_))));
    let both = text.with_structured(json!({ "n": 3 }));
    assert_eq!(both.structured_or_text::<Wanted>().expect("structured"), Wanted { n: Some(3) });
}

#[test]
fn what_is_completed_is_named_and_what_completes_it_listed() {
    let asked = CompleteParams::new(CompletionReference::prompt("p"), "a", "x");
    let told = json!({ "ref": { "type": "ref/prompt", "name": "p" }, "argument": { "name": "a", "value": "x" } });
    assert_eq!((written(&asked), asked.fault()), (told, None));
    let of_resource = CompleteParams::new(CompletionReference::resource("u"), "a", "");
    assert_eq!(written(&of_resource)["ref"], json!({ "type": "ref/resource", "uri": "u" }));
    assert_eq!(of_resource.fault(), None);
    for (reference, argument) in [
        (CompletionReference::prompt(""), "a"),
        (CompletionReference::resource(""), "a"),
        (CompletionReference::prompt("p"), ""),
        (read(json!({ "type": "ref/other", "name": "p" })), "a"),
    ] {
        let asked = CompleteParams::new(reference, argument, "");
        assert!(asked.fault().is_some(), "{asked:?}");
    }
    let result = CompleteResult::new(["x", "y"]);
    assert_eq!(written(&result)["completion"], json!({ "values": ["x", "y"] }));
}

#[test]
fn who_speaks_and_what_it_can_is_written_as_it_was_said() {
    let who = Implementation::new("n", "1")
        .with_title("N")
        .with_description("is")
        .with_website_url("https://a.example/")
        .with_icons([icon()]);
    let told = json!({
        "name": "n", "title": "N", "version": "1", "description": "is",
        "websiteUrl": "https://a.example/", "icons": [icon_written()],
    });
    assert_eq!((written(&who), who.icons(), who.display_name()), (told.clone(), vec![icon()], "N"));
    assert_eq!(Implementation::new("n", "1").display_name(), "n");

    let can = ServerCapabilities::new()
        .with("tools", json!({ "listChanged": true }))
        .with_extension("a.example/x", json!({ "k": 1 }))
        .with_extension("a.example/y", json!({}));
    let capabilities = json!({
        "tools": { "listChanged": true }, "extensions": { "a.example/x": { "k": 1 }, "a.example/y": {} },
    });
    assert_eq!(written(&can), capabilities);

    let version = ProtocolVersion::V2025_11_25;
    let opened = InitializeResult::new(version, can.clone(), who).with_instructions("so");
    let expected = json!({
        "protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": told, "instructions": "so",
    });
    assert_eq!(written(&opened), expected);
    let found = DiscoverResult::new([ProtocolVersion::V2026_07_28], can).with_instructions("so");
    assert!(found.supports("2026-07-28") && !found.supports("2025-11-25"));
    assert_eq!(written(&found)["instructions"], "so");
    assert_eq!(written(&found)["supportedVersions"], json!(["2026-07-28"]));
}

#[test]
fn what_a_server_asks_is_written_as_it_was_said() {
    let form = ElicitParams::with_form("?", json!({ "type": "object", "properties": {} }));
    let told = json!({ "mode": "form", "message": "?", "requestedSchema": { "type": "object", "properties": {} } });
    assert_eq!((written(&form), form.mode()), (told, ElicitMode::Form));
    assert!(form.form().is_ok_and(|form| form.fields().count() == 0));
    let page = ElicitParams::with_url("?", "https://a.example/");
    assert_eq!(
        written(&page),
        json!({ "mode": "url", "message": "?", "url": "https://a.example/" })
    );
    assert!(page.form().is_ok_and(|form| form.fields().count() == 0), "a page has no fields");
    for (answer, told) in [
        (
            ElicitResult::accept(json!({ "a": 1 })),
            json!({ "action": "accept", "content": { "a": 1 } }),
        ),
        (ElicitResult::consent(), json!({ "action": "accept" })),
        (ElicitResult::decline(), json!({ "action": "decline" })),
        (ElicitResult::cancel(), json!({ "action": "cancel" })),
    ] {
        assert_eq!(written(&answer), told);
        let content: Value = answer.content().expect("an object");
        assert_eq!(content, told.get("content").cloned().unwrap_or_else(|| json!({})));
    }
    let roots = Roots::new().with("file:///a", "a");
    assert_eq!(written(&roots), json!({ "roots": [{ "uri": "file:///a", "name": "a" }] }));

    let messages = vec![SamplingMessage::user("a"), SamplingMessage::assistant("b")];
    let asked = CreateMessageParams::new(messages, 7).with_system_prompt("be brief");
    let text = |role: &str, text: &str| json!({ "role": role, "content": { "type": "text", "text": text } });
    let told = json!({
        "messages": [text("user", "a"), text("assistant", "b")], "maxTokens": 7, "systemPrompt": "be brief",
    });
    assert_eq!(written(&asked), told);
    let said = CreateMessageResult::new("m", Content::text("x")).with_stop_reason("endTurn");
    let told = json!({
        "role": "assistant", "content": { "type": "text", "text": "x" }, "model": "m", "stopReason": "endTurn",
    });
    assert_eq!(written(&said), told);
}

#[test]
fn a_round_of_questions_is_written_and_read_by_its_ids() {
    let question = InputRequest::new("elicitation/create").with_params(&json!({ "message": "?" }));
    let questions =
        InputRequests::new().with("q", question).with("r", InputRequest::new("roots/list"));
    assert_eq!((questions.len(), questions.is_empty()), (2, false));
    let asked = InputRequired::new(questions).with_request_state("s");
    let told = json!({
        "resultType": "input_required", "requestState": "s",
        "inputRequests": {
            "q": { "method": "elicitation/create", "params": { "message": "?" } },
            "r": { "method": "roots/list" },
        },
    });
    assert_eq!(written(&asked), told);
    let requests = asked.input_requests.clone().expect("questions");
    let params = |id: &str| requests.get(id).expect(id).params::<Value>().expect("an object");
    assert_eq!((params("q"), params("r")), (json!({ "message": "?" }), json!({})));
    let answers = InputResponses::new().with("q", &ElicitResult::decline());
    assert_eq!((answers.len(), answers.is_empty(), answers.iter().count()), (1, false, 1));
    assert_eq!(answers.get("q").map(Raw::text), Some("{\"action\":\"decline\"}"));
    assert!(
        format!("{answers:?}").contains("\"q\"") && !format!("{answers:?}").contains("decline")
    );
    assert!(InputResponses::new().is_empty() && InputRequests::new().is_empty());
    let update = UpdateTaskParams::new("t", answers);
    assert_eq!(written(&update)["inputResponses"]["q"], json!({ "action": "decline" }));

    let complete = Outcome::Complete(1).map(|number| number + 1);
    assert_eq!(complete.complete(), Some(2));
    let required: Outcome<u8> = Outcome::InputRequired(asked);
    assert_eq!(required.map(|number| number + 1).complete(), None);
}

#[test]
fn small_things_are_written_as_they_were_said() {
    let progress = Progress::new(1.into(), 5.0).with_total(10.0).with_message("half");
    let told = json!({ "progressToken": 1, "progress": 5, "total": 10, "message": "half" });
    assert_eq!((written(&progress), progress.fraction()), (told, Some(0.5)));
    let log = LogMessage::new(LoggingLevel::Warning, json!("x")).with_logger("l");
    assert_eq!(written(&log), json!({ "level": "warning", "logger": "l", "data": "x" }));
    let cancelled = Cancelled::new(1.into()).with_reason("late");
    assert_eq!(written(&cancelled), json!({ "requestId": 1, "reason": "late" }));
    let page = Page::new(vec![Tool::new("t", json!({}))]).with_next_cursor("c");
    assert_eq!((&written(&page)["nextCursor"], page.items.len()), (&json!("c"), 1));
    assert_eq!(written(&ListParams::after("c")), json!({ "cursor": "c" }));
    assert_eq!(written(&ListParams::first()), json!({}));
    let filter = SubscriptionFilter::new().resources_list_changed();
    assert_eq!(written(&filter), json!({ "resourcesListChanged": true }));
    let (one, many): (OneOrMany<u8>, OneOrMany<u8>) = (1.into(), vec![1, 2].into());
    assert_eq!((one.into_vec(), many.into_vec()), (vec![1], vec![1, 2]));
    let members: Members =
        [("a", Raw::null()), ("b", Raw::empty_object()), ("a", Raw::empty_object())]
            .into_iter()
            .collect();
    assert_eq!(written(&members), json!({ "a": {}, "b": {} }));
}

#[test]
fn a_failure_of_a_transport_tells_what_it_knows_and_what_was_below() {
    use std::error::Error as _;

    let below = std::io::Error::other("the wire broke");
    let error = TransportError::new(TransportFault::Exited, "it exited")
        .with_exit("signal 9")
        .with_status(502)
        .with_source(below)
        .hardly_processed();
    assert_eq!((error.exit(), error.processed()), (Some("signal 9"), Processed::Unlikely));
    let shown = format!("{error:?}");
    for part in ["Exited", "it exited", "502", "signal 9", "Unlikely", "the wire broke"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert_eq!(error.source().map(ToString::to_string).as_deref(), Some("the wire broke"));
    let plain = TransportError::new(TransportFault::Closed, "over");
    assert!(plain.source().is_none() && plain.exit().is_none());
    assert!(!format!("{plain:?}").contains("status"));
    let malformed = TransportError::from(Message::parse("{}").expect_err("it is none"));
    assert_eq!(malformed.fault(), TransportFault::Malformed);
    assert!(malformed.source().is_some_and(|below| below.to_string() == malformed.message()));

    let whole = Error::from(plain.clone().not_processed()).at("calling", "a.example");
    assert!(whole.may_be_repeated() && whole.is_closed());
    assert_eq!(whole.source().map(ToString::to_string), Some(plain.to_string()));
    assert!(format!("{whole:?}").contains("a.example"));
    let maybe = Error::from(plain);
    assert!(!maybe.may_be_repeated() && maybe.repeatable().may_be_repeated());
    assert!(Error::decode("no").source().is_none());
}

#[test]
fn an_envelope_shows_no_message() {
    let shown = format!("{:?}", Envelope::request(7, "s3cret".to_owned()));
    assert!(
        shown.contains("6 bytes") && shown.contains("Some(7)") && !shown.contains("s3cret"),
        "{shown}"
    );
}

#[test]
fn what_does_not_fit_a_schema_is_told_with_its_place_and_the_result_itself() {
    let fault =
        SchemaFault::mismatch("t", SchemaSide::Result, "/a", "a text").with_result(Raw::null());
    assert_eq!((fault.tool(), fault.side()), ("t", SchemaSide::Result));
    assert_eq!(
        (fault.pointer(), fault.reason(), fault.is_unusable()),
        (Some("/a"), "a text", false)
    );
    assert_eq!(fault.result(), Some(&Raw::null()));
    let unusable = SchemaFault::unusable("t", SchemaSide::Arguments, "too deep");
    assert_eq!((unusable.pointer(), unusable.is_unusable(), unusable.result()), (None, true, None));
}

#[test]
fn a_task_that_needs_input_says_which() {
    let task: DetailedTask = read(json!({
        "taskId": "t", "status": "input_required", "inputRequests": { "q": { "method": "roots/list" } },
    }));
    let asked: Vec<_> = task.requests().map(|(id, asked)| (id, asked.method.as_str())).collect();
    assert_eq!(asked, [("q", "roots/list")]);
    let meta = json!({ "io.modelcontextprotocol/related-task": { "taskId": "t" } });
    let related = Meta::of(Some(&Raw::from(meta))).related_task();
    assert_eq!(related.map(|related| related.task_id), Some("t".into()));
}

/// Reads one of a kind with `_meta`, and gives the kind and a member of that.
fn meta_of<T: DeserializeOwned>(
    mut least: Value,
    member: fn(&T) -> Option<String>,
) -> (&'static str, Option<String>) {
    least["_meta"] = json!({ KEY: "v" });
    (std::any::type_name::<T>(), member(&read(least)))
}

const KEY: &str = "a.example/k";

#[test]
fn meta_is_read_from_whatever_has_it() {
    let task = json!({ "taskId": "t", "status": "working" });
    let info = json!({ "name": "n", "version": "1" });
    let text = json!({ "type": "text", "text": "x" });
    let found = [
        meta_of::<CallToolParams>(json!({ "name": "t" }), |it| it.meta().read(KEY)),
        meta_of::<CallToolResult>(json!({ "content": [] }), |it| it.meta().read(KEY)),
        meta_of::<Cancelled>(json!({ "requestId": 1 }), |it| it.meta().read(KEY)),
        meta_of::<CompleteParams>(
            json!({ "ref": { "type": "ref/prompt", "name": "p" }, "argument": { "name": "a", "value": "" } }),
            |it| it.meta().read(KEY),
        ),
        meta_of::<CompleteResult>(json!({ "completion": { "values": [] } }), |it| {
            it.meta().read(KEY)
        }),
        meta_of::<CreateMessageParams>(json!({ "messages": [], "maxTokens": 1 }), |it| {
            it.meta().read(KEY)
        }),
        meta_of::<CreateMessageResult>(
            json!({ "role": "user", "content": text, "model": "m" }),
            |it| it.meta().read(KEY),
        ),
        meta_of::<CreateTaskResult>(json!({ "task": task }), |it| it.meta().read(KEY)),
        meta_of::<DetailedTask>(json!({ "taskId": "t", "status": "working" }), |it| {
            it.meta().read(KEY)
        }),
        meta_of::<DiscoverResult>(json!({ "supportedVersions": [], "capabilities": {} }), |it| {
            it.meta().read(KEY)
        }),
        meta_of::<ElicitParams>(json!({ "message": "?" }), |it| it.meta().read(KEY)),
        meta_of::<ElicitResult>(json!({ "action": "accept" }), |it| it.meta().read(KEY)),
        meta_of::<ElicitationComplete>(json!({ "elicitationId": "e" }), |it| it.meta().read(KEY)),
        meta_of::<EmptyResult>(json!({}), |it| it.meta().read(KEY)),
        meta_of::<GetPromptParams>(json!({ "name": "p" }), |it| it.meta().read(KEY)),
        meta_of::<GetPromptResult>(json!({ "messages": [] }), |it| it.meta().read(KEY)),
        meta_of::<InitializeParams>(
            json!({ "protocolVersion": "v", "capabilities": {}, "clientInfo": info }),
            |it| it.meta().read(KEY),
        ),
        meta_of::<InitializeResult>(
            json!({ "protocolVersion": "v", "capabilities": {}, "serverInfo": info }),
            |it| it.meta().read(KEY),
        ),
        meta_of::<InputRequired>(json!({}), |it| it.meta().read(KEY)),
        meta_of::<ListParams>(json!({}), |it| it.meta().read(KEY)),
        meta_of::<ListToolsResult>(json!({ "tools": [] }), |it| it.meta().read(KEY)),
        meta_of::<LogMessage>(json!({ "level": "info", "data": 1 }), |it| it.meta().read(KEY)),
        meta_of::<MetaParams>(json!({}), |it| it.meta().read(KEY)),
        meta_of::<Progress>(json!({ "progressToken": 1, "progress": 1 }), |it| it.meta().read(KEY)),
        meta_of::<ReadResourceParams>(json!({ "uri": "u" }), |it| it.meta().read(KEY)),
        meta_of::<ReadResourceResult>(json!({ "contents": [] }), |it| it.meta().read(KEY)),
        meta_of::<ResourceParams>(json!({ "uri": "u" }), |it| it.meta().read(KEY)),
        meta_of::<Root>(json!({ "uri": "u" }), |it| it.meta().read(KEY)),
        meta_of::<Roots>(json!({ "roots": [] }), |it| it.meta().read(KEY)),
        meta_of::<SamplingMessage>(json!({ "role": "user", "content": text }), |it| {
            it.meta().read(KEY)
        }),
        meta_of::<SetLevelParams>(json!({ "level": "info" }), |it| it.meta().read(KEY)),
        meta_of::<SubscriptionParams>(json!({ "notifications": {} }), |it| it.meta().read(KEY)),
        meta_of::<Task>(json!({ "taskId": "t", "status": "working" }), |it| it.meta().read(KEY)),
        meta_of::<TaskParams>(json!({ "taskId": "t" }), |it| it.meta().read(KEY)),
        meta_of::<UpdateTaskParams>(json!({ "taskId": "t", "inputResponses": {} }), |it| {
            it.meta().read(KEY)
        }),
    ];
    for (kind, found) in found {
        assert_eq!(found.as_deref(), Some("v"), "{kind}");
    }
}
