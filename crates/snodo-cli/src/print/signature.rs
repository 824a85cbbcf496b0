//! One tool: what it does, and what it takes.

use snodo::types::Tool;

use crate::arguments;
use crate::safe;
use crate::terminal::{Style, width};

/// Its description, and a line for each argument: name, kinds, whether it is required, what it is.
pub(crate) fn signature(tool: &Tool, style: Style) -> String {
    let mut lines = format!("{}\n", style.bold(&safe::line(&tool.name)));
    let about = tool.description.as_deref().unwrap_or("(no description)");
    for line in about.trim().lines() {
        lines.push_str(&format!("  {}\n", style.wrap(&safe::line(line), 2)));
    }
    let arguments = arguments::all(&tool.input_schema);
    if arguments.is_empty() {
        lines.push_str("\nIt takes no arguments.\n");
        return lines;
    }
    lines.push('\n');
    let column = |of: fn(&arguments::Wanted) -> &str| {
        let widths = arguments.iter().map(|wanted| width(&safe::line(of(wanted))));
        widths.filter(|width| *width <= WIDEST).max().unwrap_or_default()
    };
    let (names, kinds) = (column(|wanted| &wanted.name), column(|wanted| &wanted.kinds));
    for wanted in &arguments {
        let name = safe::line(&wanted.name);
        let kind = safe::line(&wanted.kinds);
        let pad = |text: &str, to: usize| " ".repeat(to.saturating_sub(width(text)));
        let sign = if wanted.required { "required" } else { "optional" };
        let taken = names + kinds + 16;
        let about = wanted.about.as_deref().unwrap_or_default();
        let about = style.wrap(&safe::line(&first_line(about)), taken);
        let line = format!(
            "  {}{}  {kind}{}  {}  {about}",
            style.bold(&name),
            pad(&name, names),
            pad(&kind, kinds),
            style.dim(sign),
        );
        lines.push_str(line.trim_end());
        lines.push('\n');
    }
    lines
}

fn first_line(text: &str) -> String {
    text.trim().lines().next().unwrap_or_default().to_owned()
}

/// A longer word pushes its own line out, not those of all others.
const WIDEST: usize = 32;

#[cfg(test)]
mod tests {
    use serde_json::json;
    use snodo::types::Tool;

    use super::signature;
    use crate::terminal::Style;

    #[test]
    fn a_tool_is_told_with_a_line_for_each_argument() {
        let schema = json!({ "type": "object", "required": ["text"], "properties": {
            "text": { "type": "string", "description": "What to say\u{1b}" },
            "times": { "type": "integer", "default": 2 },
            "tone": { "enum": ["loud", "soft"] },
        } });
        let tool = Tool::new("say", schema).with_description("Says it.");
        let expected = "say\n  Says it.\n\n  \
            text   a string    required  What to say\\u{1b}\n  \
            times  an integer  optional  2 unless given\n  \
            tone   a string    optional  one of loud, soft\n";
        assert_eq!(signature(&tool, Style::default()), expected);
        let bare = signature(&Tool::new("x", json!({})), Style::default());
        assert_eq!(bare, "x\n  (no description)\n\nIt takes no arguments.\n");
    }
}
