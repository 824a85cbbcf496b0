//! `cargo xtask lines`: how many lines of the crates below the facade their own tests run.
//!
//! The crates are built once more, counting; Debian's LLVM tools read what was counted. Their tests and their examples run.
//! Lines of tests do not count.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use serde_json::Value;

use crate::Outcome;
use crate::shell;
use crate::source::{File, Source};
use crate::step::{self, Step};
use crate::tools::{self, Tool};

/// `cargo xtask lines [--show]`: fails where a crate falls short; `--show` names the lines that no test runs.
pub(crate) fn run(arguments: &[String]) -> Outcome {
    let shows = match arguments {
        [] => false,
        [show] if show == "--show" => true,
        _ => return Err("only --show is known".to_owned()),
    };
    tools::nextest()?;
    tools::need(&[Tool::Llvm])?;
    let counted = Counts::read(&count()?, &shell::tree()?);
    if shows {
        print!("{}", counted.missed());
    }
    print!("{}", counted.table());
    counted.judge()
}

/// Runs the tests and gives what was counted, as lcov writes it.
fn count() -> Result<String, String> {
    let target = shell::root().join(TARGET);
    let profiles = target.join("profiles");
    // What an earlier run counted, of other code.
    let _ = fs::remove_dir_all(&profiles);
    let path = |path: &std::path::Path| path.to_str().map(str::to_owned).ok_or(NO_UTF8);
    let (target, pool) = (path(&target)?, path(&profiles.join("%p-%m.profraw"))?);
    let environment = [
        ("CARGO_TARGET_DIR", target.as_str()),
        ("RUSTFLAGS", COUNTING),
        ("RUSTDOCFLAGS", COUNTING),
        ("LLVM_PROFILE_FILE", pool.as_str()),
        ("CARGO_INCREMENTAL", "0"),
    ];
    let packages = CRATES.iter().flat_map(|name| ["--package", name]);
    let packages: Vec<_> = packages.collect();
    let run = |command: &[&str], log: &str| {
        let command = [command, &packages].concat();
        let step = Step { command: &command, environment: &environment, log, limit: LIMIT };
        step.run().map_err(|error| format!("{}\n{error}", step::tail(log, SHOWN)))
    };
    run(&["cargo", "nextest", "run", "--no-fail-fast", "--color", "never"], LOG)?;
    let list = ["cargo", "nextest", "list", "--list-type", "binaries-only"];
    run(&[&list[..], &["--message-format", "json"]].concat(), LIST)?;
    let mut objects = binaries(&shell::read(LIST)?)?;
    // The programs of examples are gone when they have run; what they ran of the crates stands in the crates.
    run(&["cargo", "test", "--doc"], LOG_OF_EXAMPLES)?;
    run(&["cargo", "build", "--message-format", "json"], LIST)?;
    objects.extend(unpack(&libraries(&shell::read(LIST)?))?);
    let merged = format!("{TARGET}/merged.profdata");
    let found = fs::read_dir(&profiles).map_err(|error| format!("{TARGET}: {error}"))?;
    let found: Result<Vec<_>, _> = found.flatten().map(|entry| path(&entry.path())).collect();
    let found = found?;
    let mut merge = vec!["merge", "--sparse", "--output", &merged];
    merge.extend(found.iter().map(String::as_str));
    shell::output(&tools::llvm("LLVM_PROFDATA", "llvm-profdata"), &merge)?;
    let profile = format!("--instr-profile={merged}");
    let mut export = vec!["export", "--format=lcov", &profile];
    export.extend(objects.iter().flat_map(|object| ["--object", object]));
    shell::output(&tools::llvm("LLVM_COV", "llvm-cov"), &export)
}

/// The test programs in the list of the runner.
fn binaries(list: &str) -> Result<Vec<String>, String> {
    // The build speaks before, in lines of its own.
    let json = list.lines().find(|line| line.starts_with('{')).unwrap_or_default();
    let list: Value = serde_json::from_str(json).map_err(|error| format!("{LIST}: {error}"))?;
    let found = list["rust-binaries"].as_object().into_iter().flatten();
    Ok(found.filter_map(|(_, binary)| Some(binary["binary-path"].as_str()?.to_owned())).collect())
}

