//! The YAML of a frontmatter, as a tree; no more of it than frontmatters need.
//!
//! Aliases are refused: a few lines of them stand for gigabytes.

use std::panic::catch_unwind;

use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Number, Value};

/// What was written, not yet read as anything.
#[derive(Debug, PartialEq)]
pub(crate) enum Node {
    List(Vec<Self>),
    Map(Vec<(String, Self)>),
    /// A text; a plain one, without quotes, may mean a number or a word of YAML.
    Scalar {
        text: String,
        plain: bool,
    },
}

impl Node {
    /// Reads one document.
    pub(crate) fn read(text: &str) -> Result<Self, &'static str> {
        if text.len() > LONGEST {
            return Err("it is longer than 64 KiB");
        }
        // The parser is somebody else's, and the text a stranger's.
        catch_unwind(|| Tree::default().grow(text)).unwrap_or(Err("it cannot be read"))
    }

    /// Whether a JSON value says the same.
    ///
    /// YAML 1.1 and 1.2 read some plain words differently (`yes`, `on`); either reading will do, since
    /// nobody says which version a frontmatter is in.
    pub(crate) fn says(&self, value: &Value) -> bool {
        match (self, value) {
            (Self::List(nodes), Value::Array(values)) => {
                nodes.len() == values.len()
                    && nodes.iter().zip(values).all(|(node, value)| node.says(value))
            }
            (Self::Map(entries), Value::Object(values)) => {
                let says = |(name, node): &(String, Self)| {
                    values.get(name).is_some_and(|value| node.says(value))
                };
                entries.len() == values.len() && entries.iter().all(says)
            }
            (Self::Scalar { text, .. }, Value::String(value)) => text == value,
            (Self::Scalar { text, plain: true }, value) => is_word(text, value),
            _ => false,
        }
    }
}

/// A document that grows by events; recursion is a list here.
#[derive(Default)]
struct Tree {
    open: Vec<Open>,
    root: Option<Node>,
}

enum Open {
    List(Vec<Node>),
    /// With the name whose value comes next.
    Map(Vec<(String, Node)>, Option<String>),
}

impl Tree {
    fn grow(mut self, text: &str) -> Result<Node, &'static str> {
        for event in Parser::new_from_str(text) {
            let (event, _) = event.map_err(|_| "it is no YAML")?;
            match event {
                Event::Alias(_) => return Err("it has aliases"),
                Event::Scalar(text, style, _, _) => {
                    let plain = style == ScalarStyle::Plain;
                    self.add(Node::Scalar { text: text.into_owned(), plain })?;
                }
                Event::SequenceStart(..) => self.open(Open::List(Vec::new()))?,
                Event::MappingStart(..) => self.open(Open::Map(Vec::new(), None))?,
                Event::SequenceEnd | Event::MappingEnd => self.close()?,
                _ => {}
            }
        }
        self.root.ok_or("there is nothing in it")
    }

    fn open(&mut self, open: Open) -> Result<(), &'static str> {
        if self.open.len() >= DEEPEST {
            return Err("it is nested too deep");
        }
        self.open.push(open);
        Ok(())
    }

    fn close(&mut self) -> Result<(), &'static str> {
        let node = match self.open.pop() {
            Some(Open::List(nodes)) => Node::List(nodes),
            Some(Open::Map(entries, None)) => Node::Map(entries),
            _ => return Err("it is no YAML"),
        };
        self.add(node)
    }

    fn add(&mut self, node: Node) -> Result<(), &'static str> {
        match (self.open.last_mut(), node) {
            (None, node) if self.root.is_none() => self.root = Some(node),
            (None, _) => return Err("there are several documents in it"),
            (Some(Open::List(nodes)), node) => nodes.push(node),
            (Some(Open::Map(entries, name @ Some(_))), node) => {
                entries.extend(name.take().map(|name| (name, node)));
            }
            (Some(Open::Map(entries, name)), Node::Scalar { text, .. }) => {
                if entries.iter().any(|(known, _)| *known == text) {
                    return Err("a name is in it twice");
                }
                *name = Some(text);
            }
            (Some(Open::Map(..)), _) => return Err("a name in it is no text"),
        }
        Ok(())
    }
}

