//! The rounds in which a stateless server asks before it answers, seen from the caller and from
//! the wire.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use serde_json::{Value, json};
use snodo::{Builder, Client, Error, HandlerError};
use snodo_http::Http;
use snodo_testkit::{Loopback, Reply};
use snodo_types::{
    Cause, Content, CreateMessageResult, ElicitResult, InputRequired, InputResponses, Kind,
    Outcome, Roots,
};
use tokio::time::Instant;

use crate::script::{answers, asks, form, page, sampling, server, stateless, text};

// S-50, S-51, S-52, S-53, S-54, ELI-02, MRTR-04, MRTR-05, ROOT-01, ELI-13
#[tokio::test]
async fn each_kind_of_question_is_put_to_its_handler_in_the_order_of_the_ids() {
    let questions = json!({
        "2": form(),
        "10": page("https://example.com/pay"),
        "b": { "method": "roots/list" },
        "a": sampling(),
    });
    let (transport, sent) = answers([asks(questions, None), text("done")]);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let note = |seen: &Arc<Mutex<Vec<String>>>| {
        let seen = Arc::clone(seen);
        move |what: String| seen.lock().expect("no panic").push(what)
    };
    let (forms, pages, models, roots) = (note(&seen), note(&seen), note(&seen), note(&seen));
    let client = stateless()
        .on_form(move |form| {
            let fields = form.fields().expect("a schema");
            let names: Vec<_> = fields.fields().map(|field| field.name.to_owned()).collect();
            forms(format!("{} {names:?}", form.message()));
            async move { form.accept(json!({ "name": "Ada" })) }
        })
        .on_url(move |page| {
            pages(format!("{} {}", page.message(), page.url()));
            async { Ok(ElicitResult::consent()) }
        })
        .on_sampling(move |asked| {
            let params = asked.params();
            models(format!("{:?} {}", params.messages[0].content[0].as_text(), params.max_tokens));
            async {
                let said = CreateMessageResult::new("a-model", Content::text("Hi"));
                Ok(said.with_stop_reason("endTurn"))
            }
        })
        .on_roots(move |_| {
            roots("where".to_owned());
            async { Ok(Roots::new().with("file:///srv/files", "work")) }
        })
        .connect(transport)
        .await
        .expect("a client");
    assert_eq!(client.call_tool("book", ()).await.expect("an answer").text(), "done");
    let seen = seen.lock().expect("no panic").clone();
    let order =
        ["Look https://example.com/pay", r#"Who? ["name"]"#, r#"Some("Hello") 100"#, "where"];
    assert_eq!(seen, order);
    let expected = json!({
        "2": { "action": "accept", "content": { "name": "Ada" } },
        "10": { "action": "accept" },
        "a": {
            "role": "assistant",
            "content": { "type": "text", "text": "Hi" },
            "model": "a-model",
            "stopReason": "endTurn",
        },
        "b": { "roots": [{ "uri": "file:///srv/files", "name": "work" }] },
    });
    assert_eq!(sent.all()[1]["params"]["inputResponses"], expected);
}

// S-25, S-52, ELI-01, SAM-01, ROOT-01, MRTR-13
#[tokio::test]
async fn what_the_handlers_answer_is_declared_on_every_request() {
    let found = json!({ "supportedVersions": ["2026-07-28"], "capabilities": {} });
    let round = asks(json!({ "q": form() }), None);
    let (transport, sent) = answers([found, json!({ "tools": [] }), round, text("done")]);
    let client = Client::builder()
        .capabilities(json!({ "sampling": { "tools": {}, "context": {} } }))
        .on_form(|form| async move { form.accept(json!({ "name": "Ada" })) })
        .on_url(|_| async { Ok(ElicitResult::decline()) })
        .on_sampling(|_| async { Err(HandlerError::rejected()) })
        .on_roots(|_| async { Ok(Roots::new()) })
        .connect(transport)
        .await
        .expect("a client");
    client.list_tools().await.expect("a list");
    client.call_tool("book", ()).await.expect("an answer");
    let sent = sent.all();
    assert_eq!(sent.len(), 4);
    for message in sent {
        let declared = &message["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"];
        let expected = json!({
            "elicitation": { "form": {}, "url": {} },
            "sampling": { "tools": {}, "context": {} },
            "roots": {},
        });
        assert_eq!(*declared, expected, "{}", message["method"]);
    }
}

// S-52, SAM-08
#[tokio::test]
async fn a_model_uses_tools_only_where_that_was_declared() {
    let tool = json!({ "name": "t", "inputSchema": { "type": "object" } });
    for (member, value) in [("tools", json!([tool])), ("toolChoice", json!({ "mode": "auto" }))] {
        let mut question = sampling();
        question["params"][member] = value;
        let ran = Arc::new(AtomicUsize::new(0));
        let open = async |capabilities: Value| {
            let round = asks(json!({ "q": question.clone() }), None);
            let (transport, sent) = answers([round, text("done")]);
            let count = Arc::clone(&ran);
            let builder = stateless().capabilities(capabilities).on_sampling(move |_| {
                count.fetch_add(1, Ordering::SeqCst);
                async { Ok(CreateMessageResult::new("m", Content::text("Hi"))) }
            });
            (builder.connect(transport).await.expect("a client"), sent)
        };
        let (client, sent) = open(json!({})).await;
        let error = client.call_tool("x", ()).await.expect_err("nobody may");
        assert_eq!((error.code(), error.kind()), (-32602, Kind::Protocol), "{member}");
        assert_eq!((sent.all().len(), ran.load(Ordering::SeqCst)), (1, 0), "{member}");

        let (client, sent) = open(json!({ "sampling": { "tools": {} } })).await;
        client.call_tool("x", ()).await.expect("an answer");
        assert_eq!((sent.all().len(), ran.load(Ordering::SeqCst)), (2, 1), "{member}");
    }
}

/// What a server of `two_rounds` says to the calls of `book`: a round with a state, one without,
/// and the end.
fn two_rounds(params: &Value) -> Value {
    let responses = &params["inputResponses"];
    if responses.get("second").is_some() {
        text("booked")
    } else if responses.get("first").is_some() {
        asks(json!({ "second": form() }), None)
    } else {
        asks(json!({ "first": form() }), Some(STATE))
    }
}

/// Everything that a text may hold, and nothing that it may be taken for.
const STATE: &str = "{\"a\": 1.0}\u{e9}\u{1f600} \\ \t end ";

// S-54, S-55, MRTR-04, MRTR-06, MRTR-07, MRTR-08, MRTR-13, MRTR-11, MRTR-17
#[tokio::test]
async fn a_retry_is_the_whole_request_again_under_a_fresh_id_with_the_newest_state_alone() {
    let server = Loopback::serve(|request| async move {
        let message = request.json().expect("JSON");
        let result = match request.rpc().as_deref() {
            Some("tools/list") => {
                let property = json!({ "type": "string", "x-mcp-header": "Region" });
                let schema = json!({ "type": "object", "properties": { "region": property } });
                json!({ "tools": [{ "name": "b\u{f6}\u{f6}k", "inputSchema": schema }] })
            }
            _ => two_rounds(&message["params"]),
        };
        let body = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
        Reply::new(200).json(body.to_string())
    });
    let server = server.await.expect("a port");
    let builder = stateless().on_form(|form| async move { form.accept(json!({ "name": "Ada" })) });
    let client = builder.connect(Http::new(server.url()).expect("a URL")).await.expect("a client");
    let tools = client.list_tools().await.expect("a list");
    let call = client.call_tool(&tools[0], json!({ "region": "eu", "n": 7 }));
    let reply = call.meta("com.example/tenant", "acme").header("X-Mine", "yes").await;
    assert_eq!(reply.expect("an answer").text(), "booked");

    let calls = &server.requests()[1..];
    assert_eq!(calls.len(), 3);
    let mut ids = Vec::new();
    for call in calls {
        let mut message = call.json().expect("JSON");
        ids.push(message["id"].as_u64().expect("a number"));
        for (name, value) in [
            ("mcp-method", "tools/call"),
            ("mcp-name", "=?base64?YsO2w7Zr?="),
            ("mcp-param-region", "eu"),
            ("mcp-protocol-version", "2026-07-28"),
            ("x-mine", "yes"),
        ] {
            assert_eq!(call.header(name), Some(value));
        }
        let params = message["params"].as_object_mut().expect("an object");
        params.remove("inputResponses");
        params.remove("requestState");
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo":
                { "name": "snodo", "version": env!("CARGO_PKG_VERSION") },
            "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "form": {} } },
            "com.example/tenant": "acme",
        });
        let same = json!({ "name": "b\u{f6}\u{f6}k", "arguments": { "region": "eu", "n": 7 }, "_meta": meta });
        assert_eq!(message["params"], same);
    }
    assert!(ids[0] < ids[1] && ids[1] < ids[2], "{ids:?}");
    let inputs = |call: usize| calls[call].json().expect("JSON")["params"].clone();
    assert_eq!((inputs(0).get("inputResponses"), inputs(0).get("requestState")), (None, None));
    let answer = json!({ "action": "accept", "content": { "name": "Ada" } });
    assert_eq!(inputs(1)["inputResponses"], json!({ "first": answer }));
    assert_eq!(inputs(1)["requestState"], STATE);
    assert_eq!(inputs(2)["inputResponses"], json!({ "second": answer }));
    assert_eq!(inputs(2).get("requestState"), None, "an older state is not carried on");
}

