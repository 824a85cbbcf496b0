//! Running one case over stdio.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::Value;
use snodo::stdio::Stdio;

use super::check::Diaries;
use super::diary::Answers;
use super::script::ChildScript;
use crate::cases::Verdict;
use crate::cases::client::{Baseline, ClientScript, Evidence, Expect, Gauge, Stage, Target};
use crate::cases::head;
use crate::cases::later::Need;
use crate::cases::store::CaseFile;
use crate::cases::suite::{on_runtime, variants};

/// A file of `process/`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProcessCase {
    baseline: Baseline,
    client: ClientScript,
    child: Value,
    expect: Expect,
}

/// Runs a case on each of its baselines, once for each value of an `@EACH@`.
pub(crate) fn run(file: &CaseFile) -> Result<Verdict, Need> {
    let text = file.text("json").map_err(Need::unknown)?;
    let mut faults = Vec::new();
    for (variant, text) in variants(&text) {
        let (head, case) = head::read::<ProcessCase>(&text)?;
        case.needs()?;
        check_script(&case.child)?;
        let listens = !case.expect.notifications.is_empty();
        for baseline in case.baseline.each() {
            let script = case.child.to_string();
            let files = ChildFiles::new(&head.id, &script).map_err(Need::unknown)?;
            let stdio = files.stdio(baseline.name()).map_err(Need::unknown)?;
            let target = Target::process(&case.client, *baseline, stdio, listens)?;
            let bound = case.expect.within().unwrap_or_default() + BOUND;
            let found = on_runtime(bound, play(&case, target, &files));
            let place = format!("[{}{variant}]", baseline.name());
            faults.extend(found.into_iter().map(|fault| format!("{place} {fault}")));
        }
    }
    Ok(Verdict::of(faults))
}

impl ProcessCase {
    fn needs(&self) -> Result<(), Need> {
        self.client.needs()?;
        self.expect.needs()?;
        let expect = &self.expect;
        let of_http = [
            !expect.requests.is_empty(),
            !expect.saw.is_empty(),
            !expect.never.is_empty(),
            expect.min_gap_ms.is_some(),
            expect.open_connections_max.is_some(),
            expect.open_connections_after.is_some(),
            self.client.url_path.is_some(),
            !self.client.headers.is_empty(),
        ];
        match of_http.contains(&true) {
            true => Err(Need::unknown("a member about HTTP")),
            false => Ok(()),
        }
    }
}

/// The child reads its script by itself; what it would not know is told before.
fn check_script(script: &Value) -> Result<(), Need> {
    let read: Result<ChildScript, _> = serde_json::from_value(script.clone());
    read.map(drop).map_err(|error| Need::unknown(error.to_string()))
}

async fn play(case: &ProcessCase, target: Target, files: &ChildFiles) -> Vec<String> {
    let expect = &case.expect;
    let gauge = Gauge::read();
    let answers = Answers::new(&files.diary);
    let mut stage = Stage::new(target.clone(), &case.client, move || answers.count());
    let start = Instant::now();
    let mut results = Vec::new();
    for step in &case.client.steps {
        results.push(stage.run(step).await);
    }
    let mut elapsed = start.elapsed();
    let negotiated = stage.negotiated();
    let mut faults = Vec::new();
    if let Some(most) = expect.pending_after
        && target.pending() > most
    {
        faults.push(format!("{} exchanges are left, allowed {most}", target.pending()));
    }
    let heard = target.heard();
    heard.stop();
    drop(stage);
    // Before this process reads all that the child wrote.
    faults.extend(gauge.faults(expect).await);
    let diaries = Diaries::settled(&files.diary, expect).await;
    if expect.child_gone.is_some() || expect.grandchild_gone.is_some() {
        // Their going is part of what has to be done in time.
        elapsed = start.elapsed();
    }
    let received: Vec<Value> = diaries.received();
    let evidence = Evidence { results: &results, elapsed, negotiated, heard, received: &received };
    faults.extend(expect.check(&evidence));
    faults.extend(diaries.check(expect, &results));
    faults
}

/// The script and the diary of a scripted child, in a folder that goes with this value.
#[derive(Debug)]
pub struct ChildFiles {
    folder: PathBuf,
    script: PathBuf,
    diary: PathBuf,
}

impl ChildFiles {
    /// Writes a script, in the format of the `child` member of the cases.
    ///
    /// # Errors
    ///
    /// The files cannot be written.
    pub fn new(name: &str, script: &str) -> Result<Self, String> {
        use std::sync::atomic::{AtomicU64, Ordering};
        static NUMBER: AtomicU64 = AtomicU64::new(0);

        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = format!("snodo-{name}-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(folder);
        let files =
            Self { script: folder.join("script.json"), diary: folder.join("diary.jsonl"), folder };
        std::fs::create_dir_all(&files.folder)
            .and_then(|()| std::fs::write(&files.script, script))
            .map_err(|error| format!("{}: {error}", files.folder.display()))?;
        Ok(files)
    }

    /// The command that plays it: against the baseline `legacy` or `modern`.
    ///
    /// # Errors
    ///
    /// The program is not built.
    pub fn stdio(&self, baseline: &str) -> Result<Stdio, String> {
        let program = program()?;
        Ok(Stdio::new(program).arg(&self.script).arg(&self.diary).arg(baseline))
    }
}

impl ChildFiles {
    /// The words of that command.
    ///
    /// # Errors
    ///
    /// The program is not built.
    pub(crate) fn words(&self, baseline: &str) -> Result<Vec<String>, String> {
        let path = |path: &Path| path.display().to_string();
        Ok(vec![path(&program()?), path(&self.script), path(&self.diary), baseline.to_owned()])
    }

    /// What the processes have written down so far.
    pub(crate) fn diaries(&self) -> Diaries {
        Diaries::read(&self.diary)
    }

    /// How many processes have begun to play it.
    #[must_use]
    pub fn started(&self) -> usize {
        Diaries::read(&self.diary).all().count()
    }

    /// How many of them are there still, dead ones that nobody has reaped included.
    #[must_use]
    pub fn left(&self) -> usize {
        Diaries::read(&self.diary).processes().count()
    }
}

impl Drop for ChildFiles {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Where the program `case-child` stands: beside this one, or a folder above it.
///
/// # Errors
///
/// It is not built.
pub fn program() -> Result<PathBuf, String> {
    neighbour("case-child")
}

/// Where a program stands: beside this one, or a folder above it.
pub(crate) fn neighbour(name: &str) -> Result<PathBuf, String> {
    let here = std::env::current_exe().map_err(|error| error.to_string())?;
    let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    let found = here.ancestors().skip(1).take(2).map(|folder| folder.join(&file));
    let mut found = found.filter(|path: &PathBuf| Path::exists(path));
    found.next().ok_or_else(|| format!("the program `{name}` is not built"))
}

/// For a case that says nothing, and on top of what it says.
const BOUND: Duration = Duration::from_secs(120);
