//! Finding the annotations in a schema, wherever they stand.

use std::collections::HashSet;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::{Key, Kind, ParamHeader};
use crate::header::is_token;

/// Reads a schema once. What makes it invalid is told as a sentence.
pub(super) fn find(schema: &str) -> Result<Vec<ParamHeader>, String> {
    // Most schemas have none, and are neither read nor bounded. An escape could hide the word.
    if !schema.contains(ANNOTATION) && !schema.contains(r"\u") {
        return Ok(Vec::new());
    }
    let mut walk = Walk::default();
    let root = Node { walk: &mut walk, place: Place::Root, form: Form::Schema };
    let read = root.deserialize(&mut serde_json::Deserializer::from_str(schema));
    match (walk.fault, read) {
        (Some(fault), _) => Err(fault),
        (None, Err(error)) => Err(format!("the input schema cannot be read: {error}")),
        (None, Ok(())) => Ok(walk.found),
    }
}

#[derive(Default)]
struct Walk {
    found: Vec<ParamHeader>,
    /// The names found, in lower case.
    names: HashSet<String>,
    /// The properties that lead to where the walk is.
    path: Vec<String>,
    /// The keyword that led away from the properties.
    astray: String,
    depth: usize,
    fault: Option<String>,
}

/// One value of the schema, to be walked through.
struct Node<'w> {
    walk: &'w mut Walk,
    place: Place,
    form: Form,
}

/// How a value was reached.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Through something else than `properties`.
    Astray,
    /// Through `properties` alone.
    Property,
    Root,
}

/// What the members of a value mean.
#[derive(Clone, Copy)]
enum Form {
    /// Schemas by names that somebody chose.
    Names,
    /// Keywords.
    Schema,
}

impl Walk {
    /// Goes one value deeper.
    fn enter<E: Error>(&mut self) -> Result<(), E> {
        if self.depth == MAX_DEPTH {
            return Err(self.fail(format!("the input schema is more than {MAX_DEPTH} values deep")));
        }
        self.depth += 1;
        Ok(())
    }

    /// Ends the walk.
    fn fail<E: Error>(&mut self, fault: String) -> E {
        self.fault = Some(fault);
        E::custom("the schema is invalid")
    }

    /// Takes an annotation, if it is a valid one.
    fn annotate(
        &mut self,
        place: Place,
        annotation: &RawValue,
        kind: Option<&RawValue>,
    ) -> Result<(), String> {
        match place {
            Place::Astray => {
                let keyword = shown(&self.astray);
                return Err(format!(
                    "{ANNOTATION} stands under {keyword}, which leads to no argument"
                ));
            }
            Place::Root => return Err(format!("{ANNOTATION} stands on no property")),
            Place::Property => {}
        }
        let property = shown(&self.path.join("."));
        let Ok(name) = serde_json::from_str::<String>(annotation.get()) else {
            return Err(format!("{ANNOTATION} of {property} is no text"));
        };
        if !is_token(&name) {
            return Err(format!("{ANNOTATION} of {property} is {}, no header name", shown(&name)));
        }
        let Some(kind) = kind.and_then(|kind| Kind::of(kind.get())) else {
            return Err(format!(
                "{property} has {ANNOTATION}, but is no string, integer or boolean"
            ));
        };
        if self.found.len() == MAX_ANNOTATIONS {
            return Err(format!("more than {MAX_ANNOTATIONS} properties have {ANNOTATION}"));
        }
        // Streamable HTTP, "Schema Extension": unique without regard to case.
        if !self.names.insert(name.to_ascii_lowercase()) {
            return Err(format!("two properties have {ANNOTATION} {}", shown(&name)));
        }
        self.found.push(ParamHeader {
            path: self.path.clone(),
            name: format!("{PREFIX}{name}"),
            kind,
        });
        Ok(())
    }
}

