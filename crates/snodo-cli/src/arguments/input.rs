//! Values that stand in files or come in by the standard input.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read};

use snodo::Error;

/// Reads `@FILE` and `-`; the standard input can be read once.
#[derive(Debug, Default)]
pub(super) struct Input {
    taken: bool,
}

impl Input {
    /// The text that is meant: a file's, the input's, or the text itself. A text that begins with
    /// `@`, or is `-`, can be written as JSON.
    ///
    /// # Errors
    ///
    /// It cannot be read, is larger than a message may be, or no UTF-8; the input is wanted twice
    /// (usage).
    pub(super) fn take<'t>(&mut self, text: &'t str) -> Result<Cow<'t, str>, Error> {
        if let Some(path) = text.strip_prefix('@') {
            let file = File::open(path).and_then(read);
            let text = file.map_err(|error| Error::usage(format!("the file {path}: {error}")))?;
            return Ok(Cow::Owned(text));
        }
        if text != "-" {
            return Ok(Cow::Borrowed(text));
        }
        if std::mem::replace(&mut self.taken, true) {
            return Err(Error::usage("the standard input can be used for one value only"));
        }
        let text = read(io::stdin().lock());
        Ok(Cow::Owned(text.map_err(|error| Error::usage(format!("the standard input: {error}")))?))
    }
}

fn read(from: impl Read) -> io::Result<String> {
    let mut text = String::new();
    from.take(MOST + 1).read_to_string(&mut text)?;
    match text.len() as u64 > MOST {
        true => Err(io::Error::other("it is larger than 16 MiB")),
        false => Ok(text),
    }
}

/// As large as a message may be.
const MOST: u64 = 16 * 1024 * 1024;
