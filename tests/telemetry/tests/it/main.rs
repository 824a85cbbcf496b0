//! The spans of a client, exported by OpenTelemetry's own exporter to a collector on loopback.

mod collector;

use std::collections::HashMap;
use std::slice;

use opentelemetry::propagation::TextMapPropagator;
use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig};
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracerProvider;
use serde_json::{Value, json};
use snodo::direct::{Call, Server};
use snodo::types::{CallToolResult, TraceContext};
use snodo::{Client, ProtocolVersion};
use tracing::Instrument;
use tracing_opentelemetry::OpenTelemetrySpanExt;
use tracing_subscriber::layer::SubscriberExt;

use collector::{Collector, Exported};

/// A provider as a program would make it: batches, sent by HTTP.
fn provider(collector: &Collector) -> SdkTracerProvider {
    let exporter = SpanExporter::builder()
        .with_http()
        .with_protocol(Protocol::HttpJson)
        .with_endpoint(collector.url())
        .build()
        .expect("an exporter");
    SdkTracerProvider::builder().with_batch_exporter(exporter).build()
}

/// What the request that is about to be sent belongs to; the guide has the same.
fn trace_context() -> Option<TraceContext> {
    let mut carrier = HashMap::new();
    TraceContextPropagator::new().inject_context(&tracing::Span::current().context(), &mut carrier);
    TraceContext::new(carrier.get("traceparent")?).ok()
}

/// A server whose tool `where` tells the trace that it was called in; `fail` fails.
fn server() -> Server {
    let told = |_: Value, call: Call| async move {
        let parent: Option<String> = call.meta().read(TraceContext::PARENT);
        Ok(CallToolResult::from_text(parent.unwrap_or_default()))
    };
    Server::new("traced", "1.0.0").tool("where", json!({}), told).tool(
        "fail",
        json!({}),
        |_: Value, _| async { Ok(CallToolResult::error("5ecret")) },
    )
}

/// Runs a program of one client within a span of its own, and gives what the server was told and
/// what was exported.
async fn traced(version: ProtocolVersion) -> (String, Exported) {
    let collector = Collector::start();
    let provider = provider(&collector);
    let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("a program"));
    let subscriber = tracing_subscriber::registry().with(layer);
    let guard = tracing::subscriber::set_default(subscriber);
    let program = async {
        let builder = Client::builder().protocol([version]).trace_context(trace_context);
        let client = builder.direct(server()).await.expect("connected");
        let arguments = json!({ "key": "5ecret" });
        let heard = client.call_tool("where", arguments).await.expect("answered").text();
        client.call_tool("fail", ()).await.expect("answered, with a failure of the tool");
        client.call_tool("none", ()).await.expect_err("no such tool");
        heard
    };
    let heard = program.instrument(tracing::info_span!("program")).await;
    drop(guard);
    // It waits for its own thread, which this one must not be kept from.
    let flushed = tokio::task::spawn_blocking(move || provider.shutdown()).await;
    flushed.expect("no panic").expect("all was sent");
    (heard, collector.exported())
}

// META-11
#[tokio::test]
async fn a_collector_gets_the_spans_and_the_server_the_context_of_its_call() {
    for version in [ProtocolVersion::V2026_07_28, ProtocolVersion::V2025_11_25] {
        let (heard, exported) = traced(version).await;
        let [program] = &exported.named("program")[..] else { panic!("{exported:?}") };
        let [connection] = &exported.named("snodo.connection")[..] else { panic!("{exported:?}") };
        let calls = exported.named("snodo.call");
        assert_eq!(calls.len(), 3, "{exported:?}");
        let call = calls[0];
        assert_eq!(heard, format!("00-{}-{}-01", call.trace, call.span));
        for call in &calls {
            assert_eq!((&call.trace, &call.parent), (&program.trace, &program.span));
            assert_eq!(call.links, slice::from_ref(&connection.span), "{version}");
            assert_eq!(call.attributes["method"], "tools/call");
            assert_eq!(call.attributes["protocol"], version.as_str());
            assert_eq!(call.attributes["connection"], connection.attributes["connection"]);
            assert!(call.attributes["duration"].parse::<f64>().is_ok_and(|seconds| seconds > 0.0));
        }
        let outcomes: Vec<_> = calls.iter().map(|call| &call.attributes["outcome"]).collect();
        assert_eq!(outcomes, ["ok", "tool_error", "protocol"]);
        assert_eq!(calls[2].attributes["code"], "-32602");
        assert_eq!(connection.parent, "", "it outlives what it was opened for");
        assert_ne!(connection.trace, program.trace);
        assert_eq!(connection.links, slice::from_ref(&program.span));
        assert_eq!(connection.attributes["outcome"], "dropped");
        assert!(!format!("{exported:?}").contains("5ecret"), "{exported:?}");
    }
}
