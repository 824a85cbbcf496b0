//! Validates the documents that the types of `snodo-types` are held to, against the schemas that the committed tables
//! were computed from: `cargo xtask vocabulary --from DIR --validate`.

#[path = "../../../crates/snodo-types/tests/it/documents.rs"]
mod documents;

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use serde_json::{Value, json};

use crate::documents::Table;

fn main() -> ExitCode {
    let Some(directory) = std::env::args().nth(1) else {
        eprintln!("usage: snodo-validate DIR");
        return ExitCode::from(2);
    };
    let mut refused = 0;
    for schema in ["2025-06-18", "2025-11-25", "2026-07-28", "tasks-extension"] {
        match validate(Path::new(&directory), schema) {
            Ok(outcome) => {
                println!(
                    "{schema}: {} documents of {} definitions are valid",
                    outcome.valid, outcome.definitions
                );
                outcome.refused.iter().for_each(|refusal| eprintln!("{schema}: {refusal}"));
                refused += outcome.refused.len();
            }
            Err(error) => {
                eprintln!("{schema}: {error}");
                refused += 1;
            }
        }
    }
    if refused == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

struct Outcome {
    definitions: usize,
    valid: usize,
    refused: Vec<String>,
}

fn validate(directory: &Path, name: &str) -> Result<Outcome, String> {
    let table = Table::parse(&read(Path::new(&format!("{TABLES}/{name}.txt")))?);
    let text = read(&directory.join(format!("{name}.json")))?;
    let schema: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let key = if schema.get("$defs").is_some() { "$defs" } else { "definitions" };
    let definitions = schema[key].as_object().ok_or("there are no definitions")?;
    let mut outcome = Outcome { definitions: definitions.len(), valid: 0, refused: Vec::new() };
    for definition in definitions.keys() {
        let one = json!({
            "$schema": schema["$schema"], key: definitions, "$ref": format!("#/{key}/{definition}"),
        });
        let validator =
            jsonschema::validator_for(&one).map_err(|error| format!("{definition}: {error}"))?;
        for document in table.documents(definition) {
            match validator.validate(&document) {
                Ok(()) => outcome.valid += 1,
                Err(error) => outcome.refused.push(format!("{definition}: {document}: {error}")),
            }
        }
    }
    Ok(outcome)
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

const TABLES: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../crates/snodo-types/tests/vocabulary");
