//! How a server answers where no rule says otherwise.

use serde_json::{Value, json};

use super::client::Baseline;

/// What the server says to one message.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Reply {
    /// Nothing: the message was a notification or a response.
    Accepted,
    /// An error object; over HTTP with this status.
    Error(u16, Value),
    Result(Value),
}

/// Answers a message as the baseline does.
pub(crate) fn reply(baseline: Baseline, tools: &[String], message: &Value) -> Reply {
    let Some(method) = message.get("method").and_then(Value::as_str) else {
        return Reply::Accepted;
    };
    if message.get("id").is_none() {
        return Reply::Accepted;
    }
    let modern = baseline == Baseline::Modern;
    let answer = match method {
        "initialize" if !modern => {
            let version = message.pointer("/params/protocolVersion").cloned();
            json!({
                "protocolVersion": version,
                "capabilities": { "tools": {} },
                "serverInfo": { "name": "scripted", "version": "1" },
            })
        }
        "ping" if !modern => json!({}),
        "server/discover" if modern => json!({
            "supportedVersions": ["2026-07-28"],
            "capabilities": { "tools": {} },
            "_meta": {
                "io.modelcontextprotocol/serverInfo": { "name": "scripted", "version": "1" },
            },
        }),
        "tools/call" => json!({ "content": [{ "type": "text", "text": "ok" }] }),
        "tools/list" => {
            let tool = |name| json!({ "name": name, "inputSchema": { "type": "object" } });
            json!({ "tools": tools.iter().map(tool).collect::<Vec<_>>() })
        }
        other => {
            let status = if modern || other == "server/discover" { 404 } else { 200 };
            let error = json!({ "code": -32601, "message": format!("Method not found: {other}") });
            return Reply::Error(status, error);
        }
    };
    Reply::Result(if modern { with_modern_members(answer, method) } else { answer })
}

impl Reply {
    /// The response to a request, as JSON; `None` where there is none.
    pub(crate) fn response(self, id: &Value) -> Option<Value> {
        match self {
            Self::Accepted => None,
            Self::Error(_, error) => Some(json!({ "jsonrpc": "2.0", "id": id, "error": error })),
            Self::Result(result) => Some(json!({ "jsonrpc": "2.0", "id": id, "result": result })),
        }
    }
}

/// The names of all tools, each once: `echo` and those that the case speaks of.
pub(crate) fn tools(named: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut tools = vec!["echo".to_owned()];
    for name in named {
        if !tools.contains(&name) {
            tools.push(name);
        }
    }
    tools
}

fn with_modern_members(mut answer: Value, method: &str) -> Value {
    answer["resultType"] = json!("complete");
    if method != "tools/call" {
        answer["ttlMs"] = json!(0);
        answer["cacheScope"] = json!("private");
    }
    answer
}
