//! A client for servers of the Model Context Protocol.
//!
//! One [`Client`] speaks every version of the protocol over every transport. It settles the version
//! by itself and hides the difference.
//!
//! ```no_run
//! use serde_json::json;
//! use snodo::{Client, stdio::Stdio};
//!
//! # async fn run() -> Result<(), snodo::Error> {
//! let client = Client::connect(Stdio::new("npx").args(["-y", "@modelcontextprotocol/server-everything"])).await?;
//! let reply = client.call_tool("echo", json!({ "message": "hi" })).await?;
//! println!("{}", reply.text());
//! # Ok(())
//! # }
//! ```
//!
//! What every program uses stands at the root; the rest has one path each:
//! [`types`] (the words of the protocol), [`transport`] (to write a transport), [`dialect`] (what
//! each version says), and the transports [`stdio`], [`http`] and [`direct`].
//!
//! Examples of what comes from other crates name those: read `snodo_types::X` as `snodo::types::X`,
//! `snodo_stdio::X` as `snodo::stdio::X`, and so on.
//!
//! The repository has guides in `docs/guides` (`getting-started.md` first; `requests.md` for clocks and
//! cancelling, `subscriptions.md` for events), and a small program for each feature in
//! `crates/snodo/examples`.
//!
//! # Features
//!
//! - `blocking`: the same verbs for programs without async ([`blocking`]); brings nothing but a
//!   thread.
//! - `compression`: answers as gzip, brotli or zstd (`Http::compression`); brings flate2,
//!   brotli-decompressor and zstd, and a C compiler to build.
//! - `stdio` (default): servers as child processes and over byte pipes; brings `snodo-stdio`.
//! - `http` (default): servers over Streamable HTTP; brings `snodo-http` (hyper).
//! - `tower`: layers around whole calls ([`Builder::layer`]); brings the two small traits of tower.
//! - `tls` (default): `https`; brings rustls with the platform's roots, and a C compiler to build.
//! - `validate`: arguments and results of tools against the tools' schemas ([`Builder::validate`]);
//!   brings `snodo-schema` (jsonschema, without its features that fetch).
//!
//! There is none for protocol versions.
//!
//! # Runtime
//!
//! Futures run on tokio, with its time and its IO enabled (`#[tokio::main]` does that); connecting by
//! `Stdio` or `Http` fails anywhere else. A client of a server in this process
//! ([`Client::direct`]) runs on any executor.

mod aside;
mod attendant;
#[cfg(feature = "blocking")]
pub mod blocking;
mod builder;
pub mod cache;
mod call;
mod checked;
mod client;
mod connect;
mod connection;
mod context;
mod doing;
mod driver;
mod ending;
mod handlers;
mod keep_alive;
mod layers;
mod list;
mod options;
mod progress;
mod renewal;
mod reply;
mod request;
mod restart;
mod running;
mod served;
mod server;
mod state;
mod subscription;
#[cfg(test)]
mod tests;
mod timer;
mod tools;
#[cfg(feature = "tower")]
mod tower;
#[cfg_attr(snodo_without_spans, path = "trace_absent.rs")]
mod trace;
#[cfg(feature = "validate")]
mod validate;
mod verdict;

pub use snodo_dialect as dialect;
pub use snodo_direct as direct;
#[cfg(feature = "http")]
pub use snodo_http as http;
#[cfg(feature = "validate")]
pub use snodo_schema as schema;
#[cfg(feature = "stdio")]
pub use snodo_stdio as stdio;
pub use snodo_transport as transport;
pub use snodo_types as types;

pub use snodo_types::{Error, ProtocolVersion};

pub use builder::{Builder, ConnectDirect};
pub use cache::{Cache, CacheMode};
pub use call::Call;
pub use client::{Client, ToolRef};
pub use handlers::{Form, HandlerError, RootsRequest, Sampling, UrlRequest};
pub use keep_alive::KeepAlive;
pub use layers::Calls;
pub use list::{List, ListKind, Pages};
pub use reply::Reply;
pub use request::{OutcomeResponse, Request, Response};
pub use restart::Restart;
pub use server::{Server, Session};
pub use state::{State, StateChanges};
pub use subscription::{Closed, Event, Listen, Notification, Reopen, Subscription};
#[cfg(feature = "validate")]
pub use validate::Validate;
pub use verdict::Verdict;

#[cfg(all(test, feature = "stdio"))]
mod recovery_tests;

/// The README's examples, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// The guide's examples, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guides/requests.md")]
struct RequestsGuide;

/// Its second part.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guides/subscriptions.md")]
struct SubscriptionsGuide;

/// The guide to the cache.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guides/cache.md")]
struct CacheGuide;
