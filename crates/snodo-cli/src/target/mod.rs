//! Which server is meant.

mod split;

use std::ffi::OsString;

use snodo::Error;

/// A server, as it was named on the command line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// A program to start, and its arguments.
    Command(OsString, Vec<OsString>),
    /// The server that is built in.
    Demo,
    /// A Streamable HTTP endpoint.
    Url(String),
}

impl Target {
    /// Reads the TARGET word.
    ///
    /// # Errors
    ///
    /// It is empty, a URL of another scheme, or a command line with an open quote (usage).
    pub(crate) fn of_word(word: &str) -> Result<Self, Error> {
        if word == "demo" {
            return Ok(Self::Demo);
        }
        if let Some(scheme) = scheme(word) {
            return match scheme.to_ascii_lowercase().as_str() {
                "http" | "https" => Ok(Self::Url(word.to_owned())),
                _ => Err(Error::usage("a URL in TARGET begins with http:// or https://")),
            };
        }
        Self::of_words(split::split(word)?.into_iter().map(OsString::from))
    }

    /// Takes what stands after `--`.
    ///
    /// # Errors
    ///
    /// There is no word, or the first one is empty (usage).
    pub(crate) fn of_words(words: impl IntoIterator<Item = OsString>) -> Result<Self, Error> {
        let mut words = words.into_iter();
        match words.next() {
            Some(program) if !program.is_empty() => Ok(Self::Command(program, words.collect())),
            _ => Err(Error::usage("TARGET is empty: name a URL, a command line or `demo`")),
        }
    }
}

/// What stands before `://`, if the word begins like a URL.
fn scheme(word: &str) -> Option<&str> {
    let (scheme, _) = word.split_once("://")?;
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    (!scheme.is_empty() && scheme.bytes().all(fits)).then_some(scheme)
}

#[cfg(test)]
mod tests {
    use super::Target;

    #[test]
    fn a_target_is_a_url_or_a_command_line_or_the_demo() {
        let target = |word| Target::of_word(word).expect("a target");
        assert_eq!(target("demo"), Target::Demo);
        assert_eq!(target("HTTPS://x/mcp"), Target::Url("HTTPS://x/mcp".to_owned()));
        assert_eq!(target("http://[::1]:1/"), Target::Url("http://[::1]:1/".to_owned()));
        let expected = Target::Command("node".into(), vec!["a b.mjs".into(), "http://x".into()]);
        assert_eq!(target("node 'a b.mjs' http://x"), expected);
        assert_eq!(target("./demo"), Target::Command("./demo".into(), vec![]));
    }

    #[test]
    fn a_target_that_cannot_be_one_is_refused() {
        for word in ["", "  ", "''", "ftp://x", "ws://x/mcp", "node 'x"] {
            assert!(Target::of_word(word).is_err(), "{word}");
        }
        assert!(Target::of_words([]).is_err());
    }
}
