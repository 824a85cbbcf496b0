//! Whole flows of OAuth against an authorization server that is not ours, over TLS with a private authority.
//!
//! `tests/authority/install.sh` installs it; the binary `authority` of package `snodo-tests` starts it anew for each flow,
//! plays the person at the browser, and prints a line for each. It is called as `authority FOLDER CERTIFICATES`.

use std::time::Duration;

use crate::Outcome;
use crate::harness;
use crate::step::{self, Step};
use crate::tools::{self, Tool};

/// `cargo xtask authority`.
pub(crate) fn run(arguments: &[String]) -> Outcome {
    if !arguments.is_empty() {
        return Err("usage: cargo xtask authority".to_owned());
    }
    step::remember("authority", play())
}

fn play() -> Outcome {
    harness::build("authority")?;
    tools::need(&[Tool::Node])?;
    let log = "target/xtask/authority-install.log";
    let install = Step {
        command: &["bash", "tests/authority/install.sh"],
        environment: &[("AUTHORITY_DIR", FOLDER)],
        log,
        limit: Duration::from_secs(10 * 60),
    };
    install.run().map_err(|error| format!("{error}\n{}", step::tail(log, 40)))?;
    harness::run("authority", &[FOLDER, CERTIFICATES])
}

const FOLDER: &str = "target/authority";
/// Made for tests: a private authority, and a server of it that is called localhost.
const CERTIFICATES: &str = "tests/it/peers/certificates";
