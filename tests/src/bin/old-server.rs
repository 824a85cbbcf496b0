//! A server over stdio as many in the field are: it ends at anything that comes before
//! `initialize`, prints to both of its outputs, and knows a ping and one tool, `echo`.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a server over stdio prints")]

use std::io::BufRead;
use std::process::ExitCode;

use serde_json::{Value, json};

fn main() -> ExitCode {
    println!("Starting the old server...");
    let mut open = false;
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
        let method = message["method"].as_str().unwrap_or_default();
        if method == "initialize" {
            open = true;
        } else if !open {
            eprintln!("expected initialize, got {method}");
            return ExitCode::FAILURE;
        }
        if let Some(id) = message.get("id") {
            let mut answer = answer(method, &message["params"]);
            answer["jsonrpc"] = "2.0".into();
            answer["id"] = id.clone();
            println!("{answer}");
        }
    }
    ExitCode::SUCCESS
}

fn answer(method: &str, params: &Value) -> Value {
    match method {
        "initialize" => json!({ "result": {
            "protocolVersion": "2025-06-18",
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "old-server", "version": "1" },
        } }),
        "ping" => json!({ "result": {} }),
        "tools/call" if params["name"] == "echo" => json!({ "result": {
            "content": [{ "type": "text", "text": params["arguments"]["message"] }],
        } }),
        _ => json!({ "error": { "code": -32601, "message": "Method not found" } }),
    }
}
