//! The facade's examples, run: what each prints is what its first lines say.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;
use tokio::process::Command;

#[tokio::test]
async fn every_example_prints_what_its_first_lines_say() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
    let mut sources = sources(&crates.join("snodo/examples"));
    sources.append(&mut self::sources(&crates.join("snodo-transport/examples")));
    sources.append(&mut self::sources(&crates.join("snodo-host/examples")));
    sources.append(&mut self::sources(&crates.join("snodo-tasks/examples")));
    sources.append(&mut self::sources(&crates.join("snodo-skills/examples")));
    let programs = build().await;
    let mut wrong = Vec::new();
    for (name, source) in &sources {
        let Some(promised) = promised(source) else {
            wrong.push(format!("{name} does not say what it prints: a ```text block in its `//!`"));
            continue;
        };
        match programs.get(name) {
            None => wrong.push(format!("{name} was not built")),
            Some(program) => match run(program).await {
                Ok(printed) if printed == promised => {}
                Ok(printed) => {
                    wrong.push(format!("{name} promises\n{promised}and prints\n{printed}"));
                }
                Err(why) => wrong.push(format!("{name} {why}")),
            },
        }
    }
    assert!(sources.len() >= 4, "found only {:?}", sources.keys());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The examples by name; what they share stands in a folder and is none.
fn sources(folder: &Path) -> BTreeMap<String, String> {
    let entries = std::fs::read_dir(folder).expect("the folder of the examples");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let rust = paths.filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
    rust.map(|path| {
        let name = path.file_stem().expect("a file").to_str().expect("a plain name").to_owned();
        (name, std::fs::read_to_string(path).expect("a source"))
    })
    .collect()
}

/// The lines of the first block of text in the documentation of the file.
fn promised(source: &str) -> Option<String> {
    let docs = source.lines().map_while(|line| line.strip_prefix("//!"));
    let mut lines = docs.map(|line| line.strip_prefix(' ').unwrap_or(line));
    lines.by_ref().find(|line| *line == "```text")?;
    Some(lines.take_while(|line| *line != "```").map(|line| format!("{line}\n")).collect())
}

/// Builds the examples as the runner of all tests has built them, which then is nothing to do.
async fn build() -> BTreeMap<String, PathBuf> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--workspace", "--examples", "--quiet", "--message-format=json"]);
    for (name, _) in std::env::vars_os() {
        // What cargo tells this test of its own package would look like a change to build scripts.
        let own = ["CARGO_PKG_", "CARGO_MANIFEST_"];
        if name.to_str().is_some_and(|name| own.iter().any(|prefix| name.starts_with(prefix))) {
            cargo.env_remove(name);
        }
    }
    cargo.current_dir(env!("CARGO_MANIFEST_DIR")).stdin(Stdio::null()).stderr(Stdio::inherit());
    let built = cargo.output().await.expect("cargo runs");
    assert!(built.status.success(), "the examples do not build");
    let messages = String::from_utf8(built.stdout).expect("JSON");
    let artifacts = messages.lines().filter_map(|line| {
        let message: Value = serde_json::from_str(line).ok()?;
        let target = message["target"]["kind"][0] == "example";
        let name = message["target"]["name"].as_str().filter(|_| target)?.to_owned();
        Some((name, message["executable"].as_str()?.into()))
    });
    artifacts.collect()
}

async fn run(program: &Path) -> Result<String, String> {
    let mut command = Command::new(program);
    command.stdin(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
    let output = tokio::time::timeout(LIMIT, command.output())
        .await
        .map_err(|_| format!("takes longer than {LIMIT:?}"))?
        .map_err(|error| format!("does not start: {error}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(format!("fails ({}): {said}", output.status));
    }
    String::from_utf8(output.stdout).map_err(|error| format!("prints no text: {error}"))
}

const LIMIT: Duration = Duration::from_secs(30);