/// The libraries of the crates, in what a build says.
fn libraries(messages: &str) -> Vec<String> {
    let read = |line: &str| {
        let message: Value = serde_json::from_str(line).ok()?;
        let name = message["target"]["name"].as_str()?.replace('_', "-");
        CRATES.contains(&name.as_str()).then(|| message["filenames"].clone())
    };
    let files: Vec<_> = messages.lines().filter_map(read).collect();
    let files = files.iter().filter_map(Value::as_array).flatten().filter_map(Value::as_str);
    files.filter(|file| file.ends_with(".rlib")).map(str::to_owned).collect()
}

/// The objects within libraries: LLVM's tools look into no archive of Rust's.
fn unpack(libraries: &[String]) -> Result<Vec<String>, String> {
    let folder = format!("{TARGET}/objects");
    let path = shell::root().join(&folder);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).map_err(|error| format!("{folder}: {error}"))?;
    for library in libraries {
        shell::output(&tools::llvm("LLVM_AR", "llvm-ar"), &["x", "--output", &folder, library])?;
    }
    let found = fs::read_dir(&path).map_err(|error| format!("{folder}: {error}"))?;
    let names = found.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let objects: Vec<_> = names.filter(|name| name.ends_with(".o")).collect();
    Ok(objects.iter().map(|name| format!("{folder}/{name}")).collect())
}

