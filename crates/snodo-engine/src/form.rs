//! Filling in a form, and checking what was filled in.

use serde_json::{Map, Number, Value};
use snodo_types::{FieldKind, FormSchema, PrimitiveSchema, Raw};

/// Fills the defaults of a schema into what the user left out.
///
/// What the schema says beyond flat, primitive fields is left alone.
///
/// # Errors
///
/// The content is not an object, or the schema is none of a form.
///
/// ```
/// use snodo_engine::fill_defaults;
/// use snodo_types::Raw;
///
/// let schema = Raw::parse(r#"{"type":"object","properties":{"age":{"type":"integer","default":30}}}"#)?;
/// assert_eq!(fill_defaults(&schema, &Raw::empty_object()).expect("a form").text(), r#"{"age":30}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn fill_defaults(schema: &Raw, content: &Raw) -> Result<Raw, String> {
    let form = read(schema)?;
    let mut given = object(content)?;
    for field in form.fields() {
        if let (Some(default), None) = (&field.schema.default, given.get(field.name)) {
            let default = default.decode().map_err(|error| error.to_string())?;
            given.insert(field.name.to_owned(), default);
        }
    }
    Ok(Value::Object(given).into())
}

/// Checks the content of an accepted form: what is required is there, and every field that the
/// schema knows holds what it asks for. Formats are checked by their outline.
pub(crate) fn check(schema: &Raw, content: &Raw) -> Result<(), String> {
    let form = read(schema)?;
    let given = object(content)?;
    for field in form.fields() {
        match given.get(field.name) {
            Some(value) => check_field(&field.schema, value)
                .map_err(|why| format!("{:?} {why}", field.name))?,
            None if field.is_required => return Err(format!("{:?} is required", field.name)),
            None => {}
        }
    }
    match given.iter().find(|(_, value)| !is_plain(value)) {
        Some((name, _)) => {
            Err(format!("{name:?} is neither text, number, truth value nor a list of texts"))
        }
        None => Ok(()),
    }
}

fn read(schema: &Raw) -> Result<FormSchema, String> {
    schema.decode().map_err(|error| format!("the schema is none of a form: {error}"))
}

fn object(content: &Raw) -> Result<Map<String, Value>, String> {
    content.decode().map_err(|_| "the content of a form is an object".to_owned())
}

fn is_plain(value: &Value) -> bool {
    match value {
        Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
        Value::Array(items) => items.iter().all(Value::is_string),
        Value::Null | Value::Object(_) => false,
    }
}

fn check_field(schema: &PrimitiveSchema, value: &Value) -> Result<(), String> {
    match (schema.kind(), value) {
        (FieldKind::Boolean, Value::Bool(_)) | (FieldKind::Other, _) => Ok(()),
        (FieldKind::Choice, Value::String(text)) => check_choice(schema, text),
        (FieldKind::Choices, Value::Array(items)) => check_choices(schema, items),
        (FieldKind::Integer, Value::Number(number)) if !is_whole(number) => {
            Err("is not a whole number".to_owned())
        }
        (FieldKind::Integer | FieldKind::Number, Value::Number(number)) => {
            check_number(schema, number)
        }
        (FieldKind::Text, Value::String(text)) => check_text(schema, text),
        (kind, _) => Err(format!("is no value for a field of kind {kind:?}")),
    }
}

fn check_choice(schema: &PrimitiveSchema, text: &str) -> Result<(), String> {
    let choices = schema.choices().unwrap_or_default();
    if choices.iter().any(|choice| choice.value == text) {
        Ok(())
    } else {
        // What the user said goes into no log.
        Err("is none of the choices".to_owned())
    }
}

fn check_choices(schema: &PrimitiveSchema, items: &[Value]) -> Result<(), String> {
    let count = items.len() as u64;
    if schema.min_items.is_some_and(|least| count < least)
        || schema.max_items.is_some_and(|most| count > most)
    {
        return Err(format!("may not have {count} items"));
    }
    items.iter().try_for_each(|item| match item {
        Value::String(text) => check_choice(schema, text),
        _ => Err("holds something other than texts".to_owned()),
    })
}

fn check_number(schema: &PrimitiveSchema, number: &Number) -> Result<(), String> {
    let value = number.as_f64().unwrap_or(f64::NAN);
    let bound = |bound: &Option<Number>| bound.as_ref().and_then(Number::as_f64);
    if bound(&schema.minimum).is_some_and(|least| value < least) {
        return Err(format!("is less than {:?}", schema.minimum));
    }
    if bound(&schema.maximum).is_some_and(|most| value > most) {
        return Err(format!("is more than {:?}", schema.maximum));
    }
    Ok(())
}

