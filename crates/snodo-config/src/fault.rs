//! What is wrong with a file or an entry.

use std::fmt;

/// What is wrong, in words for people. No value of a variable is in it.
///
/// ```
/// use snodo_config::Config;
///
/// let fault = Config::parse(b"{\n  \"mcpServers\": {]\n}", |_| None).unwrap_err();
/// assert_eq!(fault.place(), Some((2, 18)));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    text: String,
    place: Option<(usize, usize)>,
}

impl Fault {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), place: None }
    }

    pub(crate) fn of_json(error: &serde_json::Error) -> Self {
        let told = error.to_string();
        // The place is told by itself.
        let text = told.split(" at line ").next().unwrap_or(&told);
        let place = (error.line() > 0).then(|| (error.line(), error.column()));
        Self { text: format!("not JSON: {text}"), place }
    }

    /// What it is.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.text
    }

    /// The line and the column of the file, both from 1, where it is about its form.
    #[must_use]
    pub fn place(&self) -> Option<(usize, usize)> {
        self.place
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Some((line, column)) => write!(f, "{} (line {line}, column {column})", self.text),
            None => f.write_str(&self.text),
        }
    }
}

impl std::error::Error for Fault {}
