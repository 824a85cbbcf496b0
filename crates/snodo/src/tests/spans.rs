//! The spans of connections and calls: their names, their fields, and what stands in none of them.

use std::collections::BTreeMap;
use std::fmt;
use std::future::{IntoFuture, pending};
use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::json;
use snodo_transport::{Incoming, connect_fn};
use snodo_types::{Fingerprint, TraceContext, TransportError, TransportFault};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use super::peer::Connection;
use super::{Call, Peer, SECOND, asks, form, once, session, settle, stateless, text};
use crate::Cache;

type Fields = BTreeMap<&'static str, String>;

/// Every span of this library that was made.
#[derive(Clone, Default)]
struct Spans(Arc<Mutex<Seen>>);

#[derive(Default)]
struct Seen {
    /// Each with its name as a field.
    spans: Vec<Fields>,
    /// Which stand below none, whatever was entered as they were made.
    roots: Vec<usize>,
    /// Which points to which.
    follows: Vec<(usize, usize)>,
    /// Those that are entered now, the innermost last.
    entered: Vec<usize>,
    /// What was told, and within which.
    told: Vec<(Option<usize>, String)>,
}

impl Spans {
    /// Those of this name, in the order in which they were made.
    fn named(&self, name: &str) -> Vec<Fields> {
        self.seen().spans.iter().filter(|span| span["name"] == name).cloned().collect()
    }

    fn calls(&self) -> Vec<Fields> {
        self.named("snodo.call")
    }

    fn connections(&self) -> Vec<Fields> {
        self.named("snodo.connection")
    }

    /// The span that is entered now.
    fn current(&self) -> Option<Fields> {
        let seen = self.seen();
        seen.entered.last().map(|at| seen.spans[*at].clone())
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().expect("no panic")
    }
}

/// Where a span stands among those that were made.
fn at(id: &Id) -> usize {
    id.into_u64() as usize - 1
}

impl Subscriber for Spans {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("snodo")
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut fields = Fields::from([("name", span.metadata().name().to_owned())]);
        span.record(&mut Kept(&mut fields));
        let mut seen = self.seen();
        if span.is_root() {
            let place = seen.spans.len();
            seen.roots.push(place);
        }
        seen.spans.push(fields);
        Id::from_u64(seen.spans.len() as u64)
    }

    fn record(&self, id: &Id, values: &Record<'_>) {
        values.record(&mut Kept(&mut self.seen().spans[at(id)]));
    }

    fn record_follows_from(&self, span: &Id, follows: &Id) {
        self.seen().follows.push((at(span), at(follows)));
    }

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::new();
        event.record(&mut Kept(&mut fields));
        let mut seen = self.seen();
        let within = seen.entered.last().copied();
        seen.told.push((within, fields.remove("message").unwrap_or_default()));
    }

    fn enter(&self, id: &Id) {
        self.seen().entered.push(at(id));
    }

    fn exit(&self, id: &Id) {
        let mut seen = self.seen();
        let place = seen.entered.iter().rposition(|entered| *entered == at(id));
        seen.entered.remove(place.expect("it was entered"));
    }
}

struct Kept<'a>(&'a mut Fields);

impl Visit for Kept<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.insert(field.name(), format!("{value:?}").trim_matches('"').to_owned());
    }
}

/// What each of them says of one field.
fn of<'a>(spans: &'a [Fields], field: &str) -> Vec<Option<&'a str>> {
    spans.iter().map(|span| span.get(field).map(String::as_str)).collect()
}

