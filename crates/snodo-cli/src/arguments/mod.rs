//! The arguments of a tool: `key=value`, `key:=JSON`, and whole objects by `--args JSON`, `@FILE` or
//! `-`.
//!
//! The text of `key=value` is read as the tool's input schema wants it:
//!
//! - where only a string is allowed, it is the string, whatever it looks like;
//! - else it is JSON if that gives a value that is allowed, and else a string if that is;
//! - where the schema says nothing, everything is allowed: JSON if it is JSON, else a string.
//!
//! Numbers and objects go to the server as they were written, so that none is too long or too
//! exact.

mod input;
mod schema;
#[cfg(test)]
mod tests;

use serde_json::Value;
use snodo::Error;
use snodo::types::{Members, Raw};

use self::input::Input;
use self::schema::{Fit, Property};

/// The arguments as they were written.
#[derive(Clone, Debug)]
pub(crate) struct Arguments {
    given: Members,
    texts: Vec<(String, String)>,
}

impl Arguments {
    /// Reads the words after the tool's name, and the object of `--args`. A word `@FILE` or `-` is a
    /// whole object too. Later objects win over earlier ones, and single arguments over all.
    ///
    /// # Errors
    ///
    /// A word has no `=`, a key stands there twice, what has to be JSON is none, or a file cannot be
    /// read (usage).
    pub(crate) fn read(words: &[String], object: Option<&str>) -> Result<Self, Error> {
        let mut input = Input::default();
        let mut given = match object {
            Some(text) => read_object("--args", &input.take(text)?)?,
            None => Members::new(),
        };
        let is_object =
            |word: &&String| *word == "-" || word.starts_with('@') && !word.contains('=');
        for word in words.iter().filter(is_object) {
            for (name, value) in read_object(word, &input.take(word)?)?.iter() {
                given.insert(name, value.clone());
            }
        }
        let words: Vec<String> = words.iter().filter(|word| !is_object(word)).cloned().collect();
        let mut texts = Vec::new();
        for (key, text) in pairs(&words)? {
            let text = input.take(text)?;
            match key.strip_suffix(':').filter(|key| !key.is_empty()) {
                Some(key) => {
                    let value = Raw::parse(text.into_owned()).map_err(|error| {
                        Error::usage(format!("argument {key:?}: not JSON: {error}"))
                    })?;
                    given.insert(key, value);
                }
                None => texts.push((key.to_owned(), text.into_owned())),
            }
        }
        Ok(Self { given, texts })
    }

    /// Whether there is none at all.
    pub(crate) fn is_empty(&self) -> bool {
        self.texts.is_empty() && self.given.iter().next().is_none()
    }

    /// Whether the tool's schema is needed to read them.
    pub(crate) fn need_a_schema(&self) -> bool {
        !self.texts.is_empty()
    }

    /// Reads each text by the schema; without one, everything is allowed.
    ///
    /// # Errors
    ///
    /// A text can be read as nothing that the schema allows (usage).
    pub(crate) fn typed(self, schema: Option<&Raw>) -> Result<Members, Error> {
        // A schema that is too deep to read is no help, and no reason to give up.
        let schema: Value = schema.and_then(|schema| schema.decode().ok()).unwrap_or_default();
        let mut typed = self.given;
        for (key, text) in self.texts {
            let value = read_text(&key, &text, &Property::of(&schema, &key))?;
            typed.insert(key, value);
        }
        Ok(typed)
    }
}

/// Splits `key=value` words at their first `=`.
///
/// # Errors
///
/// A word has no `=` or no key, or a key stands there twice (usage).
pub(crate) fn pairs(words: &[String]) -> Result<Vec<(&str, &str)>, Error> {
    let mut pairs: Vec<(&str, &str)> = Vec::with_capacity(words.len());
    for word in words {
        let (key, text) = match word.split_once('=') {
            Some((key, text)) if !key.is_empty() => (key, text),
            _ => return Err(Error::usage(format!("{word:?} is not of the form key=value"))),
        };
        if pairs.iter().any(|(known, _)| known.trim_end_matches(':') == key.trim_end_matches(':')) {
            return Err(Error::usage(format!("argument {key:?} is given twice")));
        }
        pairs.push((key, text));
    }
    Ok(pairs)
}

