//! A server in the same process: typed arguments, and who calls as a value of any type.
//!
//! ```text
//! ada: 5
//! no: a and b are numbers
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what it got")]

use serde::Deserialize;
use serde_json::json;
use snodo::direct::{Call, Server};
use snodo::types::{CallToolResult, ErrorObject};
use snodo::{Client, Error};

/// Who calls. The client hands it over once; every handler finds it in its call.
struct User {
    name: String,
}

#[derive(Deserialize)]
struct Add {
    a: i64,
    b: i64,
}

async fn add(args: Add, call: Call) -> Result<CallToolResult, ErrorObject> {
    let user = call.auth::<User>().map_or("nobody", |user| &user.name);
    Ok(CallToolResult::from_text(format!("{user}: {}", args.a + args.b)))
}

// No process, no socket, no task: any executor will do.
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let number = json!({ "type": "integer" });
    let schema = json!({ "type": "object", "properties": { "a": number, "b": number } });
    let server = Server::new("calculator", "1.0.0").tool("add", schema, add);

    let client = Client::direct(server).auth(User { name: "ada".to_owned() }).await?;
    println!("{}", client.call_tool("add", json!({ "a": 2, "b": 3 })).await?.text());

    // Arguments of another shape never reach the handler. The model is told, so this is an answer
    // and no `Err`.
    let refused = client.call_tool("add", json!({ "a": "two", "b": 3 })).await?;
    if refused.is_error() {
        println!("no: a and b are numbers");
    }
    Ok(())
}
