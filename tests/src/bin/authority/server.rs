//! The servers that are not ours: a process, and what it is asked by lines.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use snodo_oauth::{Error, SigningKey};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

/// An authorization server and the MCP server that it protects.
///
/// # Drop behavior
///
/// The process is killed.
pub(crate) struct Servers {
    /// The URL of the MCP server.
    pub(crate) mcp: String,
    /// The private authority that both certificates are from.
    pub(crate) authority: String,
    keys: Value,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    _child: Child,
}

#[derive(Deserialize)]
struct Ready {
    mcp: String,
    keys: Value,
}

impl Servers {
    /// Starts both, as `tests/authority/install.sh` has installed them.
    pub(crate) async fn start(folder: &Path, certificates: &Path) -> Result<Self, String> {
        let authority = certificates.join("ca.pem");
        let mut child = Command::new(folder.join("node"))
            .arg(folder.join("server.mjs"))
            .args(["server.pem", "server.key"].map(|file| certificates.join(file)))
            .env("NODE_EXTRA_CA_CERTS", &authority)
            .env("NODE_NO_WARNINGS", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| format!("{}: {error}", folder.display()))?;
        let (input, output) = child.stdin.take().zip(child.stdout.take()).ok_or("no pipes")?;
        let mut output = BufReader::new(output).lines();
        let ready: Ready = serde_json::from_str(&line(&mut output).await?)
            .map_err(|error| format!("the servers are not ready: {error}"))?;
        let authority = std::fs::read_to_string(&authority)
            .map_err(|error| format!("{}: {error}", authority.display()))?;
        Ok(Self { mcp: ready.mcp, keys: ready.keys, authority, input, output, _child: child })
    }

    /// Asks for something; gives the answer.
    pub(crate) async fn wish(&mut self, wish: Value) -> Result<Value, String> {
        let sent = self.input.write_all(format!("{wish}\n").as_bytes()).await;
        sent.map_err(|error| format!("the servers do not listen: {error}"))?;
        let said = line(&mut self.output).await?;
        serde_json::from_str(&said).map_err(|error| format!("{wish} was answered {said}: {error}"))
    }

    /// What happened since the last time.
    pub(crate) async fn log(&mut self) -> Result<Vec<String>, String> {
        let log = self.wish(json!({ "wish": "log" })).await?;
        serde_json::from_value(log).map_err(|error| error.to_string())
    }

    /// The private key of the client `machine` for an algorithm, which is its id too.
    pub(crate) fn key(&self, algorithm: &str) -> Result<SigningKey, Error> {
        let pem = self.keys[algorithm].as_str().unwrap_or_default();
        Ok(SigningKey::from_pem(pem)?.with_id(algorithm))
    }
}

async fn line(lines: &mut Lines<BufReader<ChildStdout>>) -> Result<String, String> {
    let read = timeout(PATIENCE, lines.next_line()).await;
    match read {
        Ok(Ok(Some(line))) => Ok(line),
        Ok(Ok(None)) => Err("the servers ended".to_owned()),
        Ok(Err(error)) => Err(format!("the servers cannot be read: {error}")),
        Err(_) => Err(format!("the servers said nothing for {PATIENCE:?}")),
    }
}

const PATIENCE: Duration = Duration::from_secs(30);
