//! What a tool's input schema says about the kind of one property.
//!
//! This is no validator: that is the server's business. It follows what decides how a text is to
//! be read (`type`, `enum`, `const`, local `$ref`, `allOf`, `anyOf`, `oneOf`) and takes the rest
//! as allowing everything.

use std::cell::Cell;

use serde_json::Value;

/// What the schema says about one property.
pub(super) struct Property<'s> {
    root: &'s Value,
    /// It has to fit one of these; none when nothing is said.
    schemas: Vec<&'s Value>,
}

/// How closely a value has to fit.
#[derive(Clone, Copy)]
pub(super) enum Fit {
    /// Of a kind that is allowed.
    Kind,
    /// And, where values are listed, one of them.
    Value,
}

impl<'s> Property<'s> {
    /// Looks a property up.
    pub(super) fn of(root: &'s Value, name: &str) -> Self {
        let walk = Walk { root, steps: Cell::new(STEPS) };
        let mut parts = Vec::new();
        walk.collect(root, DEPTH, &mut parts);
        let named = parts.iter().filter_map(|part| part["properties"].get(name));
        let mut schemas: Vec<_> = named.collect();
        if schemas.is_empty() {
            let others = parts.iter().filter_map(|part| part.get("additionalProperties"));
            schemas.extend(others.filter(|others| others.is_object()));
        }
        Self { root, schemas }
    }

    /// Whether the schema allows a value.
    pub(super) fn allows(&self, value: &Value, fit: Fit) -> bool {
        let walk = Walk { root: self.root, steps: Cell::new(STEPS) };
        self.schemas.is_empty()
            || self.schemas.iter().any(|schema| walk.allows(schema, value, fit, DEPTH))
    }

    /// Whether strings are all that is allowed.
    pub(super) fn is_text(&self) -> bool {
        self.kinds() == ["a string"]
    }

    /// The kinds that are allowed, in words.
    pub(super) fn kinds(&self) -> Vec<&'static str> {
        let allowed = samples().into_iter().filter(|(_, sample)| self.allows(sample, Fit::Kind));
        let mut kinds: Vec<_> = allowed.map(|(name, _)| name).collect();
        if kinds.contains(&"a number") {
            kinds.retain(|name| *name != "an integer");
        }
        kinds
    }
}

/// One look at a schema. A schema may be endless: where a bound is reached, everything is allowed.
struct Walk<'s> {
    root: &'s Value,
    steps: Cell<usize>,
}

impl<'s> Walk<'s> {
    /// Collects a schema and those that it is put together from.
    fn collect(&self, schema: &'s Value, depth: usize, parts: &mut Vec<&'s Value>) {
        if depth == 0 || !self.step() {
            return;
        }
        parts.push(schema);
        let lists = ["allOf", "anyOf", "oneOf"].iter().filter_map(|name| schema[*name].as_array());
        for part in lists.flatten().chain(self.referred(schema)) {
            self.collect(part, depth - 1, parts);
        }
    }

    fn allows(&self, schema: &Value, value: &Value, fit: Fit, depth: usize) -> bool {
        if depth == 0 || !self.step() {
            return true;
        }
        let allows = |part| self.allows(part, value, fit, depth - 1);
        let listed = |values: &[Value]| values.iter().any(|listed| fits(listed, value, fit));
        let some =
            |name: &str| schema[name].as_array().is_none_or(|parts| parts.iter().any(allows));
        allows_type(&schema["type"], value)
            && schema["enum"].as_array().is_none_or(|values| listed(values))
            && schema.get("const").is_none_or(|only| fits(only, value, fit))
            && schema["allOf"].as_array().is_none_or(|parts| parts.iter().all(allows))
            && some("anyOf")
            && some("oneOf")
            && self.referred(schema).is_none_or(allows)
    }

    /// The schema that a `$ref` within the same document leads to.
    fn referred(&self, schema: &Value) -> Option<&'s Value> {
        self.root.pointer(schema["$ref"].as_str()?.strip_prefix('#')?)
    }

    fn step(&self) -> bool {
        let left = self.steps.get();
        self.steps.set(left.saturating_sub(1));
        left > 0
    }
}

fn allows_type(named: &Value, value: &Value) -> bool {
    match named {
        Value::String(name) => is_of(name, value),
        Value::Array(names) => {
            names.iter().filter_map(Value::as_str).any(|name| is_of(name, value))
        }
        _ => true,
    }
}

fn is_of(name: &str, value: &Value) -> bool {
    match name {
        "array" => value.is_array(),
        "boolean" => value.is_boolean(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "null" => value.is_null(),
        "number" => value.is_number(),
        "object" => value.is_object(),
        "string" => value.is_string(),
        _ => true,
    }
}

fn fits(listed: &Value, value: &Value, fit: Fit) -> bool {
    match fit {
        Fit::Kind => std::mem::discriminant(listed) == std::mem::discriminant(value),
        Fit::Value if listed.is_number() => value.is_number() && listed.as_f64() == value.as_f64(),
        Fit::Value => listed == value,
    }
}

fn samples() -> [(&'static str, Value); 7] {
    [
        ("a string", Value::from("")),
        ("an integer", Value::from(0)),
        ("a number", Value::from(0.5)),
        ("true or false", Value::from(true)),
        ("null", Value::Null),
        ("an array", Value::Array(Vec::new())),
        ("an object", Value::Object(serde_json::Map::new())),
    ]
}

/// How deep schemas are followed into each other.
const DEPTH: usize = 32;

/// How many schemas are looked at for one question.
const STEPS: usize = 10_000;
