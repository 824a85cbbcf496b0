//! Lists: a name, and the first line of what is said about it.

use snodo::types::{Prompt, Resource, ResourceTemplate, Tool};

use crate::safe;

pub(crate) fn tools(tools: &[Tool]) -> String {
    rows(tools.iter().map(|tool| {
        let title = tool.annotations().title;
        let about = [tool.description.as_deref(), tool.title.as_deref(), title.as_deref()];
        Row::new(&tool.name, &about)
    }))
}

pub(crate) fn prompts(prompts: &[Prompt]) -> String {
    rows(prompts.iter().map(|prompt| {
        Row::new(&prompt.name, &[prompt.description.as_deref(), prompt.title.as_deref()])
    }))
}

pub(crate) fn resources(resources: &[Resource]) -> String {
    rows(resources.iter().map(|resource| {
        let about = [resource.description.as_deref(), resource.title.as_deref()];
        Row::new(&resource.uri, &[&about[..], &[Some(&resource.name)]].concat())
    }))
}

pub(crate) fn templates(templates: &[ResourceTemplate]) -> String {
    rows(templates.iter().map(|template| {
        let about = [template.description.as_deref(), template.title.as_deref()];
        Row::new(&template.uri_template, &[&about[..], &[Some(&template.name)]].concat())
    }))
}

struct Row {
    name: String,
    about: String,
}

impl Row {
    /// Takes the first line of the first text that has one.
    fn new(name: &str, about: &[Option<&str>]) -> Self {
        let mut lines = about.iter().flatten().flat_map(|text| text.lines()).map(str::trim);
        let about = lines.find(|line| !line.is_empty()).unwrap_or_default();
        Self { name: safe::line(name).into_owned(), about: safe::line(about).into_owned() }
    }
}

/// Aligns the second column behind the longest name of common length.
fn rows(rows: impl Iterator<Item = Row>) -> String {
    let rows: Vec<Row> = rows.collect();
    let widths = rows.iter().map(|row| row.name.chars().count());
    let width = widths.filter(|width| *width <= WIDEST).max().unwrap_or_default();
    let mut lines = String::new();
    for Row { name, about } in rows {
        let line = format!("{name:width$}  {about}");
        lines.push_str(line.trim_end());
        lines.push('\n');
    }
    lines
}

/// A longer name pushes its own line out, not those of all others.
const WIDEST: usize = 60;

#[cfg(test)]
mod tests {
    use serde_json::json;
    use snodo::types::{Prompt, Resource, Tool};

    use super::{prompts, resources, tools};

    #[test]
    fn names_are_aligned_and_followed_by_one_line() {
        let list = [
            Tool::new("add", json!({})).with_description("\n  Adds numbers.  \nAll of them."),
            Tool::new("a-tool\u{1b}[1m", json!({})).with_title("A title"),
            Tool::new("bare", json!({})),
            Tool::new("x".repeat(70), json!({})).with_description("long"),
        ];
        let long = "x".repeat(70);
        let expected = format!(
            "add              Adds numbers.\na-tool\\u{{1b}}[1m  A title\nbare\n{long}  long\n"
        );
        assert_eq!(tools(&list), expected);
        assert_eq!(prompts(&[Prompt::new("p\nq")]), "p\\nq\n");
        assert_eq!(resources(&[Resource::new("a:b", "name")]), "a:b  name\n");
        assert_eq!(tools(&[]), "");
    }
}