/// An argument that a schema names.
#[derive(Debug)]
pub(crate) struct Wanted {
    pub(crate) name: String,
    /// The kinds that are allowed, in words.
    pub(crate) kinds: String,
    /// What the schema says about it.
    pub(crate) about: Option<String>,
    pub(crate) required: bool,
}

/// What a schema requires and arguments do not have.
pub(crate) fn missing(schema: &Raw, given: &Members) -> Vec<Wanted> {
    // A schema that is too deep to read is no help.
    let schema: Value = schema.decode().unwrap_or_default();
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    required
        .filter(|name| given.get(name).is_none())
        .map(|name| Wanted::of(&schema, name))
        .collect()
}

/// Every argument that a schema names, those first that are required.
pub(crate) fn all(schema: &Raw) -> Vec<Wanted> {
    let order: Members = schema
        .decode::<Members>()
        .ok()
        .and_then(|schema| schema.get("properties")?.decode().ok())
        .unwrap_or_default();
    let schema: Value = schema.decode().unwrap_or_default();
    let mut all: Vec<Wanted> = order.iter().map(|(name, _)| Wanted::of(&schema, name)).collect();
    all.sort_by_key(|wanted| !wanted.required);
    all
}

impl Wanted {
    fn of(schema: &Value, name: &str) -> Self {
        let own = &schema["properties"][name];
        let kinds = Property::of(schema, name).kinds();
        // Where all are allowed, their names say nothing.
        let kinds = if kinds.len() > 4 { String::new() } else { kinds.join(" or ") };
        let listed = own["enum"].as_array().map(|values| {
            let shown: Vec<String> = values.iter().map(shown).collect();
            format!("one of {}", shown.join(", "))
        });
        let default = own.get("default").map(|value| format!("{} unless given", shown(value)));
        let told = own["description"].as_str().map(str::to_owned);
        let about: Vec<String> = told.into_iter().chain(listed).chain(default).collect();
        let required =
            schema["required"].as_array().is_some_and(|all| all.iter().any(|n| n == name));
        let about = (!about.is_empty()).then(|| about.join("; "));
        Self { name: name.to_owned(), kinds, about, required }
    }
}

/// As somebody would write it.
fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Reads one argument as a schema wants it.
///
/// # Errors
///
/// It can be read as nothing that the schema allows (usage).
pub(crate) fn read_one(schema: &Raw, name: &str, text: &str) -> Result<Raw, Error> {
    let schema: Value = schema.decode().unwrap_or_default();
    read_text(name, text, &Property::of(&schema, name))
}

/// Reads what has to be a JSON object.
fn read_object(place: &str, text: &str) -> Result<Members, Error> {
    let refused = |error| Error::usage(format!("{place} is not a JSON object: {error}"));
    let raw = Raw::parse(text).map_err(refused)?;
    raw.decode().map_err(refused)
}

fn read_text(key: &str, text: &str, property: &Property<'_>) -> Result<Raw, Error> {
    let string = Value::from(text);
    let json = Raw::parse(text).ok().filter(|_| !property.is_text());
    // What is deeper than can be decoded is still JSON of its kind.
    let json = json.map(|raw| (raw.decode().unwrap_or_else(|_| outermost(&raw)), raw));
    for fit in [Fit::Value, Fit::Kind] {
        match &json {
            Some((value, raw)) if property.allows(value, fit) => return Ok(raw.clone()),
            _ if property.allows(&string, fit) => return Ok(Raw::from(string)),
            _ => {}
        }
    }
    let kinds = property.kinds().join(" or ");
    Err(Error::usage(format!("argument {key:?}: {kinds} is expected")))
}

fn outermost(raw: &Raw) -> Value {
    if raw.is_object() { Value::Object(serde_json::Map::new()) } else { Value::Array(Vec::new()) }
}
