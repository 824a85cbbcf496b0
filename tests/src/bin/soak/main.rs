//! Calls for a long time, and whether anything grows meanwhile.
//!
//! `soak --seconds N` talks to servers of both eras over both transports: calls side by side, with
//! progress, given up and timed out; subscriptions opened and closed; clients made and closed; servers
//! that go and come back. In between everything is at rest, and what the process then holds is noted:
//! memory, descriptors, tasks. It fails if one of these grows over the second half.
//!
//! `soak server stdio` and `soak server http` are what it talks to.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "what it finds is what it prints, and a server over stdio prints"
)]

mod load;
mod samples;
mod server;

use std::process::ExitCode;
use std::time::Duration;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words[..] {
        ["server", "stdio"] => {
            server::stdio();
            Ok(String::new())
        }
        ["server", "http"] => server::http().map(|()| String::new()),
        ["--seconds", seconds] => match seconds.parse() {
            Ok(seconds) if seconds > 0 => load::run(Duration::from_secs(seconds)),
            _ => Err("--seconds takes a number".to_owned()),
        },
        _ => Err("soak --seconds N".to_owned()),
    };
    match done {
        Ok(told) => {
            println!("{told}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}
