//! The walk through a tool's schema for `x-mcp-header`, against one over the whole tree.

use snodo_dialect::ParamHeaders;
use snodo_types::Raw;

use crate::tree::Tree;

/// An input is a schema and arguments, a zero byte between. The schema is valid or not as the tree says, and what its
/// headers hold can be sent.
///
/// # Panics
///
/// Where it is otherwise.
pub fn check(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let (schema, arguments) = text.split_once('\0').unwrap_or((text, "{}"));
    let Ok(raw) = Raw::parse(schema) else { return };
    let plan = ParamHeaders::of(&raw);
    if let Some(tree) = Tree::read(schema) {
        let expected = if schema.contains(ANNOTATION) || schema.contains("\\u") {
            reference(&tree)
        } else {
            Some(0)
        };
        assert_eq!(
            plan.as_ref().ok().map(ParamHeaders::is_empty),
            expected.map(|count| count == 0)
        );
    }
    let Ok(plan) = plan else { return };
    let Ok(headers) = plan.headers(arguments) else { return };
    for (name, value) in &headers {
        assert!(name.starts_with("Mcp-Param-"), "{name}");
        assert!(value.bytes().all(|byte| matches!(byte, b' '..=b'~')), "{value:?}");
    }
    let mut names: Vec<_> = headers.iter().map(|(name, _)| name.to_ascii_lowercase()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), headers.len(), "one header twice");
}

/// How many annotations a valid schema has; `None` for an invalid one.
fn reference(schema: &Tree) -> Option<usize> {
    let mut found = Vec::new();
    look(schema, Stands::Root, 1, &mut found)?;
    let valid = found.iter().all(|(stands, name, kind)| {
        let named = name.text().is_some_and(is_token);
        *stands == Stands::Property && named && kind.as_ref().is_some_and(is_kind)
    });
    let mut names: Vec<_> =
        found.iter().filter_map(|(_, name, _)| Some(name.text()?.to_ascii_lowercase())).collect();
    names.sort_unstable();
    names.dedup();
    (valid && names.len() == found.len() && found.len() <= 256).then_some(found.len())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stands {
    Root,
    Property,
    Elsewhere,
}

type Found = (Stands, Tree, Option<Tree>);

/// Collects every annotation with where it stands and the type beside it; `None` past 64 values.
fn look(tree: &Tree, stands: Stands, depth: usize, found: &mut Vec<Found>) -> Option<()> {
    let deep = |tree: &Tree| matches!(tree, Tree::List(_) | Tree::Object(_)) && depth > 64;
    if deep(tree) {
        return None;
    }
    match tree {
        Tree::List(items) if stands != Stands::Root => {
            items.iter().try_for_each(|item| look(item, Stands::Elsewhere, depth + 1, found))
        }
        Tree::Object(members) => {
            for (keyword, value) in members {
                let below = match (stands, keyword.as_str()) {
                    (_, ANNOTATION | "type") => continue,
                    (_, keyword) if DATA.contains(&keyword) => continue,
                    (Stands::Elsewhere, _) => Stands::Elsewhere,
                    (_, "properties") => Stands::Property,
                    _ => Stands::Elsewhere,
                };
                let names = NAMES.contains(&keyword.as_str());
                match value {
                    Tree::Object(schemas) if names => {
                        if depth + 1 > 64 {
                            return None;
                        }
                        for (_, schema) in schemas {
                            look(schema, below, depth + 2, found)?;
                        }
                    }
                    value => look(value, below, depth + 1, found)?,
                }
            }
            let last = |name: &str| {
                members.iter().rev().find(|(member, _)| member == name).map(|(_, value)| value)
            };
            if let Some(annotation) = last(ANNOTATION) {
                found.push((stands, annotation.clone(), last("type").cloned()));
            }
            Some(())
        }
        _ => Some(()),
    }
}

fn is_token(name: &str) -> bool {
    let own = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.bytes().all(own)
}

/// A string, an integer or a boolean, or `null` instead.
fn is_kind(kind: &Tree) -> bool {
    let plain = |kind: &Tree| matches!(kind.text(), Some("boolean" | "integer" | "string"));
    match kind {
        Tree::List(kinds) => match &kinds[..] {
            [one, other] => {
                let null = |kind: &Tree| kind.text() == Some("null");
                plain(one) && null(other) || null(one) && plain(other)
            }
            _ => false,
        },
        kind => plain(kind),
    }
}

const ANNOTATION: &str = "x-mcp-header";

/// Keywords whose value is data.
const DATA: &[&str] = &[
    "const",
    "default",
    "enum",
    "examples",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "maximum",
    "minimum",
    "multipleOf",
];

/// Keywords whose value has schemas under names.
const NAMES: &[&str] = &[
    "$defs",
    "definitions",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "patternProperties",
    "properties",
];
