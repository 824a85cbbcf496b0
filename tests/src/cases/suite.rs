//! Choosing cases, running them one after the other, and counting.

use std::future::Future;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use super::later::{self, Need};
use super::store::{self, CaseFile};
use super::{
    Verdict, cli, config, decode, headers, http, jsonrpc, oauth, process, sse, stdio, structured,
};

/// The cases to run.
///
/// ```
/// use snodo_tests::cases::Suite;
///
/// assert!(Suite::choose(&["SF-01".to_owned()], false).is_ok());
/// assert!(Suite::choose(&["SF-00".to_owned()], false).is_err());
/// ```
#[derive(Debug)]
pub struct Suite {
    cases: Vec<CaseFile>,
    try_waiting: bool,
}

/// How many cases came to what.
///
/// ```
/// use snodo_tests::cases::{Report, Verdict};
///
/// let mut report = Report::default();
/// report.count(&Verdict::Passed);
/// assert_eq!(report.to_string(), "1 passed, 0 failed, 0 waiting");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// What is not as it should be.
    pub failed: usize,
    /// What was checked whole and held.
    pub passed: usize,
    /// What was not run.
    pub waiting: usize,
}

impl Suite {
    /// Takes ids, or beginnings of ids such as `SF`; none stands for all. With `try_waiting` those
    /// that wait for an issue as a whole are tried all the same.
    ///
    /// # Errors
    ///
    /// The folder cannot be read, or no case has such an id.
    pub fn choose(wanted: &[String], try_waiting: bool) -> Result<Self, String> {
        let all = store::all()?;
        let is_wanted = |case: &CaseFile, wanted: &str| {
            let rest = case.id.strip_prefix(wanted);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
                || case.group == wanted
        };
        let unknown = wanted.iter().find(|id| !all.iter().any(|case| is_wanted(case, id)));
        if let Some(id) = unknown {
            return Err(format!("there is no case `{id}`"));
        }
        let cases = all
            .into_iter()
            .filter(|case| wanted.is_empty() || wanted.iter().any(|id| is_wanted(case, id)))
            .collect();
        Ok(Self { cases, try_waiting })
    }

    /// Runs them and tells each as it ends: its id and what came of it.
    pub fn run(&self, mut tell: impl FnMut(&str, &Verdict)) -> Report {
        let mut report = Report::default();
        for case in &self.cases {
            let verdict = match later::of_case(case).filter(|_| !self.try_waiting) {
                Some(need) => Verdict::waits(need),
                None => bounded(case.clone()),
            };
            report.count(&verdict);
            tell(&case.id, &verdict);
        }
        report
    }
}

impl Report {
    /// Counts one more.
    pub fn count(&mut self, verdict: &Verdict) {
        match verdict {
            Verdict::Failed(_) => self.failed += 1,
            Verdict::Passed => self.passed += 1,
            Verdict::Waits { .. } => self.waiting += 1,
        }
    }
}

impl std::fmt::Display for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { failed, passed, waiting } = self;
        write!(f, "{passed} passed, {failed} failed, {waiting} waiting")
    }
}

/// Runs a case on a thread of its own, so that one that hangs or panics is one that failed.
fn bounded(case: CaseFile) -> Verdict {
    let (tell, told) = mpsc::channel();
    let started = thread::Builder::new().name(case.id.clone()).spawn(move || {
        // Nobody listens any more once the time is over.
        let _ = tell.send(run(&case));
    });
    if let Err(error) = started {
        return Verdict::Failed(vec![format!("no thread for it: {error}")]);
    }
    match told.recv_timeout(HARD_BOUND) {
        Ok(verdict) => verdict.unwrap_or_else(Verdict::waits),
        Err(RecvTimeoutError::Timeout) => {
            Verdict::Failed(vec![format!("it did not end within {HARD_BOUND:?}")])
        }
        Err(RecvTimeoutError::Disconnected) => Verdict::Failed(vec!["it panicked".to_owned()]),
    }
}

fn run(case: &CaseFile) -> Result<Verdict, Need> {
    match case.group.as_str() {
        "cli" => cli::run(case),
        "config" => config::run(case),
        "decode" => decode::run(case),
        "headers" => headers::run(case),
        "http" => http::run(case),
        "jsonrpc" => jsonrpc::run(case),
        "oauth" => oauth::run(case),
        "process" => process::run(case),
        "sse" => sse::run(case),
        "stdio" => stdio::run(case),
        "structured" => structured::run(case),
        other => Err(Need::unknown(format!("the format `{other}`"))),
    }
}

/// Runs a future that finds faults, on a runtime of its own; not ending in time is one.
pub(crate) fn on_runtime(
    bound: Duration,
    faults: impl Future<Output = Vec<String>>,
) -> Vec<String> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => return vec![format!("no runtime for it: {error}")],
    };
    let found = runtime.block_on(async { tokio::time::timeout(bound, faults).await });
    runtime.shutdown_timeout(Duration::from_secs(1));
    found.unwrap_or_else(|_| vec![format!("it did not end within {bound:?}")])
}

/// The text once for each value of an `@EACH:a,b@`, with the value's name behind a space; the text
/// itself where there is none.
pub(crate) fn variants(text: &str) -> Vec<(String, String)> {
    let mark = text.split_once(EACH).and_then(|(_, rest)| rest.split_once('@'));
    let Some((values, _)) = mark else { return vec![(String::new(), text.to_owned())] };
    let mark = format!("{EACH}{values}@");
    values.split(',').map(|value| (format!(" {value}"), text.replace(&mark, value))).collect()
}

const EACH: &str = "@EACH:";

/// No case takes longer, whatever it says.
const HARD_BOUND: Duration = Duration::from_secs(300);

#[cfg(test)]
mod tests {
    use super::variants;

    #[test]
    fn a_case_is_run_once_for_each_value_of_a_list() {
        let found = variants("[@EACH:1,2@, @EACH:1,2@]");
        let texts: Vec<_> = found.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(texts, ["[1, 1]", "[2, 2]"]);
        assert_eq!(variants("[1]").len(), 1);
    }
}
