//! An extension of the protocol: methods and results beyond its own, named by a value.
//!
//! ```text
//! the tool answers {"report":"r 1","resultType":"report"}
//! the report has 42 pages
//! without it: the result is of type "report", which nobody announced
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what it got")]

use std::sync::Arc;

use serde_json::{Value, json};
use snodo::dialect::Extension;
use snodo::transport::from_fn;
use snodo::types::{Body, Message};
use snodo::{Client, ProtocolVersion};

/// Reports that take their time: a tool may answer with one to come.
#[derive(Debug)]
struct Reports;

impl Extension for Reports {
    fn id(&self) -> &str {
        "com.example/reports"
    }

    fn methods(&self) -> &[&str] {
        &["reports/get"]
    }

    fn result_types(&self, method: &str) -> &[&str] {
        if method == "tools/call" { &["report"] } else { &[] }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = from_fn(|envelope| async move {
        let message = Message::parse(envelope.message)?;
        let Body::Request { id, method, .. } = message.body() else { return Ok(None) };
        let result = match method {
            "reports/get" => json!({ "pages": 42 }),
            _ => json!({ "resultType": "report", "report": "r 1" }),
        };
        Ok(Some(Message::result(id, &result.to_string())))
    });
    let client = Client::builder().protocol([ProtocolVersion::V2026_07_28]).connect(server).await?;

    // Registered with `Builder::extension` it is declared with every request; here with two.
    let reports = Arc::new(Reports);
    let report = client.call_tool("report", ()).extension(reports.clone()).await?;
    println!("the tool answers {}", report.raw());
    let asked = client.request("reports/get", json!({ "report": "r 1" })).extension(reports);
    println!("the report has {} pages", asked.await?.decode::<Value>()?["pages"]);

    let error = client.call_tool("report", ()).await.expect_err("nobody said so");
    println!("without it: {}", error.message());
    Ok(())
}
