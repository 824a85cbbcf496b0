//! Many MCP servers as one.
//!
//! A [`Host`] connects to all servers of a list at once. One that fails hides no other: the host
//! works with those that answered, and tells what became of the rest. Tools and prompts of all
//! servers stand in one list under names that cannot collide, and a call by such a name finds its
//! server.
//!
//! ```
//! use serde_json::json;
//! use snodo::direct::Server;
//! use snodo::types::CallToolResult;
//! use snodo_host::Host;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), snodo::Error> {
//! let server = |says: &'static str| {
//!     Server::new("demo", "1").tool("greet", json!({ "type": "object" }), move |_: serde_json::Value, _| async move {
//!         Ok(CallToolResult::from_text(says))
//!     })
//! };
//! let host = Host::builder()
//!     .client("north", snodo::Client::direct(server("hi")).await?)
//!     .client("south", snodo::Client::direct(server("hey")).await?)
//!     .connect()
//!     .await;
//! let tools = host.list_tools().await;
//! let names: Vec<&str> = tools.items().iter().map(|tool| tool.name()).collect();
//! assert_eq!(names, ["north__greet", "south__greet"]);
//! assert_eq!(host.call_tool("south__greet", json!({})).await?.text(), "hey");
//! # Ok(())
//! # }
//! ```
//!
//! # Names
//!
//! A tool is called `SERVER__TOOL`. What of a server's name is not a letter, a digit, `-` or `_`
//! becomes `_`, runs of `_` become one, and where two servers come to the same, the later one gets a
//! number; so the first `__` of a name always ends the server's part. The tool's own name stays as
//! it is. Names depend on the list of servers alone: one that is away changes nobody's name.
//!
//! # Limits
//!
//! Each server has [`Limits`] of its own: how long connecting may take, how many calls it gets at
//! once, and how many items of a list are taken from it.
//!
//! The guide is `docs/guides/many-servers.md` in the repository.

mod builder;
mod changes;
mod host;
mod limits;
mod link;
mod listed;
mod names;
#[cfg(test)]
mod tests;

pub use builder::Builder;
pub use changes::{Change, Changes};
pub use host::{Host, Member};
pub use limits::Limits;
pub use link::{Way, open};
pub use listed::{Listed, Lists, Missing};

/// The guide's examples, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guides/many-servers.md")]
struct Guide;
