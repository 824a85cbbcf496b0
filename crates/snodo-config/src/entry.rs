//! A server, as a file names it.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::Fault;

/// A server that a file names, whether or not it makes sense.
///
/// ```
/// use snodo_config::Config;
///
/// let config = Config::parse(br#"{ "servers": { "a": { "command": "${NO}/a" } } }"#, |_| None)?;
/// let entry = &config.entries()[0];
/// assert_eq!((entry.name(), entry.shown()), ("a", "${NO}/a"));
/// assert_eq!(entry.server().unwrap_err().message(), "command: the variable NO is not set");
/// # Ok::<(), snodo_config::Fault>(())
/// ```
#[derive(Clone, Debug)]
pub struct Entry {
    pub(crate) name: String,
    pub(crate) shown: String,
    pub(crate) server: Result<Server, Fault>,
    pub(crate) warnings: Vec<String>,
    pub(crate) disabled: bool,
    pub(crate) hidden: bool,
    pub(crate) source: Option<PathBuf>,
}

impl Entry {
    /// What it is called.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its command line or URL as it was written, variables and all; empty where it has none.
    #[must_use]
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// How the server is reached.
    ///
    /// # Errors
    ///
    /// The entry makes no sense, or a variable is not set.
    pub fn server(&self) -> Result<&Server, &Fault> {
        self.server.as_ref()
    }

    /// What was not taken as it was written.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Whether it is switched off.
    #[must_use]
    pub fn is_disabled(&self) -> bool {
        self.disabled
    }

    /// Whether a file that was read earlier has an entry of this name, which is the one that counts.
    #[must_use]
    pub fn is_hidden(&self) -> bool {
        self.hidden
    }

    /// The file it stands in, if it was read from one.
    #[must_use]
    pub fn source(&self) -> Option<&Path> {
        self.source.as_deref()
    }
}

/// How a server is reached.
///
/// ```
/// use snodo_config::{Config, Server};
///
/// let config = Config::parse(br#"{ "servers": { "a": { "command": "a" } } }"#, |_| None)?;
/// assert!(matches!(config.entries()[0].server(), Ok(Server::Stdio(_))));
/// # Ok::<(), snodo_config::Fault>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Server {
    /// By a URL.
    Http(Http),
    /// By a URL, over the transport of 2024-11-05 that Streamable HTTP took the place of.
    Sse(Http),
    /// By a process that is started.
    Stdio(Stdio),
}

/// A server that is reached by a URL. `Debug` shows neither the URL nor the values of headers.
///
/// ```
/// use snodo_config::{Config, Server};
///
/// let config = Config::parse(br#"{ "servers": { "a": { "url": "https://a.example/mcp" } } }"#, |_| None)?;
/// let Ok(Server::Http(http)) = config.entries()[0].server() else { panic!() };
/// assert_eq!(http.url(), "https://a.example/mcp");
/// # Ok::<(), snodo_config::Fault>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Http {
    pub(crate) url: String,
    pub(crate) headers: Vec<(String, String)>,
}

impl Http {
    /// The URL, with the values of its variables.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Names and values of the headers that go with every request.
    #[must_use]
    pub fn headers(&self) -> &[(String, String)] {
        &self.headers
    }
}

impl fmt::Debug for Http {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("Http").field("headers", &names).finish_non_exhaustive()
    }
}

/// A server that is started. `Debug` shows neither arguments, nor the folder, nor the values of variables.
///
/// ```
/// use snodo_config::{Config, Server};
///
/// let text = br#"{ "servers": { "a": { "command": "a", "env": { "KEY": "secret" } } } }"#;
/// let config = Config::parse(text, |_| None)?;
/// let Ok(Server::Stdio(stdio)) = config.entries()[0].server() else { panic!() };
/// assert_eq!(stdio.command(), "a");
/// assert!(!format!("{stdio:?}").contains("secret"));
/// # Ok::<(), snodo_config::Fault>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Stdio {
    pub(crate) command: String,
    pub(crate) args: Vec<String>,
    pub(crate) env: Vec<(String, Option<String>)>,
    pub(crate) cwd: Option<PathBuf>,
}

impl Stdio {
    /// The program: a path, or a name to be looked for.
    #[must_use]
    pub fn command(&self) -> &str {
        &self.command
    }

    /// Its arguments.
    #[must_use]
    pub fn args(&self) -> &[String] {
        &self.args
    }

    /// Environment variables to set, and to take away where there is no value.
    #[must_use]
    pub fn env(&self) -> &[(String, Option<String>)] {
        &self.env
    }

    /// The folder it starts in, unless that of this program. In a file a relative one is seen from
    /// the folder that the file belongs to.
    #[must_use]
    pub fn cwd(&self) -> Option<&Path> {
        self.cwd.as_deref()
    }
}

impl fmt::Debug for Stdio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.env.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("Stdio").field("env", &names).finish_non_exhaustive()
    }
}
