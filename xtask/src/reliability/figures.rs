//! What a command printed, in one line.

/// Where in what was printed the figure stands.
#[derive(Clone, Copy, Debug)]
pub(super) enum Figure {
    /// Every line that has these words in it.
    Each(&'static str),
    /// Each target has a line; their sum.
    Fuzz,
    /// The last line.
    Last,
    /// What the test runner says at its end; of several runs, the one that ran tests.
    Result,
    /// The line that has these words in it.
    With(&'static str),
}

impl Figure {
    /// The figure, if there is one.
    pub(super) fn read(self, printed: &str) -> Option<String> {
        let lines = || printed.lines().rev().map(str::trim).filter(|line| !line.is_empty());
        match self {
            Self::Each(words) => {
                let found = printed.lines().filter(|line| line.contains(words));
                let found: Vec<String> = found
                    .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
                    .collect();
                (!found.is_empty()).then(|| found.join("; "))
            }
            Self::Fuzz => fuzzed(printed),
            Self::Last => lines().next().map(str::to_owned),
            Self::Result => {
                let result = lines().find_map(|line| line.strip_prefix("test result: "))?;
                Some(result.split("; 0 measured").next().unwrap_or(result).to_owned())
            }
            Self::With(words) => lines().find(|line| line.contains(words)).map(str::to_owned),
        }
    }
}

/// The number that stands before a word, however it is written.
pub(crate) fn count(figure: &str, word: &str) -> Option<u64> {
    let words: Vec<&str> = figure.split_whitespace().collect();
    let is = |found: &str| found.trim_end_matches([',', ';', '.', ':']) == word;
    let at = words.iter().position(|found| is(found))?;
    words.get(at.checked_sub(1)?)?.replace([',', '('], "").parse().ok()
}

fn fuzzed(printed: &str) -> Option<String> {
    let of = |line: &str| Some((count(line, "inputs")?, count(line, "MiB")?));
    let found: Vec<(u64, u64)> =
        printed.lines().filter(|line| line.contains(" ok, ")).filter_map(of).collect();
    let inputs: u64 = found.iter().map(|(inputs, _)| inputs).sum();
    let most = found.iter().map(|(_, memory)| memory).max()?;
    Some(format!("{} targets, {inputs} inputs, {most} MiB at most", found.len()))
}

#[cfg(test)]
mod tests {
    use super::{Figure, count};

    #[test]
    fn each_kind_of_figure_is_found_or_said_to_be_missing() {
        let printed = "running 1 test\n204 cells in 17.9 s; left: 0 descriptors\n\ntest result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 9 filtered out\n";
        let of = |figure: Figure| figure.read(printed);
        assert_eq!(
            of(Figure::With(" cells in ")).as_deref(),
            Some("204 cells in 17.9 s; left: 0 descriptors")
        );
        assert_eq!(of(Figure::Result).as_deref(), Some("ok. 2 passed; 0 failed; 0 ignored"));
        assert_eq!((of(Figure::With(" servers in ")), of(Figure::Each(" % "))), (None, None));
        let crates = "a    97.1 %  97 of 100 lines\nwords\nb    98.0 %  98 of 100 lines\n";
        assert_eq!(
            Figure::Each(" % ").read(crates).as_deref(),
            Some("a 97.1 % 97 of 100 lines; b 98.0 % 98 of 100 lines")
        );
        assert_eq!((of(Figure::Fuzz), Figure::Last.read(" \n")), (None, None));
        let fuzzed = "lines          ok, 10 inputs, 42 MiB at most\nevents         ok, 5 inputs, 50 MiB at most\n";
        assert_eq!(
            Figure::Fuzz.read(fuzzed).as_deref(),
            Some("2 targets, 15 inputs, 50 MiB at most")
        );
        assert_eq!(
            Figure::Last.read(fuzzed).as_deref(),
            Some("events         ok, 5 inputs, 50 MiB at most")
        );
    }

    #[test]
    fn a_number_is_read_before_its_word() {
        let figure =
            "34953 calls (1135 given up, 23 cut), 3978 subscriptions, 1,000 restarts in 20 s";
        assert_eq!(count(figure, "calls"), Some(34_953));
        assert_eq!(
            (count(figure, "given"), count(figure, "subscriptions")),
            (Some(1135), Some(3978))
        );
        assert_eq!((count(figure, "restarts"), count(figure, "clients")), (Some(1000), None));
        assert_eq!(count("calls", "calls"), None);
    }
}
