//! `cargo xtask test`: every check, in an order in which the cheap ones speak first.
//!
//! Each step is a program of its own with its output in `target/xtask`, so that one that fails stops no other.

use std::fs;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use crate::Outcome;
use crate::full::Page;
use crate::metadata::Metadata;
use crate::shell;
use crate::step::{self, Step};

/// `cargo xtask test`.
pub(crate) fn run(_arguments: &[String]) -> Outcome {
    conclude(&run_all(STEPS, |_| Ok(()))?)
}

/// `cargo xtask full [STEP…]`: the same and the slow things, with a page about it.
pub(crate) fn run_full(arguments: &[String]) -> Outcome {
    let steps = [STEPS, SLOW_STEPS].concat();
    if let Some(other) =
        arguments.iter().find(|name| steps.iter().all(|part| part.name != name.as_str()))
    {
        let names: Vec<_> = steps.iter().map(|part| part.name).collect();
        return Err(format!("no step `{other}`; there are {}", names.join(", ")));
    }
    let date = shell::output("date", &["-u", "+%Y-%m-%d"])?;
    let commit = shell::output("git", &["rev-parse", "--short", "HEAD"])?;
    let tracked = ["status", "--porcelain", "--untracked-files=no"];
    let more = if shell::output("git", &tracked)?.is_empty() { "" } else { "+" };
    let when = format!("{} | {}{more}", date.trim(), commit.trim());
    let wanted =
        |part: &&Part| arguments.is_empty() || arguments.iter().any(|name| name == part.name);
    let parts: Vec<_> = steps.iter().filter(wanted).copied().collect();
    let done = run_all(&parts, |done| {
        // Read anew: another run may have written to it meanwhile.
        let old = fs::read_to_string(shell::root().join(PAGE)).unwrap_or_default();
        let mut page = Page::of(steps.iter().map(|part| part.name), &old);
        page.note(done.name, done.word(), done.took.as_secs_f64(), &when);
        // What a long run has found is kept, whatever becomes of the rest of it.
        fs::write(shell::root().join(PAGE), page.written())
            .map_err(|error| format!("{PAGE}: {error}"))
    })?;
    println!("wrote {PAGE}");
    conclude(&done)
}

/// `cargo xtask nextest`: every test, with the runner's closing lines.
pub(crate) fn run_nextest(_arguments: &[String]) -> Outcome {
    let outcome = step::run_tests();
    println!("{}", closing_lines(&shell::read(step::TEST_LOG)?));
    outcome
}

/// `cargo xtask alone`: each published crate builds by itself, with what it asks for and nothing that a neighbour brings.
pub(crate) fn run_alone(_arguments: &[String]) -> Outcome {
    let metadata = Metadata::load()?;
    for package in metadata.members().filter(|package| package.published) {
        shell::output("cargo", &["check", "--quiet", "--all-targets", "--package", &package.name])?;
        println!("{} builds alone", package.name);
    }
    Ok(())
}

/// `cargo xtask features`: each published crate builds with none, each pair and all of its features.
pub(crate) fn run_features(_arguments: &[String]) -> Outcome {
    let metadata = Metadata::load()?;
    for package in
        metadata.members().filter(|package| package.published && !package.features.is_empty())
    {
        for features in powerset(&package.features) {
            let features = features.join(",");
            let command = [
                "check",
                "--quiet",
                "--package",
                &package.name,
                "--no-default-features",
                "--features",
                &features,
            ];
            shell::output("cargo", &command)?;
            println!("{} builds with [{features}]", package.name);
        }
    }
    Ok(())
}

/// No feature, each one, each pair, and all.
fn powerset(features: &[String]) -> Vec<Vec<&str>> {
    let mut sets = vec![vec![]];
    for (at, one) in features.iter().enumerate() {
        sets.push(vec![one.as_str()]);
        sets.extend(features[at + 1..].iter().map(|other| vec![one.as_str(), other.as_str()]));
    }
    if features.len() > 2 {
        sets.push(features.iter().map(String::as_str).collect());
    }
    sets
}

/// A step of the whole.
#[derive(Clone, Copy, Debug)]
struct Part {
    name: &'static str,
    work: Work,
    limit: Duration,
    /// How much of its output is shown when it is done well.
    closing: usize,
}

/// What a step runs.
#[derive(Clone, Copy, Debug)]
enum Work {
    /// Arguments of cargo, and the flags of rustdoc.
    Cargo(&'static [&'static str]),
    /// A command of this program.
    Own(&'static [&'static str]),
}

