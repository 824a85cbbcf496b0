//! The options of the command.

use super::stand;

/// What is asked for.
#[derive(Debug)]
pub(super) struct Options {
    pub(super) drivers: Vec<String>,
    /// Parts of names of cells; empty for all.
    rows: Vec<String>,
    pub(super) rounds: u32,
    /// Multiplies the number of operations.
    pub(super) scale: f64,
    pub(super) check: bool,
    pub(super) instructions: bool,
    pub(super) gate: Gate,
    pub(super) build: Build,
}

/// Whether the stand is built first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Build {
    AsItIs,
    First,
}

/// What is done about the table of costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gate {
    None,
    Check,
    Renew,
}

impl Options {
    pub(super) fn read(arguments: &[String]) -> Result<Self, String> {
        let mut options = Self {
            drivers: stand::USUAL.iter().map(|name| (*name).to_owned()).collect(),
            rows: Vec::new(),
            rounds: 5,
            scale: 1.0,
            check: false,
            instructions: false,
            gate: Gate::None,
            build: Build::First,
        };
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("{word} takes a value\n{USAGE}"));
            match word.as_str() {
                "--check" => options.check = true,
                "--as-built" => options.build = Build::AsItIs,
                "--gate" => options.gate = Gate::Check,
                "--renew" => options.gate = Gate::Renew,
                "--instructions" => options.instructions = true,
                "--drivers" => {
                    options.drivers = value()?.split(',').map(str::to_owned).collect();
                }
                "--rows" => options.rows = value()?.split(',').map(str::to_owned).collect(),
                "--rounds" => {
                    options.rounds =
                        value()?.parse().map_err(|_| "--rounds takes a number".to_owned())?;
                }
                "--scale" => {
                    options.scale =
                        value()?.parse().map_err(|_| "--scale takes a number".to_owned())?;
                }
                _ => return Err(format!("`{word}` is no option\n{USAGE}")),
            }
        }
        Ok(options)
    }

    /// Whether a cell of this name is to be measured.
    pub(super) fn wants(&self, name: &str) -> bool {
        self.rows.is_empty() || self.rows.iter().any(|row| name.contains(row.as_str()))
    }
}

const USAGE: &str = "cargo xtask bench [OPTION…]
  --instructions    instructions by callgrind in place of CPU time
  --as-built        measure what was built before
  --gate            instructions and allocations of this client against tests/bench/gate.txt
  --renew           write that table anew
  --check           fail where a cell falls short, and name it
  --rows A,B        only cells whose names hold one of these
  --drivers A,B     in place of raw,snodo,rmcp; also tower, lean, lean-scan, rmcp-pooled
  --rounds N        in place of 5
  --scale X         so many times the operations";

#[cfg(test)]
mod tests {
    use super::Options;

    fn read(line: &str) -> Result<Options, String> {
        Options::read(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn rows_are_chosen_by_parts_of_their_names() {
        let options = read("--rows echo,pages --rounds 3 --check").expect("options");
        assert!(options.wants("stdio echo") && options.wants("stdio 10 pages"));
        assert!(!options.wants("stdio events") && options.check && options.rounds == 3);
        assert!(read("").expect("none").wants("anything"));
    }

    #[test]
    fn what_is_no_option_is_refused() {
        for line in ["--fast", "--rows", "--rounds many"] {
            assert!(read(line).is_err(), "{line}");
        }
    }
}
