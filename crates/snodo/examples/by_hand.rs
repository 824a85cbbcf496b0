//! Answering by hand: what the server asks comes as a value, and the caller decides when to go on.
//!
//! ```text
//! the server asks: Who travels? (name, seats)
//! booked with
//!   form: {"action":"accept","content":{"name":"Ada","seats":2}}
//! nobody to ask: -32602, with 1 question inside
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what it got")]

#[path = "servers/asking.rs"]
mod asking;

use serde_json::json;
use snodo::Client;
use snodo::types::{Cause, ElicitParams, ElicitResult, InputResponses, Outcome};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let client = Client::direct(asking::Asking::new(&["form"])).await?;

    match client.call_tool("book", ()).outcome().await? {
        Outcome::Complete(result) => println!("no questions: {}", result.text()),
        Outcome::InputRequired(asked) => {
            let mut answers = InputResponses::new();
            for (id, request) in asked.requests() {
                let form: ElicitParams = request.params()?;
                let schema = form.form()?;
                let fields: Vec<_> = schema.fields().map(|field| field.name).collect();
                println!("the server asks: {} ({})", form.message, fields.join(", "));
                // Hours may pass here: nothing is held open, the state travels with the answer.
                let content = json!({ "name": "Ada", "seats": 2 });
                answers = answers.with(id, &ElicitResult::accept(content));
            }
            let result = client.call_tool("book", ()).answer(&asked, answers).await?;
            println!("{}", result.text());
        }
    }

    // Awaited without `outcome`, the questions are an error that holds them.
    let error = client.call_tool("book", ()).await.expect_err("nobody answers here");
    if let Some(Cause::InputRequired(asked)) = error.cause() {
        println!(
            "nobody to ask: {}, with {} question inside",
            error.code(),
            asked.requests().count()
        );
    }
    Ok(())
}
