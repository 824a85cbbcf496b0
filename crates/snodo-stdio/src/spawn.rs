//! Starting a process.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use process_wrap::tokio::{CommandWrap, KillOnDrop};
use snodo_transport::Connect;
use snodo_types::{TransportError, TransportFault};
use tokio::process::{ChildStdin, Command};

use crate::diagnose::why_not_started;
use crate::environment::Environment;
use crate::pipe::Pipe;
use crate::process::Process;
use crate::runtime;
use crate::script::find_script;
use crate::shared::{Shared, TryWrite};
use crate::shutdown::Shutdown;
use crate::stderr::{Stderr, Tail, drain, printable};
use crate::supervisor::{Drain, Parts};

/// A command that starts a server which speaks over its standard input and output.
///
/// Each connection starts the command anew, in a process group of its own (a job on Windows), so
/// that what it starts in turn ends with it, and so that a Ctrl-C in a terminal reaches this
/// program only. How it ends is told at [`Pipe`].
///
/// ```
/// use snodo_stdio::Stdio;
/// use snodo_transport::Connect;
///
/// let server = Stdio::new("npx").args(["-y", "some-server"]).env("API_KEY", "secret");
/// assert_eq!(server.target(), "npx -y some-server");
/// ```
#[derive(Clone)]
pub struct Stdio {
    program: OsString,
    args: Vec<OsString>,
    environment: Environment,
    changes: BTreeMap<OsString, Option<OsString>>,
    current_dir: Option<PathBuf>,
    stderr: Stderr,
    max_line_bytes: usize,
    shutdown: Shutdown,
}

impl Stdio {
    /// A program: a path, or a name that is looked for in the directories of `PATH`.
    #[must_use]
    pub fn new(program: impl AsRef<OsStr>) -> Self {
        Self {
            program: program.as_ref().to_owned(),
            args: Vec::new(),
            environment: Environment::default(),
            changes: BTreeMap::new(),
            current_dir: None,
            stderr: Stderr::default(),
            max_line_bytes: Pipe::MAX_LINE_BYTES,
            shutdown: Shutdown::default(),
        }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args(mut self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Which of this program's environment variables are passed on:
    /// [`Minimal`](Environment::Minimal) unless set.
    #[must_use]
    pub fn environment(mut self, environment: Environment) -> Self {
        self.environment = environment;
        self
    }

    /// Sets an environment variable. Its value is shown nowhere.
    #[must_use]
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.changes.insert(name.as_ref().to_owned(), Some(value.as_ref().to_owned()));
        self
    }

    /// Takes an environment variable away.
    #[must_use]
    pub fn env_remove(mut self, name: impl AsRef<OsStr>) -> Self {
        self.changes.insert(name.as_ref().to_owned(), None);
        self
    }

    /// The directory the process starts in; that of this program unless set. On Unix a program
    /// given by a relative path is looked for from there.
    #[must_use]
    pub fn current_dir(mut self, directory: impl Into<PathBuf>) -> Self {
        self.current_dir = Some(directory.into());
        self
    }

    /// Where the error stream goes: [`Log`](Stderr::Log) unless set. With
    /// [`Inherit`](Stderr::Inherit) and [`Null`](Stderr::Null) errors cannot quote it.
    #[must_use]
    pub fn stderr(mut self, stderr: Stderr) -> Self {
        self.stderr = stderr;
        self
    }

    /// The longest line that is read; 16 MiB unless set. See [`Pipe::with_max_line_bytes`].
    #[must_use]
    pub fn max_line_bytes(mut self, bytes: usize) -> Self {
        self.max_line_bytes = bytes;
        self
    }

    /// How long the process is waited for at the end.
    #[must_use]
    pub fn shutdown(mut self, shutdown: Shutdown) -> Self {
        self.shutdown = shutdown;
        self
    }

    fn start(&self) -> Result<Pipe, TransportError> {
        runtime::check()?;
        let variables = self.variables()?;
        let path = find(&variables, "PATH").map(OsStr::to_owned);
        let mut child = self.command(variables).spawn().map_err(|error| {
            why_not_started(&self.program, self.current_dir.as_deref(), path.as_deref(), error)
        })?;
        let streams = (child.stdin().take(), child.stdout().take(), child.stderr().take());
        let process = Arc::new(Process::new(child));
        let (Some(stdin), Some(stdout), stderr) = streams else {
            process.kill_and_reap();
            let text = "the server process was started without its streams";
            return Err(TransportError::new(TransportFault::Spawn, text));
        };
        let (direct, stdin) = match input(stdin) {
            Ok(input) => input,
            Err(error) => {
                process.kill_and_reap();
                let text = format!("the input of the server process cannot be used: {error}");
                return Err(TransportError::new(TransportFault::Spawn, text).with_source(error));
            }
        };
        let tail = Tail::default();
        let server = printable(&self.program.to_string_lossy());
        tracing::debug!(%server, process = process.id(), "started a server");
        let stderr = stderr.map(|stderr| -> Drain {
            Box::pin(drain(stderr, tail.clone(), self.stderr.clone(), server))
        });
        let shared = Arc::new(Shared::new(direct));
        let shutdown = self.shutdown;
        let parts = Parts { shared, process: Some(process), tail, stderr, shutdown };
        Ok(Pipe::run(parts, stdout, stdin, self.max_line_bytes))
    }

    fn variables(&self) -> Result<BTreeMap<OsString, OsString>, TransportError> {
        let mut variables: BTreeMap<_, _> = self.environment.choose(std::env::vars_os()).collect();
        for (name, value) in &self.changes {
            let bytes = name.as_encoded_bytes();
            if bytes.is_empty() || bytes.contains(&b'=') {
                let text = format!("{name:?} cannot be the name of an environment variable");
                return Err(TransportError::new(TransportFault::Usage, text).not_processed());
            }
            variables.retain(|of, _| !is(of, name));
            if let Some(value) = value {
                variables.insert(name.clone(), value.clone());
            }
        }
        Ok(variables)
    }

    fn command(&self, variables: BTreeMap<OsString, OsString>) -> CommandWrap {
        let script = cfg!(windows).then(|| {
            let (path, extensions) = (find(&variables, "PATH"), find(&variables, "PATHEXT"));
            find_script(&self.program, path, extensions, Path::is_file)
        });
        let program = script.flatten().unwrap_or_else(|| PathBuf::from(&self.program));
        let mut command = Command::new(program);
        command.args(&self.args).env_clear().envs(variables);
        command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
        command.stderr(match self.stderr {
            Stderr::Inherit => std::process::Stdio::inherit(),
            Stderr::Null => std::process::Stdio::null(),
            Stderr::Lines(_) | Stderr::Log => std::process::Stdio::piped(),
        });
        if let Some(directory) = &self.current_dir {
            command.current_dir(directory);
        }
        let mut wrapped = CommandWrap::from(command);
        wrapped.wrap(KillOnDrop);
        #[cfg(unix)]
        wrapped.wrap(process_wrap::tokio::ProcessGroup::leader());
        #[cfg(windows)]
        wrapped.wrap(process_wrap::tokio::JobObject);
        wrapped
    }
}

impl Connect for Stdio {
    type Transport = Pipe;

