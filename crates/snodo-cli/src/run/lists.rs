//! Whole lists.

use snodo::types::{ErrorObject, Item, Page, Raw};
use snodo::{Client, Error};

use super::{Answer, Form, document};
use crate::print;
use crate::settings::Settings;
use crate::terminal::Style;

pub(super) async fn prompts(client: &Client, settings: &Settings) -> Result<Answer, Error> {
    answer(client.list_prompts().await?, settings, print::prompts, "the server lists no prompts")
}

pub(super) async fn resources(client: &Client, settings: &Settings) -> Result<Answer, Error> {
    answer(
        client.list_resources().await?,
        settings,
        print::resources,
        "the server lists no resources",
    )
}

pub(super) async fn templates(client: &Client, settings: &Settings) -> Result<Answer, Error> {
    let templates = client.list_resource_templates().await?;
    answer(templates, settings, print::templates, "the server lists no templates of resources")
}

pub(super) async fn tools(client: &Client, settings: &Settings) -> Result<Answer, Error> {
    answer(client.list_tools().await?, settings, print::tools, "the server lists no tools")
}

/// One tool: what it does and takes.
pub(super) async fn tool(
    client: &Client,
    name: &str,
    settings: &Settings,
) -> Result<Answer, Error> {
    let tools = client.list_tools().await?;
    let Some(tool) = tools.iter().find(|tool| tool.name == name) else {
        let text = format!("the server lists no tool {name:?}");
        return Err(ErrorObject::new(ErrorObject::INVALID_PARAMS, text).into());
    };
    let raw = Raw::of(tool).map_err(|error| Error::decode(error.to_string()))?;
    Ok(settings.form().answer(raw.text(), || print::signature(tool, settings.terminal.output)))
}

fn answer<T: Item>(
    items: Vec<T>,
    settings: &Settings,
    shown: fn(&[T], Style) -> String,
    none: &'static str,
) -> Result<Answer, Error> {
    let remark = items.is_empty().then(|| none.to_owned());
    let text = match settings.form() {
        Form::People => shown(&items, settings.terminal.output),
        Form::Json => {
            let page = Raw::of(&Page::new(items));
            document(page.map_err(|error| Error::decode(error.to_string()))?.text())
        }
    };
    Ok(Answer { remark, ..Answer::new(text) })
}
