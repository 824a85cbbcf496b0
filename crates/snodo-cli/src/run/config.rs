//! The servers of the configuration.

use std::path::Path;

use serde_json::{Value, json};
use snodo::Client;
use snodo_config::{Config, Entry, Source};
use snodo_host::{Host, Limits};

use super::{Answer, Form, document};
use crate::print::servers;
use crate::settings::Settings;

/// What is known of one entry.
#[derive(Debug)]
pub(crate) struct Known<'c> {
    pub(crate) entry: &'c Entry,
    /// What became of connecting, where that was tried.
    pub(crate) visit: Option<Visit>,
}

/// How connecting to a server went.
#[derive(Debug)]
pub(crate) enum Visit {
    Failed(String),
    Spoke { version: String, tools: usize },
}

/// A file, and what stands in it.
#[derive(Debug)]
pub(crate) struct Shelf<'c> {
    pub(crate) source: &'c Source,
    pub(crate) entries: Vec<Known<'c>>,
}

/// Lists the entries; with `check`, connects to all of them.
pub(crate) async fn list(config: &Config, check: bool, settings: &Settings) -> Answer {
    let mut visits = if check { visit(config, settings).await } else { Vec::new() };
    let shelves: Vec<Shelf<'_>> = config
        .sources()
        .iter()
        .map(|source| {
            let own = config.entries().iter();
            let own = own.filter(|entry| entry.source() == Some(source.path()));
            let known = own.map(|entry| {
                let at = visits.iter().position(|(name, _)| name == entry.name());
                let visit = at.filter(|_| !entry.is_hidden()).map(|at| visits.swap_remove(at).1);
                Known { entry, visit }
            });
            Shelf { source, entries: known.collect() }
        })
        .collect();
    match settings.form() {
        Form::Json => Answer::new(document(&json!({
            "files": shelves.iter().map(file).collect::<Vec<_>>(),
            "servers": shelves.iter().flat_map(|shelf| &shelf.entries).map(server).collect::<Vec<_>>(),
        }).to_string())),
        Form::People => {
            let none = config.sources().is_empty();
            let text = "there is no file; `snodo config --help` tells where one may stand";
            let remark = none.then(|| text.to_owned());
            Answer { remark, ..Answer::new(servers(&shelves, settings.terminal.output)) }
        }
    }
}

/// Connects to all servers at once, counts their tools, and ends the connections.
async fn visit(config: &Config, settings: &Settings) -> Vec<(String, Visit)> {
    let mut options = Client::builder().timeout(settings.timeout);
    if let Some(versions) = &settings.versions {
        options = options.protocol(versions.iter().copied());
    }
    let limits = Limits::default().connect_within(settings.timeout);
    let host = Host::builder().options(options).limits_for_all(limits).config(config);
    let host = host.connect().await;
    let tools = host.list_tools().await;
    let visits = host.members().iter().map(|member| {
        let count = tools.items().iter().filter(|tool| tool.server() == member.name()).count();
        let visit = match member.client() {
            Ok(client) => Visit::Spoke { version: client.protocol().to_string(), tools: count },
            Err(error) => Visit::Failed(error.to_string()),
        };
        (member.name().to_owned(), visit)
    });
    let visits = visits.collect();
    host.close().await;
    visits
}

fn file(shelf: &Shelf<'_>) -> Value {
    let source = shelf.source;
    let fault = source.fault().map(|fault| {
        let (line, column) = fault.place().unzip();
        json!({ "message": fault.message(), "line": line, "column": column })
    });
    json!({ "path": shown(source.path()), "fault": fault, "warnings": source.warnings() })
}

fn server(known: &Known<'_>) -> Value {
    let entry = known.entry;
    let mut told = json!({
        "name": entry.name(),
        "server": entry.shown(),
        "file": entry.source().map(shown),
        "usable": entry.server().is_ok(),
        "disabled": entry.is_disabled(),
        "hidden": entry.is_hidden(),
        "fault": entry.server().err().map(|fault| fault.message()),
        "warnings": entry.warnings(),
    });
    match &known.visit {
        Some(Visit::Failed(error)) => told["error"] = json!(error),
        Some(Visit::Spoke { version, tools }) => {
            told["protocolVersion"] = json!(version);
            told["tools"] = json!(tools);
        }
        None => {}
    }
    told
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
