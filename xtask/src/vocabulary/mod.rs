//! `cargo xtask vocabulary`: the facts of the protocol's schemas, as the tables that hold the types to them.
//!
//! The schema files are the specification's own and are not in this tree. What is taken from them is facts alone: names,
//! which members are required, of what kind they are. The tables are committed; the tests of `snodo-types` read them.

mod facts;

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::Outcome;
use crate::shell;

/// `cargo xtask vocabulary --from DIR [--check | --validate]`.
pub(crate) fn run(arguments: &[String]) -> Outcome {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["--from", directory] => write(Path::new(directory)),
        ["--from", directory, "--check"] => check(Path::new(directory)),
        ["--from", directory, "--validate"] => validate(Path::new(directory)),
        _ => Err("usage: cargo xtask vocabulary --from DIR [--check | --validate]\n\
                  DIR holds the schema files, each named by its version"
            .to_owned()),
    }
}

/// Writes the tables.
fn write(directory: &Path) -> Outcome {
    fs::create_dir_all(shell::root().join(TABLES)).map_err(|error| format!("{TABLES}: {error}"))?;
    for schema in schemas(directory)? {
        let path = format!("{TABLES}/{schema}.txt");
        fs::write(shell::root().join(&path), compute(directory, &schema)?)
            .map_err(|error| format!("{path}: {error}"))?;
        println!("wrote {path}");
    }
    Ok(())
}

/// Tells which tables are not what the schemas say.
fn check(directory: &Path) -> Outcome {
    let mut stale = Vec::new();
    for schema in schemas(directory)? {
        let path = format!("{TABLES}/{schema}.txt");
        if shell::read(&path).ok() != Some(compute(directory, &schema)?) {
            stale.push(path);
        }
    }
    if stale.is_empty() {
        println!("vocabulary: the tables are what the schemas say");
        return Ok(());
    }
    Err(format!("{} is stale: run `cargo xtask vocabulary --from DIR`", stale.join(", ")))
}

/// Holds the documents that the tests of `snodo-types` build against the schemas themselves. The validator is a
/// workspace of its own, since nothing else needs it.
fn validate(directory: &Path) -> Outcome {
    check(directory)?;
    let directory =
        fs::canonicalize(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    let directory = directory.to_str().ok_or("the path of the schemas is no UTF-8")?;
    let run = ["run", "--quiet", "--manifest-path", VALIDATOR, "--", directory];
    print!("{}", shell::output("cargo", &run)?);
    Ok(())
}

/// The names of the schemas there are.
fn schemas(directory: &Path) -> Result<Vec<String>, String> {
    let shown = directory.display();
    let entries = fs::read_dir(directory).map_err(|error| format!("{shown}: {error}"))?;
    let names = entries.filter_map(|entry| {
        let name = entry.ok()?.file_name().into_string().ok()?;
        Some(name.strip_suffix(".json")?.to_owned())
    });
    let mut names: Vec<String> = names.collect();
    names.sort_unstable();
    if names.is_empty() { Err(format!("{shown} holds no schemas")) } else { Ok(names) }
}

fn compute(directory: &Path, schema: &str) -> Result<String, String> {
    let path = directory.join(format!("{schema}.json"));
    let shown = path.display();
    let text = fs::read_to_string(&path).map_err(|error| format!("{shown}: {error}"))?;
    let schema_file: Value =
        serde_json::from_str(&text).map_err(|error| format!("{shown}: {error}"))?;
    facts::table(schema, &schema_file).map_err(|error| format!("{shown}: {error}"))
}

/// Where the tables are.
const TABLES: &str = "crates/snodo-types/tests/vocabulary";

/// The program that validates.
const VALIDATOR: &str = "tests/validate/Cargo.toml";
