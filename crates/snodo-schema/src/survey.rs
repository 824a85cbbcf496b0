//! What checking a schema may cost at most, found out before it is compiled.
//!
//! Compiling and checking follow every reference each time they meet it. A few lines of definitions,
//! each applied twice by the next, make more work than any machine has: so what applies to one value
//! is counted here with its repetitions, once for each definition.

use std::collections::{BTreeSet, HashMap};

use jsonschema::Draft;
use referencing::{Registry, Resolver, uri};
use serde_json::{Map, Value};

use crate::Unusable;
use crate::build::{Nowhere, unresolved};
use crate::patterns;
use crate::words::shortened;

/// What a schema is known to cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Survey {
    /// The most schemas that apply to one value.
    pub(crate) breadth: usize,
    /// The most of them within each other.
    pub(crate) levels: usize,
    /// The states of the largest pattern for texts.
    pub(crate) text_states: usize,
    /// The states of all patterns for names together, as far as they stand in one schema.
    pub(crate) name_states: usize,
}

/// Counts what is in a schema, and refuses what is too much.
pub(crate) fn survey(schema: &Value, bytes: usize) -> Result<Survey, Unusable> {
    let mut scan = Scan::default();
    scan.schema(schema, 1, Place::Root)?;
    scan.check(bytes)?;
    let draft = Draft::default().detect(schema);
    let resource = draft.create_resource_ref(schema);
    let base = resource.id().unwrap_or(BASE);
    let registry = Registry::new().retriever(Nowhere).draft(draft).add(base, resource);
    let registry = registry.and_then(referencing::RegistryBuilder::prepare);
    let registry = registry.map_err(|error| unresolved(&error))?;
    let base = uri::from_str(base.trim_end_matches('#')).map_err(|error| unresolved(&error))?;
    let mut spread = Spread { known: HashMap::new(), waiting: Vec::new(), most: Extent::ONE };
    spread.all(schema, registry.resolver(base), draft)?;
    Ok(Survey {
        breadth: spread.most.breadth,
        levels: spread.most.levels,
        text_states: scan.text_states,
        name_states: scan.name_states,
    })
}

/// The whole text, whether anything refers to it or not.
#[derive(Default)]
struct Scan {
    resources: u32,
    anchors: BTreeSet<String>,
    dynamic: bool,
    text_states: usize,
    name_states: usize,
    all_states: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Within a value that is to be compared or shown. It is no schema, unless a reference leads
    /// there.
    Data,
    Inner,
    Root,
}

impl Place {
    fn within(self) -> Self {
        if self == Self::Data { self } else { Self::Inner }
    }
}

impl Scan {
    fn schema(&mut self, schema: &Value, depth: usize, place: Place) -> Result<(), Unusable> {
        within(depth)?;
        match schema {
            Value::Array(items) => {
                items.iter().try_for_each(|item| self.schema(item, depth + 1, place.within()))
            }
            Value::Object(members) => self.members(members, depth, place),
            _ => Ok(()),
        }
    }

    fn members(
        &mut self,
        schema: &Map<String, Value>,
        depth: usize,
        place: Place,
    ) -> Result<(), Unusable> {
        for (keyword, value) in schema {
            match (keyword.as_str(), value) {
                ("$schema", Value::String(dialect)) => {
                    let names = place != Place::Data;
                    if names && Draft::from_schema_uri(dialect) == Draft::Unknown {
                        return Err(Unusable::Dialect(shortened(dialect)));
                    }
                }
                // A fragment alone was a plain name before 2019-09.
                ("$id" | "id", Value::String(id)) if !id.starts_with('#') => {
                    self.resources += u32::from(place != Place::Root);
                }
                ("$dynamicAnchor", Value::String(anchor)) => {
                    self.dynamic |= !self.anchors.insert(anchor.clone());
                }
                ("$recursiveAnchor", Value::Bool(true)) => {
                    self.dynamic |= !self.anchors.insert(String::new());
                }
                ("pattern", Value::String(pattern)) => {
                    let states = self.pattern(pattern)?;
                    self.text_states = self.text_states.max(states);
                }
                ("const" | "enum" | "default" | "examples", data) => {
                    self.schema(data, depth + 1, Place::Data)?;
                }
                (word, Value::Object(named)) if NAMED.contains(&word) => {
                    within(depth + 1)?;
                    if word == "patternProperties" {
                        let states: Result<Vec<_>, _> =
                            named.keys().map(|pattern| self.pattern(pattern)).collect();
                        self.name_states = self.name_states.max(states?.iter().sum());
                    }
                    for inner in named.values() {
                        self.schema(inner, depth + 2, place.within())?;
                    }
                }
                (_, other) => self.schema(other, depth + 1, place.within())?,
            }
        }
        Ok(())
    }

    fn pattern(&mut self, pattern: &str) -> Result<usize, Unusable> {
        let states = patterns::states(pattern);
        self.all_states = self.all_states.saturating_add(states);
        if self.all_states > MAX_STATES {
            return Err(Unusable::Limit("its patterns are too large"));
        }
        Ok(states)
    }

    /// Refuses what the compiler would take too long for.
    fn check(&self, bytes: usize) -> Result<(), Unusable> {
        let orders = (1..=u64::from(self.resources)).try_fold(bytes as u64, u64::checked_mul);
        if orders.is_none_or(|bytes| bytes > MAX_ORDERED_BYTES) {
            return Err(Unusable::Limit("it has too many resources of their own"));
        }
        if self.dynamic {
            // Which of them is meant depends on the way there, and so does what it costs.
            let text = "a dynamic anchor that is there more than once";
            return Err(Unusable::Unsupported(text.to_owned()));
        }
        Ok(())
    }
}