// MRTR-10, BASE-13
#[tokio::test]
async fn answers_and_state_go_to_the_request_they_were_asked_for_and_to_no_other() {
    let (transport, sent) = server(|request| {
        let name = request["params"]["name"].as_str().unwrap_or_default();
        match request["method"].as_str() {
            Some("tools/call") if request["params"].get("inputResponses").is_none() => {
                asks(json!({ name: form() }), Some(name))
            }
            Some("tools/call") => text(name),
            _ => json!({ "prompts": [] }),
        }
    });
    let own = Arc::new(OnceLock::<Client>::new());
    let inner = Arc::clone(&own);
    let builder = stateless().on_form(move |form| {
        let client = inner.get().expect("connected").clone();
        async move {
            // A request of the handler's own, and time for the other call to come in between.
            client.list_prompts().await?;
            tokio::task::yield_now().await;
            form.accept(json!({ "name": "Ada" }))
        }
    });
    let client = builder.connect(transport).await.expect("a client");
    own.set(client.clone()).expect("once");
    let (one, other) = tokio::join!(
        client.call_tool("one", ()).into_future(),
        client.call_tool("other", ()).into_future()
    );
    assert_eq!(
        (one.expect("an answer").text(), other.expect("an answer").text()),
        ("one".into(), "other".into())
    );
    client.call_tool("one", ()).await.expect("an answer");

    let mut states = Vec::new();
    for message in sent.all() {
        let params = &message["params"];
        let Some(state) = params.get("requestState") else {
            assert_eq!(params.get("inputResponses"), None, "{message}");
            continue;
        };
        assert_eq!((&message["method"], &params["name"]), (&json!("tools/call"), state));
        let keys: Vec<_> = params["inputResponses"].as_object().expect("answers").keys().collect();
        assert_eq!(keys, [state.as_str().expect("a string")]);
        states.push(state.clone());
    }
    assert_eq!(sent.all().len(), 9, "three calls, a retry and a list of prompts for each");
    // Which of the two went on first is not said.
    states.sort_by_key(ToString::to_string);
    assert_eq!(states, ["one", "one", "other"]);
}

