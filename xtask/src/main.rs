//! The project's own checks and chores: `cargo xtask COMMAND`.
//!
//! Each command is a module with a `run`. Nearly everything is decided by functions over text, so that the tests of this
//! crate can show each check failing; only `run` itself reads the tree or starts a program.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "what a command finds is what it prints"
)]

mod apart;
mod authority;
mod bench;
mod cases;
mod conformance;
mod coverage;
mod deny;
mod full;
mod fuzz;
mod graph;
mod harness;
mod items;
mod lines;
mod metadata;
mod miri;
mod mutants;
mod package;
mod reliability;
mod shell;
mod soak;
mod source;
mod spans;
mod step;
mod test;
mod tidy;
mod tools;
mod vocabulary;
mod zoo;

use std::env;
use std::process::ExitCode;

/// What a command ends with; the text says what is wrong and what to do.
type Outcome = Result<(), String>;

/// A command of `cargo xtask`.
struct Command {
    name: &'static str,
    about: &'static str,
    run: fn(&[String]) -> Outcome,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let found = arguments.split_first().and_then(|(name, rest)| {
        Some((COMMANDS.iter().find(|command| command.name == name)?, rest))
    });
    let Some((command, rest)) = found else {
        print_usage();
        return ExitCode::from(2);
    };
    match (command.run)(rest) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn print_usage() {
    eprintln!("cargo xtask COMMAND\n");
    for command in COMMANDS {
        eprintln!("  {:<12} {}", command.name, command.about);
    }
}

/// In the order in which a reader wants to know them.
const COMMANDS: &[Command] = &[
    Command { name: "test", about: "every check: what CI runs", run: test::run },
    Command { name: "tidy", about: "house rules over every file of the tree", run: tidy::run },
    Command {
        name: "graph",
        about: "crates and their imports against docs/architecture.md",
        run: graph::run,
    },
    Command { name: "nextest", about: "every test of the workspace", run: test::run_nextest },
    Command { name: "alone", about: "each published crate builds by itself", run: test::run_alone },
    Command {
        name: "apart",
        about: "the workspaces of their own: a stranger's transport, rmcp in process",
        run: apart::run,
    },
    Command {
        name: "coverage",
        about: "which rows of docs/rows are proven [--check]",
        run: coverage::run,
    },
    Command {
        name: "deny",
        about: "bans, licences, sources [--full: by cargo-deny]",
        run: deny::run,
    },
    Command {
        name: "zoo",
        about: "real servers, every version and transport [NAME…]",
        run: zoo::run,
    },
    Command {
        name: "conformance",
        about: "the official suite against its expected failures",
        run: conformance::run,
    },
    Command {
        name: "authority",
        about: "whole flows against an authorization server that is not ours",
        run: authority::run,
    },
    Command {
        name: "peers",
        about: "installs the servers and proxies that some tests run against",
        run: tools::install_peers,
    },
    Command {
        name: "spans",
        about: "what a call pays for its span where nobody listens, counted",
        run: spans::run,
    },
    Command {
        name: "fuzz",
        about: "looks for inputs that break the rules [--seconds N] [TARGET…]",
        run: fuzz::run,
    },
    Command {
        name: "items",
        about: "what the facade makes public, and why (nightly)",
        run: items::run,
    },
    Command {
        name: "soak",
        about: "calls for a long time, and whether anything grows [--seconds N]",
        run: soak::run,
    },
    Command {
        name: "reliability",
        about: "all that shows that it stands; the figures of its page [--check] [PART…]",
        run: reliability::run,
    },
    Command {
        name: "miri",
        about: "types and engine under an interpreter that sees undefined behaviour",
        run: miri::run,
    },
    Command {
        name: "lines",
        about: "the lines of the lower crates that their tests run [--show]",
        run: lines::run,
    },
    Command {
        name: "mutants",
        about: "breaks the engine in many places, each of which a test has to see [--all]",
        run: mutants::run,
    },
    Command { name: "cases", about: "the given cases", run: cases::run },
    Command {
        name: "bench",
        about: "speed against a hand-written loop and rmcp [--check] [--gate] …",
        run: bench::run,
    },
    Command {
        name: "vocabulary",
        about: "what the schemas say, for the types to be held to --from DIR",
        run: vocabulary::run,
    },
    Command {
        name: "features",
        about: "each published crate builds with any features",
        run: test::run_features,
    },
    Command {
        name: "package",
        about: "each published crate is packed, and builds from that",
        run: package::run,
    },
    Command {
        name: "minimal",
        about: "the workspace builds with the oldest dependencies it names (nightly)",
        run: package::run_minimal,
    },
    Command {
        name: "full",
        about: "test and the slow things, or some steps; writes docs/full.md",
        run: test::run_full,
    },
];
