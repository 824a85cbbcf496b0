//! What it costs to build a minimal client from nothing.

use std::fs;

use super::cells::Figure;
use super::figures::{Line, Sample};
use super::options::Options;
use super::stand::{Driver, MANIFEST};
use crate::shell;

/// Builds a minimal client of each of these libraries, each in an empty folder: CPU time, and how many crates are in it.
pub(super) fn measure(options: &Options, drivers: &[Driver]) -> Result<Vec<Line>, String> {
    let mut lines = Vec::new();
    for (transport, most) in [("stdio", 50.0), ("HTTP", 85.0)] {
        let names = [format!("clean build, {transport}, CPU s"), format!("crates, {transport}")];
        if !names.iter().any(|name| options.wants(name)) {
            continue;
        }
        let [mut time, mut crates] = [
            Line::new(&names[0], Figure::Cpu, None, Some(0.6)),
            Line::new(&names[1], Figure::Count, Some((most, most)), None),
        ];
        for library in
            LIBRARIES.iter().filter(|name| drivers.iter().any(|driver| driver.name == **name))
        {
            let package = format!("minimal-{library}-{}", transport.to_lowercase());
            time.add(library, 0, seconds(&package).map(Sample::of));
            crates.add(library, 0, count(&package).map(Sample::of));
        }
        for line in [time, crates] {
            eprintln!("{line}");
            lines.push(line);
        }
    }
    Ok(lines)
}

/// The CPU time of a clean build: of the compiler, and of all that it starts.
fn seconds(package: &str) -> Result<f64, String> {
    let folder = shell::root().join(TARGET);
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|error| format!("{TARGET}: {error}"))?;
    }
    shell::output("cargo", &["fetch", "--quiet", "--locked", "--manifest-path", MANIFEST])?;
    let build = format!(
        "cargo build --quiet --locked --offline --manifest-path {MANIFEST} --target-dir {TARGET} --package {package} && times"
    );
    let said = shell::output("sh", &["-c", &build])?;
    let _ = fs::remove_dir_all(&folder);
    spent(&said).ok_or_else(|| format!("`times` says {said:?}"))
}

/// How many crates its tree has, those that only build others left out.
fn count(package: &str) -> Result<f64, String> {
    let tree = ["tree", "--locked", "--edges", "normal", "--prefix", "none"];
    let which = ["--manifest-path", MANIFEST, "--package", package];
    let said = shell::output("cargo", &[&tree[..], &which].concat())?;
    Ok(distinct(&said) as f64)
}

/// The children's line of the shell's own `times`: user and system.
fn spent(said: &str) -> Option<f64> {
    let line = said.trim_end().lines().last()?;
    line.split_whitespace().map(minutes).sum()
}

/// `1m2.5s` in seconds.
fn minutes(text: &str) -> Option<f64> {
    let (minutes, seconds) = text.strip_suffix('s')?.split_once('m')?;
    Some(minutes.parse::<f64>().ok()? * 60.0 + seconds.parse::<f64>().ok()?)
}

/// How many different packages a tree names, the client itself left out.
fn distinct(tree: &str) -> usize {
    let mut names: Vec<_> =
        tree.lines().map(|line| line.split(" (").next().unwrap_or_default()).collect();
    names.sort_unstable();
    names.dedup();
    names.retain(|name| !name.is_empty());
    names.len().saturating_sub(1)
}

/// The drivers that have minimal clients of their own.
const LIBRARIES: &[&str] = &["snodo", "rmcp", "tower"];

/// Where they are built, from the root: emptied before each.
const TARGET: &str = "target/bench-minimal";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_build_is_that_of_what_the_shell_started() {
        assert_eq!(spent("0m0.00s 0m0.01s\n1m2.50s 0m7.25s\n"), Some(69.75));
        assert_eq!(spent("nothing"), None);
        assert_eq!(spent(""), None);
    }

    #[test]
    fn a_crate_counts_once_and_the_client_not() {
        let tree = "minimal v0.1.0 (/a)\ntokio v1.2.3\nbytes v1.0.0\ntokio v1.2.3 (*)\n\n";
        assert_eq!(distinct(tree), 2);
    }
}
