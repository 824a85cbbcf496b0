//! Every way in which a response can end, and what its caller is told.
//!
//! The table that is printed here stands in `docs/reliability.md`.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use snodo::http::Http;
use snodo::types::{Cause, Kind};
use snodo::{Client, Error, ProtocolVersion};
use snodo_tests::cases::http::{Scripted, Server};
use snodo_tests::cases::process::ChildFiles;
use tokio::task::JoinSet;

/// How a response ends, and what its caller is told for each way it comes: as JSON, on an event
/// stream, over a pipe. That is a code with what lies below, of kind `Transport`, or the server's
/// own error.
const ENDINGS: [(&str, [&str; 3]); 8] = [
    ("complete", ["ok", "ok", "ok"]),
    ("cut", ["-32000 Closed", "-32000 StreamEnded", "-32000 Malformed"]),
    ("reset", ["-32000 Closed", "-32000 Closed", "-32000 Exited"]),
    ("hang", ["-32001 Timeout", "-32001 Timeout", "-32001 Timeout"]),
    ("wrong id", ["-32000 Malformed", "-32000 StreamEnded", "-32001 Timeout"]),
    ("wrong id, error", ["-32603 server", "-32603 server", "-32001 Timeout"]),
    ("no id", ["-32000 Malformed", "-32000 StreamEnded", "-32001 Timeout"]),
    ("no id, error", ["-32603 server", "-32603 server", "-32001 Timeout"]),
];

const WAYS: [&str; 3] = ["JSON", "SSE", "stdio"];

/// What every request may take.
const DEADLINE: Duration = Duration::from_secs(2);

/// What a busy machine may add to it.
const SLACK: Duration = Duration::from_secs(2);

// S-05
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn however_a_response_ends_its_caller_is_told_in_time() {
    let mut running = JoinSet::new();
    for era in ["modern", "legacy"] {
        for (row, (ending, _)) in ENDINGS.iter().enumerate() {
            for way in WAYS {
                running.spawn(async move { (era, row, way, cell(era, way, ending).await) });
            }
        }
    }
    let mut found = Vec::new();
    while let Some(cell) = running.join_next().await {
        found.push(cell.expect("a cell panics for nothing"));
    }
    let measured = table(|era, row, way| {
        let cell = found.iter().find(|cell| (cell.0, cell.1, cell.2) == (era, row, way));
        cell.map_or_else(|| "missing".to_owned(), |cell| cell.3.clone())
    });
    println!("{measured}\n");
    let expected = table(|_, row, way| {
        let column = WAYS.iter().position(|known| *known == way).expect("a way");
        ENDINGS[row].1[column].to_owned()
    });
    assert_eq!(measured, expected);
    let written = include_str!("../../docs/reliability.md");
    assert!(written.contains(&expected), "docs/reliability.md shows another table");
}

/// What the caller of one response is told; a fault of the test itself in words.
async fn cell(era: &str, way: &str, ending: &str) -> String {
    let told = match way {
        "stdio" => over_stdio(era, ending).await,
        _ => over_http(era, way, ending).await,
    };
    told.unwrap_or_else(|fault| format!("FAULT {fault}"))
}

async fn over_http(era: &str, way: &str, ending: &str) -> Result<String, String> {
    let rules = json!([{
        "match": { "rpc": "tools/call", "tool": "end" },
        "reply": if way == "SSE" { stream(ending) } else { body(ending) },
    }]);
    let script = Scripted::new(era, &rules.to_string()).map_err(|error| error.to_string())?;
    let server = Server::start(script).map_err(|error| error.to_string())?;
    let http = Http::new(format!("{}/mcp", server.origin())).map_err(|error| error.to_string())?;
    let client = builder(era).connect(http).await.map_err(|error| error.to_string())?;
    let told = call(&client).await?;
    // Each response has a connection of its own: whatever became of it, the next call is answered.
    lives(&client).await?;
    Ok(told)
}

async fn over_stdio(era: &str, ending: &str) -> Result<String, String> {
    let script = json!({ "on": [{ "rpc": "tools/call", "tool": "end", "do": line(ending) }] });
    let files = ChildFiles::new("ending", &script.to_string())?;
    let client =
        builder(era).connect(files.stdio(era)?).await.map_err(|error| error.to_string())?;
    let told = call(&client).await?;
    if !matches!(ending, "cut" | "reset") {
        lives(&client).await?;
    }
    client.close().await;
    Ok(told)
}