fn within(depth: usize) -> Result<(), Unusable> {
    if depth > MAX_DEPTH { Err(Unusable::Limit("it is nested more than 64 deep")) } else { Ok(()) }
}

/// How many schemas apply to one value, and how many of them within each other.
#[derive(Clone, Copy)]
struct Extent {
    breadth: usize,
    levels: usize,
}

impl Extent {
    const ONE: Self = Self { breadth: 1, levels: 1 };

    fn add(&mut self, inner: Self) {
        self.breadth = self.breadth.saturating_add(inner.breadth);
        self.levels = self.levels.max(inner.levels + 1);
    }
}

/// Follows every reference, once for each schema.
struct Spread<'a> {
    /// By where a schema is in memory; `None` while it is being counted.
    known: HashMap<usize, Option<Extent>>,
    /// What applies to members and items: other values than this one.
    waiting: Vec<(&'a Value, Resolver<'a>, Draft)>,
    most: Extent,
}

impl<'a> Spread<'a> {
    fn all(
        &mut self,
        root: &'a Value,
        resolver: Resolver<'a>,
        draft: Draft,
    ) -> Result<(), Unusable> {
        self.waiting.push((root, resolver, draft));
        while let Some((schema, resolver, draft)) = self.waiting.pop() {
            let extent = self.inner(schema, &resolver, draft, 1)?;
            self.most.breadth = self.most.breadth.max(extent.breadth);
            self.most.levels = self.most.levels.max(extent.levels);
        }
        Ok(())
    }

    /// A schema where it is written.
    fn inner(
        &mut self,
        schema: &'a Value,
        resolver: &Resolver<'a>,
        draft: Draft,
        level: usize,
    ) -> Result<Extent, Unusable> {
        if !schema.is_object() {
            return Ok(Extent::ONE);
        }
        let draft = draft.detect(schema);
        let resolver = resolver.in_subresource(draft.create_resource_ref(schema));
        let resolver = resolver.map_err(|error| unresolved(&error))?;
        self.extent(schema, &resolver, draft, level)
    }

    fn extent(
        &mut self,
        schema: &'a Value,
        resolver: &Resolver<'a>,
        draft: Draft,
        level: usize,
    ) -> Result<Extent, Unusable> {
        let Value::Object(members) = schema else { return Ok(Extent::ONE) };
        let address = std::ptr::from_ref(schema).addr();
        match self.known.get(&address) {
            Some(Some(extent)) => return Ok(*extent),
            Some(None) => return Err(Unusable::Limit("it applies itself to its own value")),
            None => {}
        }
        if level > MAX_LEVELS {
            return Err(Unusable::Limit("more than 64 schemas apply within each other"));
        }
        self.known.insert(address, None);
        let mut whole = Extent::ONE;
        let mut inner = Vec::new();
        for (keyword, value) in members {
            match (keyword.as_str(), value) {
                ("$ref" | "$dynamicRef" | "$recursiveRef", Value::String(reference)) => {
                    let found = resolver.lookup(reference).map_err(|error| unresolved(&error))?;
                    let draft = draft.detect(found.contents());
                    let target = found.contents();
                    whole.add(self.extent(target, found.resolver(), draft, level + 1)?);
                }
                (word, Value::Array(items)) if SAME_VALUE.contains(&word) => inner.extend(items),
                (word, schema) if SAME_VALUE.contains(&word) => inner.push(schema),
                ("dependencies" | "dependentSchemas", Value::Object(named)) => {
                    inner.extend(named.values());
                }
                (word, Value::Array(items)) if OTHER_VALUES.contains(&word) => {
                    self.later(items, resolver, draft);
                }
                ("patternProperties" | "properties", Value::Object(named)) => {
                    self.later(named.values(), resolver, draft);
                }
                (word, schema) if OTHER_VALUES.contains(&word) => {
                    self.later([schema], resolver, draft);
                }
                _ => {}
            }
        }
        for schema in inner {
            whole.add(self.inner(schema, resolver, draft, level + 1)?);
        }
        if whole.breadth > MAX_BREADTH {
            return Err(Unusable::Limit("more than 2,048 schemas apply to one value"));
        }
        self.known.insert(address, Some(whole));
        Ok(whole)
    }

    fn later(
        &mut self,
        schemas: impl IntoIterator<Item = &'a Value>,
        resolver: &Resolver<'a>,
        draft: Draft,
    ) {
        self.waiting.extend(schemas.into_iter().map(|schema| (schema, resolver.clone(), draft)));
    }
}

/// Keywords whose members are schemas, under names that are no keywords.
const NAMED: [&str; 6] =
    ["$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"];

/// Keywords whose schemas apply to the same value as the schema they stand in.
const SAME_VALUE: [&str; 7] = ["allOf", "anyOf", "else", "if", "not", "oneOf", "then"];

/// Keywords whose schemas apply to its members and items.
const OTHER_VALUES: [&str; 9] = [
    "additionalItems",
    "additionalProperties",
    "contains",
    "contentSchema",
    "items",
    "prefixItems",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
];

const MAX_DEPTH: usize = 64;
const MAX_LEVELS: usize = 64;
const MAX_BREADTH: usize = 2048;
const MAX_STATES: usize = 131_072;
const MAX_ORDERED_BYTES: u64 = 4 * 1024 * 1024;

/// What the library takes for the place of a schema without an id.
const BASE: &str = "json-schema:///";
