//! `cargo xtask bench`: this client against a hand-written loop and against its peers.
//!
//! Client and server run on one core, drivers take turns there and back, and each ratio is taken within one round; the
//! median of the rounds is shown. What a run says is ratios, so that they hold on any machine.

mod builds;
mod cells;
mod figures;
mod gate;
mod options;
mod stand;

use std::fs;

use crate::Outcome;
use crate::shell;
use crate::tools::{self, Tool};

use cells::{CELLS, COUNTED, Cell, Counted, Figure, Transport};
use figures::{Line, Sample};
use options::{Gate, Options};
use stand::{Driver, Place, Run, Sink};

/// `cargo xtask bench [OPTION…]`.
pub(crate) fn run(arguments: &[String]) -> Outcome {
    let options = Options::read(arguments)?;
    match options.gate {
        Gate::None => {}
        Gate::Check => return gate::check(options.build),
        Gate::Renew => return gate::renew(options.build),
    }
    let drivers = stand::drivers(&options.drivers)?;
    stand::build(&drivers, options.build)?;
    let lines = match options.instructions {
        true => {
            tools::need(&[Tool::Valgrind])?;
            count(&options, &drivers)?
        }
        false => measure(&options, &drivers)?,
    };
    let page = figures::page(&lines, &drivers);
    print!("{page}");
    fs::create_dir_all(shell::root().join("target/xtask"))
        .and_then(|()| fs::write(shell::root().join(PAGE), &page))
        .map_err(|error| format!("{PAGE}: {error}"))?;
    let short: Vec<_> = lines.iter().flat_map(Line::falls_short).collect();
    for short in &short {
        println!("{short}");
    }
    match (options.check, short.len()) {
        (true, 1..) => Err(format!("bench: {} cells fall short", short.len())),
        _ => Ok(()),
    }
}

/// Runs the cells that are wanted, in interleaved rounds.
fn measure(options: &Options, drivers: &[Driver]) -> Result<Vec<Line>, String> {
    let place = Place::pinned();
    let mut lines = Vec::new();
    for cell in CELLS.iter().filter(|cell| options.wants(cell.name)) {
        let line = measure_cell(cell, options, drivers, &place)?;
        eprintln!("{line}");
        lines.push(line);
    }
    lines.extend(figures::growth(&lines));
    lines.extend(figures::eras(&lines));
    lines.extend(builds::measure(options, drivers)?);
    Ok(lines)
}

fn measure_cell(
    cell: &Cell,
    options: &Options,
    drivers: &[Driver],
    place: &Place,
) -> Result<Line, String> {
    let http = cell.transport != Transport::Stdio;
    let drivers: Vec<_> =
        drivers.iter().filter(|driver| http || !driver.http_only).copied().collect();
    let sink =
        http.then(|| Sink::start(place, stand::RELEASE, cell.transport, cell.pages)).transpose()?;
    let allocations: &[&str] = match cell.figure {
        Figure::Allocations => &["--allocs"],
        _ => &[],
    };
    let mut line = Line::new(cell.name, cell.figure, cell.raw, cell.rmcp);
    let rounds = match cell.figure {
        Figure::Allocations | Figure::Ends => 1,
        _ => options.rounds,
    };
    for round in 0..rounds {
        // There and back, so that no one always follows the same other.
        let mut turn = drivers.clone();
        if round % 2 == 1 {
            turn.reverse();
        }
        for driver in turn {
            let run = Run {
                driver,
                transport: cell.transport,
                op: cell.op,
                mode: cell.mode,
                count: share(cell, driver, options.scale),
                pages: cell.pages,
                protocol: cell.protocol,
                sink: sink.as_ref(),
                more: allocations,
            };
            line.add(driver.name, round, run.measure(place).map(|said| Sample::read(&said)));
        }
    }
    Ok(line)
}

/// A slow driver gets a part of the operations, except where there are few or all of them are one figure.
fn share(cell: &Cell, driver: Driver, scale: f64) -> u32 {
    let whole = matches!(cell.figure, Figure::Ends | Figure::Idle | Figure::Peak);
    if whole || cell.op.starts_with("listen") {
        return cell.count;
    }
    let few = if cell.count < 1000 { 1.0_f64 } else { driver.weight };
    let in_flight = cell.mode.strip_prefix("conc:").and_then(|n| n.parse().ok()).unwrap_or(1_u32);
    let share = f64::from(cell.count) * few * scale;
    // A count is small and positive: what is cut off is its fraction.
    (share as u32).max(in_flight * 2).max(1)
}

/// Counts instructions: the work of a client process, the kernel left out.
fn count(options: &Options, drivers: &[Driver]) -> Result<Vec<Line>, String> {
    let mut lines = Vec::new();
    for cell in COUNTED.iter().filter(|cell| options.wants(cell.name)) {
        let mut line = Line::new(cell.name, Figure::Cpu, cell.raw, cell.rmcp);
        for driver in drivers {
            let counted = instructions(cell, *driver);
            line.add(driver.name, 0, counted.map(Sample::of));
        }
        eprintln!("{line}");
        lines.push(line);
    }
    Ok(lines)
}

/// Instructions for one of what is counted.
fn instructions(cell: &Counted, driver: Driver) -> Result<f64, String> {
    let place = Place::default();
    let http = cell.transport != Transport::Stdio;
    let sink = http
        .then(|| Sink::start(&place, driver.profile, cell.transport, cell.pages))
        .transpose()?;
    let run = |count| {
        let run = Run {
            driver,
            transport: cell.transport,
            op: cell.op,
            mode: cell.mode,
            count,
            pages: cell.pages,
            protocol: "stateless",
            sink: sink.as_ref(),
            more: &["--warmup", "1"],
        };
        run.instructions()
    };
    let (few, many) = (run(cell.few)?, run(cell.many)?);
    let operations = f64::from((cell.many - cell.few) * cell.each);
    Ok(many.saturating_sub(few) as f64 / operations)
}

/// The last table, from the root.
const PAGE: &str = "target/xtask/bench.md";