// S-45
#[tokio::test(start_paused = true)]
async fn a_call_has_one_span_that_tells_how_it_went_and_none_of_what_it_said() {
    let spans = Spans::default();
    let peer = Peer::new(|call: Call| async move {
        match call.message["params"]["name"].as_str() {
            Some("refuses") => call.refuse(json!({ "code": -32602, "message": "5ecret" })).await,
            Some("silent") => tokio::time::sleep(SECOND * 3600).await,
            Some("fails") => {
                let content = [json!({ "type": "text", "text": "5ecret" })];
                call.answer(json!({ "content": content, "isError": true })).await;
            }
            Some("asks") => call.answer(asks(json!({ "q": form() }), Some("5ecret"))).await,
            Some("breaks") => {
                return Err(TransportError::new(TransportFault::StreamEnded, "it broke"));
            }
            _ => call.answer(text("5ecret")).await,
        }
        Ok(())
    });
    let client = stateless().connect(peer).await.expect("connected");
    let _guard = tracing::subscriber::set_default(spans.clone());
    let request = |name: &str| {
        client.call_tool(name, json!({ "key": "5ecret" })).meta("com.example/token", "5ecret")
    };
    request("x").await.expect("answered");
    request("fails").await.expect("answered, with a failure of the tool");
    request("asks").leave_input().outcome().await.expect("a question");
    request("refuses").await.expect_err("refused");
    request("breaks").await.expect_err("broken");
    request("silent").timeout(SECOND).await.expect_err("in vain");
    let given_up = tokio::time::timeout(SECOND, request("silent").into_future());
    given_up.await.expect_err("dropped");
    let calls = spans.calls();
    let outcomes =
        ["ok", "tool_error", "input_required", "protocol", "transport", "timeout", "cancelled"];
    assert_eq!(of(&calls, "outcome"), outcomes.map(Some));
    let codes = [None, None, None, Some("-32602"), Some("-32000"), Some("-32001"), None];
    assert_eq!(of(&calls, "code"), codes);
    let ids: Vec<u64> = calls.iter().map(|span| span["id"].parse().expect("a number")).collect();
    assert!(ids.is_sorted() && ids[0] < ids[3], "{ids:?}");
    for span in &calls {
        assert_eq!((span["method"].as_str(), span["server"].as_str()), ("tools/call", "the peer"));
        assert_eq!(span["protocol"], client.protocol().as_str());
    }
    assert_eq!(calls[5]["duration"], "1.0");
    assert!(!format!("{calls:?}").contains("5ecret"), "{calls:?}");
}

#[tokio::test(start_paused = true)]
async fn what_calls_itself_a_failure_without_being_a_tool_is_none() {
    let spans = Spans::default();
    let peer = Peer::new(|call: Call| async move {
        match call.message["params"]["name"].as_str() {
            Some("false") => call.answer(json!({ "content": [], "isError": false })).await,
            Some("odd") => call.answer(json!({ "content": [], "isError": "yes" })).await,
            _ => call.answer(json!({ "content": [{ "isError": true, "type": "x" }] })).await,
        }
        Ok(())
    });
    let client = stateless().connect(peer).await.expect("connected");
    let _guard = tracing::subscriber::set_default(spans.clone());
    for name in ["false", "odd", "inside"] {
        // Whether it can be read is not the span's affair.
        drop(client.call_tool(name, ()).await);
    }
    assert_eq!(of(&spans.calls(), "outcome"), [Some("ok"); 3]);
}

// META-11
#[tokio::test]
async fn the_hook_for_trace_contexts_is_asked_within_the_span_of_its_call() {
    let spans = Spans::default();
    let (asked, seen) = (Arc::new(Mutex::new(Vec::new())), spans.clone());
    let asking = Arc::clone(&asked);
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let hook = move || {
        asking.lock().expect("no panic").push(seen.current());
        TraceContext::new(parent).ok()
    };
    let peer = Peer::new(|call: Call| async move {
        call.answer(json!({ "content": [], "messages": [] })).await;
        Ok(())
    });
    let builder = stateless().trace_context(hook);
    let client = builder.connect(peer.clone()).await.expect("connected");
    let _guard = tracing::subscriber::set_default(spans.clone());
    client.call_tool("x", ()).await.expect("answered");
    client.get_prompt("y", ()).await.expect("answered");
    let asked = asked.lock().expect("no panic").clone();
    let methods: Vec<_> = asked.iter().flatten().map(|span| span["method"].as_str()).collect();
    assert_eq!(methods, ["tools/call", "prompts/get"]);
    assert!(asked.iter().flatten().all(|span| span["name"] == "snodo.call"), "{asked:?}");
    let sent = peer.sent();
    assert!(sent.iter().all(|sent| sent["params"]["_meta"]["traceparent"] == parent), "{sent:?}");
}

