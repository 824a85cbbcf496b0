//! Whole flows against an authorization server that is not ours, over TLS with a private authority.
//!
//! `authority FOLDER CERTIFICATES` starts the servers that `tests/authority/install.sh` has put into
//! the folder, anew for each flow, and prints a line for it: `ok NAME MS` or `FAIL NAME: why`. It
//! ends with 1 if one failed.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "what it finds is what it prints")]

mod browser;
mod flows;
mod machines;
mod server;
mod world;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use tokio::time::timeout;

use flows::FLOWS;
use server::Servers;
use world::World;

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [folder, certificates] = &arguments[..] else {
        eprintln!("usage: authority FOLDER CERTIFICATES");
        return ExitCode::from(2);
    };
    let mut failed = 0;
    for (name, flow) in FLOWS {
        let start = Instant::now();
        let play = async {
            let servers = Servers::start(folder, certificates).await?;
            flow(World::new(servers)?).await
        };
        let played = timeout(LIMIT, play).await;
        match played.unwrap_or_else(|_| Err(format!("not done within {LIMIT:?}"))) {
            Ok(()) => println!("ok {name} {}", start.elapsed().as_millis()),
            Err(why) => {
                failed += 1;
                println!("FAIL {name}: {why}");
            }
        }
    }
    println!("{} passed, {failed} failed", FLOWS.len() - failed);
    ExitCode::from(u8::from(failed > 0))
}

/// How long one flow may take.
const LIMIT: Duration = Duration::from_secs(60);
