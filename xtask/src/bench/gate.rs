//! The gate: what the main operations cost, against a table that is committed.
//!
//! Instructions and allocations, since both repeat where time does not. A change that costs more than it is worth fails
//! here; one that is worth it, or that makes something cheaper, renews the table in the same commit.

use std::fmt::Write as _;
use std::fs;

use super::cells::{COUNTED, Counted, Transport};
use super::options::Build;
use super::stand::{self, Driver, Place, Run, Sink};
use crate::Outcome;
use crate::shell;
use crate::tools::{self, Tool};

/// `cargo xtask bench --gate`: fails where a cost is not the one of the table.
pub(super) fn check(build: Build) -> Outcome {
    let known = Table::parse(&shell::read(TABLE)?)?;
    let findings = known.compare(&measure(build)?);
    for finding in &findings {
        println!("{finding}");
    }
    if findings.is_empty() {
        println!("gate: {} costs are those of {TABLE}", known.0.len());
        return Ok(());
    }
    Err(format!(
        "gate: {} costs are not those of {TABLE}; mend it, or `cargo xtask bench --renew` and say why",
        findings.len()
    ))
}

/// `cargo xtask bench --renew`: writes the table anew.
pub(super) fn renew(build: Build) -> Outcome {
    let table = measure(build)?;
    fs::write(shell::root().join(TABLE), table.written()).map_err(|error| error.to_string())?;
    println!("wrote {TABLE}");
    Ok(())
}

/// Names of costs, and how much each is.
#[derive(Debug, PartialEq)]
struct Table(Vec<(String, f64)>);

impl Table {
    fn parse(text: &str) -> Result<Self, String> {
        let lines = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
        let costs = lines.map(|line| {
            let (name, cost) = line.rsplit_once(' ').ok_or_else(|| format!("`{line}`: no cost"))?;
            let cost = cost.parse().map_err(|_| format!("`{line}`: {cost} is no number"))?;
            Ok((name.trim().to_owned(), cost))
        });
        costs.collect::<Result<_, String>>().map(Self)
    }

    fn written(&self) -> String {
        let mut text = HEAD.to_owned();
        for (name, cost) in &self.0 {
            let _ = writeln!(text, "{name:<44} {cost:.1}");
        }
        text
    }

    fn find(&self, name: &str) -> Option<f64> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, cost)| *cost)
    }

    /// What is not within the limit, a sentence each.
    fn compare(&self, now: &Self) -> Vec<String> {
        let mut findings = Vec::new();
        for (name, cost) in &now.0 {
            match self.find(name) {
                Some(known) if (cost - known).abs() <= (known * LIMIT).max(SLACK) => {}
                Some(known) => {
                    let change = (cost / known - 1.0) * 100.0;
                    findings.push(format!("{name}: {cost:.1}, {known:.1} before ({change:+.1} %)"));
                }
                None => findings.push(format!("{name}: {cost:.1}, and not in the table")),
            }
        }
        let gone = self.0.iter().filter(|(name, _)| now.find(name).is_none());
        findings.extend(gone.map(|(name, _)| format!("{name}: in the table, and not measured")));
        findings
    }
}

fn measure(build: Build) -> Result<Table, String> {
    tools::need(&[Tool::Valgrind])?;
    let mut drivers = stand::drivers(&["snodo".to_owned()])?;
    drivers.iter_mut().for_each(|driver| driver.profile = stand::GATE);
    stand::build(&drivers, build)?;
    let mut costs = Vec::new();
    for cell in COUNTED {
        for driver in &drivers {
            let instructions = super::instructions(cell, *driver)?;
            costs.push((format!("instructions, {}", cell.name), instructions));
            costs.push((format!("allocations, {}", cell.name), allocations(cell, *driver)?));
        }
    }
    Ok(Table(costs))
}

fn allocations(cell: &Counted, driver: Driver) -> Result<f64, String> {
    let place = Place::default();
    let http = cell.transport != Transport::Stdio;
    let sink = http
        .then(|| Sink::start(&place, driver.profile, cell.transport, cell.pages))
        .transpose()?;
    let run = Run {
        driver,
        transport: cell.transport,
        op: cell.op,
        mode: cell.mode,
        count: cell.many,
        pages: cell.pages,
        protocol: "stateless",
        sink: sink.as_ref(),
        more: &["--allocs"],
    };
    let said = run.measure(&place)?;
    let each = if cell.op.starts_with("listen") { 1 } else { cell.each };
    let count = said["allocs_per_op"].as_f64().ok_or("the driver counts no allocations")?;
    Ok(count / f64::from(each))
}

/// How far a cost may be from the table.
const LIMIT: f64 = 0.05;
/// A part of an allocation is nobody's.
const SLACK: f64 = 0.5;
const TABLE: &str = "tests/bench/gate.txt";
const HEAD: &str = "\
# What the main operations of a client cost: instructions in user space and allocations, for each call, page or event.
# Written by `cargo xtask bench --renew`; `cargo xtask bench --gate` fails past 5 % of it.
";

#[cfg(test)]
mod tests {
    use super::*;

    fn table(costs: &[(&str, f64)]) -> Table {
        Table(costs.iter().map(|(name, cost)| ((*name).to_owned(), *cost)).collect())
    }

    #[test]
    fn what_is_written_is_read_back() {
        let table = table(&[("instructions, stdio echo", 11_000.0), ("allocations, a b", 7.5)]);
        assert_eq!(Table::parse(&table.written()), Ok(table));
        assert!(Table::parse("instructions many").is_err());
    }

    #[test]
    fn a_cost_past_five_percent_is_found_in_both_directions() {
        let known = table(&[("a", 1000.0), ("b", 1000.0), ("c", 1000.0)]);
        let now = table(&[("a", 1049.0), ("b", 1051.0), ("c", 940.0)]);
        let found = known.compare(&now);
        assert_eq!(found.len(), 2);
        assert!(found[0].contains("+5.1 %") && found[1].contains("-6.0 %"), "{found:?}");
    }

    #[test]
    fn a_cost_that_is_new_or_gone_is_found() {
        let found = table(&[("a", 1.0)]).compare(&table(&[("b", 1.0)]));
        assert_eq!(found, ["b: 1.0, and not in the table", "a: in the table, and not measured"]);
    }

    #[test]
    fn half_an_allocation_more_is_no_finding() {
        assert!(table(&[("a", 3.0)]).compare(&table(&[("a", 3.4)])).is_empty());
        assert_eq!(table(&[("a", 3.0)]).compare(&table(&[("a", 4.0)])).len(), 1);
    }
}
