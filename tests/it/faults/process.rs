//! Faults of a server process and of the pipes to it.

use std::time::Duration;

use serde_json::{Value, json};
use snodo::Client;
use snodo::stdio::Shutdown;
use snodo_tests::cases::process::ChildFiles;
use tokio::task::JoinSet;

use super::{DEADLINE, Doing, Era, builder, calls_with_progress, changes, closes, hears, settled};

/// What goes wrong with a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    Killed,
    Stopped,
    StdinFull,
    StdoutClosed,
    StderrFlood,
}

impl super::Fault for Fault {
    const ALL: &'static [Self] =
        &[Self::Killed, Self::Stopped, Self::StdinFull, Self::StdoutClosed, Self::StderrFlood];

    fn name(self) -> &'static str {
        match self {
            Self::Killed => "killed",
            Self::Stopped => "stopped",
            Self::StdinFull => "stdin full",
            Self::StdoutClosed => "stdout closed",
            Self::StderrFlood => "stderr flood",
        }
    }

    fn applies(self, _: Doing, _: Era) -> bool {
        true
    }

    async fn play(self, doing: Doing, era: Era) -> Result<String, String> {
        let files = ChildFiles::new("fault", &self.script(doing, era).to_string())?;
        let baseline = if era == Era::Modern { "modern" } else { "legacy" };
        let waits = Duration::from_millis(100);
        let stdio = files.stdio(baseline)?;
        let stdio = stdio.shutdown(Shutdown { after_stdin: waits, after_terminate: waits });
        let told = self.meets(doing, era, stdio).await?;
        if files.started() != 1 {
            return Err(format!("{} processes were started", files.started()));
        }
        match settled(|| files.left() == 0).await {
            true => Ok(told),
            false => Err(format!("{told}, and the process is LEFT")),
        }
    }
}

