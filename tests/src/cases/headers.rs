//! Cases of `headers/`: an argument of a tool, and the header that it travels as.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use snodo::http::Http;
use snodo::{Client, ProtocolVersion};

use super::Verdict;
use super::head;
use super::http::{Scripted, Server};
use super::later::Need;
use super::store::CaseFile;
use super::suite::on_runtime;

/// A file of `headers/`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct HeaderCase {
    cases: Vec<Pair>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Pair {
    value: Value,
    /// What stands in the header; `None` for no header.
    header: Option<String>,
}

/// Calls a tool with each value and looks at the request.
pub(crate) fn run(file: &CaseFile) -> Result<Verdict, Need> {
    let text = file.text("json").map_err(Need::unknown)?;
    let (_, case) = head::read::<HeaderCase>(&text)?;
    Ok(Verdict::of(on_runtime(BOUND, async move {
        let found = check(&case).await;
        found.unwrap_or_else(|fault| vec![fault])
    })))
}

async fn check(case: &HeaderCase) -> Result<Vec<String>, String> {
    let mut faults = Vec::new();
    for pair in &case.cases {
        let sent = sent(pair).await.map_err(|why| format!("{}: {why}", pair.value))?;
        if sent != pair.header {
            faults.push(format!("{} went as {sent:?}, expected {:?}", pair.value, pair.header));
        }
    }
    Ok(faults)
}

/// The header that a value travels as.
async fn sent(pair: &Pair) -> Result<Option<String>, String> {
    let schema = json!({
        "type": "object",
        "properties": { "v": { "type": type_of(&pair.value), "x-mcp-header": "V" } },
    });
    let list = json!([{
        "match": { "rpc": "tools/list" },
        "reply": { "json": { "jsonrpc": "2.0", "id": "@ID@", "result": {
            "tools": [{ "name": "t", "inputSchema": schema }],
            "resultType": "complete", "ttlMs": 0, "cacheScope": "private",
        } } },
    }]);
    let script = Scripted::new("modern", &list.to_string()).map_err(|error| error.to_string())?;
    let server = Server::start(script).map_err(|error| error.to_string())?;
    let http = Http::new(format!("{}/mcp", server.origin())).map_err(|error| error.to_string())?;
    let builder = Client::builder().protocol([ProtocolVersion::V2026_07_28]);
    let client = builder.connect(http).await.map_err(|error| error.to_string())?;
    let tools = client.list_tools().await.map_err(|error| error.to_string())?;
    let tool = tools.first().ok_or("the tool is not listed")?;
    let arguments = json!({ "v": pair.value });
    client.call_tool(tool, arguments).await.map_err(|error| error.to_string())?;
    let record = server.record();
    let call = record.all("tools/call").next().ok_or("the call was not seen")?;
    Ok(call.request.header("mcp-param-v"))
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Bool(_) => "boolean",
        Value::Number(_) => "integer",
        _ => "string",
    }
}

const BOUND: Duration = Duration::from_secs(60);