/// Whether a plain text can be read as a value that is no text.
fn is_word(text: &str, value: &Value) -> bool {
    let is = |words: &[&str]| words.iter().any(|word| word.eq_ignore_ascii_case(text));
    match value {
        Value::Null => is(&["", "~", "null"]),
        Value::Bool(true) => is(&["true", "yes", "on", "y"]),
        Value::Bool(false) => is(&["false", "no", "off", "n"]),
        Value::Number(number) => is_number(text, number),
        _ => false,
    }
}

fn is_number(text: &str, number: &Number) -> bool {
    let radix = |prefix: &str, radix| {
        text.strip_prefix(prefix).and_then(|digits| i128::from_str_radix(digits, radix).ok())
    };
    let whole = text.parse().ok().or_else(|| radix("0x", 16)).or_else(|| radix("0o", 8));
    match (whole, number.as_i128()) {
        (Some(whole), Some(number)) => whole == number,
        _ => text.parse().ok().is_some_and(|found: f64| number.as_f64() == Some(found)),
    }
}

const LONGEST: usize = 64 * 1024;
const DEEPEST: usize = 32;

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Node;

    #[test]
    fn what_yaml_says_is_compared_with_what_json_says() {
        let text = "name: pdf\ndescription: >\n  Two\n  lines\nmetadata:\n  version: \"1.0\"\n  \
                    tags: [a, 'b', 3]\nallowed-tools: # none\n";
        let same = json!({
            "name": "pdf",
            "description": "Two lines\n",
            "metadata": { "version": "1.0", "tags": ["a", "b", 3] },
            "allowed-tools": null,
        });
        let node = Node::read(text).expect("YAML");
        assert!(node.says(&same));
        for (pointer, other) in [
            ("/name", json!("pdf2")),
            ("/metadata/version", json!(1.0)),
            ("/metadata/tags", json!(["a", "b"])),
            ("/metadata/tags/1", json!(null)),
            ("/metadata", json!({ "version": "1.0", "tags": ["a", "b", 3], "more": 1 })),
            ("/metadata", json!({ "version": "1.0" })),
            ("/allowed-tools", json!(false)),
        ] {
            let mut value = same.clone();
            *value.pointer_mut(pointer).expect("it is there") = other;
            assert!(!node.says(&value), "{pointer}");
        }
    }

    #[test]
    fn a_plain_word_may_be_what_either_version_reads_in_it() {
        let says = |text: &str, value: Value| {
            Node::read(&format!("a: {text}")).expect("YAML").says(&json!({ "a": value }))
        };
        for (text, value) in [
            ("yes", json!(true)),
            ("yes", json!("yes")),
            ("Off", json!(false)),
            ("~", json!(null)),
            ("12", json!(12)),
            ("12", json!("12")),
            ("0x1F", json!(31)),
            ("0o17", json!(15)),
            ("-1.5e3", json!(-1500)),
            ("1.0", json!(1)),
            ("2026-07-28", json!("2026-07-28")),
        ] {
            assert!(says(text, value.clone()), "{text} {value}");
        }
        for (text, value) in [
            ("\"yes\"", json!(true)),
            ("'12'", json!(12)),
            ("12", json!(13)),
            ("x", json!(true)),
            ("", json!("null")),
            ("18446744073709551616", json!(18446744073709551615_u64)),
        ] {
            assert!(!says(text, value.clone()), "{text} {value}");
        }
    }

    #[test]
    fn what_a_frontmatter_has_no_need_of_is_refused() {
        let deep = "[".repeat(40);
        for text in [
            "",
            "a: &x 1\nb: *x",
            "a: 1\na: 2",
            "a: 1\n---\nb: 2",
            "? [a]\n: 1",
            "a: [1",
            "a: \"\\q\"",
            "\t",
            "%YAML 9",
            &deep,
            &format!("a: {}", "x".repeat(64 * 1024)),
        ] {
            assert!(Node::read(text).is_err(), "{:.20}", text);
        }
    }
}
