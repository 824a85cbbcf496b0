//! From what drivers say to figures, tables and verdicts.

use std::fmt::{self, Write as _};

use serde_json::Value;

use super::cells::Figure;
use super::stand::Driver;

/// What one run of one driver gave.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sample {
    /// For each operation, in microseconds; or whatever is counted.
    cpu: f64,
    p99: f64,
    idle: f64,
    peak: f64,
    allocations: f64,
}

impl Sample {
    pub(super) fn read(said: &Value) -> Self {
        let number = |name: &str| said[name].as_f64().unwrap_or(f64::NAN);
        Self {
            cpu: number("cpu_s") / number("ops") * 1e6,
            p99: number("p99_us"),
            idle: number("rss_per_client_kib"),
            peak: number("rss_peak_kib") / 1024.0,
            allocations: number("allocs_per_op"),
        }
    }

    /// One figure that was counted rather than timed.
    pub(super) fn of(count: f64) -> Self {
        Self { cpu: count, ..Self::default() }
    }

    fn figure(&self, figure: Figure) -> f64 {
        match figure {
            Figure::Allocations => self.allocations,
            Figure::Count | Figure::Cpu | Figure::Ends => self.cpu,
            Figure::Idle => self.idle,
            Figure::P99 => self.p99,
            Figure::Peak => self.peak,
        }
    }
}

/// A row of the table.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) name: String,
    figure: Figure,
    raw: Option<(f64, f64)>,
    rmcp: Option<f64>,
    /// Driver, round, sample.
    samples: Vec<(&'static str, u32, Sample)>,
    failed: Vec<(&'static str, String)>,
    /// A figure that comes from other rows.
    derived: Option<f64>,
}

impl Line {
    pub(super) fn new(
        name: &str,
        figure: Figure,
        raw: Option<(f64, f64)>,
        rmcp: Option<f64>,
    ) -> Self {
        let name = name.to_owned();
        Self { name, figure, raw, rmcp, samples: Vec::new(), failed: Vec::new(), derived: None }
    }

    pub(super) fn add(&mut self, driver: &'static str, round: u32, sample: Result<Sample, String>) {
        match sample {
            Ok(sample) => self.samples.push((driver, round, sample)),
            Err(why) => self.failed.push((driver, why)),
        }
    }

    /// The driver's own figure: the median of its rounds.
    pub(super) fn own(&self, driver: &str) -> Option<f64> {
        let mine = self.samples.iter().filter(|(name, ..)| *name == driver);
        median(mine.map(|(_, _, sample)| sample.figure(self.figure)).collect())
    }

    /// The median over the rounds of this driver's figure over another's in the same round.
    pub(super) fn against(&self, driver: &str, base: &str) -> Option<f64> {
        let ratios = self.samples.iter().filter(|(name, ..)| *name == driver).filter_map(
            |(_, round, sample)| {
                let base =
                    self.samples.iter().find(|(name, other, _)| (*name, other) == (base, round));
                ratio(sample.figure(self.figure), base?.2.figure(self.figure))
            },
        );
        median(ratios.collect())
    }

    /// What the bar is held against.
    fn ours(&self) -> Option<f64> {
        match (self.derived, self.figure.is_absolute()) {
            (Some(derived), _) => Some(derived),
            (None, true) => self.own(OURS),
            (None, false) => self.against(OURS, "raw"),
        }
    }

    /// A sentence for each bar that is missed.
    pub(super) fn falls_short(&self) -> Vec<String> {
        let mut short = Vec::new();
        if let Some((_, why)) = self.failed.iter().find(|(driver, _)| *driver == OURS) {
            short.push(format!("{}: {why}", self.name));
        }
        let unit = if self.figure.is_absolute() || self.derived.is_some() { "" } else { " × raw" };
        if let (Some((most, _)), Some(ours)) = (self.raw, self.ours())
            && ours > most
        {
            short.push(format!("{}: {ours:.2}{unit}, {most} is the most", self.name));
        }
        if let (Some(most), Some(ours)) = (self.rmcp, self.against(OURS, "rmcp"))
            && ours > most
        {
            short.push(format!("{}: {ours:.3} × rmcp, {most} is the most", self.name));
        }
        short
    }

    fn cells(&self, drivers: &[Driver]) -> String {
        let mut cells = String::new();
        let number = |text: &mut String, number: Option<f64>| {
            let _ = match number {
                Some(number) => write!(text, " {} |", shown(number)),
                None => write!(text, " |"),
            };
        };
        number(&mut cells, self.ours());
        number(&mut cells, self.raw.map(|(most, _)| most));
        number(&mut cells, self.raw.map(|(_, aim)| aim));
        number(&mut cells, self.against(OURS, "rmcp"));
        number(&mut cells, self.rmcp);
        for driver in drivers {
            match self.failed.iter().find(|(name, _)| *name == driver.name) {
                Some((_, why)) => {
                    let _ = write!(cells, " {} |", why.chars().take(24).collect::<String>());
                }
                None => number(&mut cells, self.own(driver.name)),
            }
        }
        cells
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<32}", self.name)?;
        let show = |number: Option<f64>| number.map_or_else(|| "-".to_owned(), shown);
        write!(f, " {:>8} of {:>5}", show(self.ours()), show(self.raw.map(|(most, _)| most)))?;
        write!(f, "   rmcp {:>7} of {:>5}  ", show(self.against(OURS, "rmcp")), show(self.rmcp))?;
        let mut told: Vec<&str> = Vec::new();
        for (driver, ..) in &self.samples {
            if !told.contains(driver) {
                told.push(driver);
                write!(f, " {driver} {}", show(self.own(driver)))?;
            }
        }
        for (driver, why) in &self.failed {
            write!(f, " {driver}: {why}")?;
        }
        Ok(())
    }
}

