//! From a JSON Schema to a table of facts.
//!
//! A definition is a line with its name and, indented below it, its members: `name! kind` is required, `name? kind` is
//! not. One that is no object is a line `Name = kind`. Objects within objects are definitions of their own, named by
//! their path. A kind is `string` (with a format after a colon), `integer`, `number` (with bounds in brackets),
//! `boolean`, `null`, `any`, `object`, `[kind]`, `{kind}` for an object with any names, `{}` for the empty one, `@Name`,
//! a JSON value for just that, or several with `|` between them.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// The table of one schema.
pub(super) fn table(name: &str, schema: &Value) -> Result<String, String> {
    let definitions = ["$defs", "definitions"].iter().find_map(|key| schema.get(key)?.as_object());
    let definitions = definitions.ok_or("there are no definitions")?;
    let mut facts = Facts { definitions, lines: BTreeMap::new() };
    for (definition, schema) in definitions {
        facts.define(definition, schema)?;
    }
    let mut text = format!(
        "# What the schema {name} says: definitions, their members (! required, ? not) and kinds.\n\
         # Written by `cargo xtask vocabulary`; how to read it: xtask/src/vocabulary/facts.rs.\n"
    );
    for lines in facts.lines.values() {
        text.push('\n');
        text.push_str(lines);
    }
    Ok(text)
}

struct Facts<'s> {
    definitions: &'s Map<String, Value>,
    /// The lines of each definition, by its name.
    lines: BTreeMap<String, String>,
}

impl Facts<'_> {
    fn define(&mut self, name: &str, schema: &Value) -> Result<(), String> {
        let shapes = self.shapes(schema)?;
        let lines = match &shapes[..] {
            [only] if has_members(only) => self.object(name, only)?,
            [only] => format!("{name} = {}\n", self.kind(name, only)?),
            several => {
                let kinds: Result<Vec<String>, String> = several
                    .iter()
                    .enumerate()
                    .map(|(place, shape)| self.kind(&format!("{name}/{}", place + 1), shape))
                    .collect();
                format!("{name} = {}\n", join(kinds?))
            }
        };
        self.lines.insert(name.to_owned(), lines);
        Ok(())
    }

    fn object(&mut self, name: &str, schema: &Value) -> Result<String, String> {
        let required = schema.get("required").and_then(Value::as_array);
        let members = schema.get("properties").and_then(Value::as_object);
        let mut lines = format!("{name}\n");
        for (member, schema) in members.into_iter().flatten() {
            let is_required = required.is_some_and(|names| names.iter().any(|name| name == member));
            let mark = if is_required { '!' } else { '?' };
            let kind = self.kind(&format!("{name}.{member}"), schema)?;
            lines.push_str(&format!("  {member}{mark} {kind}\n"));
        }
        Ok(lines)
    }

    /// The kind of a value; an object with members becomes a definition under this name.
    fn kind(&mut self, name: &str, schema: &Value) -> Result<String, String> {
        if let Some(target) = reference(schema) {
            return Ok(format!("@{target}"));
        }
        if let Some(value) = schema.get("const") {
            return Ok(value.to_string());
        }
        if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            return Ok(join(values.iter().map(Value::to_string).collect()));
        }
        if schema.get("allOf").is_some() || has_members(schema) {
            self.define(name, schema)?;
            return Ok(format!("@{name}"));
        }
        if let Some(alternatives) = schema.get("anyOf").and_then(Value::as_array) {
            let kinds: Result<Vec<String>, String> = alternatives
                .iter()
                .enumerate()
                .map(|(place, schema)| self.kind(&format!("{name}/{}", place + 1), schema))
                .collect();
            return Ok(join(kinds?));
        }
        match schema.get("type") {
            None => Ok("any".to_owned()),
            Some(Value::String(kind)) => self.simple(name, kind, schema),
            Some(Value::Array(kinds)) => {
                let kinds: Result<Vec<String>, String> = kinds
                    .iter()
                    .map(|kind| self.simple(name, kind.as_str().unwrap_or_default(), schema))
                    .collect();
                Ok(join(kinds?))
            }
            Some(other) => Err(format!("{name}: the type {other} is not understood")),
        }
    }

    fn simple(&mut self, name: &str, kind: &str, schema: &Value) -> Result<String, String> {
        Ok(match kind {
            "string" => match schema.get("format").and_then(Value::as_str) {
                Some(format) => format!("string:{format}"),
                None => kind.to_owned(),
            },
            "integer" | "number" => format!("{kind}{}", bounds(schema)),
            "boolean" | "null" => kind.to_owned(),
            "array" => match schema.get("items") {
                Some(items) => format!("[{}]", self.kind(&format!("{name}[]"), items)?),
                None => "[any]".to_owned(),
            },
            "object" => match schema.get("additionalProperties") {
                Some(Value::Object(values)) if values.contains_key("not") => "{}".to_owned(),
                Some(Value::Object(values)) if !values.is_empty() => {
                    let values = Value::Object(values.clone());
                    format!("{{{}}}", self.kind(&format!("{name}{{}}"), &values)?)
                }
                _ => kind.to_owned(),
            },
            other => return Err(format!("{name}: the type {other:?} is not understood")),
        })
    }

    /// The alternatives of a schema, each with the members of everything it is made of.
    fn shapes(&self, schema: &Value) -> Result<Vec<Value>, String> {
        let Some(parts) = schema.get("allOf").and_then(Value::as_array) else {
            return Ok(vec![schema.clone()]);
        };
        let mut shapes = vec![Value::Object(Map::new())];
        for part in parts {
            let part = match reference(part) {
                Some(target) => {
                    self.definitions.get(target).ok_or_else(|| format!("no {target}"))?
                }
                None => part,
            };
            let mut alternatives = Vec::new();
            match part.get("anyOf").and_then(Value::as_array) {
                Some(parts) => {
                    for part in parts {
                        alternatives.extend(self.shapes(part)?);
                    }
                }
                None => alternatives = self.shapes(part)?,
            }
            let pairs = shapes.iter().flat_map(|shape| {
                alternatives.iter().map(move |alternative| merge(shape, alternative))
            });
            shapes = pairs.collect();
        }
        Ok(shapes)
    }
}

