//! Public results of MCP clients on Redis.
//!
//! Every process of a fleet gives its clients a [`Cache`](snodo::Cache) on the same Redis; what one
//! of them has fetched answers the others, for as long as its server allows, and of those that miss
//! the same at once one fetches.
//!
//! ```no_run
//! use snodo::{Cache, Client, http::Http};
//! use snodo_cache_redis::Redis;
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let cache = Cache::shared(Redis::new("redis://127.0.0.1/")?);
//! let client = Client::builder()
//!     .cache(cache)
//!     .connect(Http::new("https://example.com/mcp")?)
//!     .await?;
//! # Ok(())
//! # }
//! ```
//!
//! What is private to a caller never gets here: it stays in the memory of its process. The store
//! knows no credential. It does hold parameters (URIs of resources, cursors) and results in plain,
//! and believes whoever can write to it: a Redis for this is one that only the fleet can reach.

mod link;
mod names;
mod store;

pub use store::Redis;