fn builder(era: &str) -> snodo::Builder {
    let version = match era {
        "modern" => ProtocolVersion::V2026_07_28,
        _ => ProtocolVersion::V2025_11_25,
    };
    Client::builder().protocol([version]).timeout(DEADLINE)
}

async fn call(client: &Client) -> Result<String, String> {
    let start = Instant::now();
    let told = client.call_tool("end", ()).await;
    let took = start.elapsed();
    let timed_out = told.as_ref().is_err_and(Error::is_timeout);
    let limit = if timed_out { DEADLINE + SLACK } else { DEADLINE };
    if took > limit {
        return Err(format!("it took {took:?}"));
    }
    Ok(match told {
        Ok(_) => "ok".to_owned(),
        Err(error) => self::told(&error),
    })
}

/// What a caller is told: the code, and what lies below where that is the transport.
pub(crate) fn told(error: &Error) -> String {
    let below = match (error.transport(), error.cause(), error.kind()) {
        (Some(below), _, Kind::Transport) => format!("{:?}", below.fault()),
        (None, Some(Cause::Timeout), Kind::Transport) => "Timeout".to_owned(),
        (None, None, Kind::Execution) => "server".to_owned(),
        (_, cause, kind) => format!("{kind:?} {cause:?}"),
    };
    format!("{} {below}", error.code())
}

async fn lives(client: &Client) -> Result<(), String> {
    let next = client.call_tool("echo", ()).await;
    next.map(drop).map_err(|error| format!("the next call: {error}"))
}

/// The message that a response is, by its ending.
fn message(ending: &str) -> Value {
    let result = json!({ "content": [], "resultType": "complete" });
    let error = json!({ "code": -32603, "message": "no" });
    match ending {
        "no id" => json!({ "jsonrpc": "2.0", "result": result }),
        "no id, error" => json!({ "jsonrpc": "2.0", "error": error }),
        "wrong id" => json!({ "jsonrpc": "2.0", "id": 9999, "result": result }),
        "wrong id, error" => json!({ "jsonrpc": "2.0", "id": 9999, "error": error }),
        _ => json!({ "jsonrpc": "2.0", "id": "@ID@", "result": result }),
    }
}

/// The reply of a server that answers by a JSON body.
fn body(ending: &str) -> Value {
    let beginning = "{\"jsonrpc\":\"2.0\",";
    let json = json!({ "content-type": "application/json" });
    let long = json!({ "content-type": "application/json", "content-length": "500" });
    match ending {
        "cut" => json!({ "headers": long, "body": beginning }),
        "hang" => json!({ "hang": true }),
        "reset" => {
            json!({ "headers": json, "body": beginning, "transfer": "chunked", "after": "reset" })
        }
        _ => json!({ "json": message(ending) }),
    }
}

/// The reply of a server that answers on an event stream.
fn stream(ending: &str) -> Value {
    let event = format!("data: {}\n\n", message(ending).to_string().replace("\"@ID@\"", "@ID@"));
    match ending {
        "cut" => json!({ "sse": [": begun\n\n", "data: {\"jsonrpc\""] }),
        "hang" => json!({ "sse": [": begun\n\n"], "after": "hold" }),
        "reset" => json!({ "sse": [": begun\n\n"], "after": "reset" }),
        _ => json!({ "sse": [event] }),
    }
}

/// What a process does that answers over its standard output.
fn line(ending: &str) -> Value {
    let text = message(ending).to_string().replace("\"@ID@\"", "@ID@");
    match ending {
        "cut" => json!([{ "stdout": &text[..text.len() / 2] }, { "exit": 0 }]),
        "hang" => json!([]),
        "reset" => json!([{ "exit": 1 }]),
        _ => json!([{ "stdout": format!("{text}\n") }]),
    }
}

fn table(cell: impl Fn(&str, usize, &str) -> String) -> String {
    let mut text = String::from("| ending |");
    let eras = [("modern", "2026-07-28"), ("legacy", "2025-11-25")];
    for (_, version) in eras {
        for way in WAYS {
            let over = if way == "stdio" { way.to_owned() } else { format!("HTTP {way}") };
            write!(text, " {version} {over} |").expect("a string takes it");
        }
    }
    text.push_str("\n|---|---|---|---|---|---|---|\n");
    for (row, (ending, _)) in ENDINGS.iter().enumerate() {
        write!(text, "| {ending} |").expect("a string takes it");
        for (era, _) in eras {
            for way in WAYS {
                write!(text, " {} |", cell(era, row, way)).expect("a string takes it");
            }
        }
        text.push('\n');
    }
    text
}
