//! The schemas of forms: flat, and of primitive fields only.

use serde_json::Number;

use crate::object::object;
use crate::{Members, Raw};

/// The schema of a form.
///
/// ```
/// use snodo_types::{FieldKind, FormSchema};
///
/// let schema: FormSchema = serde_json::from_str(
///     r#"{"type":"object","properties":{"b":{"type":"boolean"},"a":{"enum":["x","y"]}},
///         "required":["a"]}"#,
/// )?;
/// let fields: Vec<_> = schema.fields().collect();
/// assert_eq!((fields[0].name, fields[0].is_required), ("b", false));
/// assert_eq!((fields[1].name, fields[1].is_required), ("a", true));
/// assert_eq!(fields[1].schema.kind(), FieldKind::Choice);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FormSchema {
    /// The dialect (`$schema`); absent means JSON Schema 2020-12.
    pub dialect: Option<String>,
    /// The type, `object`.
    pub json_type: Option<String>,
    /// The fields, in the server's order, as they came; read by [`fields`](Self::fields).
    pub properties: Members,
    /// Which fields have to be filled in.
    pub required: Option<Vec<String>>,
    /// Members without a name here.
    pub other: Members,
}

/// A field of a form.
///
/// ```
/// # use snodo_types::FormSchema;
/// let schema: FormSchema =
///     serde_json::from_str(r#"{"properties":{"age":{"type":"integer","title":"Age"}}}"#)?;
/// let age = schema.fields().next().expect("a field");
/// assert_eq!(age.schema.title.as_deref(), Some("Age"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FormField<'a> {
    /// The name for programs.
    pub name: &'a str,
    /// Whether it has to be filled in.
    pub is_required: bool,
    /// What it may be filled in with.
    pub schema: PrimitiveSchema,
}

/// What a field may be filled in with.
///
/// ```
/// use snodo_types::PrimitiveSchema;
///
/// let size: PrimitiveSchema =
///     serde_json::from_str(r#"{"type":"number","minimum":0.5,"default":36.5}"#)?;
/// assert_eq!(size.minimum.expect("told").as_f64(), Some(0.5));
/// assert_eq!(size.default.expect("told").text(), "36.5");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PrimitiveSchema {
    /// The type: `string`, `number`, `integer`, `boolean`, or `array` for several choices.
    pub json_type: Option<String>,
    /// The name for people.
    pub title: Option<String>,
    /// What it is.
    pub description: Option<String>,
    /// What it is filled in with to start with.
    pub default: Option<Raw>,
    /// Text: the fewest characters.
    pub min_length: Option<u64>,
    /// Text: the most characters.
    pub max_length: Option<u64>,
    /// Text: `email`, `uri`, `date`, `date-time`, or one that is not known here.
    pub format: Option<String>,
    /// Number: the least; it may be a fraction.
    pub minimum: Option<Number>,
    /// Number: the greatest; it may be a fraction.
    pub maximum: Option<Number>,
    /// Choice: the values; read by [`choices`](Self::choices).
    pub values: Option<Vec<String>>,
    /// Choice, in the older way: the names of the values for people, in the same order.
    pub value_names: Option<Vec<String>>,
    /// Choice: values with their names.
    pub one_of: Option<Vec<Choice>>,
    /// Several choices: of which each is one.
    pub items: Option<EnumItems>,
    /// Several choices: the fewest.
    pub min_items: Option<u64>,
    /// Several choices: the most.
    pub max_items: Option<u64>,
    /// Members without a name here.
    pub other: Members,
}

/// What each of several choices is one of.
///
/// ```
/// use snodo_types::EnumItems;
///
/// let items: EnumItems = serde_json::from_str(r#"{"type":"string","enum":["x"]}"#)?;
/// assert_eq!(items.values.expect("told"), ["x"]);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EnumItems {
    /// The type, `string`.
    pub json_type: Option<String>,
    /// The values.
    pub values: Option<Vec<String>>,
    /// Values with their names.
    pub any_of: Option<Vec<Choice>>,
    /// Members without a name here.
    pub other: Members,
}

/// A value that can be chosen, and its name for people.
///
/// ```
/// use snodo_types::Choice;
///
/// let red: Choice = serde_json::from_str(r##"{"const":"#f00","title":"Red"}"##)?;
/// assert_eq!((red.value.as_str(), red.title()), ("#f00", "Red"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Choice {
    /// The value.
    pub value: String,
    /// Its name for people.
    pub title: Option<String>,
    /// Members without a name here.
    pub other: Members,
}

/// What kind of field it is.
///
/// ```
/// use snodo_types::{FieldKind, PrimitiveSchema};
/// assert_eq!(PrimitiveSchema::default().kind(), FieldKind::Other);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FieldKind {
    /// Yes or no.
    Boolean,
    /// One of several values.
    Choice,
    /// Any number of several values.
    Choices,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// Something that is not known here; the raw schema tells.
    Other,
    /// Text.
    Text,
}

impl FormSchema {
    /// The fields, in the server's order. One whose schema is no object is of the kind
    /// [`Other`](FieldKind::Other).
    pub fn fields(&self) -> impl Iterator<Item = FormField<'_>> {
        self.properties.iter().map(|(name, schema)| FormField {
            name,
            is_required: self.required.iter().flatten().any(|required| required == name),
            schema: schema.decode().unwrap_or_default(),
        })
    }
}