fn is_whole(number: &Number) -> bool {
    // Of an integer too large for it the nearest float is whole as well.
    number.as_f64().is_some_and(|value| value.fract() == 0.0)
}

fn check_text(schema: &PrimitiveSchema, text: &str) -> Result<(), String> {
    let length = text.chars().count() as u64;
    if schema.min_length.is_some_and(|least| length < least)
        || schema.max_length.is_some_and(|most| length > most)
    {
        return Err(format!("may not be {length} characters long"));
    }
    let fits = match schema.format.as_deref() {
        Some("email") => is_email(text),
        Some("uri") => {
            text.split_once(':').is_some_and(|(scheme, rest)| is_scheme(scheme) && !rest.is_empty())
        }
        Some("date") => is_date(text),
        Some("date-time") => {
            text.split_once(['T', 't']).is_some_and(|(date, time)| is_date(date) && is_time(time))
        }
        _ => true,
    };
    if fits { Ok(()) } else { Err(format!("is no {}", schema.format.as_deref().unwrap_or("text"))) }
}

fn is_email(text: &str) -> bool {
    let plain = !text.chars().any(char::is_whitespace);
    plain && text.rsplit_once('@').is_some_and(|(name, host)| !name.is_empty() && !host.is_empty())
}

fn is_scheme(scheme: &str) -> bool {
    let letters = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    scheme.starts_with(|first: char| first.is_ascii_alphabetic()) && scheme.bytes().all(letters)
}

fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts.as_slice() else { return false };
    let number = |part: &str, digits: usize| {
        (part.len() == digits).then(|| part.parse::<u32>().ok()).flatten()
    };
    number(year, 4).is_some()
        && number(month, 2).is_some_and(|month| (1..=12).contains(&month))
        && number(day, 2).is_some_and(|day| (1..=31).contains(&day))
}

