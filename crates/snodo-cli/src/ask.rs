//! What is asked of which server.

use snodo::Error;
use snodo::types::{CompleteParams, CompletionReference, Raw};

use crate::args::{Command, Options, Words};
use crate::arguments::{Arguments, pairs};
use crate::login::Login;
use crate::run::{Listening, Load};
use crate::settings::read_seconds;
use crate::target::Target;

/// A command that makes sense, as far as that can be told without the server.
#[derive(Debug)]
pub(crate) enum Ask {
    Bench { tool: String, arguments: Arguments, load: Load },
    Call { tool: String, arguments: Arguments },
    Complete(CompleteParams),
    Doctor,
    Inspect,
    Listen(Listening),
    Login(Login),
    Logout,
    Ping,
    Prompt { name: String, arguments: Vec<(String, String)> },
    Prompts,
    Read { uri: String },
    Request { method: String, params: Raw },
    Resources,
    Templates,
    Tool(String),
    Tools,
}

impl Ask {
    /// Reads a command, and gives back the options that stood after it.
    ///
    /// # Errors
    ///
    /// A word is missing, left over, or not of its form (usage).
    pub(crate) fn read(command: Command) -> Result<(Target, Self, Options), Error> {
        match command {
            Command::Call { words, args } => {
                let mut words = Line::of(words)?;
                let tool = words.take("the name of a tool")?;
                let arguments = Arguments::read(&words.rest, args.as_deref())?;
                Ok((words.target, Self::Call { tool, arguments }, words.options))
            }
            Command::Bench { words, args, calls, at_once } => {
                let mut words = Line::of(words)?;
                let tool = words.take("the name of a tool")?;
                let arguments = Arguments::read(&words.rest, args.as_deref())?;
                let load = Load { calls, at_once };
                Ok((words.target, Self::Bench { tool, arguments, load }, words.options))
            }
            Command::Complete(words) => {
                let mut words = Line::of(words)?;
                let name = words.take("the name of a prompt, or a template of resources,")?;
                let params = read_completion(name, &words.rest)?;
                Ok((words.target, Self::Complete(params), words.options))
            }
            Command::Doctor(words) => Line::of(words)?.finish(Self::Doctor),
            Command::Listen { words, count, time } => {
                let words = Line::of(words)?;
                let time = time.as_deref().map(read_seconds).transpose()?;
                let listening = Listening { uris: words.rest, count, time };
                Ok((words.target, Self::Listen(listening), words.options))
            }
            Command::Login { words, client_id, scope, browser, paste } => {
                Line::of(words)?.finish(Self::Login(Login { client_id, scope, browser, paste }))
            }
            Command::Logout(words) => Line::of(words)?.finish(Self::Logout),
            Command::Completions { .. }
            | Command::Config { .. }
            | Command::Man
            | Command::Record { .. }
            | Command::Replay { .. }
            | Command::Whoami(_) => Err(Error::usage("this command stands alone")),
            Command::Inspect(words) => Line::of(words)?.finish(Self::Inspect),
            Command::Ping(words) => Line::of(words)?.finish(Self::Ping),
            Command::Prompt(words) => {
                let mut words = Line::of(words)?;
                let name = words.take("the name of a prompt")?;
                let arguments = pairs(&words.rest)?.into_iter();
                let arguments = arguments.map(|(key, text)| (key.to_owned(), text.to_owned()));
                let ask = Self::Prompt { name, arguments: arguments.collect() };
                Ok((words.target, ask, words.options))
            }
            Command::Prompts(words) => Line::of(words)?.finish(Self::Prompts),
            Command::Read(words) => {
                let mut words = Line::of(words)?;
                let uri = words.take("the URI of a resource")?;
                words.finish(Self::Read { uri })
            }
            Command::Request { words, params } => {
                let mut words = Line::of(words)?;
                let method = words.take("a method")?;
                let params = params.map_or_else(|| Ok(Raw::empty_object()), read_params)?;
                words.finish(Self::Request { method, params })
            }
            Command::Resources(words) => Line::of(words)?.finish(Self::Resources),
            Command::Templates(words) => Line::of(words)?.finish(Self::Templates),
            Command::Tools(words) => {
                let mut words = Line::of(words)?;
                let tool = (!words.rest.is_empty()).then(|| words.rest.remove(0));
                words.finish(tool.map_or(Self::Tools, Self::Tool))
            }
        }
    }
}

