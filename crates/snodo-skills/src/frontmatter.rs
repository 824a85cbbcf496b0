//! The head of a `SKILL.md`.

use serde_json::Value;

use crate::error::{Error, ErrorKind};
use crate::skill::Skill;
use crate::yaml::Node;

/// The two parts of a `SKILL.md`: what stands between two lines of three dashes, and what follows.
pub(crate) fn split(text: &str) -> Option<(&str, &str)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (first, rest) = text.split_once('\n')?;
    if first.trim_end() != DASHES {
        return None;
    }
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == DASHES {
            return Some((&rest[..at], &rest[at + line.len()..]));
        }
        at += line.len();
    }
    None
}

/// Holds the head of a `SKILL.md` against the entry.
pub(crate) fn verify(text: &str, skill: &Skill) -> Result<(), Error> {
    let mismatch = |why: &str| {
        let why = format!("the frontmatter of {}: {why}", skill.uri());
        Error::new(ErrorKind::Mismatch, why)
    };
    let (head, _) = split(text).ok_or_else(|| mismatch("there is none"))?;
    let node = Node::read(head).map_err(mismatch)?;
    // A copy, which is as small as a frontmatter.
    if node.says(&Value::Object(skill.frontmatter().clone())) {
        return Ok(());
    }
    Err(mismatch("it says something else than the entry"))
}

const DASHES: &str = "---";

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn the_head_stands_between_two_lines_of_dashes() {
        for (text, expected) in [
            ("---\na: 1\n---\nbody\n---\n", Some(("a: 1\n", "body\n---\n"))),
            ("---\r\na: 1\r\n---\r\nbody", Some(("a: 1\r\n", "body"))),
            ("\u{feff}---  \n---", Some(("", ""))),
            ("--- \na: ---\n --- \n---\n", Some(("a: ---\n --- \n", ""))),
            ("---\na: 1\n", None),
            ("a: 1\n---\n", None),
            ("", None),
        ] {
            assert_eq!(split(text), expected, "{text:?}");
        }
    }
}
