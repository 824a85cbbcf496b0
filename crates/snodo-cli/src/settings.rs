//! The options, checked.

use std::path::PathBuf;
use std::time::Duration;

use snodo::{Error, ProtocolVersion};
use snodo_oauth::OAuth;

use crate::args::Options;
use crate::run::Form;
use crate::tap::Wire;
use crate::terminal::Terminal;

/// What the options mean. The values of variables and headers may be secrets: there is no `Debug`,
/// and no message shows them.
#[derive(Clone)]
pub(crate) struct Settings {
    pub(crate) json: bool,
    /// Those of the library unless set.
    pub(crate) versions: Option<Vec<ProtocolVersion>>,
    pub(crate) timeout: Duration,
    pub(crate) variables: Vec<(String, String)>,
    pub(crate) inherit_environment: bool,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) verbosity: u8,
    /// Those in the usual places unless some are named.
    pub(crate) config: Vec<PathBuf>,
    /// What is shown is the request.
    pub(crate) dry_run: bool,
    /// Where pictures and the like go.
    pub(crate) save: Option<PathBuf>,
    pub(crate) terminal: Terminal,
    /// How much of the wire is shown.
    pub(crate) wire: Wire,
    /// Where the session is written down.
    pub(crate) record: Option<PathBuf>,
    /// Credentials by which somebody logs in.
    pub(crate) login: Option<OAuth>,
}

impl Settings {
    /// Joins the options before the command with those after it.
    ///
    /// # Errors
    ///
    /// A value cannot be what it has to be (usage).
    pub(crate) fn read(before: Options, after: Options) -> Result<Self, Error> {
        let versions = after.protocol.or(before.protocol);
        let timeout = after.timeout.or(before.timeout);
        let variables = before.env.iter().chain(&after.env);
        let headers = before.header.iter().chain(&after.header);
        let verbosity = before.verbose.saturating_add(after.verbose);
        let json = before.json || after.json;
        let terminal = if json { Terminal::plain() } else { Terminal::look() };
        Ok(Self {
            json,
            versions: versions.as_deref().map(read_versions).transpose()?,
            timeout: timeout.as_deref().map_or(Ok(TIMEOUT), read_seconds)?,
            variables: variables.map(|text| read_variable(text)).collect::<Result<_, _>>()?,
            inherit_environment: before.inherit_env || after.inherit_env,
            headers: headers.map(|text| read_header(text)).collect::<Result<_, _>>()?,
            verbosity,
            wire: match verbosity {
                0 => Wire::Hidden,
                1 => Wire::Short,
                _ => Wire::Whole,
            },
            record: None,
            login: None,
            config: before.config.into_iter().chain(after.config).collect(),
            dry_run: before.dry_run || after.dry_run,
            save: after.save.or(before.save),
            terminal,
        })
    }

    /// How answers are written.
    pub(crate) fn form(&self) -> Form {
        if self.json { Form::Json } else { Form::People }
    }
}

fn read_versions(text: &str) -> Result<Vec<ProtocolVersion>, Error> {
    let mut versions = Vec::new();
    for name in text.split(',').map(str::trim) {
        let version: ProtocolVersion = name.parse()?;
        if !versions.contains(&version) {
            versions.push(version);
        }
    }
    Ok(versions)
}

pub(crate) fn read_seconds(text: &str) -> Result<Duration, Error> {
    let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds
        .filter(|seconds| !seconds.is_zero() && *seconds <= LONGEST)
        .ok_or_else(|| Error::usage("a time is a number of seconds above 0, at most a year"))
}

fn read_variable(text: &str) -> Result<(String, String), Error> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err(Error::usage("--env is of the form NAME=VALUE")),
    }
}

fn read_header(text: &str) -> Result<(String, String), Error> {
    match text.split_once(':') {
        Some((name, value)) if !name.trim().is_empty() => {
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err(Error::usage("--header is of the form 'Name: value'")),
    }
}

/// The library's own.
const TIMEOUT: Duration = Duration::from_secs(30);

const LONGEST: Duration = Duration::from_secs(366 * 24 * 60 * 60);

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use clap::Parser;
    use snodo::{Error, ProtocolVersion};

    use super::Settings;
    use crate::args::{Cli, Command};

    fn settings(words: &[&str]) -> Result<Settings, Error> {
        let words = ["snodo"].iter().chain(words);
        let Ok(cli) = Cli::try_parse_from(words) else { panic!("clap refuses it") };
        let Command::Ping(words) = cli.command else { panic!("a ping") };
        Settings::read(cli.options, words.options)
    }

    #[test]
    fn options_before_and_after_the_command_are_joined() {
        let words =
            ["-v", "--env", "A=1", "--timeout", "5", "ping", "demo", "--env", "B=x=y", "--json"];
        let Ok(settings) = settings(&[&words[..], &["--timeout", "0.25", "-v"]].concat()) else {
            panic!("they make sense")
        };
        let variables = [("A".to_owned(), "1".to_owned()), ("B".to_owned(), "x=y".to_owned())];
        assert_eq!(settings.variables, variables);
        assert_eq!(settings.timeout, Duration::from_millis(250));
        assert!(settings.json && !settings.inherit_environment && settings.versions.is_none());
        assert_eq!(settings.verbosity, 2);
    }

    #[test]
    fn versions_keep_the_order_they_are_given_in() {
        let Ok(settings) =
            settings(&["ping", "demo", "--protocol", "2025-06-18, 2026-07-28,2025-06-18"])
        else {
            panic!("they are known")
        };
        let versions = [ProtocolVersion::V2025_06_18, ProtocolVersion::V2026_07_28];
        assert_eq!(settings.versions.as_deref(), Some(&versions[..]));
    }

    #[test]
    fn values_that_make_no_sense_are_refused_without_being_shown() {
        for (option, value) in [
            ("--timeout", "0"),
            ("--timeout", "-1"),
            ("--timeout", "soon"),
            ("--timeout", "NaN"),
            ("--timeout", "1e99"),
            ("--env", "hunter2"),
            ("--env", "=hunter2"),
            ("--header", "hunter2"),
            ("--header", ": hunter2"),
        ] {
            let Err(error) = settings(&["ping", "demo", &format!("{option}={value}")]) else {
                panic!("{option} {value}")
            };
            assert!(!error.to_string().contains("hunter2"), "{error}");
        }
    }

    // S-13
    #[test]
    fn an_unknown_version_names_those_that_are_known() {
        let Err(error) = settings(&["ping", "demo", "--protocol", "1999-01-01"]) else {
            panic!("nobody speaks it")
        };
        let data = error.data().expect("data").text();
        assert!(data.contains("1999-01-01") && data.contains("2025-11-25"), "{data}");
    }
}
