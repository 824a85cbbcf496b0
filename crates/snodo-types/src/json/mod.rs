//! Reading JSON: by a cursor of our own first, and by `serde_json` where that one is not sure.
//!
//! The cursor takes what servers send nearly always in one pass, without a scratch buffer and without a number or a
//! string being built that nobody asked for. Whatever is unusual (a number that is no short integer, nesting past a
//! hundred, a broken text) makes it [`Unsure`], and the text is read again by `serde_json`, which has the last word on
//! what is refused and why. So there is one grammar, and it is not ours.

mod cursor;
mod source;
mod string;
#[cfg(test)]
mod tests;

use std::fmt;

use serde::Deserialize;

pub(crate) use self::cursor::Cursor;
use self::cursor::Look;
pub(crate) use self::source::{RAW, TOGETHER};

/// Reads a text that is one JSON value: the same as `serde_json::from_str`, in less time.
///
/// ```
/// use snodo_types::{CallToolResult, read_json};
///
/// let result: CallToolResult = read_json(r#"{"content":[{"type":"text","text":"a\nb"}]}"#)?;
/// assert_eq!(result.text(), "a\nb");
/// assert!(read_json::<CallToolResult>("{").is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// # Errors
///
/// What `serde_json::from_str` refuses: no JSON, more than one value, or no `T`.
pub fn read_json<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, serde_json::Error> {
    read_quickly(text).or_else(|Unsure| serde_json::from_str(text))
}

/// The same of a text that was read once before and is JSON, in less time still.
pub(crate) fn read_known<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, serde_json::Error> {
    whole(Cursor::knowing(text)).or_else(|Unsure| serde_json::from_str(text))
}

/// What the cursor alone makes of a text.
fn read_quickly<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, Unsure> {
    whole(Cursor::new(text))
}

fn whole<'a, T: Deserialize<'a>, L: Look>(mut cursor: Cursor<'a, L>) -> Result<T, Unsure> {
    let value = T::deserialize(&mut cursor)?;
    cursor.end()?;
    Ok(value)
}

/// The cursor cannot tell: let `serde_json` read the text.
///
/// It says nothing, so that a reason which nobody is shown is never written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unsure;

impl fmt::Display for Unsure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not sure")
    }
}

impl std::error::Error for Unsure {}

impl serde::de::Error for Unsure {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }
}
