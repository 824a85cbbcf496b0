//! Which server is meant.

mod split;

use std::ffi::OsString;
use std::path::PathBuf;

use snodo::Error;
use snodo_config::{Config, Server};

/// A server, as it was named on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// A program to start, and its arguments.
    Command(OsString, Vec<OsString>),
    /// The server that is built in.
    Demo,
    /// A server of the configuration, by its name.
    Named(String, Server),
    /// What was recorded of a session.
    Replay(PathBuf),
    /// A Streamable HTTP endpoint.
    Url(String),
    /// A word that may be the name of a server, and else is a command line.
    Word(String, OsString, Vec<OsString>),
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
        if let Some(path) = word.strip_prefix(REPLAY) {
            return Ok(Self::Replay(PathBuf::from(path)));
        }
        if let Some(scheme) = scheme(word) {
            return match scheme.to_ascii_lowercase().as_str() {
                "http" | "https" => Ok(Self::Url(word.to_owned())),
                _ => Err(Error::usage("a URL in TARGET begins with http:// or https://")),
            };
        }
        match Self::of_words(split::split(word)?.into_iter().map(OsString::from))? {
            Self::Command(program, args) => Ok(Self::Word(word.to_owned(), program, args)),
            other => Ok(other),
        }
    }

    /// Finds out whether a word is the name of a server; `config` is read only where it may be one.
    ///
    /// # Errors
    ///
    /// The configuration cannot be read, or its entry makes no sense (usage).
    pub(crate) fn resolve(
        self,
        config: impl FnOnce() -> Result<Config, Error>,
    ) -> Result<Self, Error> {
        let Self::Word(word, program, args) = self else { return Ok(self) };
        match config()?.get(&word).map(|entry| (entry.server(), entry.source())) {
            None => Ok(Self::Command(program, args)),
            Some((Ok(server), _)) => Ok(Self::Named(word, server.clone())),
            Some((Err(fault), source)) => {
                let place =
                    source.map_or_else(String::new, |path| format!(" in {}", path.display()));
                Err(Error::usage(format!("the server {word:?}{place} cannot be used: {fault}")))
            }
        }
    }

    /// What messages call it.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Command(program, _) => program.to_string_lossy().into_owned(),
            Self::Demo => "demo".to_owned(),
            Self::Named(name, _) | Self::Url(name) | Self::Word(name, ..) => name.clone(),
            Self::Replay(path) => path.display().to_string(),
        }
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

/// What a word begins with that names a recording.
pub(crate) const REPLAY: &str = "replay:";

/// What stands before `://`, if the word begins like a URL.
fn scheme(word: &str) -> Option<&str> {
    let (scheme, _) = word.split_once("://")?;
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    (!scheme.is_empty() && scheme.bytes().all(fits)).then_some(scheme)
}

#[cfg(test)]
mod tests {
    use snodo::Error;
    use snodo_config::Config;

    use super::Target;

    fn config(text: &str) -> Result<Config, Error> {
        Config::parse(text.as_bytes(), |_| None).map_err(|fault| Error::usage(fault.message()))
    }

    #[test]
    fn a_word_is_the_name_of_a_server_or_else_a_command_line() {
        let text =
            r#"{ "servers": { "my files": { "command": "f" }, "bad": { "command": "${NO}" } } }"#;
        let resolved = |word| Target::of_word(word)?.resolve(|| config(text));
        assert!(matches!(resolved("my files"), Ok(Target::Named(name, _)) if name == "my files"));
        let other = Target::Command("my".into(), vec!["other".into()]);
        assert_eq!(resolved("my other").expect("a command"), other);
        assert!(resolved("bad").expect_err("a fault").message().contains("NO is not set"));
        let unread = || -> Result<Config, Error> { panic!("nobody asked for it") };
        assert_eq!(Target::Demo.resolve(unread).expect("the demo"), Target::Demo);
    }

    #[test]
    fn a_target_is_a_url_or_a_command_line_or_the_demo() {
        let none = || Ok(Config::default());
        let target = |word| Target::of_word(word).expect("a target").resolve(none).expect("it is");
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
