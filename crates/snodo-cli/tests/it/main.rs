//! The program, run as a user runs it: against its demo, a process and an HTTP endpoint.

mod config;
mod debug;
mod demo;
mod doctor;
mod guide;
mod http;
mod login;
mod page;
mod process;
#[cfg(target_os = "linux")]
mod pty;
mod terminal;
mod usage;

use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// What a run of the program left behind.
struct Ran {
    code: i32,
    stdout: String,
    stderr: String,
}

/// The program with these words, not started yet. No input, and no environment that changes it.
fn command(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_snodo"));
    command.args(words).stdin(Stdio::null());
    // No configuration of whoever runs the tests.
    command.env("SNODO_CONFIG", "no-such-file.json").env_remove("COLUMNS");
    command.env("SNODO_CREDENTIALS", "no-such-credentials.json");
    command
}

fn snodo(words: &[&str]) -> Ran {
    Ran::of(command(words).output().expect("the program runs"))
}

/// A run with `--json`: its status, and the one document it wrote.
fn document(words: &[&str]) -> (i32, Value) {
    let ran = snodo(&[&["--json"], words].concat());
    (ran.code, ran.document())
}

/// The words that name the test's own server, behind `--`.
fn with_server<'a>(words: &[&'a str]) -> Vec<&'a str> {
    [words, &["--", "sh", SERVER]].concat()
}

impl Ran {
    fn of(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        Self {
            code: output.status.code().expect("it ends by itself"),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }

    /// The output as exactly one JSON document, on lines of its own.
    fn document(&self) -> Value {
        assert!(self.stdout.ends_with('\n'), "{:?}", self.stdout);
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}: {:?}; {}", self.stdout, self.stderr))
    }
}

const SERVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/server.sh");
