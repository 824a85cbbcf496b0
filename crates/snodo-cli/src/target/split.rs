//! A command line in one word, taken apart as a shell would.

use snodo::Error;

/// Splits at blanks. Quotes and backslashes mean what they mean to a POSIX shell; nothing is
/// expanded, and no character is special besides.
///
/// # Errors
///
/// A quote is not closed, or a backslash stands at the end (usage).
pub(crate) fn split(line: &str) -> Result<Vec<String>, Error> {
    let mut words = Vec::new();
    let mut characters = line.chars();
    // `None` between words: an empty pair of quotes is a word too.
    let mut word: Option<String> = None;
    while let Some(character) = characters.next() {
        match character {
            ' ' | '\t' | '\n' | '\r' => words.extend(word.take()),
            '\'' => single_quoted(&mut characters, word.get_or_insert_default())?,
            '"' => double_quoted(&mut characters, word.get_or_insert_default())?,
            '\\' => match characters.next() {
                None => return Err(unfinished("a backslash stands at the end")),
                // The line goes on.
                Some('\n') => {}
                Some(escaped) => word.get_or_insert_default().push(escaped),
            },
            _ => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    Ok(words)
}

fn single_quoted(
    characters: &mut impl Iterator<Item = char>,
    word: &mut String,
) -> Result<(), Error> {
    for character in characters {
        if character == '\'' {
            return Ok(());
        }
        word.push(character);
    }
    Err(unfinished("a single quote is not closed"))
}

fn double_quoted(
    characters: &mut impl Iterator<Item = char>,
    word: &mut String,
) -> Result<(), Error> {
    while let Some(character) = characters.next() {
        match character {
            '"' => return Ok(()),
            '\\' => match characters.next() {
                None => break,
                Some('\n') => {}
                Some(escaped @ ('"' | '\\' | '$' | '`')) => word.push(escaped),
                Some(other) => word.extend(['\\', other]),
            },
            _ => word.push(character),
        }
    }
    Err(unfinished("a double quote is not closed"))
}

fn unfinished(what: &str) -> Error {
    Error::usage(format!("the command line in TARGET is not complete: {what}"))
}

#[cfg(test)]
mod tests {
    use super::split;

    fn words(line: &str) -> Vec<String> {
        split(line).expect("a complete line")
    }

    #[test]
    fn words_are_split_at_blanks() {
        assert_eq!(words("node server.mjs"), ["node", "server.mjs"]);
        assert_eq!(words("  a \t b\nc  "), ["a", "b", "c"]);
        assert!(words("").is_empty() && words(" \t ").is_empty());
    }

    #[test]
    fn quotes_hold_a_word_together() {
        assert_eq!(words(r#"'a b' "c d" e' 'f"g""#), ["a b", "c d", "e fg"]);
        assert_eq!(words(r#"'' "" x"#), ["", "", "x"]);
        assert_eq!(words(r#"'"' "'" "#), ["\"", "'"]);
    }

    #[test]
    fn a_backslash_takes_the_meaning_from_the_next_character() {
        assert_eq!(words(r#"a\ b \"c \'d \\"#), ["a b", "\"c", "'d", "\\"]);
        assert_eq!(words(r#""a\"b\\c\$d\n" '\n'"#), [r#"a"b\c$d\n"#, r"\n"]);
        assert_eq!(words("a\\\nb \"c\\\nd\""), ["ab", "cd"]);
    }

    #[test]
    fn nothing_is_expanded_and_nothing_else_is_special() {
        assert_eq!(words("$HOME ~ *.rs a|b;c #d"), ["$HOME", "~", "*.rs", "a|b;c", "#d"]);
    }

    #[test]
    fn a_line_that_is_not_complete_is_refused() {
        for (line, why) in [
            ("a 'b", "single quote"),
            ("a \"b", "double quote"),
            ("a \"b\\", "double quote"),
            ("a\\", "backslash"),
        ] {
            let error = split(line).expect_err(line);
            assert!(error.message().contains(why), "{error}");
        }
    }
}
