//! Lists: all of one, page by page, or a single page.
//!
//! ```text
//! tools: a b c d e
//! page of 2: note://1 note://2
//! page of 1: note://3
//! first: a b, and more behind Some("2")
//! then: c d, and more behind Some("4")
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what it got")]

use serde_json::{Value, json};
use snodo::direct::Server;
use snodo::types::{CallToolResult, ReadResourceResult, Resource, Tool};
use snodo::{Client, Error, ListKind};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let client = Client::direct(server()).await?;

    // Awaited, a list fetches every page.
    println!("tools: {}", names(&client.list_tools().await?));

    // As a stream, each page is fetched when it is asked for.
    let mut pages = client.list_resources().pages();
    while let Some(page) = pages.next().await {
        let page = page?;
        let uris: Vec<_> = page.items.iter().map(|resource| &*resource.uri).collect();
        println!("page of {}: {}", uris.len(), uris.join(" "));
    }

    // One page, and the one behind its cursor.
    let first = client.list_page(ListKind::TOOLS, None).await?;
    println!("first: {}, and more behind {:?}", names(&first.items), first.next_cursor);
    let then = client.list_page(ListKind::TOOLS, first.next_cursor.as_deref()).await?;
    println!("then: {}, and more behind {:?}", names(&then.items), then.next_cursor);
    Ok(())
}

fn names(tools: &[Tool]) -> String {
    tools.iter().map(|tool| &*tool.name).collect::<Vec<_>>().join(" ")
}

/// Five tools and three resources, two on a page.
fn server() -> Server {
    let mut server = Server::new("lists", "1.0.0").page_size(2);
    for name in ["a", "b", "c", "d", "e"] {
        server = server.tool(name, json!({ "type": "object" }), |_: Value, _| async {
            Ok(CallToolResult::default())
        });
    }
    for uri in ["note://1", "note://2", "note://3"] {
        server = server.resource(Resource::new(uri, "note"), |_, _| async {
            Ok(ReadResourceResult::new(vec![]))
        });
    }
    server
}
