//! Cases of `structured/`: the result of a tool whose output has a schema.

use serde::Deserialize;
use serde_json::{Value, json};
use snodo::types::{CallToolResult, Cause, Content, SchemaSide};
use snodo::{Client, Error, ListKind, ProtocolVersion, Validate};

use super::Verdict;
use super::head;
use super::later::Need;
use super::store::CaseFile;
use super::wire::{Wire, on_standing_clock};

/// A file of `structured/`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct StructuredCase {
    output_schema: Value,
    result: Value,
    expect: Expect,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Expect {
    outcome: Expected,
    text: Option<String>,
    /// How many requests may be made for what a schema refers to.
    network_requests: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Expected {
    Ok,
    ToolError,
    InvalidOutput,
    Any,
}

/// What became of a call.
struct Called {
    result: Result<CallToolResult, Error>,
    /// What the client wrote once it had the result.
    afterwards: Vec<String>,
}

/// Runs a case on each version that it applies to.
pub(crate) fn run(file: &CaseFile) -> Result<Verdict, Need> {
    let text = file.text("json").map_err(Need::unknown)?;
    let (head, case) = head::read::<StructuredCase>(&text)?;
    let mut faults = Vec::new();
    for version in head.versions {
        let found = match on_standing_clock(case.call(version)) {
            Ok(called) => case.expect.check(&called),
            Err(fault) => vec![fault],
        };
        faults.extend(found.into_iter().map(|fault| format!("[{version}] {fault}")));
    }
    Ok(Verdict::of(faults))
}

impl StructuredCase {
    async fn call(&self, version: ProtocolVersion) -> Result<Called, String> {
        let builder = Client::builder().validate(Validate::results());
        let (client, mut wire) = Wire::connect(builder, version).await?;
        let stateless = version == ProtocolVersion::V2026_07_28;
        let calling = tokio::spawn(async move {
            client.list_page(ListKind::TOOLS, None).await?;
            client.call_tool("t", ()).await.map(snodo::Reply::into_inner)
        });
        let schema = &self.output_schema;
        let tool =
            json!({ "name": "t", "inputSchema": { "type": "object" }, "outputSchema": schema });
        let list = json!({ "tools": [tool], "ttlMs": 0, "cacheScope": "private" });
        for result in [list, self.result.clone()] {
            let lines = wire.lines().await;
            let request = lines.first().ok_or("the client asked nothing")?;
            wire.result(request, &of_version(result, stateless).to_string()).await?;
        }
        let afterwards = wire.lines().await;
        let result = calling.await.map_err(|error| error.to_string())?;
        Ok(Called { result, afterwards })
    }
}

fn is_invalid_output(error: &Error) -> bool {
    let Some(Cause::Schema(fault)) = error.cause() else { return false };
    fault.side() == SchemaSide::Result && !fault.is_unusable()
}

/// A result as the version writes it.
fn of_version(mut result: Value, stateless: bool) -> Value {
    if let (true, Some(members)) = (stateless, result.as_object_mut()) {
        members.entry("resultType").or_insert_with(|| "complete".into());
    }
    result
}

impl Expect {
    fn check(&self, called: &Called) -> Vec<String> {
        let mut faults = Vec::new();
        let outcome = match &called.result {
            Ok(result) if result.is_error == Some(true) => Expected::ToolError,
            Ok(_) => Expected::Ok,
            Err(error) if is_invalid_output(error) => Expected::InvalidOutput,
            Err(error) => {
                if self.outcome != Expected::Any {
                    faults.push(format!("the call failed: {error}"));
                }
                Expected::Any
            }
        };
        if self.outcome != Expected::Any && outcome != self.outcome && faults.is_empty() {
            faults.push(format!("{outcome:?} where {:?} was due", self.outcome));
        }
        if let (Some(text), Ok(result)) = (&self.text, &called.result) {
            let said = |block: &Content| matches!(block, Content::Text(said) if said.text == *text);
            if !result.content.iter().any(said) {
                faults.push(format!("no content says `{text}`"));
            }
        }
        let made = called.afterwards.len();
        if self.network_requests.is_some_and(|allowed| made > allowed) {
            faults.push(format!("it asked for {:?}", called.afterwards));
        }
        faults
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn called(members: Value) -> Called {
        let result = serde_json::from_value(members).unwrap();
        Called { result: Ok(result), afterwards: Vec::new() }
    }

    #[test]
    fn an_outcome_that_differs_is_a_fault() {
        let expect = Expect { outcome: Expected::Ok, text: None, network_requests: None };
        let failed = called(json!({ "content": [], "isError": true }));
        assert_eq!(expect.check(&failed), ["ToolError where Ok was due"]);
        assert!(expect.check(&called(json!({ "content": [] }))).is_empty());
    }
}
