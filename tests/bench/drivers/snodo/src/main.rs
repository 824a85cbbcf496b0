//! This project's client, used as its documentation shows.

use std::sync::Arc;

use bench_kit::{Cfg, Driver, Op, Result, Transport};
use serde::Serialize;
use snodo::http::Http;
use snodo::stdio::{Stderr, Stdio};
use snodo::types::SubscriptionFilter;
use snodo::{Client, Event, ProtocolVersion};

/// The driver.
pub struct Snodo;

#[derive(Serialize)]
struct Echo<'a> {
    text: &'a str,
}

#[derive(Serialize)]
struct Blob {
    bytes: usize,
}

async fn call(client: &Client, tool: &str, arguments: impl Serialize) -> Result<usize> {
    let reply = client.call_tool(tool, arguments).await?;
    Ok(reply.texts().next().ok_or("no text")?.len())
}

impl Driver for Snodo {
    type Client = Client;
    const NAME: &'static str = "snodo";
    const VERSION: &'static str = "0.1.0";

    async fn connect(cfg: Arc<Cfg>) -> Result<Client> {
        let version = ProtocolVersion::ALL.iter().find(|known| known.as_str() == cfg.protocol);
        let builder = match version {
            Some(version) => Client::builder().protocol([*version]),
            None => Client::builder(),
        };
        // An answer of 16 MiB and its envelope are past the default limits.
        let large = matches!(cfg.op, Op::Blob(bytes) if bytes > 15 << 20);
        Ok(match cfg.transport {
            Transport::Stdio => {
                let mut server = Stdio::new(&cfg.server[0]).args(&cfg.server[1..]);
                // As the other drivers have it.
                server = server.stderr(Stderr::Inherit);
                if large {
                    server = server.max_line_bytes(64 << 20);
                }
                builder.connect(server).await?
            }
            Transport::Http => {
                let mut server = Http::new(&cfg.url)?;
                if large {
                    server = server.max_body_bytes(64 << 20);
                }
                builder.connect(server).await?
            }
        })
    }

    fn protocol(client: &Client) -> String {
        client.protocol().as_str().to_owned()
    }

    async fn echo(client: &Client, text: &str) -> Result<usize> {
        call(client, "echo", Echo { text }).await
    }

    async fn blob(client: &Client, bytes: usize) -> Result<usize> {
        call(client, "blob", Blob { bytes }).await
    }

    async fn list_all(client: &Client) -> Result<usize> {
        Ok(client.list_tools().await?.len())
    }

    async fn listen(client: &Client, n: usize) -> Result<usize> {
        let filter = SubscriptionFilter::new().resource(format!("bench://listen/{n}"));
        // The default buffer counts what a burst overruns it with; here each event is to arrive.
        let mut events = client.listen(filter).max_buffer(n + 16).await?;
        let mut got = 0;
        while let Some(event) = events.next().await {
            match event {
                Event::Notification(told) => {
                    got += usize::from(told.method() == "notifications/resources/updated");
                }
                Event::Dropped(lost) => return Err(format!("{lost} events were lost").into()),
                _ => {}
            }
        }
        Ok(got)
    }

    async fn close(client: Client) {
        client.close().await;
    }
}

fn main() {
    bench_kit::main::<Snodo>()
}
