//! Cases of `cli/`: the program, run with words against a scripted server.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::Verdict;
use super::client::Baseline;
use super::head;
use super::later::Need;
use super::process::{ChildFiles, neighbour};
use super::store::CaseFile;
use super::value::is_subset;

/// A file of `cli/`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CliCase {
    args: Vec<Word>,
    #[serde(default)]
    server: Server,
    expect: Expect,
}

/// A word of the command line, or an argument of a tool in a form of its own.
#[derive(Debug, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum Word {
    Json { arg: String, json: Value },
    Plain(String),
    Raw { arg: String, raw_json: String },
    Text { arg: String, string: String },
}

/// The scripted server: its results by method, or none at all.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Server {
    silent: bool,
    on_stdin_eof: Option<Value>,
    on_sigterm: Option<Value>,
    #[serde(flatten)]
    results: Map<String, Value>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Expect {
    exit: Exit,
    #[serde(default)]
    stdout_json: bool,
    stdout_has: Option<Value>,
    #[serde(default)]
    stdout_empty: bool,
    #[serde(default)]
    stderr_mentions: Vec<String>,
    server_contacted: Option<bool>,
    wire_arguments: Option<Value>,
    within_ms: Option<u64>,
}

/// The classes, which have statuses of their own.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum Exit {
    Ok,
    ToolError,
    Transport,
    Usage,
}

/// Runs the program once against a server of each era.
pub(crate) fn run(file: &CaseFile) -> Result<Verdict, Need> {
    let text = file.text("json").map_err(Need::unknown)?;
    let (head, case) = head::read::<CliCase>(&text)?;
    let known = |name: &&String| !name.contains('/') && *name != "initialize" && *name != "ping";
    if let Some(name) = case.server.results.keys().find(known) {
        return Err(Need::unknown(format!("`server`: {name}")));
    }
    let mut faults = Vec::new();
    for baseline in [Baseline::Legacy, Baseline::Modern] {
        let found = play(&case, &head.id, baseline.name()).unwrap_or_else(|fault| vec![fault]);
        faults.extend(found.into_iter().map(|fault| format!("[{}] {fault}", baseline.name())));
    }
    Ok(Verdict::of(faults))
}

fn play(case: &CliCase, id: &str, baseline: &str) -> Result<Vec<String>, String> {
    let files = ChildFiles::new(id, &case.server.script().to_string())?;
    let server: Vec<String> = files
        .words(baseline)?
        .iter()
        .map(|word| format!("'{}'", word.replace('\'', r"'\''")))
        .collect();
    let words = case.args.iter().map(|word| word.written(&server.join(" ")));
    let start = Instant::now();
    let ran = Command::new(neighbour("snodo")?)
        .args(words)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("the program does not start: {error}"))?;
    let took = start.elapsed();
    let expect = &case.expect;
    let (stdout, stderr) =
        (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    let mut faults = Vec::new();
    if ran.status.code() != Some(expect.exit.status()) {
        faults.push(format!("{}, expected {:?}; {stderr}", ran.status, expect.exit));
    }
    let document: Option<Value> = serde_json::from_str(&stdout).ok();
    if expect.stdout_json && document.is_none() {
        faults.push(format!("the output is no JSON document: {stdout}"));
    }
    if let Some(part) = &expect.stdout_has
        && !document.is_some_and(|whole| is_subset(part, &whole))
    {
        faults.push(format!("the output does not hold {part}: {stdout}"));
    }
    if expect.stdout_empty && !stdout.is_empty() {
        faults.push(format!("the output is not empty: {stdout}"));
    }
    let missing = expect.stderr_mentions.iter().filter(|words| !stderr.contains(words.as_str()));
    faults.extend(missing.map(|words| format!("the error stream does not say {words}: {stderr}")));
    if let Some(most) = expect.within_ms
        && took > Duration::from_millis(most)
    {
        faults.push(format!("it took {took:?}, allowed {most} ms"));
    }
    let received = files.diaries().received();
    if expect.server_contacted.is_some_and(|wanted| wanted == received.is_empty()) {
        faults.push(format!("the server has received {received:?}"));
    }
    if let Some(wanted) = &expect.wire_arguments {
        let calls = received.iter().filter(|message| message["method"] == "tools/call");
        let sent: Vec<_> = calls.map(|message| &message["params"]["arguments"]).collect();
        if sent != [wanted] {
            faults.push(format!("the arguments are {sent:?}, expected {wanted}"));
        }
    }
    Ok(faults)
}

impl Word {
    /// As this program takes it.
    fn written(&self, server: &str) -> String {
        match self {
            Self::Plain(word) if word == "@SERVER@" => server.to_owned(),
            Self::Plain(word) => word.clone(),
            Self::Json { arg, json } => format!("{arg}:={json}"),
            Self::Raw { arg, raw_json } => format!("{arg}:={raw_json}"),
            // A tool without a schema takes what looks like JSON for JSON.
            Self::Text { arg, string } => format!("{arg}:={}", json!(string)),
        }
    }
}

impl Server {
    /// The script of the child that is this server.
    fn script(&self) -> Value {
        let mut rules: Vec<Value> = Vec::new();
        for (method, result) in &self.results {
            let mut result = result.clone();
            result["resultType"] = json!("complete");
            let text = json!({ "jsonrpc": "2.0", "id": "ID", "result": result }).to_string();
            let text = format!("{}\n", text.replace(r#""id":"ID""#, r#""id":@ID@"#));
            rules.push(json!({ "rpc": method, "do": [{ "stdout": text }] }));
        }
        if self.silent {
            rules.push(json!({ "rpc": "*", "do": [] }));
        }
        let mut script = json!({ "on": rules, "tools": ["fail"] });
        for (name, value) in
            [("on_stdin_eof", &self.on_stdin_eof), ("on_sigterm", &self.on_sigterm)]
        {
            if let Some(value) = value {
                script[name] = value.clone();
            }
        }
        script
    }
}

impl Exit {
    /// As `snodo --help` tells them.
    fn status(self) -> i32 {
        match self {
            Self::Ok => 0,
            Self::ToolError => 1,
            Self::Usage => 2,
            Self::Transport => 4,
        }
    }
}
