//! Completion: how the argument of a prompt or of a resource template may go on.
//!
//! ```text
//! ru: ruby, rust
//! with the framework known: rust
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what it got")]

use snodo::direct::Server;
use snodo::types::{CompleteParams, CompleteResult, CompletionReference};
use snodo::{Client, Error};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let server = Server::new("editor", "1.0.0").completion(|params, _call| async move {
        let chosen = params.context.is_some();
        let languages =
            ["python", "ruby", "rust"].into_iter().filter(|name| !chosen || *name == "rust");
        Ok(CompleteResult::new(languages.filter(|name| name.starts_with(&params.argument.value))))
    });
    let client = Client::direct(server).await?;

    let review = CompletionReference::prompt("review");
    let typed = CompleteParams::new(review, "language", "ru");
    println!("ru: {}", client.complete(&typed).await?.completion.values.join(", "));

    // Other arguments that have their value already narrow it down.
    let narrower = typed.with_context("framework", "axum");
    let result = client.complete(&narrower).await?;
    println!("with the framework known: {}", result.completion.values.join(", "));
    Ok(())
}
