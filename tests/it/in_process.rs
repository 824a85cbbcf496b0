//! A server in the same process.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::Duration;

use serde_json::{Value, json};
use snodo::Client;
use snodo_direct::{Call, Server};
use snodo_types::{CallToolResult, ProtocolVersion};

fn server() -> Server {
    Server::new("demo", "0.1.0").tool(
        "whoami",
        json!({ "type": "object" }),
        |_: Value, call: Call| {
            let name = call.auth::<String>().cloned().unwrap_or_else(|| "nobody".to_owned());
            let text = format!("{name} in {}", call.version());
            async move { Ok(CallToolResult::from_text(text)) }
        },
    )
}

async fn whoami(client: &Client) -> String {
    client.call_tool("whoami", json!({})).await.expect("an answer").text()
}

// S-07, S-23
#[tokio::test]
async fn the_highest_version_that_both_allow_is_spoken_and_auth_is_handed_on() {
    for (enabled, allowed, spoken) in [
        (ProtocolVersion::ALL, ProtocolVersion::ALL, ProtocolVersion::V2026_07_28),
        (
            &[ProtocolVersion::V2025_11_25, ProtocolVersion::V2025_06_18],
            ProtocolVersion::ALL,
            ProtocolVersion::V2025_11_25,
        ),
        (ProtocolVersion::ALL, &[ProtocolVersion::V2025_06_18], ProtocolVersion::V2025_06_18),
    ] {
        let server = server().versions(enabled.iter().copied());
        let builder = Client::builder().protocol(allowed.iter().copied());
        let client = builder.direct(server).auth("Ada".to_owned()).await.expect("a client");
        assert_eq!(client.protocol(), spoken);
        assert_eq!(client.session().is_some(), spoken != ProtocolVersion::V2026_07_28);
        assert_eq!(whoami(&client).await, format!("Ada in {spoken}"));
    }
}

// S-23
#[tokio::test]
async fn no_version_in_common_is_refused() {
    let server = server().versions([ProtocolVersion::V2026_07_28]);
    let builder = Client::builder().protocol([ProtocolVersion::V2025_11_25]);
    let error = builder.direct(server).await.expect_err("nothing in common");
    assert_eq!(error.code(), -32602);
}

// S-23
#[tokio::test(start_paused = true)]
async fn no_clock_runs() {
    let server = Server::new("demo", "1").tool("slow", json!({}), |_: Value, _: Call| async {
        tokio::time::sleep(Duration::from_secs(3600)).await;
        Ok(CallToolResult::from_text("at last"))
    });
    let builder = Client::builder().timeout(Duration::from_secs(1));
    let client = builder.direct(server).await.expect("a client");
    assert_eq!(client.call_tool("slow", ()).await.expect("an answer").text(), "at last");
}

// S-06
#[tokio::test]
async fn closing_does_nothing() {
    let client = Client::direct(server()).await.expect("a client");
    client.close().await;
    assert_eq!(whoami(&client).await, "nobody in 2026-07-28");
}

// S-23
#[test]
fn any_executor_will_do() {
    let text = block_on(async {
        let client = Client::direct(server()).await.expect("a client");
        whoami(&client).await
    });
    assert_eq!(text, "nobody in 2026-07-28");
}

/// The smallest executor.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(value) => return value,
            Poll::Pending => std::thread::park(),
        }
    }
}