// S-02, S-58
#[tokio::test]
async fn a_question_that_is_left_to_the_caller_comes_back_whole_and_is_answered_by_hand() {
    let handled = || stateless().on_form(|_| async { panic!("nobody is to be asked") });
    for (builder, leave) in [(stateless(), false), (handled(), true)] {
        let mut round = asks(json!({ "first": form() }), Some("s"));
        round["com.example/odd"] = json!([1]);
        let (transport, sent) = answers([round.clone(), text("booked"), round.clone()]);
        let client = builder.connect(transport).await.expect("a client");
        let book = |client: &Client| {
            let call = client.call_tool("book", json!({ "day": 1 }));
            if leave { call.leave_input() } else { call }
        };
        let Ok(Outcome::InputRequired(asked)) = book(&client).outcome().await else {
            panic!("a question");
        };
        let ids: Vec<_> = asked.requests().map(|(id, asked)| (id, asked.method.as_str())).collect();
        assert_eq!(ids, [("first", "elicitation/create")]);
        assert_eq!(
            asked.other.get("com.example/odd").map(ToString::to_string).as_deref(),
            Some("[1]")
        );

        let answers = InputResponses::new().with("first", &ElicitResult::decline());
        let reply = book(&client).answer(&asked, answers).await.expect("an answer");
        assert_eq!(reply.text(), "booked");
        let retry = &sent.all()[1]["params"];
        assert_eq!(retry["inputResponses"], json!({ "first": { "action": "decline" } }));
        assert_eq!(
            (&retry["requestState"], &retry["arguments"]),
            (&json!("s"), &json!({ "day": 1 }))
        );

        // Who awaits a complete result gets an error that holds the question.
        let error = book(&client).await.expect_err("a question");
        assert_eq!((error.code(), error.kind()), (-32602, Kind::Protocol));
        let Some(Cause::InputRequired(kept)) = error.cause() else { panic!("{error:?}") };
        assert_eq!(**kept, asked);
    }
}