/// The words after a command's name, the target taken from among them.
struct Line {
    target: Target,
    rest: Vec<String>,
    options: Options,
}

impl Line {
    fn of(Words { mut words, server, options }: Words) -> Result<Self, Error> {
        let target = if !server.is_empty() {
            Target::of_words(server)?
        } else if words.is_empty() {
            return Err(Error::usage(
                "TARGET is missing: name a URL, a command line or `demo`, or give a command after --",
            ));
        } else {
            Target::of_word(&words.remove(0))?
        };
        Ok(Self { target, rest: words, options })
    }

    fn take(&mut self, what: &str) -> Result<String, Error> {
        if self.rest.is_empty() {
            return Err(Error::usage(format!("{what} is missing after TARGET")));
        }
        Ok(self.rest.remove(0))
    }

    fn finish(self, ask: Ask) -> Result<(Target, Ask, Options), Error> {
        match self.rest.first() {
            None => Ok((self.target, ask, self.options)),
            Some(word) => Err(Error::usage(format!("nothing is expected at {word:?}"))),
        }
    }
}

/// The first word is the argument to complete, and others are known already.
fn read_completion(name: String, words: &[String]) -> Result<CompleteParams, Error> {
    let is_template = name.contains("://") || name.contains('{');
    let reference = match is_template {
        true => CompletionReference::resource(name),
        false => CompletionReference::prompt(name),
    };
    let pairs = pairs(words)?;
    let [(argument, typed), known @ ..] = pairs.as_slice() else {
        return Err(Error::usage("the argument to complete is missing: KEY=TYPED"));
    };
    let params = CompleteParams::new(reference, *argument, *typed);
    Ok(known.iter().fold(params, |params, (key, value)| params.with_context(key, value)))
}

fn read_params(text: String) -> Result<Raw, Error> {
    let params =
        Raw::parse(text).map_err(|error| Error::usage(format!("--params is not JSON: {error}")))?;
    if params.is_object() { Ok(params) } else { Err(Error::usage("--params is a JSON object")) }
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use snodo::Error;

    use super::Ask;
    use crate::args::Cli;
    use crate::target::Target;

    fn read(words: &[&str]) -> Result<(Target, Ask), Error> {
        let Ok(cli) = Cli::try_parse_from(["snodo"].iter().chain(words)) else {
            panic!("clap refuses {words:?}")
        };
        Ask::read(cli.command).map(|(target, ask, _)| (target, ask))
    }

    #[test]
    fn a_target_is_the_first_word_or_what_stands_after_the_dashes() {
        let (target, ask) = read(&["read", "demo", "demo://x"]).expect("it makes sense");
        assert_eq!(target, Target::Demo);
        assert!(matches!(ask, Ask::Read { uri } if uri == "demo://x"));

        let words = ["call", "echo", "a=b=c", "--json", "--", "node", "s.mjs", "--json", "x=y"];
        let (target, ask) = read(&words).expect("it makes sense");
        let args = ["s.mjs", "--json", "x=y"].map(Into::into).to_vec();
        assert_eq!(target, Target::Command("node".into(), args));
        assert!(matches!(ask, Ask::Call { tool, .. } if tool == "echo"));
    }

    #[test]
    fn a_command_with_a_word_too_few_or_too_many_is_refused() {
        for words in [
            &["tools"][..],
            &["tools", "--"],
            &["tools", "demo", "x", "y"],
            &["tools", "x", "y", "--", "node"],
            &["call", "demo"],
            &["call", "--", "node"],
            &["call", "demo", "echo", "text"],
            &["call", "demo", "echo", "--args", "[]"],
            &["read", "demo"],
            &["read", "demo", "a", "b"],
            &["prompt", "demo"],
            &["prompt", "demo", "p", "word"],
            &["request", "demo"],
            &["request", "demo", "m", "--params", "1"],
            &["request", "demo", "m", "--params", "{"],
            &["ping", ""],
        ] {
            assert!(read(words).is_err(), "{words:?}");
        }
    }
}
