//! A server over stdio that is there to be killed: it writes down what it did before it says so.
//!
//! `mortal-server LEDGER` speaks 2026-07-28 and 2025-11-25, and adds a line of JSON to the file for
//! its start and for everything that it does once only. With `old` behind it, it ends at anything that
//! comes before `initialize`; with `modern`, it knows no `initialize`. Its tools: `add` answers, `hang` does not,
//! `change` tells those who listen, `leave` exits with the `status` it is given.

#![expect(clippy::print_stdout, reason = "a server over stdio prints")]

use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, Write as _};

use serde_json::{Value, json};

fn main() {
    let path = std::env::args().nth(1).expect("mortal-server LEDGER");
    let ledger = OpenOptions::new().append(true).create(true).open(path).expect("a ledger");
    let era = std::env::args().nth(2);
    let mut server =
        Server { ledger, era, listens: Vec::new(), watched: Vec::new(), session: false };
    server.note(json!({ "did": "start" }));
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let asked: Value = serde_json::from_str(&line).expect("a client writes JSON");
        if let Some(mut answer) = server.answer(&asked)
            && !asked["id"].is_null()
        {
            answer["id"] = asked["id"].clone();
            say(answer);
        }
    }
}

struct Server {
    ledger: File,
    /// The one era that it speaks; both where there is none.
    era: Option<String>,
    /// The ids of the subscriptions that are open.
    listens: Vec<Value>,
    watched: Vec<Value>,
    session: bool,
}

impl Server {
    /// One write for each line, so that two processes do not mix theirs.
    fn note(&mut self, mut what: Value) {
        what["process"] = std::process::id().into();
        self.ledger.write_all(format!("{what}\n").as_bytes()).expect("a ledger");
    }

    fn answer(&mut self, asked: &Value) -> Option<Value> {
        let params = &asked["params"];
        let method = asked["method"].as_str()?;
        match self.era.as_deref() {
            Some("old") if !self.session && method != "initialize" => std::process::exit(1),
            Some("modern") if method == "initialize" => return Some(unknown()),
            _ => {}
        }
        Some(match method {
            "server/discover" => result(json!({
                "supportedVersions": ["2026-07-28"],
                "capabilities": { "tools": { "listChanged": true } },
            })),
            "initialize" => {
                self.session = true;
                self.note(json!({ "did": "initialize" }));
                result(json!({
                    "protocolVersion": params["protocolVersion"],
                    "capabilities": { "tools": { "listChanged": true }, "resources": { "subscribe": true } },
                    "serverInfo": { "name": "mortal", "version": "1" },
                }))
            }
            "subscriptions/listen" => {
                self.note(json!({ "did": "listen" }));
                self.listens.push(asked["id"].clone());
                let accepted = &params["notifications"];
                tell(
                    "notifications/subscriptions/acknowledged",
                    json!({ "notifications": accepted }),
                    &asked["id"],
                );
                return None;
            }
            "notifications/cancelled" => {
                self.listens.retain(|id| *id != params["requestId"]);
                return None;
            }
            "resources/subscribe" => {
                self.note(json!({ "did": "watch", "uri": params["uri"] }));
                self.watched.push(params["uri"].clone());
                result(json!({}))
            }
            "resources/unsubscribe" => {
                self.watched.retain(|uri| *uri != params["uri"]);
                result(json!({}))
            }
            "ping" => result(json!({})),
            "tools/list" => result(json!({ "tools": [] })),
            "tools/call" => return self.call(&params["name"], &params["arguments"]),
            _ => unknown(),
        })
    }

    fn call(&mut self, tool: &Value, arguments: &Value) -> Option<Value> {
        self.note(json!({ "did": tool, "n": arguments["n"] }));
        match tool.as_str()? {
            "hang" => return None,
            "leave" => {
                let status = arguments["status"].as_i64().and_then(|status| status.try_into().ok());
                std::process::exit(status.unwrap_or_default());
            }
            "change" => self.change(),
            _ => {}
        }
        Some(result(json!({ "content": [] })))
    }

    fn change(&self) {
        for id in &self.listens {
            tell("notifications/tools/list_changed", json!({}), id);
        }
        if self.session {
            tell("notifications/tools/list_changed", json!({}), &Value::Null);
        }
        for uri in &self.watched {
            tell("notifications/resources/updated", json!({ "uri": uri }), &Value::Null);
        }
    }
}

fn unknown() -> Value {
    json!({ "jsonrpc": "2.0", "error": { "code": -32601, "message": "Method not found" } })
}

fn result(mut result: Value) -> Value {
    result["resultType"] = "complete".into();
    json!({ "jsonrpc": "2.0", "result": result })
}

fn tell(method: &str, mut params: Value, subscription: &Value) {
    if !subscription.is_null() {
        params["_meta"] = json!({ "io.modelcontextprotocol/subscriptionId": subscription });
    }
    say(json!({ "jsonrpc": "2.0", "method": method, "params": params }));
}

fn say(message: Value) {
    println!("{message}");
}
