//! An agent in one loop: the model sees the tools, asks for calls, reads what they gave, and ends
//! with words. The model stands behind a trait; here it is a stub with a plan.
//!
//! ```text
//! the model sees: add, divide
//! add {"a":20,"b":22} -> 42
//! divide {"a":42,"b":0} -> failed: nothing can be divided by zero
//! multiply {} -> failed: tools/call "multiply" at the server in this process: unknown tool: "multiply" (-32602)
//! the model says: 42, and no more than that
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what it got")]

use serde::Deserialize;
use serde_json::{Value, json};
use snodo::direct::Server;
use snodo::types::{CallToolResult, Tool};
use snodo::{Client, Error};

/// What a model does next, having seen what was said so far.
trait Model {
    async fn next(&mut self, tools: &[Tool], said: &[Turn]) -> Step;
}

/// What the model wants.
enum Step {
    Call { tool: String, arguments: Value },
    Answer(String),
}

/// A call of the model's and what came of it, in words.
struct Turn {
    result: Result<String, String>,
}

/// A model is never let run for ever.
const MOST_TURNS: usize = 8;

async fn run(client: &Client, model: &mut impl Model) -> Result<String, Error> {
    let tools = client.list_tools().await?;
    let mut said = Vec::new();
    while said.len() < MOST_TURNS {
        let (tool, arguments) = match model.next(&tools, &said).await {
            Step::Answer(text) => return Ok(text),
            Step::Call { tool, arguments } => (tool, arguments),
        };
        // A failure is something that the model should read: it may do better next time.
        let result = match client.call_tool(&*tool, &arguments).await {
            Ok(reply) if reply.is_error() => Err(reply.text()),
            Ok(reply) => Ok(reply.text()),
            // Without a connection there is nothing to go on with.
            Err(error) if error.is_closed() => return Err(error),
            Err(error) => Err(error.to_string()),
        };
        match &result {
            Ok(text) => println!("{tool} {arguments} -> {text}"),
            Err(text) => println!("{tool} {arguments} -> failed: {text}"),
        }
        said.push(Turn { result });
    }
    Ok("that took too many calls".to_owned())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let client = Client::direct(calculator()).await?;
    let answer = run(&client, &mut Stub).await?;
    println!("the model says: {answer}");
    Ok(())
}

/// Three calls, one of them in vain and one made up.
struct Stub;

impl Model for Stub {
    async fn next(&mut self, tools: &[Tool], said: &[Turn]) -> Step {
        let call = |tool: &str, arguments| Step::Call { tool: tool.to_owned(), arguments };
        match said {
            [] => {
                let names: Vec<_> = tools.iter().map(|tool| &*tool.name).collect();
                println!("the model sees: {}", names.join(", "));
                call("add", json!({ "a": 20, "b": 22 }))
            }
            [_] => call("divide", json!({ "a": 42, "b": 0 })),
            [_, _] => call("multiply", json!({})),
            [first, ..] => {
                let sum = first.result.as_deref().unwrap_or("nothing");
                Step::Answer(format!("{sum}, and no more than that"))
            }
        }
    }
}

#[derive(Deserialize)]
struct Operands {
    a: i64,
    b: i64,
}

fn calculator() -> Server {
    let schema = json!({
        "type": "object",
        "properties": { "a": { "type": "integer" }, "b": { "type": "integer" } },
        "required": ["a", "b"],
    });
    Server::new("calculator", "1.0.0")
        .tool("add", schema.clone(), |args: Operands, _| async move {
            Ok(CallToolResult::from_text((args.a + args.b).to_string()))
        })
        .tool("divide", schema, |args: Operands, _| async move {
            Ok(match args.a.checked_div(args.b) {
                Some(result) => CallToolResult::from_text(result.to_string()),
                None => CallToolResult::error("nothing can be divided by zero"),
            })
        })
}
