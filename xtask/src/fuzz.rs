//! Looking for inputs that break the rules of `tests/fuzz`, by cargo-fuzz.
//!
//! New inputs that reach new code go to `target/fuzz/corpus`; the kept ones beside the targets are read and never written.
//! An input that breaks a rule is shown, and left in `target/fuzz/broken`: shrunk by hand it belongs into the kept ones.

use std::fs;
use std::time::Duration;

use crate::Outcome;
use crate::shell;
use crate::step::{self, Step};
use crate::tools;

/// `cargo xtask fuzz [--seconds N] [TARGET…]`: each target for so long, all of them unless some are named.
pub(crate) fn run(arguments: &[String]) -> Outcome {
    let Asked { seconds, targets } = Asked::read(arguments)?;
    let known = targets_of(&shell::read(MANIFEST)?);
    if let Some(other) = targets.iter().find(|target| !known.contains(target)) {
        return Err(format!("no target {other:?}: there are {}", known.join(", ")));
    }
    tools::cargo_fuzz()?;
    let targets = if targets.is_empty() { known } else { targets };
    let mut broken = Vec::new();
    for target in targets {
        match fuzz(&target, seconds) {
            Ok(line) => println!("{target:<14} {line}"),
            Err(why) => {
                println!("{target:<14} BROKEN\n{why}");
                broken.push(target);
            }
        }
    }
    if broken.is_empty() { Ok(()) } else { Err(format!("broken: {}", broken.join(", "))) }
}

/// What the command line asks for.
#[derive(Debug, PartialEq, Eq)]
struct Asked {
    /// For each target.
    seconds: u64,
    targets: Vec<String>,
}

impl Asked {
    fn read(arguments: &[String]) -> Result<Self, String> {
        let mut asked = Self { seconds: SECONDS, targets: Vec::new() };
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            match argument.strip_prefix("--") {
                Some("seconds") => {
                    let seconds = arguments.next().and_then(|text| text.parse().ok());
                    asked.seconds =
                        seconds.filter(|seconds| *seconds > 0).ok_or("--seconds takes a number")?;
                }
                Some(other) => return Err(format!("--{other}: only --seconds N is known")),
                None => asked.targets.push(argument.clone()),
            }
        }
        Ok(asked)
    }
}

fn fuzz(target: &str, seconds: u64) -> Result<String, String> {
    let [found, broken] =
        ["corpus", "broken"].map(|folder| format!("target/fuzz/{folder}/{target}"));
    for folder in [&found, &broken] {
        fs::create_dir_all(shell::root().join(folder))
            .map_err(|error| format!("{folder}: {error}"))?;
    }
    let kept = format!("tests/fuzz/corpus/{target}");
    let [time, artifacts] =
        [format!("-max_total_time={seconds}"), format!("-artifact_prefix={broken}/")];
    // Nothing of ours is unsafe, so that the rules are looked after by assertions and not by a sanitizer.
    let command = ["rustup", "run", "nightly", "cargo", "fuzz", "run", "--fuzz-dir", "tests/fuzz"];
    let options = ["--target-dir", "target/fuzz/build", "--features", "libfuzzer", "-s", "none"];
    let limits = [target, &found, &kept, "--", &time, &artifacts, "-max_len=4096", "-timeout=10"];
    let more = ["-rss_limit_mb=2048", "-print_final_stats=1"];
    let command = [&command[..], &options, &limits, &more].concat();
    let log = format!("target/xtask/fuzz-{target}.log");
    // The first run builds.
    let limit = Duration::from_secs(seconds + 30 * 60);
    let environment = [("RUSTUP_TOOLCHAIN", "nightly")];
    let step = Step { command: &command, environment: &environment, log: &log, limit };
    step.run().map_err(|error| format!("{}\n{error}", step::tail(&log, SHOWN)))?;
    figures(&shell::read(&log)?).ok_or_else(|| format!("{log}: no figures in it"))
}

/// What the fuzzer says at its end.
fn figures(log: &str) -> Option<String> {
    let figure = |name: &str| {
        let line = log.lines().rev().find(|line| line.starts_with(name))?;
        line.rsplit(' ').next()?.parse::<u64>().ok()
    };
    let runs = figure("stat::number_of_executed_units:").filter(|runs| *runs > 0)?;
    let memory = figure("stat::peak_rss_mb:")?;
    Some(format!("ok, {runs} inputs, {memory} MiB at most"))
}

/// The targets of the manifest, in its order.
fn targets_of(manifest: &str) -> Vec<String> {
    let sections = manifest.split("[[bin]]").skip(1);
    let names = sections.filter_map(|section| section.split("name = \"").nth(1)?.split('"').next());
    names.map(str::to_owned).collect()
}

const MANIFEST: &str = "tests/fuzz/Cargo.toml";
const SECONDS: u64 = 30;
const SHOWN: usize = 60;

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(words: &[&str]) -> Result<Asked, String> {
        Asked::read(&words.iter().map(ToString::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn the_command_line_names_a_time_and_targets() {
        assert_eq!(asked(&[]), Ok(Asked { seconds: SECONDS, targets: vec![] }));
        let two = Asked { seconds: 5, targets: vec!["lines".to_owned(), "events".to_owned()] };
        assert_eq!(asked(&["lines", "--seconds", "5", "events"]), Ok(two));
        for wrong in [&["--seconds"][..], &["--seconds", "0"], &["--seconds", "x"], &["--minutes"]]
        {
            assert!(asked(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn every_target_of_the_manifest_is_known() {
        let manifest = shell::read(MANIFEST).expect("the manifest");
        let targets = targets_of(&manifest);
        assert!(targets.len() >= 6 && targets.contains(&"message".to_owned()), "{targets:?}");
        assert_eq!(targets.len(), manifest.matches("fuzz_targets/").count());
    }

    #[test]
    fn a_log_without_figures_is_no_success() {
        let log = "Done 10 runs in 1 second(s)\nstat::number_of_executed_units: 10\nstat::peak_rss_mb:              42\n";
        assert_eq!(figures(log).as_deref(), Some("ok, 10 inputs, 42 MiB at most"));
        assert_eq!(figures(&log.replace(": 10", ": 0")), None);
        assert_eq!(figures("Done\n"), None);
    }
}
