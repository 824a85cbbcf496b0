//! What every case file says of itself.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use snodo::ProtocolVersion;

use super::later::Need;

/// The members that all files have in common.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    pub(crate) id: String,
    /// The versions it is about, of those that this library speaks.
    pub(crate) versions: Vec<ProtocolVersion>,
}

/// Reads a file: its head, and what is left of it as a `T` that names every member it has.
pub(crate) fn read<T: DeserializeOwned>(text: &str) -> Result<(Head, T), Need> {
    let mut members: Map<String, Value> =
        serde_json::from_str(text).map_err(|error| Need::unknown(error.to_string()))?;
    let head = Head::take(&mut members)?;
    let rest = serde_json::from_value(Value::Object(members))
        .map_err(|error| Need::unknown(error.to_string()))?;
    Ok((head, rest))
}

impl Head {
    fn take(members: &mut Map<String, Value>) -> Result<Self, Need> {
        let id = members.remove("id").and_then(|id| id.as_str().map(str::to_owned));
        let id = id.ok_or_else(|| Need::unknown("a case without an id".to_owned()))?;
        let versions = match members.remove("applies") {
            None => ProtocolVersion::ALL.to_vec(),
            Some(applies) => {
                let names: Vec<String> = serde_json::from_value(applies)
                    .map_err(|error| Need::unknown(format!("`applies`: {error}")))?;
                names.iter().filter_map(|name| name.parse().ok()).collect()
            }
        };
        for words in ["source", "what", "correct", "note", "kind"] {
            members.remove(words);
        }
        Ok(Self { id, versions })
    }
}
