//! The programs that the steps need: found, or installed by the ordinary clients.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::Outcome;
use crate::shell;

/// What cannot come with cargo.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Tool {
    /// Reads what a program that was built for it counted.
    Llvm,
    Microsocks,
    Nginx,
    Node,
    Python,
    Redis,
    Tinyproxy,
    Valgrind,
}

/// The search path of every step: what this project installed for itself comes last, so that a machine's own wins.
pub(crate) fn path() -> OsString {
    let own = shell::root().join("target/tools/bin");
    let given = env::var_os("PATH").unwrap_or_default();
    env::join_paths(env::split_paths(&given).chain([own])).unwrap_or(given)
}

/// Sees to it that `cargo nextest` runs.
pub(crate) fn nextest() -> Outcome {
    cargo_tool("cargo-nextest", "0.9.143", &["nextest", "--version"])
}

/// Sees to it that `cargo deny` runs.
pub(crate) fn cargo_deny() -> Outcome {
    cargo_tool("cargo-deny", "0.18.9", &["deny", "--version"])
}

/// Sees to it that `cargo fuzz` runs, with a compiler that it can use.
pub(crate) fn cargo_fuzz() -> Outcome {
    if !runs("rustup", &["run", "nightly", "rustc", "--version"]) {
        return Err(
            "fuzzing needs a nightly compiler: `rustup toolchain install nightly`".to_owned()
        );
    }
    cargo_tool("cargo-fuzz", "0.13.2", &["fuzz", "--version"])
}

/// Sees to it that `cargo mutants` runs.
pub(crate) fn cargo_mutants() -> Outcome {
    cargo_tool("cargo-mutants", "27.1.0", &["mutants", "--version"])
}

/// Sees to it that `cargo miri` runs.
pub(crate) fn miri() -> Outcome {
    if runs("rustup", &["run", "nightly", "cargo", "miri", "--version"]) {
        return Ok(());
    }
    println!("adding miri to the nightly toolchain");
    let add = ["component", "add", "--toolchain", "nightly", "miri", "rust-src"];
    shell::output("rustup", &add).map(drop)
}

/// The name of one of LLVM's tools: as a variable has it, or as Debian does.
pub(crate) fn llvm(variable: &str, tool: &str) -> String {
    env::var(variable).unwrap_or_else(|_| format!("{tool}-19"))
}

/// `cargo xtask peers`: what some tests run against, where it is not there yet.
pub(crate) fn install_peers(_arguments: &[String]) -> Outcome {
    need(PEERS)
}

/// The servers and proxies of the integration tests.
pub(crate) const PEERS: &[Tool] = &[Tool::Microsocks, Tool::Nginx, Tool::Redis, Tool::Tinyproxy];

/// Sees to it that these run; what is missing comes as a Debian package, where that is possible.
pub(crate) fn need(tools: &[Tool]) -> Outcome {
    let missing: Vec<_> = tools.iter().filter(|tool| !tool.is_there()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let packages: Vec<_> = missing.iter().flat_map(|tool| tool.packages()).copied().collect();
    println!("installing {}", packages.join(", "));
    install(&packages)?;
    match missing.iter().find(|tool| !tool.is_there()) {
        Some(tool) => Err(format!(
            "{tool:?} does not run even now that {} are installed",
            packages.join(", ")
        )),
        None => Ok(()),
    }
}

impl Tool {
    fn is_there(self) -> bool {
        match self {
            Self::Llvm => {
                LLVM.iter().all(|(variable, tool)| runs(&llvm(variable, tool), &["--version"]))
            }
            Self::Node => runs("node", &["--version"]) && runs("npm", &["--version"]),
            Self::Microsocks => stands("microsocks"),
            Self::Nginx => stands("nginx"),
            Self::Tinyproxy => stands("tinyproxy"),
            Self::Python => runs("python3", &["-c", "import venv, ensurepip"]),
            Self::Redis => runs("redis-server", &["--version"]),
            Self::Valgrind => runs("valgrind", &["--version"]),
        }
    }

    fn packages(self) -> &'static [&'static str] {
        match self {
            Self::Llvm => &["llvm-19"],
            Self::Microsocks => &["microsocks"],
            Self::Nginx => &["nginx"],
            Self::Node => &["nodejs", "npm"],
            Self::Python => &["python3", "python3-venv", "python3-pip"],
            Self::Redis => &["redis-server"],
            Self::Tinyproxy => &["tinyproxy"],
            Self::Valgrind => &["valgrind"],
        }
    }
}

fn cargo_tool(package: &str, version: &str, probe: &[&str]) -> Outcome {
    if runs("cargo", probe) {
        return Ok(());
    }
    println!("installing {package} {version} into target/tools");
    shell::output(
        "cargo",
        &["install", package, "--version", version, "--locked", "--root", "target/tools"],
    )
    .map(drop)
}

fn install(packages: &[&str]) -> Outcome {
    let wanted = packages.join(" ");
    if !runs("apt-get", &["--version"]) || shell::output("id", &["-u"])?.trim() != "0" {
        return Err(format!(
            "install {wanted} (or their like) first: only root on Debian can do it from here"
        ));
    }
    let _quiet = NoServices::start();
    shell::output("apt-get", &["update", "-qq"])?;
    let options = ["install", "-y", "-qq", "--no-install-recommends"];
    shell::output("apt-get", &[&options[..], packages].concat()).map(drop)
}

/// While it lives, no package starts a service.
#[derive(Debug)]
struct NoServices {
    ours: bool,
}

impl NoServices {
    fn start() -> Self {
        // A policy that is there already says as much, or is somebody's decision.
        let ours =
            !Path::new(POLICY).exists() && fs::write(POLICY, "#!/bin/sh\nexit 101\n").is_ok();
        if ours {
            let _ = shell::output("chmod", &["755", POLICY]);
        }
        Self { ours }
    }
}

impl Drop for NoServices {
    fn drop(&mut self) {
        if self.ours {
            let _ = fs::remove_file(POLICY);
        }
    }
}

/// Whether a program is where programs are; services often stand beside the search path.
fn stands(program: &str) -> bool {
    let given = path();
    let folders = env::split_paths(&given).chain(["/usr/sbin".into(), "/usr/local/sbin".into()]);
    folders.into_iter().any(|folder| folder.join(program).is_file())
}

fn runs(program: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env("PATH", path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// What `cargo xtask lines` needs, and the variables that name it.
const LLVM: [(&str, &str); 3] =
    [("LLVM_AR", "llvm-ar"), ("LLVM_COV", "llvm-cov"), ("LLVM_PROFDATA", "llvm-profdata")];
const POLICY: &str = "/usr/sbin/policy-rc.d";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_not_there_does_not_run() {
        assert!(runs("cargo", &["--version"]));
        assert!(!runs("no-such-program", &[]));
        assert!(!runs("cargo", &["no-such-command"]));
    }

    #[test]
    fn what_a_machine_has_comes_before_what_we_installed() {
        let folders: Vec<_> = env::split_paths(&path()).collect();
        assert!(folders.len() > 1);
        assert!(folders.last().is_some_and(|folder| folder.ends_with("target/tools/bin")));
    }
}