/// The whole table as Markdown.
pub(super) fn page(lines: &[Line], drivers: &[Driver]) -> String {
    let mut page = String::from("| work | ours | most | aim | ÷ rmcp | most |");
    for driver in drivers {
        let _ = write!(page, " {} |", driver.name);
    }
    page.push_str("\n|---|---|---|---|---|---|");
    page.push_str(&"---|".repeat(drivers.len()));
    page.push('\n');
    for line in lines {
        let _ = writeln!(page, "| {} |{}", line.name, line.cells(drivers));
    }
    page
}

/// How the cost grows from one size to the next: the slope of its logarithm, 1 where it is proportional.
pub(super) fn growth(lines: &[Line]) -> Vec<Line> {
    let own = |name: &str| lines.iter().find(|line| line.name == name)?.own(OURS);
    let rows = GROWTH.iter().filter_map(|(from, to, times, most)| {
        let exponent = (own(to)? / own(from)?).ln() / times.ln();
        let name = format!("growth, {from} to {}", to.trim_start_matches("stdio "));
        let mut line = Line::new(&name, Figure::Cpu, Some((*most, 1.0)), None);
        line.derived = Some(exponent);
        Some(line)
    });
    rows.collect()
}

/// What the other era, and the negotiation of our own, cost against the version that is named.
pub(super) fn eras(lines: &[Line]) -> Vec<Line> {
    let own = |name: &str| lines.iter().find(|line| line.name == name)?.own(OURS);
    let rows = ERAS.iter().filter_map(|(base, other)| {
        let mut line =
            Line::new(&format!("{other} ÷ stateless"), Figure::Cpu, Some((1.1, 1.0)), None);
        line.derived = ratio(own(other)?, own(base)?);
        Some(line)
    });
    rows.collect()
}

/// From, to, how many times as much, the most the exponent may be.
const GROWTH: &[(&str, &str, f64, f64)] = &[
    ("stdio text of 64 KiB", "stdio text of 1 MiB", 16.0, 1.1),
    ("stdio text of 1 MiB", "stdio text of 16 MiB", 16.0, 1.4),
    ("HTTP text of 64 KiB", "HTTP text of 1 MiB", 16.0, 1.1),
    ("HTTP text of 1 MiB", "HTTP text of 16 MiB", 16.0, 1.4),
    ("stdio 10 pages", "stdio 100 pages", 10.0, 1.1),
    ("stdio 100 pages", "stdio 1000 pages", 10.0, 1.1),
];

