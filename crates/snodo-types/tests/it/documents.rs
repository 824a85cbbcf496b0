//! The tables of `cargo xtask vocabulary`, and the JSON documents that they describe.
//!
//! The validator in `tests/validate` takes this file as it is, so that what it holds against the schemas are the very
//! documents that the types are held to.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// What one schema says.
pub(crate) struct Table {
    pub(crate) definitions: BTreeMap<String, Definition>,
}

/// What a definition is.
pub(crate) enum Definition {
    /// An object with these members.
    Object(Vec<Member>),
    /// Something else.
    Other(Kind),
}

/// A member of an object.
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) required: bool,
    pub(crate) kind: Kind,
}

/// What a value may be.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    Any,
    Boolean,
    /// The empty object.
    Empty,
    /// A whole number, with its least value.
    Integer(Option<i64>),
    Just(Value),
    List(Box<Self>),
    /// An object with any names.
    Map(Box<Self>),
    Null,
    /// A number, and whether it has to be within 0 and 1.
    Number(bool),
    Object,
    /// One of several.
    OneOf(Vec<Self>),
    Reference(String),
    /// A string, with its format.
    Text(Option<String>),
}

impl Table {
    /// Reads a table as it is committed.
    pub(crate) fn parse(text: &str) -> Self {
        let mut definitions = BTreeMap::new();
        let mut current: Option<String> = None;
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            if let Some(line) = line.strip_prefix("  ") {
                let (name, kind) = line.split_once(' ').expect("a member and its kind");
                let required = name.ends_with('!');
                let name = name.trim_end_matches(['!', '?']).to_owned();
                let owner = current.as_deref().expect("members stand below their definition");
                let Some(Definition::Object(members)) = definitions.get_mut(owner) else {
                    panic!("{owner} has members")
                };
                members.push(Member { name, required, kind: Kind::parse(kind) });
            } else if let Some((name, kind)) = line.split_once(" = ") {
                definitions.insert(name.to_owned(), Definition::Other(Kind::parse(kind)));
            } else {
                current = Some(line.to_owned());
                definitions.insert(line.to_owned(), Definition::Object(Vec::new()));
            }
        }
        Self { definitions }
    }

    /// Documents of a definition: some with every member, so many that each alternative has its turn, and one with
    /// only those that are required.
    pub(crate) fn documents(&self, name: &str) -> Vec<Value> {
        let full = (0..TURNS).map(|turn| Builder { table: self, turn, full: true });
        let minimal = Builder { table: self, turn: 0, full: false };
        let mut documents: Vec<Value> = Vec::new();
        for builder in full.chain([minimal]) {
            let document = builder.definition(name, 0);
            if !documents.contains(&document) {
                documents.push(document);
            }
        }
        documents
    }

    /// The kind with references to plain values followed.
    pub(crate) fn resolve<'t>(&'t self, kind: &'t Kind) -> &'t Kind {
        match kind {
            Kind::Reference(name) => match &self.definitions[name] {
                Definition::Other(kind) => self.resolve(kind),
                Definition::Object(_) => kind,
            },
            kind => kind,
        }
    }
}

impl Kind {
    fn parse(text: &str) -> Self {
        let mut kinds: Vec<Self> = split(text).into_iter().map(Self::parse_one).collect();
        if kinds.len() == 1 { kinds.remove(0) } else { Self::OneOf(kinds) }
    }

    fn parse_one(text: &str) -> Self {
        let inside = |open: char, close: char| text.strip_prefix(open)?.strip_suffix(close);
        if let Some(name) = text.strip_prefix('@') {
            return Self::Reference(name.to_owned());
        }
        if let Some(item) = inside('[', ']') {
            return Self::List(Box::new(Self::parse(item)));
        }
        if let Some(value) = inside('{', '}').filter(|value| !value.is_empty()) {
            return Self::Map(Box::new(Self::parse(value)));
        }
        if text == "{}" {
            return Self::Empty;
        }
        let (word, bounds) = text.split_once('[').unwrap_or((text, ""));
        match word.split_once(':').unwrap_or((word, "")) {
            ("any", "") => Self::Any,
            ("boolean", "") => Self::Boolean,
            ("integer", "") => {
                Self::Integer(bounds.split("..").next().and_then(|n| n.parse().ok()))
            }
            ("null", "") => Self::Null,
            ("number", "") => Self::Number(bounds == "0..1]"),
            ("object", "") => Self::Object,
            ("string", "") => Self::Text(None),
            ("string", format) => Self::Text(Some(format.to_owned())),
            _ => Self::Just(serde_json::from_str(text).expect("a kind or a value")),
        }
    }
}

