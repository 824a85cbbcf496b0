//! A server process that does what the script of a case says; see the README beside the cases.

#![expect(
    clippy::print_stderr,
    reason = "it is a server for tests: its words go to the test's log"
)]

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match snodo_tests::cases::process::play_child(&arguments) {
        Ok(code) => code,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}