const ERAS: &[(&str, &str)] = &[
    ("stdio echo", "stdio echo, initialize era"),
    ("HTTP echo", "HTTP echo, initialize era"),
    ("stdio echo", "stdio echo, own choice of version"),
    ("HTTP echo", "HTTP echo, own choice of version"),
];

/// One over another, where that is a number.
pub(super) fn ratio(one: f64, other: f64) -> Option<f64> {
    let ratio = one / other;
    ratio.is_finite().then_some(ratio)
}

/// The one in the middle.
pub(super) fn median(mut numbers: Vec<f64>) -> Option<f64> {
    numbers.retain(|number| number.is_finite());
    numbers.sort_by(f64::total_cmp);
    let middle = numbers.len() / 2;
    let high = *numbers.get(middle)?;
    let even = numbers.len().is_multiple_of(2);
    Some(if even { f64::midpoint(numbers[middle - 1], high) } else { high })
}

/// Three digits that mean something.
fn shown(number: f64) -> String {
    match number.abs() {
        size if size >= 100.0 => format!("{number:.0}"),
        size if size >= 10.0 => format!("{number:.1}"),
        size if size >= 1.0 => format!("{number:.2}"),
        _ => format!("{number:.3}"),
    }
}

const OURS: &str = "snodo";

#[cfg(test)]
mod tests {
    use super::*;

    fn line(ours: &[f64], raw: &[f64]) -> Line {
        let mut line = Line::new("stdio echo", Figure::Cpu, Some((1.35, 1.2)), Some(0.2));
        for (driver, samples) in [("snodo", ours), ("raw", raw)] {
            for (round, sample) in (0..).zip(samples) {
                line.add(driver, round, Ok(Sample::of(*sample)));
            }
        }
        line
    }

    #[test]
    fn a_ratio_is_taken_within_its_round_and_the_middle_one_counts() {
        // Where the machine was slow for a while, both were.
        let line = line(&[2.0, 20.0, 3.0], &[2.0, 10.0, 2.0]);
        assert_eq!(line.against("snodo", "raw"), Some(1.5));
        assert_eq!(line.own("snodo"), Some(3.0));
    }

    #[test]
    fn a_cell_that_falls_short_is_named_with_its_bar() {
        let short = line(&[2.0], &[1.0]).falls_short();
        assert_eq!(short, ["stdio echo: 2.00 × raw, 1.35 is the most"]);
        assert!(line(&[1.3], &[1.0]).falls_short().is_empty());
        let mut slow = line(&[1.3], &[1.0]);
        slow.add("rmcp", 0, Ok(Sample::of(2.0)));
        assert_eq!(slow.falls_short(), ["stdio echo: 0.650 × rmcp, 0.2 is the most"]);
    }

    #[test]
    fn a_run_of_ours_that_fails_is_a_cell_that_falls_short() {
        let mut line = line(&[], &[1.0]);
        line.add("snodo", 0, Err("no end".to_owned()));
        assert_eq!(line.falls_short(), ["stdio echo: no end"]);
    }

    #[test]
    fn growth_is_the_slope_of_the_logarithms() {
        let mut small = line(&[1.0], &[1.0]);
        small.name = "stdio 10 pages".to_owned();
        let mut large = line(&[100.0], &[10.0]);
        large.name = "stdio 100 pages".to_owned();
        let growth = growth(&[small, large]);
        assert_eq!(growth.len(), 1);
        assert!(growth[0].falls_short()[0].contains("2.00, 1.1 is the most"));
    }

    #[test]
    fn the_middle_of_an_even_number_lies_between() {
        assert_eq!(median(vec![1.0, 4.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median(vec![f64::NAN]), None);
    }
}