/// Splits at bars that stand outside of brackets and quotes.
fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth, mut quoted) = (Vec::new(), 0, 0, false);
    for (place, character) in text.char_indices() {
        match character {
            '"' => quoted = !quoted,
            '[' | '{' if !quoted => depth += 1,
            ']' | '}' if !quoted => depth -= 1,
            '|' if !quoted && depth == 0 => {
                parts.push(&text[start..place]);
                start = place + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

struct Builder<'t> {
    table: &'t Table,
    /// Which of several alternatives is taken.
    turn: usize,
    /// Whether members are there that need not be.
    full: bool,
}

impl Builder<'_> {
    fn definition(&self, name: &str, depth: usize) -> Value {
        match &self.table.definitions[name] {
            Definition::Other(kind) => self.value(name, kind, depth),
            Definition::Object(members) => {
                let wanted = members.iter().filter(|member| self.full || member.required);
                let pairs = wanted.map(|member| {
                    (member.name.clone(), self.value(&member.name, &member.kind, depth + 1))
                });
                Value::Object(pairs.collect())
            }
        }
    }

    fn value(&self, name: &str, kind: &Kind, depth: usize) -> Value {
        let deep = depth > DEPTH;
        match kind {
            Kind::Any => json!({ "any": [1, null, "x"], "turn": self.turn }),
            Kind::Empty => json!({}),
            Kind::Boolean => json!(self.turn.is_multiple_of(2)),
            Kind::Integer(least) => match least {
                // Past what 32 bits hold.
                Some(0) => json!(5_000_000_000_u64 + self.turn as u64),
                _ => json!(self.turn + 1),
            },
            Kind::Just(value) => value.clone(),
            Kind::List(_) if deep || !self.full => json!([]),
            Kind::List(item) => {
                let next = Self { turn: self.turn + 1, ..*self };
                json!([self.value(name, item, depth + 1), next.value(name, item, depth + 1)])
            }
            Kind::Map(_) if deep || !self.full => json!({}),
            Kind::Map(value) => {
                let next = Self { turn: self.turn + 1, ..*self };
                json!({
                    "10": self.value(name, value, depth + 1),
                    "2": next.value(name, value, depth + 1),
                })
            }
            Kind::Null => Value::Null,
            Kind::Number(false) if !self.turn.is_multiple_of(2) => json!(self.turn),
            Kind::Number(_) => json!(0.5),
            Kind::Object if self.full => json!({ "o": { "p": [self.turn, 0.25] }, "n": null }),
            Kind::Object => Value::Object(Map::new()),
            Kind::OneOf(kinds) => {
                let open = kinds.iter().filter(|kind| !deep || !matches!(kind, Kind::Reference(_)));
                let open: Vec<&Kind> = open.collect();
                let kinds = if open.is_empty() { kinds.iter().collect() } else { open };
                self.value(name, kinds[self.turn % kinds.len()], depth)
            }
            Kind::Reference(target) => self.definition(target, depth + 1),
            Kind::Text(None) => json!(format!("{name} \"{}\"\né\u{1F600}", self.turn)),
            Kind::Text(Some(format)) => json!(match format.as_str() {
                "byte" => "aGVsbG8=".to_owned(),
                "uri" => format!("https://example.com/{}", self.turn),
                "uri-template" => "file:///{path}".to_owned(),
                other => panic!("a string of the format {other} has no example here"),
            }),
        }
    }
}

/// As many as the longest list of alternatives, the eight levels of logging.
const TURNS: usize = 8;

/// How deep objects are within objects before they end.
const DEPTH: usize = 7;
