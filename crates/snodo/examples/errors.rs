//! Errors: one type, which says what was being done, to whom, and what lies below.
//!
//! ```text
//! resources/read "file:///gone" at the server in this process: no such resource (-32602)
//!   kind Protocol, data Some({"uri":"file:///gone"}), timeout false, fault None
//! tools/call "sleep" at the server: no answer within 20ms (-32001)
//!   kind Transport, data Some({"timeoutMs":20}), timeout true, fault None
//! connect at no-such-program: `no-such-program` was not found in any directory of PATH (-32000)
//!   kind Transport, data None, timeout false, fault Some(Spawn)
//! the tool ran and failed, which is an answer: the printer is on fire
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what it got")]

use std::time::Duration;

use serde_json::{Value, json};
use snodo::direct::Server;
use snodo::stdio::Stdio;
use snodo::transport::from_fn;
use snodo::types::{CallToolResult, ReadResourceResult, Resource};
use snodo::{Client, Error, ProtocolVersion};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let server = Server::new("office", "1.0.0")
        .resource(Resource::new("file:///here", "here"), |_, _| async {
            Ok(ReadResourceResult::new(vec![]))
        })
        .tool("print", json!({}), |_: Value, _| async {
            Ok(CallToolResult::error("the printer is on fire"))
        });
    let office = Client::direct(server).await?;

    // The server says no: its code, its words, its data.
    show(&office.read_resource("file:///gone").await.expect_err("it is gone"));

    // No answer in time. The request was given up, and the server told.
    let silence = from_fn(|_| async { std::future::pending().await });
    let builder = Client::builder().protocol([ProtocolVersion::V2026_07_28]);
    let call = builder.connect(silence).await?.call_tool("sleep", ());
    show(&call.timeout(Duration::from_millis(20)).await.expect_err("nobody answers"));

    // The transport failed; what lies below tells how.
    show(&Client::connect(Stdio::new("no-such-program")).await.expect_err("it is not installed"));

    // A tool that fails in its work answers: the model is to read why.
    let printed = office.call_tool("print", ()).await?;
    if printed.is_error() {
        println!("the tool ran and failed, which is an answer: {}", printed.text());
    }
    Ok(())
}

fn show(error: &Error) {
    println!("{error}");
    let fault = error.transport().map(|below| below.fault());
    let (kind, data, timeout) = (error.kind(), error.data(), error.is_timeout());
    println!("  kind {kind:?}, data {data:?}, timeout {timeout}, fault {fault:?}");
}
