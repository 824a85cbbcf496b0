//! Questions of servers, put to whoever sits at the terminal.

use serde_json::{Number, Value};
use snodo::types::{Choice, ElicitResult, FieldKind, FormField, Raw};
use snodo::{Builder, Form, HandlerError, UrlRequest};
use snodo_oauth::{Opener as _, SystemBrowser};

use crate::terminal::{self, Style};
use crate::{log, safe, wait};

/// Answers forms and wishes to open a page by asking. Who has nobody to ask leaves it, and then
/// servers are not told that they may ask.
pub(crate) fn install(builder: Builder, style: Style) -> Builder {
    builder
        .on_form(move |form| async move { fill(&form, style).await })
        .on_url(move |request| async move { visit(&request, style).await })
}

/// Goes through a form field by field, and asks at last whether it is to be sent.
async fn fill(form: &Form, style: Style) -> Result<ElicitResult, HandlerError> {
    wait::stop();
    introduce(form.server_name(), form.message(), style);
    let schema = form.fields()?;
    let mut content = serde_json::Map::new();
    for field in schema.fields() {
        let Some(value) = ask_field(&field, style).await? else { return form.cancel() };
        if !value.is_null() {
            content.insert(field.name.to_owned(), value);
        }
    }
    loop {
        match line(&style.bold("send it? [Y]es, [n]o, [c]ancel: ")).await?.as_deref() {
            Some("" | "y" | "Y" | "yes") => return form.accept(&content),
            Some("n" | "N" | "no") => return form.decline(),
            Some("c" | "C" | "cancel") | None => return form.cancel(),
            Some(_) => {}
        }
    }
}

/// Shows where a page is, and opens it only when the person says so.
async fn visit(request: &UrlRequest, style: Style) -> Result<ElicitResult, HandlerError> {
    wait::stop();
    let name = request.server().map_or("the server", |s| s.title.as_deref().unwrap_or(&s.name));
    introduce(name, request.message(), style);
    log::tell(&format!(
        "It wants you to open a page at {}:",
        style.bold(&safe::line(request.host()))
    ));
    log::tell(&format!("  {}", safe::line(request.url())));
    if request.host().split('.').any(|label| label.starts_with("xn--")) {
        log::tell(
            &style
                .bad("Letters of this name are not what they look like: be sure that you know it."),
        );
    }
    match line(&style.bold("open it? [y/N]: ")).await?.as_deref() {
        Some("y" | "Y" | "yes") => {}
        Some(_) => return Ok(ElicitResult::decline()),
        None => return Ok(ElicitResult::cancel()),
    }
    if let Err(error) = SystemBrowser.open(request.url()) {
        log::tell(&format!("no browser could be started ({error}): open the page by yourself"));
    }
    Ok(ElicitResult::consent())
}

fn introduce(name: &str, message: &str, style: Style) {
    log::tell(&format!("{} asks: {}", style.bold(&safe::line(name)), safe::text(message)));
}

/// A value, null where an optional field is left out; `None` at the end of the input.
async fn ask_field(field: &FormField<'_>, style: Style) -> Result<Option<Value>, HandlerError> {
    let schema = &field.schema;
    let choices = schema.choices().unwrap_or_default();
    let default: Option<Value> = schema.default.as_ref().and_then(|raw: &Raw| raw.decode().ok());
    if let Some(about) = &schema.description {
        log::tell(&style.dim(&format!("  {}", safe::line(about))));
    }
    for (number, choice) in choices.iter().enumerate().take(MOST_CHOICES) {
        log::tell(&format!("  {} {}", number + 1, safe::line(title(choice))));
    }
    let hint = match (schema.kind(), &default) {
        (_, Some(Value::String(text))) => format!(" [{}]", safe::line(text)),
        (_, Some(value)) => format!(" [{}]", safe::line(&value.to_string())),
        (FieldKind::Boolean, None) => " [y/n]".to_owned(),
        (FieldKind::Choices, None) => " (numbers, with commas between)".to_owned(),
        (_, None) if field.is_required => String::new(),
        _ => " (optional)".to_owned(),
    };
    let name = safe::line(schema.title.as_deref().unwrap_or(field.name));
    let question = format!("{}{}: ", style.bold(&name), style.dim(&hint));
    loop {
        let Some(text) = line(&question).await? else { return Ok(None) };
        if text.is_empty() {
            match (&default, field.is_required) {
                (Some(default), _) => return Ok(Some(default.clone())),
                (None, false) => return Ok(Some(Value::Null)),
                (None, true) => {
                    log::tell(&style.bad("  it is required"));
                    continue;
                }
            }
        }
        match read(field, &choices, &text) {
            Ok(value) => return Ok(Some(value)),
            Err(wrong) => log::tell(&style.bad(&format!("  {wrong}"))),
        }
    }
}

fn title(choice: &Choice) -> &str {
    choice.title.as_deref().unwrap_or(&choice.value)
}

