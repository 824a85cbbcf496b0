//! `cargo xtask reliability`: what shows that the library stands, run part by part, and the figures that it printed.
//!
//! Each part is a command of its own, so that whoever doubts a figure runs that command alone. What came out is written between
//! two marks of docs/reliability.md; a part that was not run keeps its line.

mod figures;
mod page;

use std::env;
use std::fs;
use std::time::Duration;

use crate::step::Step;
use crate::{COMMANDS, Outcome, shell};

pub(crate) use figures::count;

use figures::Figure;
use page::Line;

/// `cargo xtask reliability [--check] [PART…]`: all parts, unless some are named; with `--check` the page is left as it is.
pub(crate) fn run(arguments: &[String]) -> Outcome {
    let asked = Asked::read(arguments, &parts())?;
    let mut lines = Vec::new();
    for part in &asked.parts {
        let line = part.run()?;
        println!("{}", line.shown());
        lines.push(line);
        if !asked.checks {
            // What was measured stays, if the rest is not waited for.
            let page = page::renewed(&shell::read(PAGE)?, &parts(), &lines)?;
            fs::write(shell::root().join(PAGE), &page)
                .map_err(|error| format!("{PAGE}: {error}"))?;
        }
    }
    // What was not asked for may have no figure yet.
    page::judge(&shell::read(PAGE)?, &asked.parts, &lines, &shell::tree()?)
}

/// Something that is run.
#[derive(Clone, Copy, Debug)]
struct Part {
    name: &'static str,
    command: &'static [&'static str],
    figure: Figure,
    /// What the figure has to show at least: so many of what.
    least: &'static [(u64, &'static str)],
    minutes: u64,
}

impl Part {
    /// Runs it, and reads what it printed.
    fn run(&self) -> Result<Line, String> {
        let log = format!("target/xtask/reliability-{}.log", self.name);
        let own = env::current_exe().map_err(|error| error.to_string())?;
        let own = own.to_str().ok_or("the path of this program is no UTF-8")?;
        let command: Vec<&str> = match self.command {
            ["cargo", "xtask", rest @ ..] => [&[own], rest].concat(),
            command => command.to_vec(),
        };
        let limit = Duration::from_secs(self.minutes * 60);
        let ran = Step { command: &command, environment: &[], log: &log, limit }.run();
        let printed = shell::read(&log)?;
        Ok(Line::of(self, self.figure.read(&printed), ran))
    }

    fn is_there(&self) -> bool {
        match self.command {
            ["cargo", "xtask", name, ..] => COMMANDS.iter().any(|known| known.name == *name),
            _ => true,
        }
    }
}

/// What the command line asks for.
#[derive(Debug)]
struct Asked {
    checks: bool,
    parts: Vec<Part>,
}

impl Asked {
    fn read(arguments: &[String], known: &[Part]) -> Result<Self, String> {
        let (mut checks, mut parts) = (false, Vec::new());
        for argument in arguments {
            if argument == "--check" {
                checks = true;
                continue;
            }
            let found = known.iter().find(|part| part.name == argument);
            let names = || known.iter().map(|part| part.name).collect::<Vec<_>>().join(", ");
            parts.push(
                *found.ok_or_else(|| format!("no part {argument:?}: there are {}", names()))?,
            );
        }
        if parts.is_empty() {
            parts = known.to_vec();
        }
        Ok(Self { checks, parts })
    }
}

/// Those whose commands this tree has.
fn parts() -> Vec<Part> {
    PARTS.iter().copied().filter(Part::is_there).collect()
}

const fn test(
    name: &'static str,
    command: &'static [&'static str],
    figure: Figure,
    least: &'static [(u64, &'static str)],
) -> Part {
    Part { name, command, figure, least, minutes: 20 }
}

const fn it(filter: &'static str) -> [&'static str; 9] {
    ["cargo", "test", "-p", "snodo-tests", "--test", "it", filter, "--", "--nocapture"]
}

/// In the order of the page.
const PARTS: &[Part] = &[
    test("cases", &["cargo", "xtask", "cases"], Figure::Last, &[(253, "passed")]),
    Part {
        name: "fuzz",
        command: &["cargo", "xtask", "fuzz", "--seconds", "60"],
        figure: Figure::Fuzz,
        least: &[(10, "targets"), (1000, "inputs")],
        minutes: 90,
    },
    test("endings", &it("endings::"), Figure::Result, &[(1, "passed")]),
    test("faults", &it("faults::"), Figure::With(" cells in "), &[(204, "cells")]),
    test("hostile", &it("hostile::"), Figure::Result, &[(3, "passed")]),
    test("thousand", &it("thousand::"), Figure::With(" servers in "), &[(1000, "servers")]),
    test("flood", &it("flood::"), Figure::Result, &[(2, "passed")]),
    test(
        "soak",
        &["cargo", "xtask", "soak"],
        Figure::With("over the second half"),
        &[(10_000, "calls"), (1000, "subscriptions"), (10, "restarts")],
    ),
    Part {
        name: "miri",
        command: &["cargo", "xtask", "miri"],
        figure: Figure::Last,
        least: &[(100, "passed")],
        minutes: 90,
    },
    Part {
        name: "lines",
        command: &["cargo", "xtask", "lines"],
        figure: Figure::Each(" % "),
        least: &[],
        minutes: 60,
    },
    Part {
        name: "mutants",
        command: &["cargo", "xtask", "mutants"],
        figure: Figure::Last,
        least: &[],
        minutes: 60,
    },
];

const PAGE: &str = "docs/reliability.md";

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(words: &[&str]) -> Result<Asked, String> {
        Asked::read(&words.iter().map(ToString::to_string).collect::<Vec<_>>(), PARTS)
    }

    #[test]
    fn the_command_line_names_parts_or_means_all() {
        let all = asked(&["--check"]).expect("all of them");
        assert!(all.checks && all.parts.len() == PARTS.len());
        let two = asked(&["soak", "faults"]).expect("two of them");
        let names: Vec<_> = two.parts.iter().map(|part| part.name).collect();
        assert!(!two.checks && names == ["soak", "faults"]);
        let wrong = asked(&["--chekc"]).expect_err("no such part");
        assert!(wrong.contains("cases, fuzz, "), "{wrong}");
    }

    #[test]
    fn a_part_whose_command_is_not_there_is_none() {
        let there = PARTS[0];
        assert!(there.is_there());
        assert!(!Part { command: &["cargo", "xtask", "no-such"], ..there }.is_there());
    }

    #[test]
    fn the_page_of_the_tree_has_marks_and_its_tests_are_there() {
        let page = shell::read(PAGE).expect("the page");
        let tree = shell::tree().expect("the tree");
        assert!(page::renewed(&page, &parts(), &[]).is_ok());
        assert_eq!(page::missing_tests(&page, &tree), Vec::<String>::new());
    }
}
