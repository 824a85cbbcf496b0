//! Metrics as a layer: how many calls of each method came to what, and how long they took.
//!
//! ```text
//! tools/call cancelled: 1, 2s on average, 2s at most
//! tools/call error -32001: 1, 30s on average, 30s at most
//! tools/call ok: 2, 100ms on average, 100ms at most
//! tools/call tool_error: 1, 100ms on average, 100ms at most
//! tools/list ok: 1, 100ms on average, 100ms at most
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what it got")]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use snodo::transport::from_fn;
use snodo::types::{Body, CallToolResult, Message, Outcome};
use snodo::{Call, Calls, Client, Error, ProtocolVersion};
use tokio::time::{Instant, sleep, timeout};
use tower::layer::layer_fn;
use tower::{Service, ServiceExt, service_fn};

/// What was counted, by method and outcome. A method comes from the program and an outcome is one of a
/// few, so that there are never many; the name of a tool would come from a server.
#[derive(Clone, Default)]
struct Metrics(Arc<Mutex<BTreeMap<(String, String), Figures>>>);

#[derive(Default)]
struct Figures {
    calls: u32,
    total: Duration,
    longest: Duration,
}

impl Metrics {
    fn count(&self, method: String, outcome: String, took: Duration) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let figures = all.entry((method, outcome)).or_default();
        figures.calls += 1;
        figures.total += took;
        figures.longest = figures.longest.max(took);
    }
}

/// A call that is being measured. Whoever drops it has given the call up, and that counts too.
struct Measured {
    metrics: Metrics,
    method: String,
    began: Instant,
    outcome: Option<String>,
}

impl Drop for Measured {
    fn drop(&mut self) {
        let outcome = self.outcome.take().unwrap_or_else(|| "cancelled".to_owned());
        self.metrics.count(std::mem::take(&mut self.method), outcome, self.began.elapsed());
    }
}

/// What an answer counts as.
fn outcome(method: &str, answer: &Result<Outcome<Message>, Error>) -> String {
    let message = match answer {
        Ok(Outcome::Complete(message)) => message,
        Ok(_) => return "input_required".to_owned(),
        Err(error) => return format!("error {}", error.code()),
    };
    let Body::Result { result, .. } = message.body() else { return "ok".to_owned() };
    // A tool that reports a failure has answered: to the protocol that is a success.
    let failed = method == "tools/call"
        && serde_json::from_str::<CallToolResult>(result).is_ok_and(|result| result.is_error());
    if failed { "tool_error" } else { "ok" }.to_owned()
}

// The clock is tokio's; paused, it jumps to whatever is waited for next.
#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() -> Result<(), Error> {
    let metrics = Metrics::default();
    let counting = metrics.clone();
    let layer = layer_fn(move |calls: Calls| {
        let metrics = counting.clone();
        service_fn(move |call: Call| {
            let (mut calls, metrics) = (calls.clone(), metrics.clone());
            async move {
                let method = call.method().to_owned();
                let mut measured =
                    Measured { metrics, method, began: Instant::now(), outcome: None };
                let answer = calls.ready().await?.call(call).await;
                measured.outcome = Some(outcome(&measured.method, &answer));
                answer
            }
        })
    });

    let server = from_fn(|envelope| async move {
        let asked = |name: &str| envelope.message.contains(name);
        sleep(Duration::from_millis(if asked("slow") { 3_600_000 } else { 100 })).await;
        let result = match () {
            () if asked("tools/list") => r#"{"tools":[]}"#,
            () if asked("broken") => r#"{"content":[],"isError":true}"#,
            () => r#"{"content":[]}"#,
        };
        Ok(envelope.id.map(|id| Message::result(&id.into(), result)))
    });
    let client = Client::builder()
        .protocol([ProtocolVersion::V2026_07_28])
        .layer(layer)
        .connect(server)
        .await?;

    client.list_tools().await?;
    for tool in ["quick", "quick", "broken"] {
        client.call_tool(tool, ()).await?;
    }
    client.call_tool("slow", ()).await.expect_err("it takes an hour");
    let given_up = timeout(Duration::from_secs(2), client.call_tool("slow", ()).into_future());
    given_up.await.expect_err("nobody waits so long");

    // A program would hand these to its exporter.
    for ((method, outcome), figures) in &*metrics.0.lock().unwrap_or_else(PoisonError::into_inner) {
        let Figures { calls, total, longest } = figures;
        println!(
            "{method} {outcome}: {calls}, {:?} on average, {longest:?} at most",
            *total / *calls
        );
    }
    Ok(())
}