/// How a step ended.
#[derive(Debug)]
struct Done {
    name: &'static str,
    outcome: Outcome,
    took: Duration,
}

fn run_all(parts: &[Part], mut note: impl FnMut(&Done) -> Outcome) -> Result<Vec<Done>, String> {
    println!("{}", disk(&shell::output("df", &["-Pk", "."])?));
    let own = std::env::current_exe().map_err(|error| format!("where this program is: {error}"))?;
    let own = own.to_str().ok_or("the path of this program is no UTF-8")?;
    let run = |part: &Part| {
        let done = part.run(own);
        note(&done).map(|()| done)
    };
    parts.iter().map(run).collect()
}

/// What is said of the disk, from what `df -Pk` printed: a disk that fills up fails in places that do not say so.
fn disk(printed: &str) -> String {
    let free = printed.lines().nth(1).and_then(|line| line.split_whitespace().nth(3));
    match free.and_then(|free| free.parse::<f64>().ok()) {
        Some(kib) => format!("disk         {:.1} GiB free, {NEEDED} are needed", kib / 1_048_576.0),
        None => format!("disk         {NEEDED} GiB are needed, and `df` does not say what is free"),
    }
}

impl Part {
    fn run(&self, own: &str) -> Done {
        print!("{:<12} ", self.name);
        // Nothing hangs on it: the name shows early or with its result.
        let _ = io::stdout().flush();
        let log = format!("target/xtask/step-{}.log", self.name);
        let (program, arguments) = match self.work {
            Work::Cargo(arguments) => ("cargo", arguments),
            Work::Own(arguments) => (own, arguments),
        };
        let command = [&[program], arguments].concat();
        let environment = [("RUSTDOCFLAGS", "-D warnings")];
        let start = Instant::now();
        let outcome =
            Step { command: &command, environment: &environment, log: &log, limit: self.limit }
                .run();
        let done = Done { name: self.name, outcome, took: start.elapsed() };
        println!("{:<7} {:>6.1} s", done.word(), done.took.as_secs_f64());
        match &done.outcome {
            // Whoever reads the runner's summary by machine wants it as it was written.
            Ok(()) if self.closing > 0 => println!("{}", step::tail(&log, self.closing)),
            Ok(()) => {}
            Err(error) => print_indented(&format!(
                "{}\n{error}; all of it is in {log}",
                step::tail(&log, TAIL)
            )),
        }
        done
    }
}

impl Done {
    fn word(&self) -> &'static str {
        if self.outcome.is_ok() { "ok" } else { "FAILED" }
    }
}

fn print_indented(text: &str) {
    for line in text.lines() {
        println!("    {line}");
    }
}

fn conclude(done: &[Done]) -> Outcome {
    let failed: Vec<_> =
        done.iter().filter(|done| done.outcome.is_err()).map(|done| done.name).collect();
    let took: f64 = done.iter().map(|done| done.took.as_secs_f64()).sum();
    println!("{} steps in {took:.0} s", done.len());
    if failed.is_empty() { Ok(()) } else { Err(format!("FAILED: {}", failed.join(", "))) }
}

/// From the runner's summary on; all of it if there is none.
fn closing_lines(log: &str) -> &str {
    let summary = log.rfind("\n     Summary [").map(|at| &log[at + 1..]);
    summary.unwrap_or(log).trim_end()
}

const fn part(name: &'static str, work: Work, minutes: u64) -> Part {
    Part { name, work, limit: Duration::from_secs(minutes * 60), closing: 0 }
}

const fn closing(part: Part, closing: usize) -> Part {
    Part { closing, ..part }
}

const STEPS: &[Part] = &[
    part("fmt", Work::Cargo(&["fmt", "--all", "--check"]), 2),
    part(
        "clippy",
        Work::Cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]),
        15,
    ),
    closing(part("tidy", Work::Own(&["tidy"]), 2), 4),
    closing(part("graph", Work::Own(&["graph"]), 2), 1),
    part("alone", Work::Own(&["alone"]), 15),
    closing(part("nextest", Work::Own(&["nextest"]), 25), 1),
    closing(part("apart", Work::Own(&["apart"]), 30), 3),
    closing(part("spans", Work::Own(&["spans"]), 45), 1),
    closing(part("gate", Work::Own(&["bench", "--gate"]), 45), 1),
    part("doctests", Work::Cargo(&["test", "--doc", "--workspace"]), 15),
    part("docs", Work::Cargo(&["doc", "--workspace", "--no-deps"]), 10),
    closing(part("deny", Work::Own(&["deny"]), 2), 1),
    closing(part("cases", Work::Own(&["cases"]), 15), 1),
    closing(part("soak", Work::Own(&["soak", "--seconds", "60"]), 15), 1),
    closing(part("zoo", Work::Own(&["zoo"]), 25), 30),
    closing(part("conformance", Work::Own(&["conformance"]), 25), 1),
    closing(part("authority", Work::Own(&["authority"]), 15), 1),
    closing(part("coverage", Work::Own(&["coverage", "--check"]), 25), 1),
];

