//! A design study, not a library: a client that many callers share, with typed
//! results, built to see what each choice costs against the floor (`raw`).
//!
//! stdio `--variant`:
//! * (none)   callers write straight into one buffer; a lone caller writes to the
//!            pipe itself, several are flushed together; one reader fills slots
//! * `actor`  the usual shape: a channel to a writer task, a map of oneshots
//! * `eager`  like none, but every caller writes for itself
//! * `scan`   like none, results read by `json-scan` instead of serde_json
//!
//! http `--variant`:
//! * (none)   a stack of hyper HTTP/1.1 senders
//! * `legacy` hyper-util's pooling client
//! * `scan`   as above

mod http1;
mod model;
mod stdio;

use bench_kit::{Cfg, Driver, Result, Transport};
use model::{CallToolResult, ListTools};
use std::sync::Arc;

pub enum Client {
    Stdio(stdio::Client),
    Actor(stdio::Actor),
    Http(http1::Client),
}

pub struct Lean;

#[derive(serde::Serialize)]
struct Echo<'a> {
    text: &'a str,
}
#[derive(serde::Serialize)]
struct Blob {
    bytes: usize,
}
#[derive(serde::Serialize)]
struct Listen {
    notifications: Filter,
}
#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct Filter {
    resource_subscriptions: Vec<String>,
}

async fn tool(
    c: &Client,
    name: &str,
    args: impl serde::Serialize + Send,
) -> Result<CallToolResult> {
    let req = |id: u64, o: &mut Vec<u8>| model::tool_call(o, id, name, &args);
    match c {
        Client::Stdio(c) => c.call(req).await,
        Client::Actor(c) => c.call(req).await,
        Client::Http(c) => c.call("tools/call", Some(name), req).await,
    }
}

impl Driver for Lean {
    type Client = Client;
    const NAME: &'static str = "lean";
    const VERSION: &'static str = "-";

    async fn connect(cfg: Arc<Cfg>) -> Result<Client> {
        let c = match (cfg.transport, cfg.variant.as_str()) {
            (Transport::Stdio, "actor") => Client::Actor(stdio::Actor::spawn(&cfg)?),
            (Transport::Stdio, v) => {
                Client::Stdio(stdio::Client::spawn(&cfg, v == "eager", v == "scan")?)
            }
            (Transport::Http, v) => Client::Http(http1::Client::new(&cfg, v == "legacy")?),
        };
        let req =
            |id: u64, o: &mut Vec<u8>| model::plain(o, id, "server/discover", &model::Empty {});
        let _: model::Any = match &c {
            Client::Stdio(c) => c.call(req).await?,
            Client::Actor(c) => c.call(req).await?,
            Client::Http(c) => c.call("server/discover", None, req).await?,
        };
        Ok(c)
    }

    fn protocol(_: &Client) -> String {
        "2026-07-28".into()
    }

    async fn echo(c: &Client, text: &str) -> Result<usize> {
        Ok(tool(c, "echo", Echo { text }).await?.text().ok_or("no text")?.len())
    }

    async fn blob(c: &Client, bytes: usize) -> Result<usize> {
        Ok(tool(c, "blob", Blob { bytes }).await?.text().ok_or("no text")?.len())
    }

    async fn list_all(c: &Client) -> Result<usize> {
        let mut tools = Vec::new();
        let mut cursor: Option<String> = None;
        loop {
            let params = model::Page { cursor: cursor.as_deref() };
            let req = |id: u64, o: &mut Vec<u8>| model::plain(o, id, "tools/list", &params);
            let page: ListTools = match c {
                Client::Stdio(c) => c.call(req).await?,
                Client::Actor(c) => c.call(req).await?,
                Client::Http(c) => c.call("tools/list", None, req).await?,
            };
            tools.extend(page.tools);
            cursor = page.next_cursor;
            if cursor.is_none() {
                return Ok(tools.iter().filter(|t| t.checked()).count());
            }
        }
    }

    async fn listen(c: &Client, n: usize) -> Result<usize> {
        let params = Listen {
            notifications: Filter { resource_subscriptions: vec![format!("bench://listen/{n}")] },
        };
        let req = |id: u64, o: &mut Vec<u8>| model::plain(o, id, "subscriptions/listen", &params);
        match c {
            Client::Stdio(c) => c.listen(req).await,
            Client::Actor(_) => Err("not in this variant".into()),
            Client::Http(c) => c.listen(req).await,
        }
    }

    async fn close(c: Client) {
        match c {
            Client::Stdio(c) => c.close().await,
            Client::Actor(c) => c.close().await,
            Client::Http(_) => {}
        }
    }
}

fn main() {
    bench_kit::main::<Lean>()
}
