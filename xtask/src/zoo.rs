//! The zoo: real servers, pinned, each spoken to at every version and over every transport that it has.
//!
//! `tests/zoo/install.sh` installs them; the binary `zoo` of package `snodo-tests` then speaks to each and prints a line for
//! it. It is called as `zoo SERVERS.JSON ZOO-FOLDER [NAME…]` and fails if one server did not do as the file says.

use std::time::Duration;

use crate::Outcome;
use crate::harness;
use crate::shell;
use crate::step::{self, Step};
use crate::tools::{self, Tool};

/// `cargo xtask zoo [NAME…]`: all servers, or those named.
pub(crate) fn run(arguments: &[String]) -> Outcome {
    let outcome = visit(arguments);
    // A visit to a few servers is no proof of what all of them show.
    if arguments.is_empty() { step::remember("zoo", outcome) } else { outcome }
}

fn visit(names: &[String]) -> Outcome {
    harness::build("zoo")?;
    // The doctor of the command line sees every server too.
    shell::output("cargo", &["build", "--quiet", "--package", "snodo-cli"])?;
    tools::need(&[Tool::Node, Tool::Python])?;
    let command = ["bash", "tests/zoo/install.sh"];
    let environment = [("ZOO_DIR", ZOO)];
    let log = "target/xtask/zoo-install.log";
    let install = Step {
        command: &command,
        environment: &environment,
        log,
        limit: Duration::from_secs(20 * 60),
    };
    install.run().map_err(|error| format!("{error}\n{}", step::tail(log, 40)))?;
    let names = names.iter().map(String::as_str);
    harness::run(
        "zoo",
        &["tests/zoo/servers.json", ZOO].into_iter().chain(names).collect::<Vec<_>>(),
    )
}

const ZOO: &str = "target/zoo";