impl Node<'_> {
    /// The value of a keyword.
    fn below(&mut self, keyword: &str) -> Node<'_> {
        let form = match keyword {
            "$defs" | "definitions" | "dependencies" | "dependentRequired" | "dependentSchemas"
            | "patternProperties" | "properties" => Form::Names,
            _ => Form::Schema,
        };
        let place = match (self.place, keyword) {
            (Place::Astray, _) => Place::Astray,
            (_, "properties") => Place::Property,
            _ => {
                self.walk.astray.clear();
                self.walk.astray.push_str(keyword);
                Place::Astray
            }
        };
        Node { walk: &mut *self.walk, place, form }
    }

    fn keywords<'de, A: MapAccess<'de>>(&mut self, mut map: A) -> Result<(), A::Error> {
        let (mut annotation, mut kind) = (None, None);
        while let Some(Key(keyword)) = map.next_key()? {
            match &*keyword {
                ANNOTATION => annotation = Some(map.next_value::<&RawValue>()?),
                "type" => kind = Some(map.next_value::<&RawValue>()?),
                // Data, in which an annotation is just a word; and numbers of any size.
                "const" | "default" | "enum" | "examples" | "exclusiveMaximum"
                | "exclusiveMinimum" | "maximum" | "minimum" | "multipleOf" => {
                    map.next_value::<IgnoredAny>()?;
                }
                keyword => map.next_value_seed(self.below(keyword))?,
            }
        }
        match annotation {
            Some(annotation) => self
                .walk
                .annotate(self.place, annotation, kind)
                .map_err(|fault| self.walk.fail(fault)),
            None => Ok(()),
        }
    }

    fn names<'de, A: MapAccess<'de>>(&mut self, mut map: A) -> Result<(), A::Error> {
        while let Some(Key(name)) = map.next_key()? {
            let place = self.place;
            if place == Place::Property {
                self.walk.path.push(name.into_owned());
            }
            map.next_value_seed(Node { walk: &mut *self.walk, place, form: Form::Schema })?;
            if place == Place::Property {
                self.walk.path.pop();
            }
        }
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Node<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<(), D::Error> {
        source.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a schema")
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, map: A) -> Result<(), A::Error> {
        self.walk.enter()?;
        match self.form {
            Form::Names => self.names(map)?,
            Form::Schema => self.keywords(map)?,
        }
        self.walk.depth -= 1;
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        self.walk.enter()?;
        match self.place {
            Place::Astray => {}
            Place::Property => "a list".clone_into(&mut self.walk.astray),
            // No schema at all.
            Place::Root => while list.next_element::<IgnoredAny>()?.is_some() {},
        }
        loop {
            let item = Node { walk: &mut *self.walk, place: Place::Astray, form: Form::Schema };
            if list.next_element_seed(item)?.is_none() {
                break;
            }
        }
        self.walk.depth -= 1;
        Ok(())
    }
}

/// What a server wrote, fit for a line of a log.
fn shown(text: &str) -> String {
    let mut shown: String = text.chars().take(MAX_SHOWN).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    format!("{shown:?}")
}

impl Kind {
    /// Reads the `type` of a property. Besides one type alone, that type or `null` will do: such
    /// an argument has a header or none (2026-07-28 does not say).
    fn of(text: &str) -> Option<Self> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Types {
            One(String),
            Several(Vec<String>),
        }

        let name = match serde_json::from_str(text).ok()? {
            Types::One(name) => name,
            Types::Several(names) => match <[String; 2]>::try_from(names).ok()? {
                [name, null] | [null, name] if null == "null" => name,
                _ => return None,
            },
        };
        match name.as_str() {
            "boolean" => Some(Self::Boolean),
            "integer" => Some(Self::Integer),
            "string" => Some(Self::String),
            _ => None,
        }
    }
}

const ANNOTATION: &str = "x-mcp-header";
const PREFIX: &str = "Mcp-Param-";
const MAX_ANNOTATIONS: usize = 256;
/// Objects and lists within each other; well below the depth at which reading itself stops.
const MAX_DEPTH: usize = 64;
const MAX_SHOWN: usize = 100;
