//! What servers say, made harmless for a terminal.
//!
//! A terminal obeys control characters: it moves its cursor, changes its title, answers with
//! keystrokes. None of them leaves this program, whether or not its output is a terminal, since
//! what goes into a file or a pipe is often shown later.

use std::borrow::Cow;
use std::fmt::Write;

/// Text of several lines: newlines and tabs stay, `\r\n` becomes a newline.
pub(crate) fn text(text: &str) -> Cow<'_, str> {
    replace(text, |character| is_unsafe(character) && !matches!(character, '\n' | '\t'))
}

/// Text that has to stay on its line.
pub(crate) fn line(text: &str) -> Cow<'_, str> {
    replace(text, is_unsafe)
}

/// A JSON document, with the same meaning: what is unsafe within its strings is written as an
/// escape of JSON.
pub(crate) fn json(document: &str) -> Cow<'_, str> {
    let harmless = |character| !is_unsafe(character) || matches!(character, '\n' | '\t');
    if document.chars().all(harmless) {
        return Cow::Borrowed(document);
    }
    let mut shown = String::with_capacity(document.len() + 64);
    for character in document.chars() {
        match character {
            // Valid JSON has these between its values only.
            '\n' | '\t' => shown.push(character),
            '\r' => shown.push(' '),
            _ if is_unsafe(character) => escape(&mut shown, character),
            _ => shown.push(character),
        }
    }
    Cow::Owned(shown)
}

/// What the library escapes in its errors is escaped here.
fn is_unsafe(character: char) -> bool {
    snodo::types::steers(character)
}

/// Shows each character that is to go as an escape, so that a reader sees that it was there.
fn replace(text: &str, goes: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.chars().any(&goes) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 64);
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        if character == '\r' && characters.peek() == Some(&'\n') && !goes('\n') {
            continue;
        }
        if goes(character) {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    Cow::Owned(shown)
}

/// Every character that is unsafe has four hexadecimal digits.
fn escape(shown: &mut String, character: char) {
    // Writing to a string cannot fail.
    let _ = write!(shown, "\\u{:04x}", u32::from(character));
}

#[cfg(test)]
mod tests {
    use super::{json, line, text};

    #[test]
    fn no_character_that_steers_a_terminal_survives() {
        let mut every: String = (0..=0x9f).filter_map(char::from_u32).collect();
        every.extend(('\u{2028}'..='\u{202e}').chain('\u{2066}'..='\u{2069}'));
        every.push_str("\u{61c}\u{200e}\u{200f}");
        for shown in [text(&every), line(&every)] {
            assert!(shown.contains(r"\u{1b}") && shown.contains(r"\u{9b}"), "{shown}");
            assert!(shown.contains(r"\u{200f}") && shown.contains(r"\u{2028}"), "{shown}");
            assert!(shown.contains(r"\u{7f}") && shown.contains(r"\u{202e}"), "{shown}");
            let steers = |c: char| c.is_control() && c != '\n' && c != '\t' || c > '\u{7e}';
            assert!(!shown.chars().any(steers), "{shown:?}");
        }
        assert!(!line(&every).contains(['\n', '\t']));
    }

    #[test]
    fn lines_and_tabs_stay_and_a_lone_carriage_return_is_shown() {
        assert_eq!(text("a\tb\r\nc\n"), "a\tb\nc\n");
        assert_eq!(text("good\rbad"), "good\\rbad");
        assert_eq!(line("one\r\ntwo"), "one\\r\\ntwo");
    }

    #[test]
    fn what_is_harmless_is_not_touched() {
        for plain in ["", "plain", "Grüße, 世界 🦀", "a\u{200d}b"] {
            assert_eq!((text(plain), line(plain)), (plain.into(), plain.into()));
        }
    }

    #[test]
    fn a_json_document_keeps_its_meaning() {
        let sent = "{\r\n\t\"a\u{7f}\": \"\u{9b}31m \u{202e}x\\u001b\",\r\"b\":1}";
        let shown = json(sent);
        let steers = |c: char| c.is_control() && c != '\n' && c != '\t' || c > '\u{7e}';
        assert!(!shown.chars().any(steers), "{shown:?}");
        let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).expect("JSON");
        assert_eq!(value(&shown), value(sent));
        assert_eq!(json(r#"{"a":"é"}"#), r#"{"a":"é"}"#);
    }
}
