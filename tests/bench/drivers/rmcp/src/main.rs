//! The official Rust SDK, used as its documentation shows.
//!
//! `--protocol default` is `().serve(transport)`; a version pins the lifecycle.
//! `--variant pooled` hands the HTTP transport a reqwest client that keeps idle
//! connections (its own default keeps none) and lifts the limit of 16 POSTs.
//! `--variant limits` leaves its size limits alone.

use bench_kit::{Cfg, Driver, Op, Result, Transport};
use rmcp::model::{
    CallToolRequestParams, ClientConfig, ContentBlock, ProtocolVersion, SubscriptionFilter,
};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt as _, RunningService};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{RoleClient, ServiceExt as _};
use std::num::NonZeroUsize;
use std::sync::Arc;

pub struct Rmcp;

type Service = RunningService<RoleClient, ClientConfig>;

async fn serve<T, E, A>(cfg: &Cfg, transport: T) -> Result<Service>
where
    T: rmcp::transport::IntoTransport<RoleClient, E, A>,
    E: std::error::Error + Send + Sync + 'static,
{
    let mut info = ClientConfig::default();
    Ok(match cfg.protocol.as_str() {
        "default" => info.serve(transport).await?,
        "2026-07-28" => {
            info.serve_with_lifecycle(
                transport,
                ClientLifecycleMode::Discover {
                    preferred_versions: vec![ProtocolVersion::V_2026_07_28],
                },
            )
            .await?
        }
        "2025-06-18" => {
            info.protocol_version = ProtocolVersion::V_2025_06_18;
            info.serve(transport).await?
        }
        _ => {
            info.protocol_version = ProtocolVersion::V_2025_11_25;
            info.serve(transport).await?
        }
    })
}

fn args(v: serde_json::Value) -> rmcp::model::JsonObject {
    match v {
        serde_json::Value::Object(m) => m,
        _ => unreachable!(),
    }
}

async fn call(c: &Service, name: &'static str, v: serde_json::Value) -> Result<usize> {
    let r = c.call_tool(CallToolRequestParams::new(name).with_arguments(args(v))).await?;
    match r.content.first() {
        Some(ContentBlock::Text(t)) => Ok(t.text.len()),
        _ => Err("no text".into()),
    }
}

impl Driver for Rmcp {
    type Client = Service;
    const NAME: &'static str = "rmcp";
    const VERSION: &'static str = "3.11.0";

    async fn connect(cfg: Arc<Cfg>) -> Result<Service> {
        // Answers of 16 MiB and more are dropped by default.
        let large = matches!(cfg.op, Op::Blob(n) if n > 15 << 20) && cfg.variant != "limits";
        match cfg.transport {
            Transport::Stdio => {
                let mut cmd = tokio::process::Command::new(&cfg.server[0]);
                cmd.args(&cfg.server[1..]);
                if large {
                    let mut child = cmd
                        .stdin(std::process::Stdio::piped())
                        .stdout(std::process::Stdio::piped())
                        .kill_on_drop(false)
                        .spawn()?;
                    let t = AsyncRwTransport::new_client(
                        child.stdout.take().unwrap(),
                        child.stdin.take().unwrap(),
                    )
                    .with_max_line_length(usize::MAX);
                    return serve(&cfg, t).await;
                }
                serve(&cfg, TokioChildProcess::new(cmd)?).await
            }
            Transport::Http => {
                let mut conf = StreamableHttpClientTransportConfig::with_uri(cfg.url.as_str());
                if large {
                    conf = conf.max_json_response_size(usize::MAX).max_sse_event_size(usize::MAX);
                }
                if cfg.variant == "pooled" {
                    conf = conf.max_concurrent_requests(cfg.conc.max(16));
                    let http = reqwest::Client::builder().build()?;
                    return serve(&cfg, StreamableHttpClientTransport::with_client(http, conf))
                        .await;
                }
                serve(&cfg, StreamableHttpClientTransport::from_config(conf)).await
            }
        }
    }

    fn protocol(c: &Service) -> String {
        c.peer_info().map(|i| i.protocol_version.to_string()).unwrap_or_default()
    }

    async fn echo(c: &Service, text: &str) -> Result<usize> {
        call(c, "echo", serde_json::json!({ "text": text })).await
    }

    async fn blob(c: &Service, bytes: usize) -> Result<usize> {
        call(c, "blob", serde_json::json!({ "bytes": bytes })).await
    }

    async fn list_all(c: &Service) -> Result<usize> {
        Ok(c.list_all_tools().await?.len())
    }

    async fn listen(c: &Service, n: usize) -> Result<usize> {
        let filter = SubscriptionFilter::builder()
            .resource_subscription(format!("bench://listen/{n}"))
            .build();
        // The default buffer ends the subscription when a burst overruns it.
        let mut s = c.listen_with_capacity(filter, NonZeroUsize::new(n + 16).unwrap()).await?;
        let mut got = 0;
        while s.next().await?.is_some() {
            got += 1;
        }
        Ok(got)
    }

    async fn close(c: Service) {
        let _ = c.cancel().await;
    }
}

fn main() {
    bench_kit::main::<Rmcp>()
}
