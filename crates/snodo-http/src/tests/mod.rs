//! The transport against a loopback server that says exactly what a test wants said.

mod http2_server;
mod server;

mod answers;
mod callers;
#[cfg(feature = "compression")]
mod compression;
mod credentials;
mod errands;
mod http2;
mod layers;
mod notices;
mod offered;
mod pooling;
mod provider;
mod proxies;
mod redirects;
mod refusals;
mod resuming;
mod streams;
#[cfg(feature = "tls")]
mod tls;

use snodo_transport::{Connect, Exchange, Incoming, Transport};
use snodo_types::{Envelope, Message, Routing, TransportError};

use self::server::Server;
use crate::{Http, HttpTransport};

/// A transport to a server, with nothing configured.
async fn transport(server: &Server) -> HttpTransport {
    connect(http(server)).await
}

async fn connect(http: Http) -> HttpTransport {
    http.connect().await.expect("connecting sends nothing")
}

fn http(server: &Server) -> Http {
    Http::new(server.url()).expect("a URL")
}

/// A request, with a method that says nothing.
fn request(id: u64) -> Envelope {
    Envelope::request(id, format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"x"}}"#))
}

fn notice() -> Envelope {
    Envelope::notification(r#"{"jsonrpc":"2.0","method":"n"}"#.to_owned())
}

/// Sends a request and reads everything.
async fn call(transport: &HttpTransport, id: u64) -> Vec<Item> {
    read(transport.exchange(request(id))).await
}

/// Sends a request and expects nothing but its result.
async fn result(transport: &HttpTransport, id: u64) -> Message {
    let mut items = call(transport, id).await;
    match (items.pop(), items.len()) {
        (Some(Ok(Incoming::Message(message))), 0) => message,
        (last, before) => panic!("{before} items and then {last:?}"),
    }
}

/// Sends a request and expects nothing but a failure.
async fn failure(transport: &HttpTransport, id: u64) -> TransportError {
    let mut items = call(transport, id).await;
    match (items.pop(), items.len()) {
        (Some(Err(error)), 0) => error,
        (last, before) => panic!("{before} items and then {last:?}"),
    }
}

type Item = Result<Incoming, TransportError>;

async fn read(mut exchange: Exchange) -> Vec<Item> {
    let mut items = Vec::new();
    while let Some(item) = exchange.next().await {
        items.push(item);
    }
    assert!(exchange.next().await.is_none(), "the end stays the end");
    items
}

/// What items say in short: the text of a message, `Sent`, `!` and the class of a failure.
fn told(items: &[Item]) -> Vec<String> {
    let tell = |item: &Item| match item {
        Ok(Incoming::Message(message)) => message.text().to_owned(),
        Ok(other) => format!("{other:?}"),
        Err(error) => format!("!{:?}", error.fault()),
    };
    items.iter().map(tell).collect()
}

fn routing() -> Routing {
    Routing::new().with("Mcp-Protocol-Version", "v").with("Mcp-Session-Id", "s-1")
}
