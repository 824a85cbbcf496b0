//! JSON for people.

use crate::safe;

/// Lays a JSON document out over lines, one member or item on each. Its words stay as they came:
/// numbers keep their digits, and members their order.
pub(crate) fn pretty(document: &str) -> String {
    let mut layout = Layout::default();
    for character in document.chars() {
        layout.push(character);
    }
    layout.shown.push('\n');
    safe::json(&layout.shown).into_owned()
}

#[derive(Default)]
struct Layout {
    shown: String,
    depth: usize,
    /// Within a string.
    quoted: bool,
    /// After a backslash within a string.
    escaped: bool,
    /// After an opening bracket: what follows decides whether a new line begins.
    opened: bool,
}

impl Layout {
    fn push(&mut self, character: char) {
        if self.quoted {
            self.quoted = self.escaped || character != '"';
            self.escaped = !self.escaped && character == '\\';
            return self.shown.push(character);
        }
        if character.is_ascii_whitespace() {
            return;
        }
        let opened = std::mem::take(&mut self.opened);
        let closes = matches!(character, '}' | ']');
        if closes {
            self.depth = self.depth.saturating_sub(1);
        }
        if opened != closes {
            self.begin_line();
        }
        self.shown.push(character);
        match character {
            '{' | '[' => {
                self.depth += 1;
                self.opened = true;
            }
            ',' => self.begin_line(),
            ':' => self.shown.push(' '),
            '"' => self.quoted = true,
            _ => {}
        }
    }

    fn begin_line(&mut self) {
        self.shown.push('\n');
        for _ in 0..self.depth.min(DEEPEST) {
            self.shown.push_str("  ");
        }
    }
}

/// Past this depth lines are no longer moved in, so that a deep document is not blown up.
const DEEPEST: usize = 32;

#[cfg(test)]
mod tests {
    use super::pretty;

    #[test]
    fn members_and_items_stand_on_lines_of_their_own() {
        let document = r#"{"b":[1, {"a":{} } ],"a" : "x, \"y\": [z\\","e":[ ],"n":1.50e400}"#;
        let lines = [
            "{",
            "  \"b\": [",
            "    1,",
            "    {",
            "      \"a\": {}",
            "    }",
            "  ],",
            r#"  "a": "x, \"y\": [z\\","#,
            "  \"e\": [],",
            "  \"n\": 1.50e400",
            "}\n",
        ];
        assert_eq!(pretty(document), lines.join("\n"));
        assert_eq!(pretty("\"one\""), "\"one\"\n");
    }

    #[test]
    fn a_deep_document_grows_by_a_constant_factor_only() {
        let deep = format!("{}{}", "[".repeat(2_000), "]".repeat(2_000));
        let shown = pretty(&deep);
        assert!(shown.len() < deep.len() * 70, "{}", shown.len());
        let compact: String = shown.split_whitespace().collect();
        assert_eq!(compact, deep);
    }
}
