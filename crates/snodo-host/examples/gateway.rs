//! A gateway: one server in front of many. It passes calls on to the server that each is for, and
//! tells whoever asks over HTTP how many went where and what came of them.
//!
//! ```text
//! not there: broken
//! tools: north__open, south__open
//! north__open: the shop in Oslo is open
//! south__open: the shop in Rome is open
//! HTTP/1.1 200 OK
//! snodo_calls_total{tool="north__open",outcome="ok"} 2
//! snodo_calls_total{tool="south__open",outcome="ok"} 1
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what it got")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use snodo::Client;
use snodo::direct::Server;
use snodo::stdio::Stdio;
use snodo::types::{CallToolResult, ErrorObject, Tool};
use snodo_host::Host;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let host = Host::builder()
        .client("north", Client::direct(shop("Oslo")).await?)
        .client("south", Client::direct(shop("Rome")).await?)
        .server("broken", Stdio::new("/there/is/no/such/program"))
        .connect()
        .await;
    for member in host.members().iter().filter(|member| member.client().is_err()) {
        println!("not there: {}", member.name());
    }

    let metrics = Metrics::default();
    let front = front(Arc::new(host), &metrics).await;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let serving = tokio::spawn(serve(listener, metrics));

    // Whoever talks to the gateway sees one server. Over a wire it is the same.
    let client = Client::direct(front).await?;
    let tools = client.list_tools().await?;
    println!("tools: {}", tools.iter().map(|tool| &*tool.name).collect::<Vec<_>>().join(", "));
    for tool in ["north__open", "south__open"] {
        println!("{tool}: {}", client.call_tool(tool, ()).await?.text());
    }
    client.call_tool("north__open", ()).await?;

    println!("{}", get(TcpStream::connect(address).await?).await?);
    serving.abort();
    Ok(())
}

/// The server in front: the tools of all, each of which passes its call on.
async fn front(host: Arc<Host>, metrics: &Metrics) -> Server {
    let mut server = Server::new("gateway", "1.0.0");
    for listed in host.list_tools().await.into_items() {
        let (host, metrics) = (Arc::clone(&host), metrics.clone());
        let name = listed.name().to_owned();
        let mut tool: Tool = listed.item().clone();
        tool.name.clone_from(&name);
        server = server.tool_with(tool, move |arguments: Value, _| {
            let (host, metrics, name) = (Arc::clone(&host), metrics.clone(), name.clone());
            async move {
                let answer = host.call_tool(&name, arguments).await;
                metrics.count(&name, if answer.is_ok() { "ok" } else { "error" });
                // What a server said of its failure is passed on too; a lost connection is an error of its own.
                let failed = |error: snodo::Error| ErrorObject::new(error.code(), error.message());
                answer.map(snodo::Reply::into_inner).map_err(failed)
            }
        });
    }
    server
}

/// How many calls of each tool came to what.
#[derive(Clone, Default)]
struct Metrics(Arc<Mutex<BTreeMap<(String, &'static str), u64>>>);

impl Metrics {
    fn count(&self, tool: &str, outcome: &'static str) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *counts.entry((tool.to_owned(), outcome)).or_default() += 1;
    }

    /// In the text format that collectors read.
    fn text(&self) -> String {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut text = String::new();
        for ((tool, outcome), count) in &*counts {
            // Writing to a string cannot fail. A label is a text in quotes, as JSON has them.
            let (tool, outcome) = (json!(tool), json!(outcome));
            let _ = writeln!(text, "snodo_calls_total{{tool={tool},outcome={outcome}}} {count}");
        }
        text
    }
}

/// As much of HTTP as a collector needs; a program would take its own server.
async fn serve(listener: TcpListener, metrics: Metrics) {
    while let Ok((mut stream, _)) = listener.accept().await {
        let mut request = [0; 1024];
        let text = metrics.text();
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", text.len());
        // A collector that goes away comes again.
        let _ = stream.read(&mut request).await;
        let _ = stream.write_all(format!("{head}{text}").as_bytes()).await;
    }
}

fn shop(town: &'static str) -> Server {
    Server::new("shop", "1.0.0").tool(
        "open",
        json!({ "type": "object" }),
        move |_: Value, _| async move {
            Ok(CallToolResult::from_text(format!("the shop in {town} is open")))
        },
    )
}

/// What a collector would see: the first line and the figures.
async fn get(mut stream: TcpStream) -> std::io::Result<String> {
    stream
        .write_all(b"GET /metrics HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
        .await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_default();
    let first = head.lines().next().unwrap_or_default();
    Ok(format!("{first}\n{}", body.trim_end()))
}
