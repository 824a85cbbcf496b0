//! Cases of `config/`: files as hosts write them, what they start, and which proxy stands between.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};
use snodo::http::Proxies;
use snodo::stdio::internal::find_script;
use snodo_config::{Config, Entry, Server};

use super::Verdict;
use super::head;
use super::later::Need;
use super::store::CaseFile;
use super::value::is_subset;

/// A file of `config/`.
#[derive(Debug, Deserialize)]
#[serde(tag = "test", rename_all = "snake_case")]
enum ConfigCase {
    Load(Load),
    ProxyChoice(ProxyChoice),
    Spawn(Spawn),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Load {
    text: Option<String>,
    text_hex: Option<String>,
    env: BTreeMap<String, String>,
    expect: Loaded,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Loaded {
    /// All servers, each with at least these members.
    servers: Option<BTreeMap<String, Value>>,
    /// Some of them.
    servers_any: Option<BTreeMap<String, Value>>,
    /// Servers that are either taken or named in a warning.
    #[serde(default)]
    warns_or_accepts: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProxyChoice {
    env: BTreeMap<String, String>,
    cases: Vec<Chosen>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Chosen {
    url: String,
    proxy: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Spawn {
    os: String,
    text: String,
    env: BTreeMap<String, String>,
    files: Vec<String>,
    expect: Spawned,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Spawned {
    program: String,
    args: Vec<String>,
}

/// The one server of a configuration.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Command {
    command: String,
    args: Vec<String>,
}

/// Decides what the file asks for; nothing is started and nothing is reached.
pub(crate) fn run(file: &CaseFile) -> Result<Verdict, Need> {
    let text = file.text("json").map_err(Need::unknown)?;
    match head::read::<ConfigCase>(&text)?.1 {
        ConfigCase::Load(case) => Ok(Verdict::of(load(&case).unwrap_or_else(|fault| vec![fault]))),
        ConfigCase::ProxyChoice(case) => Ok(Verdict::of(choose(&case))),
        ConfigCase::Spawn(case) if case.os == "windows" => {
            Ok(Verdict::of(spawn(&case).unwrap_or_else(|fault| vec![fault])))
        }
        ConfigCase::Spawn(case) => Err(Need::unknown(format!("the system `{}`", case.os))),
    }
}

fn load(case: &Load) -> Result<Vec<String>, String> {
    let bytes = match (&case.text, &case.text_hex) {
        (Some(text), None) => text.clone().into_bytes(),
        (None, Some(hex)) => unhex(hex).ok_or("`text_hex` is not hexadecimal")?,
        _ => return Err("one of `text` and `text_hex` is expected".to_owned()),
    };
    let config = Config::parse(&bytes, |name| case.env.get(name).cloned());
    let config = config.map_err(|fault| fault.to_string())?;
    let mut faults = Vec::new();
    let wanted = case.expect.servers.iter().chain(&case.expect.servers_any).flatten();
    for (name, wanted) in wanted {
        match config.get(name).map(Entry::server) {
            Some(Ok(server)) if is_subset(wanted, &shown(server)) => {}
            other => faults.push(format!("{name} is {other:?}, expected {wanted}")),
        }
    }
    if let Some(all) = &case.expect.servers {
        let others = config.entries().iter().filter(|entry| !all.contains_key(entry.name()));
        faults.extend(others.map(|entry| format!("{} is not expected", entry.name())));
    }
    for name in &case.expect.warns_or_accepts {
        let entry = config.get(name);
        let told = config.warnings().iter().any(|warning| warning.contains(name.as_str()));
        if !told && entry.is_none() {
            faults.push(format!("{name} is neither taken nor named"));
        }
    }
    Ok(faults)
}

/// A server as a file would write it.
fn shown(server: &Server) -> Value {
    match server {
        Server::Http(http) | Server::Sse(http) => {
            let headers: BTreeMap<_, _> = http.headers().iter().cloned().collect();
            json!({ "url": http.url(), "headers": headers })
        }
        Server::Stdio(stdio) => {
            let env: BTreeMap<_, _> = stdio.env().iter().cloned().collect();
            let (command, args, cwd) = (stdio.command(), stdio.args(), stdio.cwd());
            json!({ "command": command, "args": args, "env": env, "cwd": cwd })
        }
        _ => Value::Null,
    }
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let pairs = text.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).ok());
    pairs.map(|pair| u8::from_str_radix(pair?, 16).ok()).collect()
}

fn choose(case: &ProxyChoice) -> Vec<String> {
    let proxies = match Proxies::from_variables(|name| case.env.get(name).cloned()) {
        Ok(proxies) => proxies,
        Err(error) => return vec![error.to_string()],
    };
    let mut faults = Vec::new();
    for Chosen { url, proxy } in &case.cases {
        match proxies.choose(url) {
            Ok(chosen) if chosen == *proxy => {}
            other => faults.push(format!("{url} goes over {other:?}, expected {proxy:?}")),
        }
    }
    faults
}

/// By the rules of Windows, where letters have no case in names of files.
fn spawn(case: &Spawn) -> Result<Vec<String>, String> {
    let config: Value = serde_json::from_str(&case.text).map_err(|error| error.to_string())?;
    let servers = config["mcpServers"].as_object().ok_or("there are no servers")?;
    let first = servers.values().next().ok_or("there is no server")?;
    let Command { command, args } =
        serde_json::from_value(first.clone()).map_err(|error| error.to_string())?;
    let variable = |name: &str| case.env.get(name).map(OsStr::new);
    let is_file = |path: &Path| {
        let path = path.to_string_lossy();
        case.files.iter().any(|file| file.eq_ignore_ascii_case(&path))
    };
    let found = find_script(OsStr::new(&command), variable("PATH"), variable("PATHEXT"), is_file);
    let program = found.map_or(command, |path| path.to_string_lossy().into_owned());
    let mut faults = Vec::new();
    if !program.eq_ignore_ascii_case(&case.expect.program) {
        faults.push(format!("{program} is started, expected {}", case.expect.program));
    }
    if args != case.expect.args {
        faults.push(format!("with {args:?}, expected {:?}", case.expect.args));
    }
    Ok(faults)
}
