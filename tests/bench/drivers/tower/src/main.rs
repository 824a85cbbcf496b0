//! tower-mcp's client, used as its documentation shows.

use bench_kit::{Cfg, Driver, Op, Result, Transport};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use tower_mcp::client::{
    ClientHandler, HttpClientTransport, McpClient, ServerNotification, StdioClientTransport,
};
use tower_mcp::protocol::SubscriptionFilter;

pub struct Tower;

struct Counter(Arc<AtomicUsize>);

#[async_trait::async_trait]
impl ClientHandler for Counter {
    async fn on_notification(&self, n: ServerNotification) {
        if let ServerNotification::Subscription { .. }
        | ServerNotification::ResourceUpdated { .. } = n
        {
            self.0.fetch_add(1, Relaxed);
        }
    }
}

pub struct Client {
    c: McpClient,
    seen: Arc<AtomicUsize>,
    protocol: String,
}

async fn call(c: &Client, name: &str, v: serde_json::Value) -> Result<usize> {
    let r = c.c.call_tool(name, v).await?;
    Ok(r.first_text().ok_or("no text")?.len())
}

impl Driver for Tower {
    type Client = Client;
    const NAME: &'static str = "tower";
    const VERSION: &'static str = "0.25.0";

    async fn connect(cfg: Arc<Cfg>) -> Result<Client> {
        let seen = Arc::new(AtomicUsize::new(0));
        let large = matches!(cfg.op, Op::Blob(n) if n > 15 << 20);
        let c = match cfg.transport {
            Transport::Stdio => {
                let args: Vec<&str> = cfg.server[1..].iter().map(String::as_str).collect();
                let mut t = StdioClientTransport::spawn(&cfg.server[0], &args).await?;
                if large {
                    t = t.max_frame_len(usize::MAX);
                }
                McpClient::connect_with_handler(t, Counter(seen.clone())).await?
            }
            Transport::Http => {
                McpClient::connect_with_handler(
                    HttpClientTransport::new(cfg.url.as_str()),
                    Counter(seen.clone()),
                )
                .await?
            }
        };
        let protocol = if cfg.modern() {
            c.discover("bench-tower", "0.1.0").await?;
            c.selected_protocol_version().await.unwrap_or_default()
        } else {
            c.initialize("bench-tower", "0.1.0").await?.protocol_version
        };
        Ok(Client { c, seen, protocol })
    }

    fn protocol(c: &Client) -> String {
        c.protocol.clone()
    }

    async fn echo(c: &Client, text: &str) -> Result<usize> {
        call(c, "echo", serde_json::json!({ "text": text })).await
    }

    async fn blob(c: &Client, bytes: usize) -> Result<usize> {
        call(c, "blob", serde_json::json!({ "bytes": bytes })).await
    }

    async fn list_all(c: &Client) -> Result<usize> {
        Ok(c.c.list_all_tools().await?.len())
    }

    async fn listen(c: &Client, n: usize) -> Result<usize> {
        let before = c.seen.load(Relaxed);
        let filter = SubscriptionFilter {
            resource_subscriptions: Some(vec![format!("bench://listen/{n}")]),
            ..Default::default()
        };
        c.c.listen_subscriptions(filter).await?.wait().await?;
        Ok(c.seen.load(Relaxed) - before)
    }

    async fn close(c: Client) {
        let _ = c.c.shutdown().await;
    }
}

fn main() {
    bench_kit::main::<Tower>()
}