/// The last input-required result of a call that was stopped.
fn left(error: &Error) -> &InputRequired {
    match error.cause() {
        Some(
            Cause::InputHandler { asked, .. }
            | Cause::MalformedInput { asked, .. }
            | Cause::MaxInputRounds { asked }
            | Cause::NoInputHandler { asked, .. },
        ) => asked,
        _ => panic!("{error:?}"),
    }
}

// S-56, MRTR-14, MRTR-16, MRTR-15, SAM-10
#[tokio::test]
async fn each_stop_says_why_and_holds_the_last_result_for_an_answer_by_hand() {
    type Handlers = fn(Builder) -> Builder;
    let fills: Handlers =
        |builder| builder.on_form(|form| async move { form.accept(json!({ "name": "Ada" })) });
    let fails: Handlers =
        |builder| builder.on_form(|_| async { Err(HandlerError::new("nobody is there")) });
    let misfills: Handlers =
        |builder| builder.on_form(|form| async move { form.accept(json!({ "name": 7 })) });
    let chats: Handlers =
        |builder| builder.on_url(|_| async { Ok(ElicitResult::accept(json!({ "secret": 1 }))) });
    let strays: Handlers =
        |builder| builder.on_roots(|_| async { Ok(Roots::new().with("https://example.com", "x")) });
    let once: Handlers = |builder| {
        let builder = builder.max_input_rounds(1);
        builder.on_form(|form| async move { form.accept(json!({ "name": "Ada" })) })
    };
    let again = json!({ "q": form() });
    let secure = json!({ "q": page("https://example.com/") });
    let roots = json!({ "q": { "method": "roots/list" } });
    let mixed = json!({ "p": form(), "q": page("https://example.com/") });
    let broken = json!({ "p": form(), "q": { "method": "roots/list", "params": 7 } });
    let table: [(&str, Handlers, Value, Kind, i64, usize); 7] = [
        ("no handler for one of two kinds", fills, mixed, Kind::Protocol, -32602, 1),
        ("malformed beside one that is not", fills, broken, Kind::Transport, -32000, 1),
        ("a handler that fails", fails, again.clone(), Kind::Execution, -32603, 1),
        ("an answer of another shape", misfills, again.clone(), Kind::Execution, -32603, 1),
        ("a page answered with content", chats, secure, Kind::Execution, -32603, 1),
        ("a root that is no file", strays, roots, Kind::Execution, -32603, 1),
        ("one round too many", once, again, Kind::Transport, -32000, 2),
    ];
    for (name, handlers, questions, kind, code, rounds) in table {
        let round = asks(questions, Some("s"));
        let script = std::iter::repeat_n(round, rounds).chain([text("booked")]);
        let (transport, sent) = answers(script);
        let client = handlers(stateless()).connect(transport).await.expect("a client");
        let error = client.call_tool("book", ()).await.expect_err(name);
        assert_eq!((error.kind(), error.code()), (kind, code), "{name}");
        assert_eq!(sent.all().len(), rounds, "{name}: nothing was sent after the stop");
        match error.cause() {
            Some(Cause::InputHandler { id, reason, .. }) => {
                assert!(id == "q" && !reason.is_empty(), "{name}: {id} {reason}");
            }
            Some(Cause::NoInputHandler { kind, .. }) => assert_eq!(kind.as_deref(), Some("url")),
            Some(Cause::MaxInputRounds { .. }) => {
                let data = error.data().expect("data").to_string();
                assert_eq!(data, r#"{"maxInputRounds":1}"#);
            }
            _ => {}
        }
        let asked = left(&error);
        let answers = InputResponses::new().with("q", &ElicitResult::cancel());
        let by_hand = client.call_tool("book", ()).answer(asked, answers).leave_input();
        assert_eq!(by_hand.await.expect(name).text(), "booked");
        assert_eq!(sent.all()[rounds]["params"]["requestState"], "s", "{name}");
    }
}

// S-54, S-56, S-57
#[tokio::test]
async fn no_handler_runs_unless_every_question_can_be_answered() {
    let others = [
        page("https://example.com/"),
        json!({ "method": "com.example/ask", "params": {} }),
        json!({ "params": {} }),
        json!({ "method": "elicitation/create", "params": [] }),
        json!({ "method": "elicitation/create", "params": { "message": "m" } }),
        json!({ "method": "sampling/createMessage", "params": { "messages": [] } }),
    ];
    for other in others {
        let ran = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&ran);
        let builder = stateless()
            .on_form(move |form| {
                count.fetch_add(1, Ordering::SeqCst);
                async move { form.decline() }
            })
            .on_sampling(|_| async { Err(HandlerError::rejected()) });
        // The good one comes first in their order.
        let (transport, _) = answers([asks(json!({ "1": form(), "2": other.clone() }), None)]);
        let client = builder.connect(transport).await.expect("a client");
        let error = client.call_tool("book", ()).await.expect_err("it cannot be answered");
        assert_eq!(ran.load(Ordering::SeqCst), 0, "{other}: {error:?}");
    }
}

