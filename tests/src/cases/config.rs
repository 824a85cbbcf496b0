//! Cases of `config/`: files as hosts write them, what they start, and which proxy stands between.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;
use snodo::http::Proxies;
use snodo::stdio::internal::find_script;

use super::Verdict;
use super::head;
use super::later::Need;
use super::store::CaseFile;

/// A file of `config/`.
#[derive(Debug, Deserialize)]
#[serde(tag = "test", rename_all = "snake_case")]
enum ConfigCase {
    Load {},
    ProxyChoice(ProxyChoice),
    Spawn(Spawn),
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
        ConfigCase::Load {} => Err(Need::new(10, "configuration files")),
        ConfigCase::ProxyChoice(case) => Ok(Verdict::of(choose(&case))),
        ConfigCase::Spawn(case) if case.os == "windows" => {
            Ok(Verdict::of(spawn(&case).unwrap_or_else(|fault| vec![fault])))
        }
        ConfigCase::Spawn(case) => Err(Need::unknown(format!("the system `{}`", case.os))),
    }
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
