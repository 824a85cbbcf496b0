//! What the spans of a client cost where nobody wants them, counted by callgrind.
//!
//! One small program that calls a tool again and again is built twice: as the library is, and with
//! `cfg(snodo_without_spans)`, under which the code of the spans is not there at all. Both run with no subscriber; a run
//! of many calls less a run of few is what calls alone take. That the count sees spans at all is shown by a third run,
//! with a subscriber that wants them.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::Outcome;
use crate::shell;
use crate::step::{self, Step};
use crate::tools::{self, Tool};

/// `cargo xtask spans`: counts, and fails if a call pays for spans that nobody wants.
pub(crate) fn run(_arguments: &[String]) -> Outcome {
    tools::need(&[Tool::Valgrind])?;
    let with = build("with", "")?;
    let without = build("without", "--cfg snodo_without_spans")?;
    let counted = Counted {
        absent: per_call(&without, "off")?,
        off: per_call(&with, "off")?,
        on: per_call(&with, "on")?,
    };
    println!("{}", counted.line());
    counted.judge()
}

/// Instructions of one call.
#[derive(Clone, Copy, Debug)]
struct Counted {
    /// Built without the code of the spans.
    absent: f64,
    /// With it, and no subscriber.
    off: f64,
    /// With a subscriber that wants every span.
    on: f64,
}

impl Counted {
    fn line(&self) -> String {
        let Self { absent, off, on } = self;
        let [off_by, on_by] = [off, on].map(|count| (count - absent) / absent * 100.0);
        format!(
            "instructions of a call: {absent:.0} without the code of spans, {off:.0} with it ({off_by:+.2} %), {on:.0} with a subscriber ({on_by:+.2} %)"
        )
    }

    fn judge(&self) -> Outcome {
        let Self { absent, off, on } = self;
        if (off - absent).abs() > absent * MOST {
            return Err(format!(
                "a call pays for spans that nobody wants: more than {} % of its instructions",
                MOST * 100.0
            ));
        }
        // Without this a program that makes no spans would pass for one whose spans are free.
        if *on < off + absent * MOST {
            return Err("spans that somebody wants cost nothing: they were not counted".to_owned());
        }
        Ok(())
    }
}

/// Builds the program and says where it is.
fn build(name: &str, flags: &str) -> Result<PathBuf, String> {
    let host = host(&shell::output("rustc", &["-vV"])?)?;
    let target = shell::root().join("target/spans");
    let text = target.to_str().ok_or("the path of the tree is no UTF-8")?;
    let command =
        ["cargo", "build", "--release", "--locked", "--bin", "call", "--manifest-path", MANIFEST];
    // With a target named, the flags are not those of build scripts and macros, which both builds then share.
    let command = [&command[..], &["--target", &host]].concat();
    let environment = [("CARGO_TARGET_DIR", text), ("RUSTFLAGS", flags)];
    let log = format!("target/xtask/spans-{name}.log");
    let step = Step { command: &command, environment: &environment, log: &log, limit: LIMIT };
    step.run().map_err(|error| format!("{}\n{error}", step::tail(&log, SHOWN)))?;
    let (built, kept) = (target.join(host).join("release/call"), target.join(name));
    fs::copy(&built, &kept).map_err(|error| format!("{}: {error}", built.display()))?;
    Ok(kept)
}

/// The platform of the compiler, as it tells it.
fn host(version: &str) -> Result<String, String> {
    let line = version.lines().find_map(|line| line.strip_prefix("host: "));
    line.map(str::to_owned).ok_or_else(|| "rustc does not tell its host".to_owned())
}

/// What one call takes: the difference between many and few, so that neither start nor end counts.
fn per_call(program: &Path, spans: &str) -> Result<f64, String> {
    let [few, many] = [FEW, MANY].map(|calls| count(program, calls, spans));
    Ok((many?.saturating_sub(few?)) as f64 / f64::from(MANY - FEW))
}

/// The instructions of a whole run.
fn count(program: &Path, calls: u32, spans: &str) -> Result<u64, String> {
    let log = shell::root().join("target/xtask/spans-callgrind.log");
    let words = File::create(&log).map_err(|error| format!("{}: {error}", log.display()))?;
    let status = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args([&calls.to_string(), spans])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(words)
        .status()
        .map_err(|error| format!("`valgrind` does not start: {error}"))?;
    let text = fs::read_to_string(&log).unwrap_or_default();
    match collected(&text) {
        Some(count) if status.success() => Ok(count),
        _ => Err(format!("{}: callgrind counted nothing ({status}):\n{text}", program.display())),
    }
}

/// The figure in what callgrind says at its end.
fn collected(log: &str) -> Option<u64> {
    let line = log.lines().rev().find(|line| line.contains("Collected :"))?;
    line.rsplit(' ').next()?.parse().ok()
}

const MANIFEST: &str = "tests/telemetry/Cargo.toml";
/// For each of the two builds; on two free cores a first one takes a minute or two.
const LIMIT: Duration = Duration::from_secs(20 * 60);
const SHOWN: usize = 30;

/// How much of a call's instructions its span may take where nobody listens. Their own code takes a third of a
/// hundredth; what else differs is what the compiler inlines in one build and not in the other.
const MOST: f64 = 0.02;
const FEW: u32 = 500;
const MANY: u32 = 2_500;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_that_nobody_wants_may_cost_two_hundredths_and_no_more() {
        let counted = |off, on| Counted { absent: 10_000.0, off, on };
        assert_eq!(counted(10_199.0, 20_000.0).judge(), Ok(()));
        assert!(counted(10_201.0, 20_000.0).judge().is_err_and(|why| why.contains("pays")));
        assert!(counted(9_799.0, 20_000.0).judge().is_err());
    }

    #[test]
    fn a_count_that_sees_no_spans_is_none() {
        let counted = Counted { absent: 10_000.0, off: 10_000.0, on: 10_050.0 };
        assert!(counted.judge().is_err_and(|why| why.contains("not counted")));
        assert!(counted.line().contains("10000 with it (+0.00 %), 10050"), "{}", counted.line());
    }

    #[test]
    fn the_platform_is_what_the_compiler_says() {
        let told = "rustc 1.95.0\nhost: x86_64-unknown-linux-gnu\nrelease: 1.95.0\n";
        assert_eq!(host(told).as_deref(), Ok("x86_64-unknown-linux-gnu"));
        assert!(host("rustc 1.95.0\n").is_err());
    }

    #[test]
    fn the_figure_is_found_in_callgrind_s_last_words() {
        let log = "==7== Callgrind, a call-graph generating cache profiler\n==7== Events    : Ir\n==7== Collected : 1234567\n==7==\n==7== I   refs:      1,234,567\n";
        assert_eq!(collected(log), Some(1_234_567));
        assert_eq!(collected("valgrind: no such program\n"), None);
    }
}
