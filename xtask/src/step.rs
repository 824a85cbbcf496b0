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
                end_family(child);
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
    tools::need(tools::PEERS)?;
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

/// Ends the program with everything that it started, steps of its own included.
///
/// They stay in our process group, so that a Ctrl-C at the terminal reaches them all.
fn end_family(child: &mut Child) {
    let family: Vec<_> = descendants(child.id()).iter().map(u32::to_string).collect();
    if !family.is_empty() {
        let _ = Command::new("sh").args(["-c", "kill -KILL \"$@\"", "sh"]).args(family).status();
    }
    let _ = child.kill();
}

/// The processes below one, as far as this system lists processes under `/proc`.
fn descendants(process: u32) -> Vec<u32> {
    let listed = fs::read_dir("/proc").into_iter().flatten().flatten();
    let parents: Vec<(u32, u32)> = listed
        .filter_map(|entry| {
            let own = entry.file_name().to_str()?.parse().ok()?;
            let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
            // The name, in brackets, may hold anything; the state and the parent follow it.
            let parent = stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()?;
            Some((own, parent))
        })
        .collect();
    let mut found = vec![process];
    let mut next = 0;
    while let Some(parent) = found.get(next).copied() {
        found.extend(parents.iter().filter(|(_, of)| *of == parent).map(|(own, _)| *own));
        next += 1;
    }
    found.split_off(1)
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

    #[cfg(target_os = "linux")]
    #[test]
    fn a_step_past_its_limit_ends_with_its_children() {
        let log = "target/xtask/test-of-limit.log";
        let command = ["sh", "-c", "sh -c 'sleep 600 & echo $!; wait'; true"];
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