/// Both together; where both name a member, the later says more of it.
fn merge(one: &Value, other: &Value) -> Value {
    let mut members = Map::new();
    let mut required = Vec::new();
    for shape in [one, other] {
        if let Some(more) = shape.get("properties").and_then(Value::as_object) {
            members.extend(more.clone());
        }
        if let Some(more) = shape.get("required").and_then(Value::as_array) {
            required.extend(more.clone());
        }
    }
    serde_json::json!({ "type": "object", "properties": members, "required": required })
}

fn has_members(schema: &Value) -> bool {
    schema.get("properties").and_then(Value::as_object).is_some_and(|members| !members.is_empty())
}

fn reference(schema: &Value) -> Option<&str> {
    schema.get("$ref")?.as_str()?.rsplit('/').next()
}

/// The bounds of a number; those that only say that it is exact in a float say nothing.
fn bounds(schema: &Value) -> String {
    let bound = |key: &str| {
        let number = schema
            .get(key)
            .filter(|number| number.as_i64().is_none_or(|n| n.abs() < (1 << 53) - 1));
        number.map(Value::to_string)
    };
    match (bound("minimum"), bound("maximum")) {
        (None, None) => String::new(),
        (least, most) => format!("[{}..{}]", least.unwrap_or_default(), most.unwrap_or_default()),
    }
}

fn join(kinds: Vec<String>) -> String {
    let mut once: Vec<String> = Vec::new();
    for kind in kinds {
        if !once.contains(&kind) {
            once.push(kind);
        }
    }
    once.join("|")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::table;

    fn lines(definitions: &Value) -> String {
        let text = table("test", &json!({ "$defs": definitions })).expect("a table");
        text.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn members_are_told_with_their_kinds_and_whether_they_are_required() {
        let tool = json!({
            "type": "object", "required": ["name"], "description": "a sentence",
            "properties": {
                "name": { "type": "string", "description": "another sentence" },
                "size": { "type": "integer", "minimum": 0 },
                "share": { "type": "number", "minimum": 0, "maximum": 1 },
                "uri": { "type": "string", "format": "uri" },
                "ttl": { "type": ["integer", "null"] },
                "theme": { "enum": ["dark", "light"], "type": "string" },
                "icons": { "type": "array", "items": { "$ref": "#/$defs/Icon" } },
                "args": { "type": "object", "additionalProperties": { "type": "string" } },
                "meta": { "type": "object", "additionalProperties": {} },
                "value": {},
            }
        });
        assert_eq!(
            lines(&json!({ "Tool": tool, "Icon": { "type": "string" } })),
            "\nIcon = string\n\nTool\n  args? {string}\n  icons? [@Icon]\n  meta? object\n  name! string\n  \
             share? number[0..1]\n  size? integer[0..]\n  theme? \"dark\"|\"light\"\n  ttl? integer|null\n  \
             uri? string:uri\n  value? any"
        );
    }

    #[test]
    fn objects_within_objects_are_definitions_of_their_own() {
        let inner = json!({ "type": "object", "properties": { "b": { "const": 1 } } });
        let outer = json!({ "type": "object", "required": ["a"], "properties": {
            "a": inner, "list": { "type": "array", "items": inner }
        } });
        assert_eq!(
            lines(&json!({ "Outer": outer })),
            "\nOuter\n  a! @Outer.a\n  list? [@Outer.list[]]\n\nOuter.a\n  b? 1\n\nOuter.list[]\n  b? 1"
        );
    }

    #[test]
    fn what_is_made_of_parts_has_the_members_of_all_and_an_alternative_each() {
        let base = json!({ "type": "object", "properties": { "m": { "type": "object" } } });
        let one = json!({ "type": "object", "required": ["s"], "properties": { "s": { "const": "one" } } });
        let two = json!({ "type": "object", "required": ["s"], "properties": { "s": { "const": "two" } } });
        let whole = json!({ "allOf": [{ "$ref": "#/$defs/Base" }, { "anyOf": [one, two] }] });
        assert_eq!(
            lines(&json!({ "Base": base, "Whole": whole })),
            "\nBase\n  m? object\n\nWhole = @Whole/1|@Whole/2\n\nWhole/1\n  m? object\n  s! \"one\"\n\n\
             Whole/2\n  m? object\n  s! \"two\""
        );
    }
}
