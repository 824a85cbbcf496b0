//! What was expected, in words that hold nothing of the value.

use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::{JsonType, ValidationError};

/// What the schema wants at the place.
pub(crate) fn expected(error: &ValidationError<'_>) -> String {
    let text = match error.kind() {
        Kind::AdditionalItems { limit } => format!("at most {limit} items"),
        Kind::AdditionalProperties { .. } | Kind::UnevaluatedProperties { .. } => {
            NO_OTHER_PROPERTY.to_owned()
        }
        Kind::AnyOf { .. } => "one of the alternatives of `anyOf`".to_owned(),
        Kind::Constant { expected_value } => format!("the value {expected_value}"),
        Kind::Contains => "an item that `contains` names".to_owned(),
        Kind::Enum { options } => format!("one of {options}"),
        Kind::ExclusiveMaximum { limit } => format!("less than {limit}"),
        Kind::ExclusiveMinimum { limit } => format!("more than {limit}"),
        // The library reports the object where it forbids every property.
        Kind::FalseSchema if error.schema_path().as_str().ends_with("/additionalProperties") => {
            NO_OTHER_PROPERTY.to_owned()
        }
        Kind::FalseSchema => "nothing here".to_owned(),
        Kind::MaxItems { limit } => format!("at most {limit} items"),
        Kind::Maximum { limit } => format!("at most {limit}"),
        Kind::MaxLength { limit } => format!("at most {limit} characters"),
        Kind::MaxProperties { limit } => format!("at most {limit} properties"),
        Kind::MinItems { limit } => format!("at least {limit} items"),
        Kind::Minimum { limit } => format!("at least {limit}"),
        Kind::MinLength { limit } => format!("at least {limit} characters"),
        Kind::MinProperties { limit } => format!("at least {limit} properties"),
        Kind::MultipleOf { multiple_of } => format!("a multiple of {multiple_of}"),
        Kind::Not { .. } => "anything but what `not` names".to_owned(),
        Kind::OneOfMultipleValid { .. } => "one alternative of `oneOf`, and not two".to_owned(),
        Kind::OneOfNotValid { .. } => "one of the alternatives of `oneOf`".to_owned(),
        Kind::Pattern { pattern } => format!("a text that matches {pattern}"),
        Kind::PropertyNames { error } => {
            format!("names of properties as in: {}", expected(error))
        }
        Kind::Required { property } => match property.as_str() {
            Some(name) => format!("a property `{name}`"),
            None => format!("a property {property}"),
        },
        Kind::Type { kind: TypeKind::Single(one) } => word(*one).to_owned(),
        Kind::Type { kind: TypeKind::Multiple(several) } => {
            several.iter().map(word).collect::<Vec<_>>().join(" or ")
        }
        Kind::UnevaluatedItems { .. } => "no item beyond those of the schema".to_owned(),
        Kind::UniqueItems => "no item twice".to_owned(),
        other => format!("what `{}` says", other.keyword()),
    };
    shortened(&text)
}

/// A pointer that is too long loses its middle: both ends tell most.
pub(crate) fn pointer(pointer: &str) -> String {
    let count = pointer.chars().count();
    if count <= MOST {
        return printable(pointer.chars());
    }
    let half = MOST / 2;
    let (first, last) = (pointer.chars().take(half), pointer.chars().skip(count - half));
    format!("{}…{}", printable(first), printable(last))
}

/// As much as fits a line, without control characters.
pub(crate) fn shortened(text: &str) -> String {
    let mut short = printable(text.chars().take(MOST));
    if text.chars().nth(MOST).is_some() {
        short.push('…');
    }
    short
}

fn printable(text: impl Iterator<Item = char>) -> String {
    text.map(|character| if character.is_control() { '\u{fffd}' } else { character }).collect()
}

fn word(kind: JsonType) -> &'static str {
    match kind {
        JsonType::Array => "array",
        JsonType::Boolean => "boolean",
        JsonType::Integer => "integer",
        JsonType::Null => "null",
        JsonType::Number => "number",
        JsonType::Object => "object",
        JsonType::String => "string",
    }
}

const NO_OTHER_PROPERTY: &str = "no property beyond those of the schema";

const MOST: usize = 200;
