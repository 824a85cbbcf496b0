//! An MCP server in the same process, as a transport, and a small builder for one.
//!
//! A [`Runtime`] is a server that is called; [`Direct`] makes it a target that a client connects
//! to. [`Server`] is a runtime built from closures: for embedding, demos and tests.
//!
//! ```
//! use serde::Deserialize;
//! use serde_json::json;
//! use snodo_direct::{Direct, Server};
//! use snodo_types::CallToolResult;
//!
//! #[derive(Deserialize)]
//! struct Add {
//!     a: i64,
//!     b: i64,
//! }
//!
//! let integer = json!({ "type": "integer" });
//! let schema = json!({ "type": "object", "properties": { "a": integer, "b": integer } });
//! let server = Server::new("demo", "0.1.0").tool("add", schema, |args: Add, _cx| async move {
//!     Ok(CallToolResult::from_text((args.a + args.b).to_string()))
//! });
//! let target = Direct::new(server);
//! # let _ = target;
//! ```
//!
//! Everything runs in the caller's task, while it polls an exchange: no task is spawned, no timer
//! is set, any executor will do. Several calls at once are several futures; a call that is
//! dropped is dropped with all the work on it.

mod direct;
#[cfg(test)]
mod hand;
mod runtime;
mod server;

pub use direct::{Direct, DirectTransport};
pub use runtime::{Context, Runtime, Session};
pub use server::{Call, ResourceRequest, Server};