fn is_time(text: &str) -> bool {
    let clock = text.trim_end_matches(['Z', 'z']);
    let clock = clock.split_once(['+', '-']).map_or(clock, |(clock, _)| clock);
    let zoned = text.len() > clock.len();
    let whole = clock.split_once('.').map_or(clock, |(whole, _)| whole);
    let parts: Vec<&str> = whole.split(':').collect();
    zoned
        && parts.len() == 3
        && parts.iter().all(|part| part.len() == 2 && part.parse::<u8>().is_ok())
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use snodo_types::Raw;

    use super::{check, fill_defaults};

    fn schema() -> Raw {
        json!({
            "type": "object",
            "properties": {
                "name": { "type": "string", "default": "John Doe", "maxLength": 10 },
                "age": { "type": "integer", "minimum": 18, "default": 30 },
                "score": { "type": "number", "default": 95.5 },
                "status": { "type": "string", "enum": ["active", "inactive"], "default": "active" },
                "tags": { "type": "array", "items": { "type": "string", "enum": ["a", "b"] }, "maxItems": 1 },
                "mail": { "type": "string", "format": "email" },
                "verified": { "type": "boolean", "default": true }
            },
            "required": ["name"]
        })
        .into()
    }

    // ELI-07
    #[test]
    fn defaults_fill_what_was_left_out_and_nothing_else() {
        let filled = fill_defaults(&schema(), &json!({ "age": 44 }).into()).expect("a form");
        let filled: serde_json::Value = filled.decode().expect("an object");
        let wanted = json!({ "name": "John Doe", "age": 44, "score": 95.5, "status": "active", "verified": true });
        assert_eq!(filled, wanted);
    }

    // ELI-08
    #[test]
    fn content_that_breaks_the_schema_is_refused_with_the_field_s_name() {
        let right =
            json!({ "name": "Ada", "tags": ["a"], "mail": "ada@example.com", "extra": 1.5 });
        assert_eq!(check(&schema(), &right.into()), Ok(()));
        let wrong = [
            (json!({}), "name"),
            (json!({ "name": "much too long" }), "name"),
            (json!({ "name": "Ada", "age": 3 }), "age"),
            (json!({ "name": "Ada", "age": 20.5 }), "age"),
            (json!({ "name": "Ada", "status": "gone" }), "status"),
            (json!({ "name": "Ada", "tags": ["a", "b"] }), "tags"),
            (json!({ "name": "Ada", "tags": ["c"] }), "tags"),
            (json!({ "name": "Ada", "mail": "ada" }), "mail"),
            (json!({ "name": "Ada", "verified": "yes" }), "verified"),
            (json!({ "name": "Ada", "extra": {} }), "extra"),
            (json!([]), "object"),
        ];
        for (content, field) in wrong {
            let why = check(&schema(), &content.clone().into()).expect_err("wrong");
            assert!(why.contains(field), "{content}: {why}");
        }
    }

    #[test]
    fn formats_are_checked_by_their_outline() {
        let form = |format: &str| {
            let schema = json!({ "type": "object", "properties": { "x": { "type": "string", "format": format } } });
            move |text: &str| check(&schema.clone().into(), &json!({ "x": text }).into()).is_ok()
        };
        let (date, time, uri) = (form("date"), form("date-time"), form("uri"));
        assert!(date("2026-11-30") && !date("30.11.2026") && !date("2026-13-01"));
        assert!(
            time("2026-11-30T10:00:00Z")
                && time("2026-11-30T10:00:00.5+01:00")
                && !time("2026-11-30T10:00:00")
        );
        assert!(uri("mailto:ada@example.com") && !uri("example.com") && !uri(":x"));
        assert!(form("unheard-of")("anything"));
    }

    // ELI-04, ELI-05
    #[test]
    fn bounds_are_part_of_what_fits() {
        let fits = |field: &serde_json::Value, value: serde_json::Value| {
            let schema = json!({ "type": "object", "properties": { "x": field } });
            check(&schema.into(), &json!({ "x": value }).into()).is_ok()
        };
        let number = json!({ "type": "number", "minimum": 1.5, "maximum": 3 });
        for (value, right) in [(1.4, false), (1.5, true), (2.0, true), (3.0, true), (3.1, false)] {
            assert_eq!(fits(&number, json!(value)), right, "{value}");
        }
        let integer = json!({ "type": "integer" });
        for value in
            [json!(0), json!(-7), json!(i64::MIN), json!(u64::MAX), json!(4.0), json!(1e300)]
        {
            assert!(fits(&integer, value.clone()), "{value}");
        }
        for value in [json!(0.5), json!(-7.25), json!("7"), json!(true)] {
            assert!(!fits(&integer, value.clone()), "{value}");
        }
        let text = json!({ "type": "string", "minLength": 2, "maxLength": 3 });
        for (value, right) in
            [("", false), ("é", false), ("éé", true), ("ééé", true), ("éééé", false)]
        {
            assert_eq!(fits(&text, json!(value)), right, "{value}");
        }
        let items = json!({ "type": "string", "enum": ["a", "b"] });
        let choices = json!({ "type": "array", "items": items, "minItems": 1, "maxItems": 2 });
        for (value, right) in [
            (json!([]), false),
            (json!(["a"]), true),
            (json!(["a", "b"]), true),
            (json!(["a", "b", "a"]), false),
            (json!([7]), false),
        ] {
            assert_eq!(fits(&choices, value.clone()), right, "{value}");
        }
    }

    #[test]
    fn what_only_looks_like_a_format_is_refused() {
        let fits = |format: &str, text: &str| {
            let field = json!({ "type": "string", "format": format });
            let schema = json!({ "type": "object", "properties": { "x": field } });
            check(&schema.into(), &json!({ "x": text }).into()).is_ok()
        };
        let right = [
            ("email", "a@b"),
            ("email", "a@b@c"),
            ("uri", "a+b-c.1:x"),
            ("date", "2026-12-31"),
            ("date", "2026-01-01"),
            ("date-time", "2026-01-01t23:59:59z"),
            ("date-time", "2026-01-01T00:00:00-08:00"),
            ("date-time", "2026-01-01T00:00:00.123Z"),
        ];
        let wrong = [
            ("email", "@b"),
            ("email", "a@"),
            ("email", "a b@c"),
            ("email", "ab"),
            ("uri", "a:"),
            ("uri", "1a:x"),
            ("uri", "a_b:x"),
            ("uri", ""),
            ("date", "2026-00-01"),
            ("date", "2026-13-01"),
            ("date", "2026-01-00"),
            ("date", "2026-01-32"),
            ("date", "26-01-01"),
            ("date", "2026-1-01"),
            ("date", "2026-01-1"),
            ("date", "2026-01-01-01"),
            ("date-time", "2026-01-01 00:00:00Z"),
            ("date-time", "2026-01-01T00:00Z"),
            ("date-time", "2026-01-01T00:00:0Z"),
            ("date-time", "2026-01-01T0x:00:00Z"),
            ("date-time", "2026-01-01T00:00:00"),
            ("date-time", "2026-13-01T00:00:00Z"),
        ];
        right.iter().for_each(|(format, text)| assert!(fits(format, text), "{text} is a {format}"));
        wrong
            .iter()
            .for_each(|(format, text)| assert!(!fits(format, text), "{text} is no {format}"));
    }
}
