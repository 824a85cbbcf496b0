//! The spans of calls: their names, their fields, and what stands in none of them.

use std::collections::BTreeMap;
use std::fmt;
use std::future::IntoFuture;
use std::sync::{Arc, Mutex};

use serde_json::json;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use super::{Call, Peer, SECOND, stateless, text};

type Fields = BTreeMap<&'static str, String>;

/// Every span of this library that was made, with its name as a field.
#[derive(Clone, Default)]
struct Spans(Arc<Mutex<Vec<Fields>>>);

impl Spans {
    fn all(&self) -> Vec<Fields> {
        self.0.lock().expect("no panic").clone()
    }
}

impl Subscriber for Spans {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_span() && metadata.target() == "snodo"
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut fields = Fields::from([("name", span.metadata().name().to_owned())]);
        span.record(&mut Kept(&mut fields));
        let mut spans = self.0.lock().expect("no panic");
        spans.push(fields);
        Id::from_u64(spans.len() as u64)
    }

    fn record(&self, id: &Id, values: &Record<'_>) {
        let at = id.into_u64() as usize - 1;
        values.record(&mut Kept(&mut self.0.lock().expect("no panic")[at]));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

struct Kept<'a>(&'a mut Fields);

impl Visit for Kept<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.insert(field.name(), format!("{value:?}").trim_matches('"').to_owned());
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_has_one_span_that_tells_how_it_went_and_none_of_what_it_said() {
    let spans = Spans::default();
    let peer = Peer::new(|call: Call| async move {
        match call.message["params"]["name"].as_str() {
            Some("refuses") => call.refuse(json!({ "code": -32602, "message": "5ecret" })).await,
            Some("silent") => tokio::time::sleep(SECOND * 3600).await,
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
    request("refuses").await.expect_err("refused");
    request("silent").timeout(SECOND).await.expect_err("in vain");
    let given_up = tokio::time::timeout(SECOND, request("silent").into_future());
    given_up.await.expect_err("dropped");
    let all = spans.all();
    let outcomes: Vec<_> = all.iter().map(|span| span["outcome"].as_str()).collect();
    assert_eq!(outcomes, ["ok", "protocol", "timeout", "cancelled"]);
    let codes: Vec<_> = all.iter().map(|span| span.get("code").map(String::as_str)).collect();
    assert_eq!(codes, [None, Some("-32602"), Some("-32001"), None]);
    let ids: Vec<u64> = all.iter().map(|span| span["id"].parse().expect("a number")).collect();
    assert!(ids.is_sorted() && ids[0] < ids[3], "{ids:?}");
    for span in &all {
        assert_eq!((span["name"].as_str(), span["method"].as_str()), ("snodo.call", "tools/call"));
        assert_eq!(span["protocol"], client.protocol().as_str());
        assert!(!span["server"].is_empty());
    }
    assert_eq!(all[2]["duration"], "1.0");
    assert!(!format!("{all:?}").contains("5ecret"), "{all:?}");
}
