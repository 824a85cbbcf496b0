//! The tools of the demo.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Number, Value, json};
use snodo::direct::{Call, Server};
use snodo::types::{CallToolResult, ErrorObject, Tool};

/// Adds the tools to a server.
pub(super) fn add(server: Server) -> Server {
    server
        .tool_with(echo_tool(), echo)
        .tool_with(sum_tool(), sum)
        .tool_with(slow_tool(), slow)
        .tool_with(fail_tool(), fail)
}

fn echo_tool() -> Tool {
    let schema = json!({
        "type": "object",
        "properties": { "text": { "type": "string", "description": "What to say" } },
        "required": ["text"],
    });
    Tool::new("echo", schema).with_description("Says what it is told")
}

#[derive(Deserialize)]
struct Echo {
    text: String,
}

async fn echo(arguments: Echo, _call: Call) -> Result<CallToolResult, ErrorObject> {
    Ok(CallToolResult::from_text(arguments.text))
}

fn sum_tool() -> Tool {
    let schema = json!({
        "type": "object",
        "properties": { "a": { "type": "number" }, "b": { "type": "number" } },
        "required": ["a", "b"],
    });
    let output = json!({
        "type": "object",
        "properties": { "sum": { "type": "number" } },
        "required": ["sum"],
    });
    Tool::new("add", schema).with_output_schema(output).with_description("Adds two numbers")
}

#[derive(Deserialize)]
struct Sum {
    a: Number,
    b: Number,
}

async fn sum(Sum { a, b }: Sum, _call: Call) -> Result<CallToolResult, ErrorObject> {
    let whole = a.as_i64().zip(b.as_i64()).and_then(|(a, b)| a.checked_add(b)).map(Number::from);
    let exact = || Number::from_f64(a.as_f64()? + b.as_f64()?);
    Ok(match whole.or_else(exact) {
        Some(sum) => {
            CallToolResult::from_text(sum.to_string()).with_structured(json!({ "sum": sum }))
        }
        None => CallToolResult::error("the sum is no number that JSON can write"),
    })
}

fn slow_tool() -> Tool {
    let schema = json!({
        "type": "object",
        "properties": {
            "steps": { "type": "integer", "minimum": 0, "maximum": STEPS },
            "delay_ms": { "type": "integer", "minimum": 0, "maximum": DELAY, "default": 100 },
        },
        "required": ["steps"],
    });
    Tool::new("slow", schema)
        .with_description("Takes some steps, and tells of each when it is done")
}

#[derive(Deserialize)]
struct Slow {
    steps: u32,
    #[serde(default = "default_delay")]
    delay_ms: u64,
}

fn default_delay() -> u64 {
    100
}

async fn slow(arguments: Slow, call: Call) -> Result<CallToolResult, ErrorObject> {
    let Slow { steps, delay_ms } = arguments;
    if steps > STEPS || delay_ms > DELAY {
        let text = format!("at most {STEPS} steps, of at most {DELAY} ms each");
        return Ok(CallToolResult::error(text));
    }
    for step in 1..=steps {
        tokio::time::sleep(Duration::from_millis(delay_ms)).await;
        call.progress(step.into(), Some(steps.into()), Some(&format!("step {step}"))).await;
    }
    Ok(CallToolResult::from_text(format!("done after {steps} steps")))
}

fn fail_tool() -> Tool {
    let schema = json!({
        "type": "object",
        "properties": { "message": { "type": "string", "default": "it failed, as asked" } },
    });
    Tool::new("fail", schema).with_description("Reports an error, which is a result too")
}

async fn fail(arguments: Value, _call: Call) -> Result<CallToolResult, ErrorObject> {
    let message = arguments["message"].as_str().unwrap_or("it failed, as asked");
    Ok(CallToolResult::error(message))
}

const STEPS: u32 = 1_000;

const DELAY: u64 = 60_000;
