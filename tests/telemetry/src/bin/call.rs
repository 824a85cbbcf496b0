//! Calls a tool again and again, for its instructions to be counted: `call COUNT off|on`.
//!
//! The server is a function that answers at once, so that what a span costs has nothing to hide behind. `on` sets a
//! subscriber that wants every span and keeps none.

use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};

use snodo::transport::from_fn;
use snodo::types::Message;
use snodo::{Client, Error, ProtocolVersion};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [count, spans] = arguments.as_slice() else { return ExitCode::from(2) };
    let Ok(count) = count.parse() else { return ExitCode::from(2) };
    let wanted = Wanted::default();
    if spans == "on" && tracing::subscriber::set_global_default(wanted).is_err() {
        return ExitCode::FAILURE;
    }
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_time().build() else {
        return ExitCode::FAILURE;
    };
    match runtime.block_on(call(count)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

async fn call(count: u64) -> Result<(), Error> {
    let server = from_fn(|envelope| async move {
        let result = r#"{"content":[{"type":"text","text":"hello"}]}"#;
        Ok(envelope.id.map(|id| Message::result(&id.into(), result)))
    });
    let only = [ProtocolVersion::V2026_07_28];
    let client = Client::builder().protocol(only).connect(server).await?;
    for _ in 0..count {
        client.call_tool("greet", ()).await?;
    }
    Ok(())
}

/// Wants every span of the library's, and does nothing with it.
#[derive(Default)]
struct Wanted {
    spans: AtomicU64,
}

impl Subscriber for Wanted {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_span()
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(self.spans.fetch_add(1, Ordering::Relaxed) + 1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}
