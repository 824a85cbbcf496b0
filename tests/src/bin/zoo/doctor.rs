//! What `snodo doctor` says of a server, held against what is known of it.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;
use snodo::dialect::{Era, dialect};
use tokio::process::Command;

use crate::keeper::House;
use crate::list::{Server, Transport};

/// Sends the doctor; tells the verdict and how many findings there are.
pub(crate) async fn examine(server: &Server, house: &House) -> Result<String, String> {
    let mut command = Command::new(program()?);
    command.args(["doctor", "--json", "--timeout", "20"]);
    match (&house.url, server.transport) {
        (Some(url), _) => {
            command.arg(url);
        }
        (None, _) => {
            let (name, mark) = &house.mark;
            command.args(["--env", &format!("{name}={mark}")]);
            for (name, value) in &server.env {
                command.args(["--env", &format!("{name}={value}")]);
            }
            command.arg("--").arg(&server.command).args(&server.args);
        }
    }
    let ran = tokio::time::timeout(LIMIT, command.kill_on_drop(true).output()).await;
    let ran = ran.map_err(|_| format!("the doctor took more than {LIMIT:?}"))?;
    let ran = ran.map_err(|error| format!("the doctor does not start: {error}"))?;
    let report: Value = serde_json::from_slice(&ran.stdout)
        .map_err(|error| format!("{error}: {}", String::from_utf8_lossy(&ran.stderr)))?;
    judge(server, &report).map_err(|why| format!("{why}: {report}"))?;
    let findings = report["findings"].as_array().map_or(0, Vec::len);
    Ok(format!("{} findings {findings}", report["verdict"].as_str().unwrap_or_default()))
}

/// Whether the report says what the list of servers says.
fn judge(server: &Server, report: &Value) -> Result<(), String> {
    if server.transport == Transport::Sse {
        // Streamable HTTP is not spoken there, and the doctor has to say so.
        return same("verdict", &report["verdict"], "broken");
    }
    let versions = server.versions();
    let of = |era: Era| versions.iter().any(|version| dialect(*version).era() == era);
    let steps = report["steps"].as_array().ok_or("no steps")?;
    let state = |name: &str| {
        let step = steps.iter().find(|step| step["name"] == name);
        step.map(|step| step["state"].as_str().unwrap_or_default().to_owned()).unwrap_or_default()
    };
    let (stateless, initialize) = (of(Era::Stateless), of(Era::Initialize));
    same("probe", &state("probe").into(), if stateless { "ok" } else { "older" })?;
    same("initialize", &state("initialize").into(), if initialize { "ok" } else { "newer" })?;
    for name in ["connect", "server", "tools", "close"] {
        same(name, &state(name).into(), "ok")?;
    }
    // Some servers answer a tool that they do not have; then that is what is wrong with them.
    let refusal = if report["verdict"] == "flawed" { "failed" } else { "ok" };
    same("refusal", &state("refusal").into(), refusal)?;
    let highest = versions.iter().copied().max().ok_or("no version")?;
    let connected = steps.iter().find(|step| step["name"] == "connect");
    let words = connected.and_then(|step| step["words"].as_str()).unwrap_or_default();
    if !words.contains(highest.as_str()) {
        return Err(format!("{words:?} does not say {highest}"));
    }
    match report["verdict"].as_str() {
        Some("works" | "flawed") => Ok(()),
        other => Err(format!("the verdict is {other:?}")),
    }
}

fn same(what: &str, had: &Value, wanted: &str) -> Result<(), String> {
    if had == wanted { Ok(()) } else { Err(format!("{what} is {had}, expected {wanted:?}")) }
}

/// Beside this program.
fn program() -> Result<PathBuf, String> {
    let here = std::env::current_exe().map_err(|error| error.to_string())?;
    let path = here.with_file_name(format!("snodo{}", std::env::consts::EXE_SUFFIX));
    if path.is_file() { Ok(path) } else { Err("the program `snodo` is not built".to_owned()) }
}

const LIMIT: Duration = Duration::from_secs(120);