// S-55, MRTR-09
#[tokio::test(start_paused = true)]
async fn a_state_alone_is_sent_again_after_a_quarter_of_a_second_and_counts_as_a_round() {
    let later = |state: &str| json!({ "resultType": "input_required", "requestState": state });
    let (transport, sent) = answers([later("1"), later("2"), text("done"), later("3"), later("4")]);
    let builder = stateless().on_form(|form| async move { form.cancel() }).max_input_rounds(2);
    let client = builder.connect(transport).await.expect("a client");
    let begin = Instant::now();
    client.call_tool("book", ()).await.expect("an answer");
    assert_eq!(begin.elapsed(), Duration::from_millis(500));
    let states: Vec<_> =
        sent.all().iter().map(|message| message["params"]["requestState"].clone()).collect();
    assert_eq!(states, [Value::Null, json!("1"), json!("2")]);

    let error = client.call_tool("book", ()).max_input_rounds(1).await.expect_err("the limit");
    assert_eq!(left(&error).request_state, Some("4".into()));
}

// S-40, S-55, PROG-01, MRTR-18, PROG-07
#[tokio::test]
async fn progress_is_told_in_every_round_under_the_id_of_that_round() {
    let server = Loopback::serve(|request| async move {
        let message = request.json().expect("JSON");
        let (id, token) = (&message["id"], &message["params"]["_meta"]["progressToken"]);
        assert_eq!(id, token);
        let retried = message["params"].get("inputResponses").is_some();
        let progress = json!({ "progressToken": token, "progress": if retried { 2 } else { 1 } });
        let notice =
            json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": progress });
        let result = if retried { text("done") } else { asks(json!({ "q": form() }), None) };
        let answer = json!({ "jsonrpc": "2.0", "id": id, "result": result });
        Reply::new(200).events([notice.to_string().as_str(), answer.to_string().as_str()])
    });
    let server = server.await.expect("a port");
    let builder = stateless().on_form(|form| async move { form.accept(json!({ "name": "A" })) });
    let client = builder.connect(Http::new(server.url()).expect("a URL")).await.expect("a client");
    let told = Arc::new(Mutex::new(Vec::new()));
    let tell = Arc::clone(&told);
    let call = client.call_tool("book", ());
    let call = call.progress(move |piece| tell.lock().expect("no panic").push(piece.progress));
    call.await.expect("an answer");
    assert_eq!(*told.lock().expect("no panic"), [1.0, 2.0]);
}
