//! Runs the given cases: `cases [--all] [--classes] [ID…]`.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "what it finds is what it prints")]

use std::process::ExitCode;
use std::time::Instant;

use snodo_tests::cases::{Suite, Verdict, print_classes};

fn main() -> ExitCode {
    let (options, wanted): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|argument| argument.starts_with("--"));
    if let Some(option) = options.iter().find(|option| !OPTIONS.contains(&option.as_str())) {
        eprintln!("there is no option `{option}`; there are {}", OPTIONS.join(" "));
        return ExitCode::from(2);
    }
    let has = |option: &str| options.iter().any(|given| given == option);
    if wanted.is_empty() || has("--classes") {
        print_classes(|line| println!("{line}"));
        println!();
    }
    if has("--classes") {
        return ExitCode::SUCCESS;
    }
    match Suite::choose(&wanted, has("--all")) {
        Ok(suite) => run(&suite),
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}

fn run(suite: &Suite) -> ExitCode {
    let mut since = Instant::now();
    let report = suite.run(|id, verdict| {
        let took = format!("{:.1} s", since.elapsed().as_secs_f32());
        match verdict {
            Verdict::Passed => println!("ok      {id:<6} {took}"),
            Verdict::Failed(faults) => {
                println!("FAILED  {id:<6} {took}");
                faults.iter().take(SHOWN).for_each(|fault| println!("          {fault}"));
                if faults.len() > SHOWN {
                    println!("          … and {} more", faults.len() - SHOWN);
                }
            }
            Verdict::Waits { issue: 0, why } => println!("waits   {id:<6} not understood: {why}"),
            Verdict::Waits { issue, why } => println!("waits   {id:<6} issue {issue}: {why}"),
        }
        since = Instant::now();
    });
    println!("\n{report}");
    if report.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// `--all` tries those too that wait as a whole.
const OPTIONS: &[&str] = &["--all", "--classes"];

/// How many faults of one case are shown.
const SHOWN: usize = 8;
