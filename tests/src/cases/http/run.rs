//! Running one HTTP case.

use std::time::{Duration, Instant};

use serde::Deserialize;

use super::check::check;
use super::rule::Rule;
use super::server::{Scripted, Server, ServerScript};
use crate::cases::Verdict;
use crate::cases::client::{
    Baseline, ClientScript, Evidence, Expect, Gauge, HttpStage, Stage, Target, settle,
};
use crate::cases::head;
use crate::cases::later::Need;
use crate::cases::store::CaseFile;
use crate::cases::suite::{on_runtime, variants};

/// A file of `http/`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct HttpCase {
    baseline: Baseline,
    client: ClientScript,
    #[serde(default)]
    server: ServerScript,
    #[serde(default)]
    rules: Vec<Rule>,
    expect: Expect,
}

/// Runs a case on each of its baselines, once for each value of an `@EACH@`.
pub(crate) fn run(file: &CaseFile) -> Result<Verdict, Need> {
    let text = file.text("json").map_err(Need::unknown)?;
    let mut faults = Vec::new();
    for (variant, text) in variants(&text) {
        let (_, case) = head::read::<HttpCase>(&text)?;
        case.needs()?;
        for baseline in case.baseline.each() {
            let found = run_on(&case, *baseline)?;
            let place = format!("[{}{variant}]", baseline.name());
            faults.extend(found.into_iter().map(|fault| format!("{place} {fault}")));
        }
    }
    Ok(Verdict::of(faults))
}

impl HttpCase {
    fn needs(&self) -> Result<(), Need> {
        self.client.needs()?;
        self.expect.needs()?;
        let expect = &self.expect;
        let of_processes = [
            expect.child_gone.is_some(),
            expect.grandchild_gone.is_some(),
            expect.exit_status.is_some(),
            expect.order.is_some(),
            expect.spawns.is_some(),
            expect.children_left.is_some(),
            !expect.wire_has.is_empty(),
            !expect.wire_never.is_empty(),
        ];
        match of_processes.contains(&true) {
            true => Err(Need::unknown("an expectation about processes")),
            false => Ok(()),
        }
    }

    /// Whether the case is about the server's own stream.
    fn listens(&self) -> bool {
        let has_get = self.rules.iter().any(|rule| rule.pattern.http.as_deref() == Some("GET"));
        has_get || !self.expect.notifications.is_empty()
    }

    fn scripted(&self, baseline: Baseline) -> Scripted {
        let ruled = self.rules.iter().filter_map(|rule| rule.pattern.tool.clone());
        let tools = crate::cases::baseline::tools(self.client.tools().into_iter().chain(ruled));
        Scripted { baseline, server: self.server.clone(), rules: self.rules.clone(), tools }
    }
}

fn run_on(case: &HttpCase, baseline: Baseline) -> Result<Vec<String>, Need> {
    let server = Server::start(case.scripted(baseline))
        .map_err(|error| Need::unknown(format!("the server does not start: {error}")))?;
    let path = case.client.url_path.as_deref().unwrap_or("/mcp");
    let url = format!("{}{path}", server.origin());
    let stage = HttpStage { listens: case.listens(), sessions: case.server.session.is_some() };
    let target = Target::http(&case.client, baseline, &url, stage)?;
    let bound = case.expect.within().unwrap_or_default() + BOUND;
    Ok(on_runtime(bound, play(case, target, server)))
}

async fn play(case: &HttpCase, target: Target, server: Server) -> Vec<String> {
    let expect = &case.expect;
    let gauge = Gauge::read();
    let heard = target.heard().clone();
    let mut stage = Stage::new(target, &case.client, || 0);
    let start = Instant::now();
    let mut results = Vec::new();
    for step in &case.client.steps {
        results.push(stage.run(step).await);
    }
    let elapsed = start.elapsed();
    let negotiated = stage.negotiated();
    heard.stop();
    drop(stage);
    let mut faults = Vec::new();
    if let Some(most) = expect.open_connections_after {
        let left = settle(most, || server.record().open_connections).await;
        if left > most {
            faults.push(format!("{left} connections are left, allowed {most}"));
        }
    }
    faults.extend(gauge.faults(expect).await);
    let record = server.record();
    let received = record.messages();
    let evidence =
        Evidence { results: &results, elapsed, negotiated, heard: &heard, received: &received };
    faults.extend(expect.check(&evidence));
    faults.extend(check(expect, &record));
    faults
}

/// For a case that says nothing, and on top of what it says.
const BOUND: Duration = Duration::from_secs(60);
