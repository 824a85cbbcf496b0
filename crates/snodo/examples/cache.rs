//! Keeping what a server allows to be kept: fetched once, and again on demand.
//!
//! ```text
//! fetched: The plan, read 1 times
//! kept: The plan, read 1 times
//! fetched: The plan, read 2 times
//! kept: The plan, read 2 times
//! fetched: The plan, read 3 times
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what it got")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use snodo::direct::Server;
use snodo::types::{CacheScope, ReadResourceResult, Resource, ResourceContents};
use snodo::{Cache, CacheMode, Client, Error, Reply};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let client = Client::builder().cache(Cache::memory()).direct(plans()).await?;

    for mode in [CacheMode::Use, CacheMode::Use, CacheMode::Refresh, CacheMode::Use] {
        show(&client.read_resource("plan://today").cache(mode).await?);
    }
    // What has an option of its own has nothing to do with what is kept.
    show(&client.read_resource("plan://today").meta("com.example/reader", "ada").await?);
    Ok(())
}

fn show(reply: &Reply<ReadResourceResult>) {
    let how = if reply.kept().is_some() { "kept" } else { "fetched" };
    println!("{how}: {}", reply.text().unwrap_or_default());
}

/// A server that says that its plan is good for a day, for whoever reads it.
fn plans() -> Server {
    let reads = Arc::new(AtomicUsize::new(0));
    Server::new("plans", "1.0.0").resource(
        Resource::new("plan://today", "plan"),
        move |request, _| {
            let number = reads.fetch_add(1, Ordering::SeqCst) + 1;
            let contents =
                ResourceContents::text(request.uri(), format!("The plan, read {number} times"));
            async move {
                let mut result = ReadResourceResult::new(vec![contents]);
                (result.ttl_ms, result.cache_scope) = (Some(86_400_000), Some(CacheScope::Private));
                Ok(result)
            }
        },
    )
}