    /// Starts the command.
    ///
    /// # Errors
    ///
    /// [`Spawn`](TransportFault::Spawn): there is no such program or directory, or the system will
    /// not run it. [`Usage`](TransportFault::Usage): there is no tokio runtime here, or a name or
    /// an argument is one that no process can have.
    ///
    /// # Cancel safety
    ///
    /// It never waits, and a connection that nobody takes is a dropped [`Pipe`].
    async fn connect(&self) -> Result<Pipe, TransportError> {
        self.start()
    }

    /// The command line, cut after 120 characters.
    fn target(&self) -> Cow<'_, str> {
        let mut line = self.program.to_string_lossy().into_owned();
        for arg in &self.args {
            line.push(' ');
            line.push_str(&arg.to_string_lossy());
        }
        let mut line = printable(&line);
        if let Some((cut, _)) = line.char_indices().nth(TARGET) {
            line.truncate(cut);
            line.push('…');
        }
        Cow::Owned(line)
    }
}

impl fmt::Debug for Stdio {
    /// Values of variables may be secrets and are left out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stdio")
            .field("target", &self.target())
            .field("environment", &self.environment)
            .field("changed", &self.changes.keys().collect::<Vec<_>>())
            .field("current_dir", &self.current_dir)
            .field("stderr", &self.stderr)
            .field("max_line_bytes", &self.max_line_bytes)
            .field("shutdown", &self.shutdown)
            .finish()
    }
}

fn find<'a>(variables: &'a BTreeMap<OsString, OsString>, name: &str) -> Option<&'a OsStr> {
    let found = variables.iter().find(|(of, _)| is(of, OsStr::new(name)));
    found.map(|(_, value)| value.as_os_str())
}

/// Whether a variable has a name, as the system compares them.
fn is(name: &OsStr, wanted: &OsStr) -> bool {
    if cfg!(windows) { name.eq_ignore_ascii_case(wanted) } else { name == wanted }
}

/// The sink for the input of a process, and the way round the writer's task.
#[cfg(unix)]
fn input(stdin: ChildStdin) -> std::io::Result<(Option<Arc<dyn TryWrite>>, unix::Input)> {
    let input = unix::Input::new(stdin)?;
    Ok((Some(input.direct()), input))
}

#[cfg(not(unix))]
fn input(stdin: ChildStdin) -> std::io::Result<(Option<Arc<dyn TryWrite>>, ChildStdin)> {
    Ok((None, stdin))
}

/// How many characters of a command line are shown.
const TARGET: usize = 120;

/// The input of a process as a pipe that can be written to without waiting.
#[cfg(unix)]
mod unix {
    use std::io;
    use std::pin::Pin;
    use std::sync::Arc;
    use std::task::{Context, Poll, ready};

    use tokio::io::AsyncWrite;
    use tokio::net::unix::pipe::Sender;
    use tokio::process::ChildStdin;

    use crate::shared::TryWrite;

    /// The writer's end; the pipe closes with the last of the two.
    pub(super) struct Input(Arc<Sender>);

    impl Input {
        pub(super) fn new(stdin: ChildStdin) -> io::Result<Self> {
            Ok(Self(Arc::new(Sender::from_owned_fd(stdin.into_owned_fd()?)?)))
        }

        pub(super) fn direct(&self) -> Arc<dyn TryWrite> {
            Arc::<Sender>::clone(&self.0)
        }
    }

    impl TryWrite for Sender {
        fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
            Self::try_write(self, bytes)
        }
    }

    impl AsyncWrite for Input {
        fn poll_write(
            self: Pin<&mut Self>,
            cx: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            loop {
                ready!(self.0.poll_write_ready(cx))?;
                match self.0.try_write(bytes) {
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    result => return Poll::Ready(result),
                }
            }
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            // It closes when the writer's task ends.
            Poll::Ready(Ok(()))
        }
    }
}

#[cfg(all(test, unix))]
#[path = "spawn_tests.rs"]
mod tests;