impl PrimitiveSchema {
    /// What kind of field it is.
    #[must_use]
    pub fn kind(&self) -> FieldKind {
        match self.json_type.as_deref() {
            Some("array") if self.choices().is_some() => FieldKind::Choices,
            None | Some("string") if self.choices().is_some() => FieldKind::Choice,
            Some("boolean") => FieldKind::Boolean,
            Some("integer") => FieldKind::Integer,
            Some("number") => FieldKind::Number,
            Some("string") => FieldKind::Text,
            _ => FieldKind::Other,
        }
    }

    /// What can be chosen, in whichever of the five ways it was written.
    #[must_use]
    pub fn choices(&self) -> Option<Vec<Choice>> {
        let items = self.items.as_ref();
        let titled = self.one_of.as_ref().or_else(|| items?.any_of.as_ref());
        if let Some(titled) = titled {
            return Some(titled.clone());
        }
        let values = self.values.as_ref().or_else(|| items?.values.as_ref())?;
        let names = self.value_names.as_deref().unwrap_or_default();
        let choice = |(place, value): (usize, &String)| Choice {
            value: value.clone(),
            title: names.get(place).cloned(),
            other: Members::new(),
        };
        Some(values.iter().enumerate().map(choice).collect())
    }
}

impl Choice {
    /// The name to show: the title, or else the value.
    #[must_use]
    pub fn title(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.value)
    }
}

object! {
    impl FormSchema {
        optional dialect: "$schema",
        optional json_type: "type",
        required properties: "properties",
        optional required: "required";
        other
    }
}

object! {
    impl PrimitiveSchema {
        optional json_type: "type",
        optional title: "title",
        optional description: "description",
        any default: "default",
        optional min_length: "minLength",
        optional max_length: "maxLength",
        optional format: "format",
        optional minimum: "minimum",
        optional maximum: "maximum",
        optional values: "enum",
        optional value_names: "enumNames",
        optional one_of: "oneOf",
        optional items: "items",
        optional min_items: "minItems",
        optional max_items: "maxItems";
        other
    }
}

object! {
    impl EnumItems {
        optional json_type: "type",
        optional values: "enum",
        optional any_of: "anyOf";
        other
    }
}

object! {
    impl Choice {
        required value: "const",
        optional title: "title";
        other
    }
}

#[cfg(test)]
mod tests {
    use super::{FieldKind, FormSchema, PrimitiveSchema};

    fn field(text: &str) -> PrimitiveSchema {
        serde_json::from_str(text).expect("a schema")
    }

    // ELI-04
    #[test]
    fn the_five_ways_to_write_choices_say_the_same() {
        let ways = [
            (r#"{"type":"string","enum":["a","b"]}"#, FieldKind::Choice, ["a", "b"]),
            (
                r#"{"type":"string","enum":["a","b"],"enumNames":["A","B"]}"#,
                FieldKind::Choice,
                ["A", "B"],
            ),
            (
                r#"{"type":"string","oneOf":[{"const":"a","title":"A"},{"const":"b","title":"B"}]}"#,
                FieldKind::Choice,
                ["A", "B"],
            ),
            (
                r#"{"type":"array","items":{"type":"string","enum":["a","b"]}}"#,
                FieldKind::Choices,
                ["a", "b"],
            ),
            (
                r#"{"type":"array","items":{"anyOf":[{"const":"a","title":"A"},{"const":"b","title":"B"}]}}"#,
                FieldKind::Choices,
                ["A", "B"],
            ),
        ];
        for (text, kind, titles) in ways {
            let schema = field(text);
            let choices = schema.choices().expect("choices");
            assert_eq!(schema.kind(), kind, "{text}");
            assert_eq!([choices[0].value.as_str(), choices[1].value.as_str()], ["a", "b"]);
            assert_eq!([choices[0].title(), choices[1].title()], titles, "{text}");
        }
    }

    // ELI-05
    #[test]
    fn bounds_and_defaults_may_be_fractions_and_keep_their_digits() {
        for text in [
            r#"{"type":"number","default":0.1,"minimum":-0.5,"maximum":9007199254740993}"#,
            r#"{"type":"integer","default":null,"minimum":1,"maximum":18446744073709551615}"#,
        ] {
            let schema = field(text);
            assert!(schema.other.is_empty(), "{schema:?}");
            let again = serde_json::to_value(&schema).expect("JSON");
            assert_eq!(again, serde_json::from_str::<serde_json::Value>(text).expect("JSON"));
        }
    }

    // ELI-17, SRV-15
    #[test]
    fn what_is_not_known_of_a_field_stays_with_it() {
        let text = r#"{"type":"object","properties":{
            "z":{"type":"string","format":"passport","pattern":"^[A-Z]"},"a":{"type":"object"},"m":true}}"#;
        let schema: FormSchema = serde_json::from_str(text).expect("a schema");
        let kinds: Vec<_> =
            schema.fields().map(|field| (field.name, field.schema.kind())).collect();
        assert_eq!(
            kinds,
            [("z", FieldKind::Text), ("a", FieldKind::Other), ("m", FieldKind::Other)]
        );
        assert_eq!(schema.properties.get("m").expect("kept").text(), "true");
        let first = schema.fields().next().expect("a field").schema;
        assert_eq!(first.other.get("pattern").expect("kept").text(), r#""^[A-Z]""#);
    }
}
