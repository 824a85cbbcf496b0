//! Whole lists.

use snodo::types::{Item, Page, Raw};
use snodo::{Client, Error};

use super::{Answer, Form, document};
use crate::print;

pub(super) async fn prompts(client: &Client, form: Form) -> Result<Answer, Error> {
    answer(client.list_prompts().await?, form, print::prompts, "the server lists no prompts")
}

pub(super) async fn resources(client: &Client, form: Form) -> Result<Answer, Error> {
    answer(client.list_resources().await?, form, print::resources, "the server lists no resources")
}

pub(super) async fn templates(client: &Client, form: Form) -> Result<Answer, Error> {
    let templates = client.list_resource_templates().await?;
    answer(templates, form, print::templates, "the server lists no templates of resources")
}

pub(super) async fn tools(client: &Client, form: Form) -> Result<Answer, Error> {
    answer(client.list_tools().await?, form, print::tools, "the server lists no tools")
}

fn answer<T: Item>(
    items: Vec<T>,
    form: Form,
    shown: fn(&[T]) -> String,
    none: &'static str,
) -> Result<Answer, Error> {
    let remark = items.is_empty().then_some(none);
    let text = match form {
        Form::People => shown(&items),
        Form::Json => {
            let page = Raw::of(&Page::new(items));
            document(page.map_err(|error| Error::decode(error.to_string()))?.text())
        }
    };
    Ok(Answer { remark, ..Answer::new(text) })
}
