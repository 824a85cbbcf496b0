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
    /// Some of them: their members, or their names alone.
    servers_any: Option<Value>,
    /// Servers that are either taken or named in a warning.
    #[serde(default)]
    warns_or_accepts: Value,
    /// What is wrong: servers, and words that have to be in what is said of each.
    #[serde(default)]
    errors: Value,
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
    let any = case.expect.servers_any.as_ref().map(named).unwrap_or_default();
    let wanted = case.expect.servers.iter().flatten();
    let wanted = wanted.map(|(name, wanted)| (name.clone(), wanted.clone()));
    for (name, wanted) in wanted.chain(any) {
        match config.get(&name).map(Entry::server) {
            Some(Ok(server)) if wanted.is_null() || is_subset(&wanted, &shown(server)) => {}
            other => faults.push(format!("{name} is {other:?}, expected {wanted}")),
        }
    }
    let errors = named(&case.expect.errors);
    if let Some(all) = &case.expect.servers {
        let taken = config.entries().iter().filter(|entry| entry.server().is_ok());
        let others = taken.filter(|entry| !all.contains_key(entry.name()));
        faults.extend(others.map(|entry| format!("{} is not expected", entry.name())));
    }
    for (name, _) in named(&case.expect.warns_or_accepts) {
        let entry = config.get(&name);
        let told = config.warnings().iter().any(|warning| warning.contains(name.as_str()));
        if !told && entry.is_none() {
            faults.push(format!("{name} is neither taken nor named"));
        }
    }
    for (name, about) in errors {
        match config.get(&name).map(Entry::server) {
            Some(Err(fault)) => {
                let missing = words(&about).into_iter().filter(|w| !fault.to_string().contains(w));
                faults.extend(missing.map(|word| format!("{name}: {fault} does not say {word}")));
            }
            other => faults.push(format!("{name} is {other:?}, expected to be wrong")),
        }
    }
    Ok(faults)
}

/// Names with what is said of each, from an object, a list of names, or a list of objects that say
/// which server they are about.
fn named(value: &Value) -> Vec<(String, Value)> {
    match value {
        Value::Object(members) => members.clone().into_iter().collect(),
        Value::Array(items) => {
            let pairs = items.iter().filter_map(|item| match item {
                Value::String(name) => Some((name.clone(), Value::Null)),
                _ => {
                    let name = item.get("server").or_else(|| item.get("name"))?;
                    let about = item.get("mentions").or_else(|| item.get("words"));
                    Some((name.as_str()?.to_owned(), about.cloned().unwrap_or_default()))
                }
            });
            pairs.collect()
        }
        _ => Vec::new(),
    }
}

/// The words of a text, or of a list of them.
fn words(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(items) => items.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Load, load};

    fn faults(text: &str, expect: Value) -> Vec<String> {
        let case = json!({ "text": text, "env": {}, "expect": expect });
        let case: Load = serde_json::from_value(case).expect("a case");
        load(&case).expect("a configuration")
    }

    #[test]
    fn what_is_expected_of_a_file_is_held_against_it() {
        let text = r#"{ "mcpServers": { "a": { "command": "x" }, "b": { "command": "${NO}" } } }"#;
        let good = json!({ "servers": { "a": { "command": "x" } }, "errors": { "b": ["NO"] } });
        assert!(faults(text, good).is_empty());
        let listed =
            json!({ "servers_any": ["a"], "errors": [{ "server": "b", "mentions": "NO" }] });
        assert!(faults(text, listed).is_empty());
        for bad in [
            json!({ "servers": { "a": { "command": "y" } } }),
            json!({ "servers": {} }),
            json!({ "servers_any": ["b"] }),
            json!({ "errors": { "a": [] } }),
            json!({ "errors": { "b": ["OTHER"] } }),
            json!({ "warns_or_accepts": ["c"] }),
        ] {
            assert_eq!(faults(text, bad.clone()).len(), 1, "{bad}");
        }
    }
}
