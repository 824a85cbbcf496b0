//! From bytes to JSON: marks, encodings, comments, and commas too many.

use crate::Fault;

/// The text of a file. What is not JSON but tolerated becomes blanks, so that places stay.
pub(crate) fn read(bytes: &[u8]) -> Result<String, Fault> {
    if bytes.len() > MAX_BYTES {
        return Err(Fault::new("it is larger than 1 MiB"));
    }
    Ok(without_comments(&decode(bytes)?))
}

fn decode(bytes: &[u8]) -> Result<String, Fault> {
    let units = |bytes: &[u8], of: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = bytes.chunks_exact(2).map(|pair| of([pair[0], pair[1]])).collect();
        String::from_utf16(&units).map_err(|_| Fault::new("it is not UTF-16, as it says"))
    };
    match bytes {
        [0xef, 0xbb, 0xbf, rest @ ..] => utf8(rest),
        [0xff, 0xfe, rest @ ..] => units(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => units(rest, u16::from_be_bytes),
        _ => utf8(bytes),
    }
}

fn utf8(bytes: &[u8]) -> Result<String, Fault> {
    let text = std::str::from_utf8(bytes);
    text.map(str::to_owned).map_err(|error| Fault::new(format!("it is not UTF-8: {error}")))
}

/// Blanks out comments, and commas before a closing bracket.
fn without_comments(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    // Where a comma stands after which nothing but blanks came.
    let mut comma: Option<usize> = None;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match (character, characters.peek()) {
            ('"', _) => {
                comma = None;
                kept.push('"');
                copy_string(&mut characters, &mut kept);
                continue;
            }
            ('/', Some('/')) => {
                kept.push(' ');
                while let Some(within) = characters.next_if(|next| *next != '\n') {
                    kept.extend(std::iter::repeat_n(' ', within.len_utf8()));
                }
                continue;
            }
            ('/', Some('*')) => {
                kept.push(' ');
                blank_block(&mut characters, &mut kept);
                continue;
            }
            (',', _) => comma = Some(kept.len()),
            ('}' | ']', _) => {
                if let Some(at) = comma.take() {
                    kept.replace_range(at..=at, " ");
                }
            }
            _ if character.is_whitespace() => {}
            _ => comma = None,
        }
        kept.push(character);
    }
    kept
}

type Characters<'t> = std::iter::Peekable<std::str::Chars<'t>>;

/// Copies a string up to its closing quote.
fn copy_string(characters: &mut Characters<'_>, kept: &mut String) {
    while let Some(character) = characters.next() {
        kept.push(character);
        match character {
            '"' => return,
            '\\' => kept.extend(characters.next()),
            _ => {}
        }
    }
}

/// Blanks a block out up to its end; its lines stay lines.
fn blank_block(characters: &mut Characters<'_>, kept: &mut String) {
    characters.next();
    kept.push(' ');
    let mut star = false;
    for character in characters.by_ref() {
        match character {
            '\n' => kept.push('\n'),
            _ => kept.extend(std::iter::repeat_n(' ', character.len_utf8())),
        }
        if star && character == '/' {
            return;
        }
        star = character == '*';
    }
}

/// A list of servers is a page or two.
pub(crate) const MAX_BYTES: usize = 1024 * 1024;

#[cfg(test)]
mod tests {
    use super::{MAX_BYTES, read};

    fn json(text: &str) -> serde_json::Value {
        serde_json::from_str(&read(text.as_bytes()).expect("a text")).expect("JSON")
    }

    #[test]
    fn comments_and_commas_too_many_are_tolerated() {
        let text = "/* a\n * b, */ { // c, \"}\n \"a//b\": [1, /* ] */ 2, // d\n ], \"c\\\"/*\": \"*/,]\" , }\n// end";
        assert_eq!(json(text), serde_json::json!({ "a//b": [1, 2], "c\"/*": "*/,]" }));
    }

    #[test]
    fn places_stay_where_they_were() {
        let text = "{ /* é\n */ \"a\": x }";
        let blank = read(text.as_bytes()).expect("a text");
        let error = serde_json::from_str::<serde_json::Value>(&blank).expect_err("x is no JSON");
        assert_eq!((error.line(), error.column()), (2, 10));
        assert_eq!(blank.len(), text.len());
    }

    #[test]
    fn more_than_a_comma_is_still_wrong() {
        for text in ["[,]", "[1,,]", "{,}", "[1 2]", "{\"a\":1,,\"b\":2}"] {
            let blank = read(text.as_bytes()).expect("a text");
            let read = serde_json::from_str::<serde_json::Value>(&blank);
            // A comma alone is one too many before a closing bracket as well.
            assert_eq!(read.is_ok(), matches!(text, "[,]" | "{,}"), "{text}");
        }
    }

    #[test]
    fn marks_say_how_a_file_is_written() {
        let little: Vec<u8> = "\u{feff}{}".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = "\u{feff}{}".encode_utf16().flat_map(u16::to_be_bytes).collect();
        for bytes in [&b"\xef\xbb\xbf{}"[..], &little, &big] {
            assert_eq!(read(bytes).as_deref(), Ok("{}"));
        }
        assert!(read(b"\xff{}").is_err() && read(b"\xff\xfe\x00\xd8").is_err());
        assert!(read(&vec![b' '; MAX_BYTES + 1]).is_err());
    }

    #[test]
    fn what_is_not_closed_ends_with_the_file() {
        for text in ["/*", "/* *", "\"", "\"\\", "//", "/"] {
            assert!(read(text.as_bytes()).is_ok(), "{text}");
        }
    }
}
