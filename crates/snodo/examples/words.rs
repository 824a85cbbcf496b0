//! The words alone: `snodo-types` reads and writes messages, without a client or a runtime.
//!
//! ```text
//! 7 calls tools/call with {"name":"echo"}
//! echo says it again; unknown to this library: x-price
//! as it came: true
//! not a message: expected value at line 1 column 1
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what it got")]

use snodo_types::{Body, Message, Tool};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The head of a message is read once; what is inside stays text until somebody wants it.
    let line = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo"}}"#;
    let message = Message::parse(line)?;
    if let Body::Request { id, method, params } = message.body() {
        println!("{id} calls {method} with {}", params.unwrap_or("nothing"));
    }

    // Members without a name in this library are kept, and written out again.
    let text = r#"{"name":"echo","description":"says it again","inputSchema":{"type":"object"},"x-price":3}"#;
    let tool: Tool = serde_json::from_str(text)?;
    let unknown: Vec<_> = tool.other.iter().map(|(name, _)| name).collect();
    let about = tool.description.as_deref().unwrap_or_default();
    println!("{} {about}; unknown to this library: {}", tool.name, unknown.join(" "));
    println!("as it came: {}", serde_json::to_string(&tool)? == text);

    if let Err(malformed) = Message::parse("GET / HTTP/1.1") {
        println!("not a message: {}", malformed.reason());
    }
    Ok(())
}
