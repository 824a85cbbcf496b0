//! `cargo xtask items`: what a program that uses the facade can name, counted, and why each of it is public.
//!
//! rustdoc tells what is public (as JSON, which only a nightly writes). docs/public-items.md says why. What has a name of
//! its own counts: types, traits, functions, macros, modules, constants, and what is handed on from another crate; a crate
//! that is handed on whole is one item, and what stands in it is its own. Each type of the facade's own has an example, and
//! each asynchronous function says what dropping its future does.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::Outcome;
use crate::shell;

/// Compares the facade with its page.
pub(crate) fn run(arguments: &[String]) -> Outcome {
    if !arguments.is_empty() {
        return Err("usage: cargo xtask items".to_owned());
    }
    let command = ["+nightly", "rustdoc", "--package", FACADE, "--all-features", "--lib"];
    let json = ["--", "-Z", "unstable-options", "--output-format", "json"];
    shell::output("cargo", &[&command[..], &json].concat())?;
    let told = shell::read(&format!("target/doc/{FACADE}.json"))?;
    let items = items(&told)?;
    for (module, names) in by_module(&items) {
        println!("{module}: {}", names.join(", "));
    }
    println!("items: {} of at most {MOST} public items of {FACADE}", items.len());
    let mut findings = findings(&items, &reasons(&shell::read(PAGE)?));
    findings.extend(undocumented(&told)?);
    if findings.is_empty() {
        return Ok(());
    }
    for finding in &findings {
        println!("{finding}");
    }
    Err(format!("items: {} findings", findings.len()))
}

/// The paths of what is public, by what rustdoc wrote.
fn items(text: &str) -> Result<BTreeSet<String>, String> {
    let document: Value =
        serde_json::from_str(text).map_err(|error| format!("rustdoc: {error}"))?;
    let root = document["root"].to_string();
    let name = document["index"][&root]["name"].as_str().ok_or("rustdoc: no crate at the root")?;
    let mut items = BTreeSet::new();
    collect(&document["index"], &root, name, &mut items)?;
    Ok(items)
}

fn collect(
    index: &Value,
    module: &str,
    path: &str,
    items: &mut BTreeSet<String>,
) -> Result<(), String> {
    let inside = index[module]["inner"]["module"]["items"].as_array();
    for id in inside.ok_or_else(|| format!("rustdoc: {path} is no module"))? {
        let id = id.to_string();
        let item = &index[&id];
        if item["visibility"] != "public" {
            continue;
        }
        let used = &item["inner"]["use"];
        if used["is_glob"] == true {
            let source = used["source"].as_str().unwrap_or_default();
            return Err(format!("{path} hands on all of {source}: name what of it is public"));
        }
        let name = used["name"].as_str().or_else(|| item["name"].as_str());
        // An implementation has no name.
        let Some(name) = name else { continue };
        let here = format!("{path}::{name}");
        if item["inner"]["module"].is_object() {
            collect(index, &id, &here, items)?;
        }
        items.insert(here);
    }
    Ok(())
}

/// Public types of the crate itself without an example, and asynchronous functions of theirs without a word about dropping.
fn undocumented(text: &str) -> Result<Vec<String>, String> {
    let document: Value =
        serde_json::from_str(text).map_err(|error| format!("rustdoc: {error}"))?;
    let index = &document["index"];
    let docs = |item: &Value| item["docs"].as_str().unwrap_or_default().to_owned();
    let name = |item: &Value| item["name"].as_str().unwrap_or_default().to_owned();
    let mut findings = BTreeSet::new();
    for item in index.as_object().into_iter().flat_map(serde_json::Map::values) {
        let kind =
            ["enum", "struct", "trait"].iter().find(|kind| item["inner"][**kind].is_object());
        let (Some(kind), true, 0) =
            (kind, item["visibility"] == "public", item["crate_id"].as_u64().unwrap_or(1))
        else {
            continue;
        };
        if !docs(item).contains("```") {
            findings.insert(format!("{kind} {} has no example", name(item)));
        }
        let own = item["inner"][*kind]["impls"].as_array().into_iter().flatten();
        let own = own.map(|id| &index[id.to_string()]["inner"]["impl"]);
        let own = own.filter(|block| block["trait"].is_null());
        for id in own.flat_map(|block| block["items"].as_array().into_iter().flatten()) {
            let method = &index[id.to_string()];
            let is_async = method["inner"]["function"]["header"]["is_async"] == true;
            if is_async
                && method["visibility"] == "public"
                && !docs(method).contains("# Cancel safety")
            {
                findings.insert(format!(
                    "{}::{} does not say `# Cancel safety`",
                    name(item),
                    name(method)
                ));
            }
        }
    }
    Ok(findings.into_iter().collect())
}

/// The rows of the page: an item, and why it is public.
fn reasons(page: &str) -> Vec<(String, String)> {
    let rows = page.lines().filter_map(|line| {
        let (item, reason) = line.strip_prefix("| `")?.split_once("` |")?;
        Some((item.to_owned(), reason.trim().trim_end_matches('|').trim().to_owned()))
    });
    rows.collect()
}

/// What is wrong, a sentence each.
fn findings(items: &BTreeSet<String>, reasons: &[(String, String)]) -> Vec<String> {
    let mut findings = Vec::new();
    if items.len() > MOST {
        findings.push(format!("{} items are public, and {MOST} may be", items.len()));
    }
    let mut told = BTreeSet::new();
    for (item, reason) in reasons {
        if !items.contains(item) {
            findings.push(format!("{PAGE} names {item}, which is not public"));
        }
        if reason.is_empty() {
            findings.push(format!("{PAGE} does not say why {item} is public"));
        }
        if !told.insert(item) {
            findings.push(format!("{PAGE} names {item} twice"));
        }
    }
    let untold = items.iter().filter(|item| !told.contains(item));
    findings.extend(untold.map(|item| format!("{item} is public, and {PAGE} does not say why")));
    findings
}