impl Fault {
    async fn meets(
        self,
        doing: Doing,
        era: Era,
        stdio: snodo::stdio::Stdio,
    ) -> Result<String, String> {
        if doing == Doing::Connect {
            let connecting = builder(era).connect(stdio);
            return super::timed(async {
                let client = connecting.await?;
                // A client of this version alone has nothing to ask when it connects.
                if era == Era::Modern { client.discover().await.map(drop) } else { Ok(()) }
            })
            .await;
        }
        let client = builder(era).connect(stdio).await.map_err(|error| error.to_string())?;
        let mut filling = JoinSet::new();
        let told = match doing {
            Doing::Connect | Doing::Call => {
                if self == Self::StdinFull {
                    strikes(&client).await;
                    self.fill(&client, &mut filling, Duration::ZERO);
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
                super::timed(async { client.call_tool("struck", ()).await }).await
            }
            Doing::Progress => {
                self.fill(&client, &mut filling, Duration::from_millis(100));
                calls_with_progress(&client).await
            }
            Doing::Input => {
                self.fill(&client, &mut filling, Duration::from_millis(100));
                super::timed(async { client.call_tool("struck", ()).await }).await
            }
            Doing::Listen => {
                let listening = client.listen(changes()).await;
                let mut events = listening.map_err(|error| error.to_string())?;
                self.fill(&client, &mut filling, Duration::from_millis(100));
                if era == Era::Legacy {
                    strikes(&client).await;
                }
                Ok(hears(&mut events).await)
            }
            Doing::Close => {
                strikes(&client).await;
                self.fill(&client, &mut filling, Duration::ZERO);
                closes(&client).await
            }
        };
        filling.shutdown().await;
        told
    }

    /// More than goes into a pipe, where the server does not read. The first is read, and left.
    fn fill(self, client: &Client, filling: &mut JoinSet<()>, after: Duration) {
        if self != Self::StdinFull {
            return;
        }
        for _ in 0..2 {
            let client = client.clone();
            filling.spawn(async move {
                tokio::time::sleep(after).await;
                let text = "x".repeat(1024 * 1024);
                let called = client.call_tool("echo", json!({ "text": text })).await;
                assert!(called.is_err(), "nobody reads it");
            });
        }
    }

    /// What the process does to be at fault; whether it answers nonetheless.
    fn strike(self) -> (Vec<Value>, bool) {
        match self {
            Self::Killed => (vec![json!({ "signal": "KILL" })], false),
            Self::Stopped => (vec![json!({ "signal": "STOP" })], false),
            Self::StdinFull => (vec![json!({ "stop_reading": true })], false),
            Self::StdoutClosed => (vec![json!({ "close_stdout": true })], false),
            Self::StderrFlood => (vec![json!({ "stderr": 8 * 1024 * 1024 })], true),
        }
    }

    fn script(self, doing: Doing, era: Era) -> Value {
        let (strike, answers) = self.strike();
        let reply = json!({ "reply": "baseline" });
        let pause = json!({ "sleep_ms": 20 });
        let mut ends = strike.clone();
        ends.extend(answers.then(|| reply.clone()));
        let rule = |rpc: &str, actions: Vec<Value>| json!({ "rpc": rpc, "do": actions });
        let tool = |tool: &str, nth: Option<usize>, actions: Vec<Value>| {
            let mut rule = rule("tools/call", actions);
            rule["tool"] = tool.into();
            if let Some(nth) = nth {
                rule["nth"] = nth.into();
            }
            rule
        };
        let mut rules = match (doing, era) {
            (Doing::Connect, Era::Modern) => vec![rule("server/discover", ends.clone())],
            (Doing::Connect, Era::Legacy) => vec![rule("initialize", ends.clone())],
            (Doing::Call, _) => vec![tool("struck", None, ends.clone())],
            (Doing::Progress, _) => {
                let begun = vec![json!({ "progress": 1 }), pause];
                vec![tool("struck", None, [begun, ends.clone()].concat())]
            }
            (Doing::Input, Era::Modern) => {
                let round = [vec![written(&round()), pause], strike.clone()].concat();
                let more = if answers { vec![reply.clone()] } else { Vec::new() };
                vec![tool("struck", Some(1), round), tool("struck", None, more)]
            }
            (Doing::Input, Era::Legacy) => {
                let mut asked = written(&question());
                let round = if answers {
                    asked["await_reply"] = true.into();
                    [strike.clone(), vec![asked, reply.clone()]].concat()
                } else {
                    [vec![asked, pause], strike.clone()].concat()
                };
                vec![tool("struck", None, round)]
            }
            (Doing::Listen, Era::Modern) => {
                let begun = vec![written(&acknowledged()), pause];
                let told = vec![written(&changed(Some("@ID@")))];
                vec![rule("subscriptions/listen", [begun, strike.clone(), told].concat())]
            }
            (Doing::Listen, Era::Legacy) | (Doing::Close, _) => Vec::new(),
        };
        let mut struck = [strike, vec![reply]].concat();
        if doing == Doing::Listen {
            struck.push(written(&changed(None)));
            rules.push(rule("initialize", vec![written(&initialized())]));
        }
        rules.push(tool("strike", None, struck));
        json!({ "on": rules })
    }
}

/// Has the server do what is wrong with it. Whether it answers is not asked.
async fn strikes(client: &Client) {
    let _ = client.call_tool("strike", ()).timeout(DEADLINE / 10).await;
}

/// A message as a line that the process writes.
fn written(message: &Value) -> Value {
    json!({ "stdout": format!("{}\n", message.to_string().replace("\"@ID@\"", "@ID@")) })
}

/// A form, as an older server asks for it in the middle of a call.
pub(super) fn question() -> Value {
    let mut asked = form();
    asked["jsonrpc"] = "2.0".into();
    asked["id"] = "q1".into();
    asked
}

/// The same as the result of a call.
pub(super) fn round() -> Value {
    let result = json!({ "resultType": "input_required", "inputRequests": { "who": form() } });
    json!({ "jsonrpc": "2.0", "id": "@ID@", "result": result })
}

fn form() -> Value {
    let schema = json!({ "type": "object", "properties": { "name": { "type": "string" } } });
    let params = json!({ "message": "Your name?", "requestedSchema": schema });
    json!({ "method": "elicitation/create", "params": params })
}

pub(super) fn acknowledged() -> Value {
    let meta = json!({ "io.modelcontextprotocol/subscriptionId": "@ID@" });
    let params = json!({ "notifications": { "toolsListChanged": true }, "_meta": meta });
    let method = "notifications/subscriptions/acknowledged";
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}

pub(super) fn changed(subscription: Option<&str>) -> Value {
    let mut told = json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" });
    if let Some(id) = subscription {
        told["params"] = json!({ "_meta": { "io.modelcontextprotocol/subscriptionId": id } });
    }
    told
}

/// What an older server says of itself that tells of changes.
pub(super) fn initialized() -> Value {
    let result = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": { "tools": { "listChanged": true } },
        "serverInfo": { "name": "struck", "version": "1" },
    });
    json!({ "jsonrpc": "2.0", "id": "@ID@", "result": result })
}