/// For each crate the lines that count, by file; whether a test ran them.
#[derive(Debug, Default)]
struct Counts(BTreeMap<&'static str, BTreeMap<String, BTreeMap<usize, bool>>>);

impl Counts {
    fn read(lcov: &str, tree: &[File]) -> Self {
        let mut counts = Self(CRATES.iter().map(|name| (*name, BTreeMap::new())).collect());
        let mut place: Option<(&'static str, &File, Source)> = None;
        for line in lcov.lines() {
            if let Some(path) = line.strip_prefix("SF:") {
                let of = |name: &&&str| path.contains(&format!("crates/{name}/src/"));
                let name = CRATES.iter().find(of);
                let file = tree.iter().find(|file| path.ends_with(&format!("/{}", file.path)));
                place = name
                    .zip(file)
                    .filter(|(_, file)| !is_of_tests(file))
                    .map(|(name, file)| (*name, file, Source::read(file)));
            }
            let Some((name, file, source)) = &place else { continue };
            let Some((number, times)) = counted(line) else { continue };
            // A test within a file, or a line that is not there: the file has changed since.
            if source.lines.get(number - 1).is_none_or(|line| line.test) {
                continue;
            }
            let files = counts.0.entry(name).or_default();
            let ran = files.entry(file.path.clone()).or_default().entry(number).or_default();
            *ran |= times > 0;
        }
        counts
    }

    fn of(files: &BTreeMap<String, BTreeMap<usize, bool>>) -> (usize, usize) {
        let lines = files.values().flat_map(BTreeMap::values);
        (lines.clone().filter(|ran| **ran).count(), lines.count())
    }

    fn table(&self) -> String {
        let mut table = String::new();
        for (name, files) in &self.0 {
            let (ran, all) = Self::of(files);
            table.push_str(&format!(
                "{name:<16} {:>5.1} % {ran:>6} of {all} lines\n",
                share(ran, all)
            ));
        }
        table
    }

    /// What no test runs, as an editor takes it.
    fn missed(&self) -> String {
        let mut missed = String::new();
        for (path, lines) in self.0.values().flatten() {
            for (number, _) in lines.iter().filter(|(_, ran)| !**ran) {
                missed.push_str(&format!("{path}:{number}\n"));
            }
        }
        missed
    }

    fn judge(&self) -> Outcome {
        let short = self.0.iter().filter(|(_, files)| {
            let (ran, all) = Self::of(files);
            all == 0 || share(ran, all) < LEAST
        });
        let short: Vec<_> = short.map(|(name, _)| *name).collect();
        if short.is_empty() {
            return Ok(());
        }
        Err(format!("tests run less than {LEAST} % of the lines of {}", short.join(", ")))
    }
}

/// `DA:line,times`.
fn counted(line: &str) -> Option<(usize, u64)> {
    let (number, times) = line.strip_prefix("DA:")?.split_once(',')?;
    let number = number.parse().ok().filter(|number| *number > 0)?;
    Some((number, times.split(',').next()?.parse().ok()?))
}

fn is_of_tests(file: &File) -> bool {
    file.is_test() || file.name().ends_with("_tests.rs")
}

fn share(ran: usize, all: usize) -> f64 {
    ran as f64 * 100.0 / all.max(1) as f64
}

const CRATES: &[&str] = &["snodo-dialect", "snodo-engine", "snodo-transport", "snodo-types"];
/// Percent of the lines of each.
const LEAST: f64 = 95.0;
const COUNTING: &str = "-C instrument-coverage";
/// Built anew, for its own flags.
const TARGET: &str = "target/lines";
const LOG: &str = "target/xtask/lines.log";
const LOG_OF_EXAMPLES: &str = "target/xtask/lines-doc.log";
const LIST: &str = "target/xtask/lines-list.log";
const LIMIT: Duration = Duration::from_secs(20 * 60);
const SHOWN: usize = 40;
const NO_UTF8: &str = "the path of the tree is no UTF-8";

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: &str = "fn a() {\n    b();\n}\n\n#[cfg(test)]\nmod tests {\n    fn c() {}\n}\n";

    fn counts(lcov: &str) -> Counts {
        let tree = CRATES.iter().flat_map(|name| {
            let path = |end: &str| format!("crates/{name}/src/{end}");
            [File::new(path("a.rs"), CODE), File::new(path("a_tests.rs"), CODE)]
        });
        Counts::read(lcov, &tree.collect::<Vec<_>>())
    }

    fn all(times: u64) -> String {
        let of = |name: &&str| {
            format!("SF:/x/crates/{name}/src/a.rs\nDA:1,1\nDA:2,{times}\nDA:7,0\nend_of_record\n")
        };
        CRATES.iter().map(of).collect()
    }

    #[test]
    fn a_line_that_no_test_runs_is_missed_and_lines_of_tests_do_not_count() {
        let whole = counts(&all(3));
        assert_eq!(whole.judge(), Ok(()));
        assert!(
            whole.table().contains("snodo-types      100.0 %      2 of 2 lines\n"),
            "{}",
            whole.table()
        );
        let short = counts(&all(0));
        assert!(short.judge().is_err_and(|why| why.ends_with("transport, snodo-types")));
        assert_eq!(short.missed().lines().next(), Some("crates/snodo-dialect/src/a.rs:2"));
        // Counted in two programs, and by one of them only.
        assert_eq!(counts(&(all(0) + &all(1))).judge(), Ok(()));
    }

    #[test]
    fn a_crate_of_which_nothing_was_counted_falls_short() {
        assert!(counts("").judge().is_err());
        let test = all(1).replace("a.rs", "a_tests.rs");
        assert!(counts(&test).judge().is_err(), "only tests were counted");
    }

    #[test]
    fn the_programs_are_found_behind_what_the_build_says() {
        let list = "   Compiling a\n{\"rust-binaries\":{\"a\":{\"binary-path\":\"/x/a-1\"}}}\n";
        assert_eq!(binaries(list), Ok(vec!["/x/a-1".to_owned()]));
        assert!(binaries("error: words\n").is_err());
        let message = r#"{"target":{"name":"snodo_types"},"filenames":["/x/a.rmeta","/x/a.rlib"]}"#;
        let other = message.replace("snodo_types", "serde");
        assert_eq!(libraries(&format!("{other}\n{message}\nwords\n")), ["/x/a.rlib"]);
    }
}
