//! What must stand in no `Debug`, no error and no log: sessions, states, arguments, answers of users.

use std::fmt::{self, Write as _};
use std::future::IntoFuture;
use std::sync::{Arc, Mutex};

use serde_json::json;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use super::far::question_of;
use super::{Call, Peer, SECOND, asks, form, once, session, settle, stateless, text};
use crate::HandlerError;
use crate::types::{InputResponses, Outcome};

/// Everything that is logged, at any level.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<String>>);

impl Log {
    /// Catches what this thread logs while the guard lives.
    pub(crate) fn catch() -> (Self, tracing::subscriber::DefaultGuard) {
        let log = Self::default();
        (log.clone(), tracing::subscriber::set_default(log))
    }

    pub(crate) fn text(&self) -> String {
        self.0.lock().expect("no panic").clone()
    }
}

impl Subscriber for Log {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        span.record(&mut Line(&mut self.0.lock().expect("no panic")));
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        values.record(&mut Line(&mut self.0.lock().expect("no panic")));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut text = self.0.lock().expect("no panic");
        event.record(&mut Line(&mut text));
        text.push('\n');
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

struct Line<'a>(&'a mut String);

impl Visit for Line<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        write!(self.0, "{}={value:?} ", field.name()).expect("text");
    }
}

/// Checks that none of the secrets stands in a text.
fn assert_hidden(secrets: &[&str], text: &str) {
    for secret in secrets {
        assert!(!text.contains(secret), "{secret} stands in {text}");
    }
}

// MRTR-08
#[tokio::test(start_paused = true)]
async fn a_stateless_call_shows_neither_arguments_nor_metadata_nor_state_nor_answers() {
    let secrets = ["arg-5ecret", "meta-5ecret", "state-5ecret", "answer-5ecret", "cap-5ecret"];
    let (log, _guard) = Log::catch();
    let mut shown = String::new();
    let peer = Peer::new(|call: Call| async move {
        match call.message["params"].get("inputResponses") {
            None => call.answer(asks(json!({ "q": form() }), Some("state-5ecret"))).await,
            Some(_) if call.message["params"]["name"] == "refuses" => {
                call.refuse(json!({ "code": -32603, "message": "no" })).await;
            }
            Some(_) => call.answer(text("done")).await,
        }
        Ok(())
    });
    let builder = stateless()
        .capabilities(json!({ "experimental": { "x": { "token": "cap-5ecret" } } }))
        .on_form(|form| async move { form.accept(json!({ "name": "answer-5ecret" })) });
    let client = builder.connect(peer.clone()).await.expect("connected");
    let request = |name: &str| {
        let request = client.call_tool(name, json!({ "key": "arg-5ecret" }));
        request.meta("com.example/token", "meta-5ecret")
    };
    write!(shown, "{client:?} {:?}", request("x")).expect("text");
    let mut call = request("x").into_future();
    write!(shown, "{call:?}").expect("text");
    (&mut call).await.expect("answered");
    write!(shown, "{call:?}").expect("text");
    let asked = request("x").leave_input().outcome().await.expect("asked");
    let Outcome::InputRequired(asked) = asked else { panic!("{asked:?}") };
    let answers = InputResponses::new().with("q", &json!({ "x": "answer-5ecret" }));
    write!(shown, "{asked:?} {:?}", request("x").answer(&asked, answers)).expect("text");
    for error in [
        request("x").leave_input().await.expect_err("asked"),
        request("x").max_input_rounds(0).await.expect_err("the limit"),
        request("refuses").await.expect_err("refused"),
        request("x").timeout(SECOND / 1000).await.err().unwrap_or_else(|| crate::Error::usage("")),
    ] {
        write!(shown, "{error} {error:?}").expect("text");
    }
    let list = client.list_tools().meta("com.example/token", "meta-5ecret");
    write!(shown, "{list:?}").expect("text");
    write!(shown, "{:?}", list.pages()).expect("text");
    let filter = crate::types::SubscriptionFilter::new().tools_list_changed();
    write!(shown, "{:?}", client.listen(filter).meta("x", "meta-5ecret")).expect("text");
    assert_hidden(&secrets, &shown);
    assert_hidden(&secrets, &log.text());
    let envelope = snodo_types::Envelope::request(1, r#"{"key":"arg-5ecret"}"#.to_owned());
    assert_hidden(&secrets, &format!("{envelope:?}"));
}

// HTTPL-14
#[tokio::test(start_paused = true)]
async fn a_session_is_shown_without_its_id_and_a_user_s_answer_is_logged_nowhere() {
    let secrets = ["session-5ecret", "answer-5ecret", "arg-5ecret"];
    let (log, _guard) = Log::catch();
    let mut shown = String::new();
    let mut choice = form();
    choice["params"]["requestedSchema"]["properties"]["name"]["enum"] = json!(["a", "b"]);
    let peer = Peer::own_stream(move |call: Call| {
        let choice = choice.clone();
        async move {
            if call.method == "initialize" {
                call.open_session("session-5ecret").await;
            } else if !call.greet().await {
                call.say(question_of(1, &choice)).await;
                call.say(json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": { "level": "info", "data": "arg-5ecret" } })).await;
                tokio::time::sleep(SECOND).await;
                call.answer(text("done")).await;
            }
            Ok(())
        }
    });
    let builder = session()
        .on_form(|form| async move { form.accept(json!({ "name": "answer-5ecret" })) })
        .on_roots(|_| async { Err(HandlerError::new("no")) });
    write!(shown, "{builder:?}").expect("text");
    let client = builder.connect(peer.clone()).await.expect("a session");
    let session = client.session().expect("a session");
    assert_eq!(session.id(), Some("session-5ecret"));
    write!(shown, "{client:?} {session:?} {:?}", client.server()).expect("text");
    client.call_tool("x", json!({ "key": "arg-5ecret" })).await.expect("answered");
    peer.say(
        json!({ "jsonrpc": "2.0", "id": 7, "method": "ping", "params": { "x": "arg-5ecret" } }),
    );
    let mut call = client.call_tool("x", json!({ "key": "arg-5ecret" })).into_future();
    assert!(once(&mut call).await.is_pending());
    write!(shown, "{call:?}").expect("text");
    drop(call);
    settle().await;
    client.close().await;
    assert_eq!(peer.answers()[0]["error"]["code"], -32603);
    assert!(log.text().contains("a handler did not answer"), "{}", log.text());
    assert_hidden(&secrets, &shown);
    assert_hidden(&secrets, &log.text());
}
