//! Lists: a name, and the first line of what is said about it.

use snodo::types::{Prompt, Resource, ResourceTemplate, Tool};

use crate::safe;
use crate::terminal::{Style, width};

pub(crate) fn tools(tools: &[Tool], style: Style) -> String {
    rows(
        style,
        tools.iter().map(|tool| {
            let title = tool.annotations().title;
            let about = [tool.description.as_deref(), tool.title.as_deref(), title.as_deref()];
            Row::new(&tool.name, &about)
        }),
    )
}

pub(crate) fn prompts(prompts: &[Prompt], style: Style) -> String {
    rows(
        style,
        prompts.iter().map(|prompt| {
            Row::new(&prompt.name, &[prompt.description.as_deref(), prompt.title.as_deref()])
        }),
    )
}

pub(crate) fn resources(resources: &[Resource], style: Style) -> String {
    rows(
        style,
        resources.iter().map(|resource| {
            let about = [resource.description.as_deref(), resource.title.as_deref()];
            Row::new(&resource.uri, &[&about[..], &[Some(&resource.name)]].concat())
        }),
    )
}

pub(crate) fn templates(templates: &[ResourceTemplate], style: Style) -> String {
    rows(
        style,
        templates.iter().map(|template| {
            let about = [template.description.as_deref(), template.title.as_deref()];
            Row::new(&template.uri_template, &[&about[..], &[Some(&template.name)]].concat())
        }),
    )
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

/// Aligns the second column behind the longest name of common length. At a terminal a line is not
/// longer than that is wide.
fn rows(style: Style, rows: impl Iterator<Item = Row>) -> String {
    let rows: Vec<Row> = rows.collect();
    let widths = rows.iter().map(|row| width(&row.name));
    let widest = style.width.map_or(WIDEST, |width| WIDEST.min(width / 2));
    let column = widths.filter(|width| *width <= widest).max().unwrap_or_default();
    let mut lines = String::new();
    for Row { name, about } in rows {
        let padding = column.saturating_sub(width(&name));
        let about = style.fit(&about, width(&name).max(column) + 2);
        let line = format!("{}{}  {about}", style.bold(&name), " ".repeat(padding));
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
    use crate::terminal::{Style, width};

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
        assert_eq!(tools(&list, Style::default()), expected);
        assert_eq!(prompts(&[Prompt::new("p\nq")], Style::default()), "p\\nq\n");
        assert_eq!(resources(&[Resource::new("a:b", "name")], Style::default()), "a:b  name\n");
        assert_eq!(tools(&[], Style::default()), "");
    }

    #[test]
    fn at_a_terminal_no_line_is_wider_than_it() {
        let long = "many words ".repeat(30);
        let list = [
            Tool::new("add", json!({})).with_description(&*long),
            Tool::new("世界", json!({})).with_description("wide"),
        ];
        let shown = tools(&list, Style { width: Some(40), colour: true });
        assert!(shown.lines().all(|line| width(line) <= 40), "{shown}");
        assert!(shown.contains('…') && shown.contains("\u{1b}[1madd"), "{shown:?}");
        let columns: Vec<_> = tools(&list, Style::default())
            .lines()
            .map(|line| width(&line[..line.find(['m', 'w']).expect("words")]))
            .collect();
        assert_eq!(columns, [6, 6]);
    }
}