#[tokio::test(start_paused = true)]
async fn a_connection_has_a_span_below_none_to_which_its_calls_point() {
    let spans = Spans::default();
    let _guard = tracing::subscriber::set_default(spans.clone());
    let peer = Peer::new(|call: Call| async move {
        tokio::time::sleep(SECOND).await;
        if !call.greet().await {
            call.answer(text("done")).await;
        }
        Ok(())
    });
    let client = session().connect(peer).await.expect("connected");
    client.call_tool("x", ()).await.expect("answered");
    client.call_tool("x", ()).await.expect("answered");
    let number = spans.connections()[0]["connection"].clone();
    assert_eq!(of(&spans.calls(), "connection"), [Some(number.as_str()); 2]);
    client.close().await;
    drop(client);
    let connection = spans.connections().remove(0);
    let said = |field| connection.get(field).map(String::as_str);
    assert_eq!((said("server"), said("protocol")), (Some("the peer"), Some("2025-11-25")));
    // `initialize` and the notification behind it; then two calls.
    assert_eq!((said("opening"), said("duration")), (Some("2.0"), Some("4.0")));
    assert_eq!((said("outcome"), said("code")), (Some("closed"), None));
    let seen = spans.seen();
    let place = |name| seen.spans.iter().position(|span| span["name"] == name);
    let connection = place("snodo.connection").expect("a connection");
    assert_eq!(seen.roots, [connection], "a call stands where it is awaited");
    let followed: Vec<_> = seen.follows.iter().map(|(_, followed)| *followed).collect();
    assert_eq!(followed, [connection; 2]);
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_was_lost_says_so_and_the_next_has_a_number_of_its_own() {
    let spans = Spans::default();
    let _guard = tracing::subscriber::set_default(spans.clone());
    let peer = Peer::own_stream(|call: Call| async move {
        match (call.method.as_str(), call.connection) {
            ("initialize", connection) => call.open_session(&format!("5ecret-{connection}")).await,
            ("tools/call", 1) => return Err(super::peer::status(404)),
            ("tools/call", _) => call.answer(text("done")).await,
            _ => drop(call.greet().await),
        }
        Ok(())
    });
    let client = session().connect(peer).await.expect("connected");
    client.call_tool("x", ()).await.expect("answered in the second session");
    drop(client);
    settle().await;
    let connections = spans.connections();
    assert_eq!(of(&connections, "outcome"), [Some("lost"), Some("dropped")]);
    assert_ne!(connections[0]["connection"], connections[1]["connection"]);
    let call = spans.calls().remove(0);
    assert_eq!(
        (&call["connection"], call["outcome"].as_str()),
        (&connections[1]["connection"], "ok")
    );
    assert_eq!(spans.seen().follows.len(), 2, "it was sent on both");
    assert!(!format!("{:?}", spans.seen().spans).contains("5ecret"));
}

#[tokio::test(start_paused = true)]
async fn an_opening_that_fails_or_is_given_up_tells_that() {
    let spans = Spans::default();
    let _guard = tracing::subscriber::set_default(spans.clone());
    let refused = connect_fn(|| async {
        Err::<Connection, _>(TransportError::new(TransportFault::Connect, "refused"))
    });
    stateless().connect(refused).await.expect_err("nobody there");
    let silent = connect_fn(pending::<Result<Connection, TransportError>>);
    let given_up = tokio::time::timeout(SECOND, stateless().connect(silent));
    given_up.await.expect_err("dropped");
    let connections = spans.connections();
    assert_eq!(of(&connections, "outcome"), [Some("transport"), Some("cancelled")]);
    assert_eq!(of(&connections, "code"), [Some("-32000"), None]);
    assert_eq!(of(&connections, "duration"), [Some("0.0"), Some("1.0")]);
    assert_eq!(of(&connections, "opening"), [None; 2]);
}

#[tokio::test(start_paused = true)]
async fn what_the_server_asks_of_its_own_accord_is_answered_within_the_connection_s_span() {
    let spans = Spans::default();
    let _guard = tracing::subscriber::set_default(spans.clone());
    let peer = Peer::new(|call: Call| async move {
        call.greet().await;
        Ok(())
    });
    let within = Arc::new(Mutex::new(None));
    let (noting, seen) = (Arc::clone(&within), spans.clone());
    let builder = session().on_form(move |form| {
        *noting.lock().expect("no panic") = seen.current();
        async move { form.accept(json!({})) }
    });
    let client = builder.connect(peer.clone()).await.expect("connected");
    let mut question = json!({ "jsonrpc": "2.0", "id": 7 });
    question["method"] = form()["method"].clone();
    question["params"] = form()["params"].clone();
    peer.say(question);
    settle().await;
    let within = within.lock().expect("no panic").take();
    assert_eq!(within.expect("it was asked")["name"], "snodo.connection");
    drop(client);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_answered_by_what_was_kept_says_so() {
    let spans = Spans::default();
    let peer = Peer::new(|call: Call| async move {
        let (ttl, scope) = (60_000, "public");
        call.answer(json!({ "tools": [], "ttlMs": ttl, "cacheScope": scope })).await;
        Ok(())
    });
    let client = stateless().cache(Cache::memory()).connect(peer.clone()).await.expect("connected");
    let _guard = tracing::subscriber::set_default(spans.clone());
    client.list_tools().await.expect("fetched");
    client.list_tools().await.expect("kept");
    let calls = spans.calls();
    assert_eq!(of(&calls, "outcome"), [Some("ok"), Some("kept")]);
    assert!(calls[0].contains_key("id") && !calls[1].contains_key("id"), "{calls:?}");
    assert_eq!(peer.methods(), ["tools/list"]);
}

#[tokio::test(start_paused = true)]
async fn what_is_private_and_kept_is_answered_before_it_is_written_which_gives_nothing_up() {
    let spans = Spans::default();
    let peer = Peer::own_stream(|call: Call| async move {
        call.tell(Incoming::Caller(Fingerprint::of(&[b"ada"]))).await;
        tokio::task::yield_now().await;
        call.answer(json!({ "tools": [], "ttlMs": 60_000, "cacheScope": "private" })).await;
        Ok(())
    });
    let client = stateless().cache(Cache::memory()).connect(peer).await.expect("connected");
    let _guard = tracing::subscriber::set_default(spans.clone());
    client.list_tools().await.expect("fetched");
    client.list_tools().await.expect("kept");
    assert_eq!(of(&spans.calls(), "outcome"), [Some("ok"), Some("kept")]);
}

#[tokio::test(start_paused = true)]
async fn what_a_call_tells_is_told_within_its_span() {
    let spans = Spans::default();
    let _guard = tracing::subscriber::set_default(spans.clone());
    let peer = Peer::new(|call: Call| async move {
        call.say(json!({ "jsonrpc": "2.0", "id": 999, "result": {} })).await;
        call.answer(text("done")).await;
        Ok(())
    });
    let client = stateless().connect(peer).await.expect("connected");
    let mut call = client.call_tool("x", ()).into_future();
    while once(&mut call).await.is_pending() {
        assert!(spans.current().is_none(), "between two polls nothing is entered");
    }
    let seen = spans.seen();
    let told = seen.told.iter().find(|(_, text)| text.contains("another request"));
    let (within, _) = told.expect("it is told");
    assert_eq!(within.map(|at| seen.spans[at]["name"].as_str()), Some("snodo.call"));
}