/// Those with a figure on the page about reliability renew it.
const SLOW_STEPS: &[Part] = &[
    part("features", Work::Own(&["features"]), 30),
    closing(part("items", Work::Own(&["items"]), 15), 1),
    closing(part("package", Work::Own(&["package"]), 30), 1),
    closing(part("minimal", Work::Own(&["minimal"]), 30), 1),
    closing(part("fuzz", Work::Own(&["reliability", "fuzz"]), 60), 1),
    closing(part("miri", Work::Own(&["reliability", "miri"]), 60), 1),
    closing(part("lines", Work::Own(&["reliability", "lines"]), 40), 1),
    closing(part("mutants", Work::Own(&["reliability", "mutants"]), 90), 1),
    closing(part("soak-hour", Work::Own(&["soak", "--seconds", "3600"]), 90), 1),
    closing(part("cargo-deny", Work::Own(&["deny", "--full"]), 30), 1),
];

/// GiB that `target/` takes when every step has run, as measured, rounded up.
const NEEDED: u32 = 12;
/// How many lines of a failed step are shown.
const TAIL: usize = 40;
const PAGE: &str = "docs/full.md";

#[cfg(test)]
mod tests {
    use super::*;

    fn done(name: &'static str, outcome: Outcome) -> Done {
        Done { name, outcome, took: Duration::from_secs(2) }
    }

    #[test]
    fn one_failed_step_fails_the_whole_and_is_named() {
        assert_eq!(conclude(&[done("fmt", Ok(()))]), Ok(()));
        let mixed = [
            done("fmt", Ok(())),
            done("tidy", Err("words".to_owned())),
            done("zoo", Err("words".to_owned())),
        ];
        assert_eq!(conclude(&mixed), Err("FAILED: tidy, zoo".to_owned()));
    }

    #[test]
    fn the_disk_is_told_in_gibibytes_or_said_to_be_unknown() {
        let printed =
            "Filesystem 1024-blocks Used Available Capacity Mounted on\n/dev/a 9 9 3145728 9% /\n";
        assert_eq!(disk(printed), "disk         3.0 GiB free, 12 are needed");
        assert!(disk("df: words\n").ends_with("does not say what is free"));
    }

    #[test]
    fn the_closing_lines_start_at_the_summary() {
        let log = "  PASS [ 0.1s] a b\n────\n     Summary [   0.1s] 1 test run: 1 passed\n  FAIL [ 0.1s] a c\n";
        assert_eq!(
            closing_lines(log),
            "     Summary [   0.1s] 1 test run: 1 passed\n  FAIL [ 0.1s] a c"
        );
        assert_eq!(closing_lines("error: words\n"), "error: words");
    }

    #[test]
    fn a_step_that_is_none_is_refused_before_anything_runs() {
        let error = run_full(&["fast".to_owned()]).expect_err("none");
        assert!(error.starts_with("no step `fast`; there are fmt, clippy"), "{error}");
    }

    #[test]
    fn features_are_tried_alone_in_pairs_and_all_together() {
        let features = ["a", "b", "c"].map(str::to_owned);
        let expected: [&[&str]; 8] =
            [&[], &["a"], &["a", "b"], &["a", "c"], &["b"], &["b", "c"], &["c"], &["a", "b", "c"]];
        assert_eq!(powerset(&features), expected);
        assert_eq!(powerset(&features[..2]).len(), 4);
    }

    #[test]
    fn every_own_step_is_a_command() {
        for part in STEPS.iter().chain(SLOW_STEPS) {
            if let Work::Own(arguments) = part.work {
                assert!(
                    crate::COMMANDS.iter().any(|command| command.name == arguments[0]),
                    "{}",
                    part.name
                );
            }
        }
    }
}