/// Reads what was typed as the field wants it.
///
/// # Errors
///
/// It cannot be that; the words say why.
fn read(field: &FormField<'_>, choices: &[Choice], text: &str) -> Result<Value, String> {
    let schema = &field.schema;
    match schema.kind() {
        FieldKind::Boolean => match text.to_ascii_lowercase().as_str() {
            "y" | "yes" | "true" => Ok(Value::Bool(true)),
            "n" | "no" | "false" => Ok(Value::Bool(false)),
            _ => Err("y or n".to_owned()),
        },
        FieldKind::Choice => choose(choices, text).map(Value::from),
        FieldKind::Choices => {
            let words = text.split(',').map(str::trim).filter(|word| !word.is_empty());
            let chosen = words.map(|word| choose(choices, word)).collect::<Result<Vec<_>, _>>()?;
            let count = chosen.len() as u64;
            if schema.min_items.is_some_and(|least| count < least) {
                return Err(format!("at least {} of them", schema.min_items.unwrap_or_default()));
            }
            if schema.max_items.is_some_and(|most| count > most) {
                return Err(format!("at most {} of them", schema.max_items.unwrap_or_default()));
            }
            Ok(chosen.into())
        }
        FieldKind::Integer => {
            let number: i64 = text.trim().parse().map_err(|_| "a whole number".to_owned())?;
            within(&schema.minimum, &schema.maximum, number as f64)?;
            Ok(number.into())
        }
        FieldKind::Number => {
            let number: Number =
                serde_json::from_str(text.trim()).map_err(|_| "a number".to_owned())?;
            within(&schema.minimum, &schema.maximum, number.as_f64().unwrap_or(f64::NAN))?;
            Ok(number.into())
        }
        FieldKind::Text => {
            let length = text.chars().count() as u64;
            if schema.min_length.is_some_and(|least| length < least) {
                return Err(format!(
                    "at least {} characters",
                    schema.min_length.unwrap_or_default()
                ));
            }
            if schema.max_length.is_some_and(|most| length > most) {
                return Err(format!(
                    "at most {} characters",
                    schema.max_length.unwrap_or_default()
                ));
            }
            if schema.format.as_deref() == Some("email") && !text.contains('@') {
                return Err("an address of mail".to_owned());
            }
            Ok(text.into())
        }
        _ => serde_json::from_str(text).map_err(|_| "JSON".to_owned()),
    }
}

fn choose(choices: &[Choice], word: &str) -> Result<String, String> {
    let by_number =
        word.parse::<usize>().ok().and_then(|number| choices.get(number.checked_sub(1)?));
    let by_word = || {
        choices.iter().find(|choice| choice.value == word || choice.title.as_deref() == Some(word))
    };
    let chosen = choices.iter().find(|choice| choice.value == word).or(by_number).or_else(by_word);
    let chosen = chosen.ok_or_else(|| format!("a number from 1 to {}", choices.len()))?;
    Ok(chosen.value.clone())
}

fn within(least: &Option<Number>, most: &Option<Number>, number: f64) -> Result<(), String> {
    if let Some(least) = least.as_ref().filter(|least| least.as_f64().is_some_and(|l| number < l)) {
        return Err(format!("at least {least}"));
    }
    if let Some(most) = most.as_ref().filter(|most| most.as_f64().is_some_and(|m| number > m)) {
        return Err(format!("at most {most}"));
    }
    Ok(())
}

async fn line(question: &str) -> Result<Option<String>, HandlerError> {
    terminal::ask(question)
        .await
        .map_err(|error| HandlerError::new(format!("the terminal: {error}")))
}

/// How many choices are listed; all can be made.
const MOST_CHOICES: usize = 200;

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use snodo::types::ElicitParams;

    use super::read;

    fn typed(schema: Value, text: &str) -> Result<Value, String> {
        let form = json!({ "type": "object", "properties": { "f": schema } });
        let params = ElicitParams::with_form("m", form);
        let form = params.form().expect("a form");
        let field = form.fields().next().expect("a field");
        read(&field, &field.schema.choices().unwrap_or_default(), text)
    }

    #[test]
    fn what_is_typed_is_read_as_the_field_wants_it() {
        let named = json!({ "type": "string", "enum": ["a", "2"], "enumNames": ["Ann", "Bob"] });
        let several = json!({ "type": "array", "items": { "enum": ["x", "y"] }, "minItems": 1 });
        for (schema, text, value) in [
            (json!({ "type": "string" }), "5", json!("5")),
            (json!({ "type": "integer" }), " 5", json!(5)),
            (json!({ "type": "number" }), "1.5", json!(1.5)),
            (json!({ "type": "boolean" }), "Y", json!(true)),
            (named.clone(), "1", json!("a")),
            (named.clone(), "2", json!("2")),
            (named, "Bob", json!("2")),
            (several, "2, x", json!(["y", "x"])),
        ] {
            assert_eq!(typed(schema, text), Ok(value), "{text}");
        }
    }

    #[test]
    fn what_does_not_fit_is_asked_again_with_the_reason() {
        for (schema, text, why) in [
            (json!({ "type": "integer", "minimum": 3 }), "2", "at least 3"),
            (json!({ "type": "integer", "maximum": 3 }), "4", "at most 3"),
            (json!({ "type": "integer" }), "1.5", "a whole number"),
            (json!({ "type": "number" }), "x", "a number"),
            (json!({ "type": "boolean" }), "maybe", "y or n"),
            (json!({ "type": "string", "minLength": 2 }), "x", "at least 2 characters"),
            (json!({ "type": "string", "maxLength": 2 }), "xxx", "at most 2 characters"),
            (json!({ "type": "string", "format": "email" }), "x", "an address of mail"),
            (json!({ "type": "string", "enum": ["a"] }), "b", "a number from 1 to 1"),
            (
                json!({ "type": "array", "items": { "enum": ["x"] }, "minItems": 1 }),
                "",
                "at least 1 of them",
            ),
        ] {
            assert_eq!(typed(schema, text), Err(why.to_owned()), "{text}");
        }
    }
}
