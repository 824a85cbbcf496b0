//! Runs a program as a step: its output in a log, its time bounded, its result remembered.

use std::fs::{self, File};
use std::io;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::Outcome;
use crate::shell;
use crate::tools;

/// A program, where its output goes, and how long it may take.
#[derive(Debug)]
pub(crate) struct Step<'a> {
    /// The program and its arguments.
    pub(crate) command: &'a [&'a str],
    pub(crate) environment: &'a [(&'a str, &'a str)],
    /// From the root.
    pub(crate) log: &'a str,
    pub(crate) limit: Duration,
}

impl Step<'_> {
    /// Runs it to its end; both its outputs go to the log, in the order in which they were written.
    pub(crate) fn run(&self) -> Outcome {
        let (program, arguments) = self.command.split_first().ok_or("a step without a program")?;
        let (output, input) =
            io::pipe().map_err(|error| format!("no pipe for `{program}`: {error}"))?;
        let copy = self.keep(output)?;
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(shell::root())
            .env("CARGO_TERM_COLOR", "never")
            .env("PATH", tools::path())
            .envs(self.environment.iter().copied())
            .stdin(Stdio::null())
            .stderr(input.try_clone().map_err(|error| error.to_string())?)
            .stdout(input);
        own_group(&mut command);
        let mut child =
            command.spawn().map_err(|error| format!("`{program}` does not start: {error}"))?;
        // The command holds the pipe's other end open, and the log would never end.
        drop(command);
        let status = self.wait(&mut child)?;
        // A grandchild may hold the pipe on; its words are not waited for long.
        let _ = copy.recv_timeout(GRACE);
        if status.success() {
            Ok(())
        } else {
            Err(format!("`{}` failed ({status})", self.command.join(" ")))
        }
    }

    /// Copies what the program writes into the log; the receiver hears when that has ended.
    fn keep(&self, mut output: io::PipeReader) -> Result<mpsc::Receiver<()>, String> {
        let path = shell::root().join(self.log);
        let created =
            path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| File::create(&path));
        let mut log = created.map_err(|error| format!("{}: {error}", self.log))?;
        let (ended, end) = mpsc::channel();
        thread::spawn(move || {
            // A full disk shows in the log's missing end; the step itself goes on.
            let _ = io::copy(&mut output, &mut log);
            let _ = ended.send(());
        });
        Ok(end)
    }

    fn wait(&self, child: &mut Child) -> Result<ExitStatus, String> {
        let start = Instant::now();
        loop {
            if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
                return Ok(status);
            }
            if start.elapsed() > self.limit {
                end_group(child);
                let _ = child.wait();
                return Err(format!(
                    "`{}` took longer than {:?}",
                    self.command.join(" "),
                    self.limit
                ));
            }
            thread::sleep(POLL);
        }
    }
}

/// Runs every test of the workspace and keeps the runner's lines in [`TEST_LOG`].
pub(crate) fn run_tests() -> Outcome {
    tools::nextest()?;
    let command = ["cargo", "nextest", "run", "--workspace", "--no-fail-fast", "--color", "never"];
    Step { command: &command, environment: &[], log: TEST_LOG, limit: Duration::from_secs(20 * 60) }
        .run()
}

/// Remembers how a step ended, for `cargo xtask coverage`.
pub(crate) fn remember(step: &str, outcome: Outcome) -> Outcome {
    let text = if outcome.is_ok() { "passed\n" } else { "failed\n" };
    let path = shell::root().join(result_path(step));
    path.parent()
        .map_or(Ok(()), fs::create_dir_all)
        .and_then(|()| fs::write(&path, text))
        .map_err(|error| format!("{}: {error}", path.display()))?;
    outcome
}

/// Where the result of a step is remembered, from the root.
pub(crate) fn result_path(step: &str) -> String {
    format!("target/xtask/{step}.result")
}

/// The last lines of a log.
pub(crate) fn tail(log: &str, lines: usize) -> String {
    let text = shell::read(log).unwrap_or_default();
    let all: Vec<_> = text.lines().collect();
    all[all.len().saturating_sub(lines)..].join("\n")
}

#[cfg(unix)]
fn own_group(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    command.process_group(0);
}

#[cfg(not(unix))]
fn own_group(_command: &mut Command) {}

/// Ends the program with everything that it started.
fn end_group(child: &mut Child) {
    let group = format!("-{}", child.id());
    let ended = Command::new("kill").args(["-KILL", "--", &group]).status();
    if !ended.is_ok_and(|status| status.success()) {
        let _ = child.kill();
    }
}

/// The lines of the last run of all tests, from the root.
pub(crate) const TEST_LOG: &str = "target/xtask/tests.log";

const POLL: Duration = Duration::from_millis(50);
const GRACE: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use super::*;

    fn step<'a>(command: &'a [&'a str], log: &'a str) -> Step<'a> {
        Step { command, environment: &[("WORD", "hello")], log, limit: Duration::from_secs(60) }
    }

    #[test]
    fn both_outputs_of_a_step_are_in_its_log() {
        let log = "target/xtask/test-of-outputs.log";
        let command = ["sh", "-c", "echo one; echo $WORD >&2; echo three"];
        assert_eq!(step(&command, log).run(), Ok(()));
        assert_eq!(tail(log, 2), "hello\nthree");
    }

    #[test]
    fn a_step_that_fails_or_does_not_start_says_which() {
        let log = "target/xtask/test-of-failure.log";
        let failed = step(&["sh", "-c", "exit 3"], log).run().expect_err("it exits with 3");
        assert!(failed.contains("`sh -c exit 3` failed"), "{failed}");
        let missing = step(&["no-such-program"], log).run().expect_err("there is no such program");
        assert!(missing.contains("`no-such-program` does not start"), "{missing}");
    }

    #[cfg(unix)]
    #[test]
    fn a_step_past_its_limit_ends_with_its_children() {
        let log = "target/xtask/test-of-limit.log";
        let command = ["sh", "-c", "sleep 600 & echo $!; wait"];
        let limit = Duration::from_millis(300);
        let start = Instant::now();
        let ended = Step { limit, ..step(&command, log) }.run().expect_err("it is too slow");
        assert!(ended.contains("took longer than 300ms"), "{ended}");
        assert!(start.elapsed() < Duration::from_secs(30));
        let child = tail(log, 1);
        // Until its new parent looks after it, a dead process may still be listed.
        let dead = || {
            let listed = Command::new("kill").args(["-0", &child]).stderr(Stdio::null()).status();
            let stat = fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
            stat.contains(") Z ") || !listed.is_ok_and(|status| status.success())
        };
        let died = (0..100).any(|_| {
            let dead = dead();
            if !dead {
                thread::sleep(POLL);
            }
            dead
        });
        assert!(died, "{child} lives");
    }

    #[test]
    fn a_result_is_remembered_and_handed_on() {
        assert!(remember("test-of-memory", Err("broken".to_owned())).is_err());
        assert_eq!(shell::read(&result_path("test-of-memory")), Ok("failed\n".to_owned()));
        assert!(remember("test-of-memory", Ok(())).is_ok());
        assert_eq!(shell::read(&result_path("test-of-memory")), Ok("passed\n".to_owned()));
    }
}
