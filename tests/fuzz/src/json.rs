//! The library's own JSON reader against serde_json.

use std::collections::BTreeMap;
use std::fmt::Debug;

use serde::de::DeserializeOwned;
use serde_json::Value;
use snodo_types::{
    CallToolResult, CreateMessageParams, DiscoverResult, GetPromptResult, ListPromptsResult,
    ListResourcesResult, ListToolsResult, Members, Raw, ReadResourceResult, read_json,
};

use crate::tree::Tree;

/// Of every text both readers say the same, as each type that is read in bulk: the same value, or no value for the same
/// reason. What was read as a text is written as that text.
///
/// # Panics
///
/// Where it is otherwise.
pub fn check(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let both = [
        compare::<Value>,
        compare::<Vec<Raw>>,
        compare::<Vec<f64>>,
        compare::<Vec<Option<i16>>>,
        compare::<(String, char, bool)>,
        compare::<BTreeMap<String, Raw>>,
        compare::<BTreeMap<u8, Option<bool>>>,
        compare::<CallToolResult>,
        compare::<CreateMessageParams>,
        compare::<DiscoverResult>,
        compare::<GetPromptResult>,
        compare::<ListPromptsResult>,
        compare::<ListResourcesResult>,
        compare::<ListToolsResult>,
        compare::<ReadResourceResult>,
    ];
    both.into_iter().for_each(|compare| compare(text));
    if let Ok(raw) = read_json::<Raw>(text) {
        assert_eq!(raw.text(), text.trim_matches([' ', '\t', '\r', '\n']));
        let written = serde_json::to_string(&raw).expect("it is JSON");
        assert_eq!(written, raw.text());
    }
    members(text);
}

fn compare<T: DeserializeOwned + Debug>(text: &str) {
    let said = |read: Result<T, serde_json::Error>| format!("{read:?}");
    assert_eq!(said(read_json(text)), said(serde_json::from_str(text)), "{text:?}");
}

/// Of members with one name the last counts, in the place of the first.
fn members(text: &str) {
    let Some(tree) = Tree::read(text) else { return };
    let Some(written) = tree.members() else { return };
    let read: Members = read_json(text).expect("an object");
    let mut meant: Vec<(&str, &Tree)> = Vec::new();
    for (name, value) in written {
        match meant.iter_mut().find(|(known, _)| known == name) {
            Some(place) => place.1 = value,
            None => meant.push((name, value)),
        }
    }
    let read: Vec<_> =
        read.iter().map(|(name, raw)| (name, Tree::read(raw.text()).expect("JSON"))).collect();
    let read: Vec<_> = read.iter().map(|(name, tree)| (*name, tree)).collect();
    assert_eq!(read, meant, "{text:?}");
}