/// The names in each module.
fn by_module(items: &BTreeSet<String>) -> BTreeMap<&str, Vec<&str>> {
    let mut modules = BTreeMap::<_, Vec<_>>::new();
    for (module, name) in items.iter().filter_map(|item| item.rsplit_once("::")) {
        modules.entry(module).or_default().push(name);
    }
    modules
}

const FACADE: &str = "snodo";
/// More than a reader keeps in view.
const MOST: usize = 150;
const PAGE: &str = "docs/public-items.md";

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A crate `c` with these items beside its module `m`.
    fn told(more: &Value) -> String {
        let mut index = json!({
            "0": { "name": "c", "visibility": "public", "inner": { "module": { "items": [1, 2, 3, 4, 5] } } },
            "1": { "name": "m", "visibility": "public", "inner": { "module": { "items": [6] } } },
            "2": { "name": "Own", "visibility": "public", "inner": { "struct": {} } },
            "3": { "name": "Hidden", "visibility": { "restricted": {} }, "inner": { "struct": {} } },
            "4": { "name": null, "visibility": "public",
                "inner": { "use": { "name": "types", "source": "c_types", "is_glob": false } } },
            "5": { "name": null, "visibility": "public", "inner": { "impl": {} } },
            "6": { "name": "f", "visibility": "public", "inner": { "function": {} } },
        });
        for (id, item) in more.as_object().into_iter().flatten() {
            index[id] = item.clone();
        }
        json!({ "root": 0, "index": index }).to_string()
    }

    #[test]
    fn an_item_is_what_has_a_public_path_and_a_crate_handed_on_is_one() {
        let items = items(&told(&json!({}))).expect("items");
        let paths: Vec<_> = items.iter().map(String::as_str).collect();
        assert_eq!(paths, ["c::Own", "c::m", "c::m::f", "c::types"]);
        assert_eq!(by_module(&items)["c"], ["Own", "m", "types"]);
    }

    #[test]
    fn what_hands_on_everything_or_is_no_crate_is_refused() {
        let glob = json!({ "4": { "visibility": "public",
            "inner": { "use": { "name": "c_types", "source": "c_types", "is_glob": true } } } });
        assert!(items(&told(&glob)).is_err_and(|error| error.contains("c_types")));
        assert!(items("{}").is_err() && items("words").is_err());
    }

    #[test]
    fn an_item_without_a_reason_and_a_reason_without_an_item_are_told() {
        let items = items(&told(&json!({}))).expect("items");
        let page = "| Item | Why |\n|---|---|\n| `c::Own` | it is made |\n| `c::m` | its room |\n\
                    | `c::m::f` | it is called |\n| `c::types` | the words |\n";
        assert_eq!(findings(&items, &reasons(page)), [""; 0]);
        let page = page.replace("it is called", "").replace("c::types", "c::gone");
        let page = format!("{page}| `c::m` | again |\n");
        let expected = [
            "docs/public-items.md does not say why c::m::f is public",
            "docs/public-items.md names c::gone, which is not public",
            "docs/public-items.md names c::m twice",
            "c::types is public, and docs/public-items.md does not say why",
        ];
        assert_eq!(findings(&items, &reasons(&page)), expected);
    }

    #[test]
    fn a_type_without_an_example_and_a_future_without_a_word_about_dropping_are_told() {
        let function = |name: &str, docs: &str, is_async: bool| {
            json!({ "name": name, "visibility": "public", "docs": docs, "crate_id": 0,
                "inner": { "function": { "header": { "is_async": is_async } } } })
        };
        let told = |docs: &str, safety: &str, visibility: &str| {
            let text = told(&json!({
                "2": { "name": "Own", "visibility": visibility, "crate_id": 0, "docs": docs,
                    "inner": { "struct": { "impls": [7, 8] } } },
                "7": { "inner": { "impl": { "trait": null, "items": [9, 10] } } },
                "8": { "inner": { "impl": { "trait": { "path": "Future" }, "items": [11] } } },
                "9": function("wait", safety, true),
                "10": function("name", "", false),
                "11": function("poll", "", true),
            }));
            undocumented(&text).expect("what rustdoc wrote")
        };
        let (example, safety) =
            ("Words.\n\n```\nlet x = 1;\n```", "Waits.\n\n# Cancel safety\n\nYes.");
        assert_eq!(told(example, safety, "public"), [""; 0]);
        let expected = ["Own::wait does not say `# Cancel safety`", "struct Own has no example"];
        assert_eq!(told("Words.", "Waits.", "public"), expected);
        assert_eq!(told("Words.", "Waits.", "crate"), [""; 0]);
    }

    #[test]
    fn more_items_than_may_be_are_too_many() {
        let many = |count: usize| -> Vec<String> {
            let items: BTreeSet<_> = (0..count).map(|item| format!("c::I{item}")).collect();
            let reasons: Vec<_> =
                items.iter().map(|item| (item.clone(), "so".to_owned())).collect();
            findings(&items, &reasons)
        };
        assert_eq!(many(150), [""; 0]);
        assert_eq!(many(151), ["151 items are public, and 150 may be"]);
    }
}
