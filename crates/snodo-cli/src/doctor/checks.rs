//! What a server has, used once.

use std::collections::HashSet;

use serde_json::{Value, json};
use snodo::dialect::{Era, dialect};
use snodo::types::{Cause, Item, Members, Tool};
use snodo::{Client, Error, List};

use super::report::{Finding, Report, State, Step};
use super::timed;
use crate::run::Inspection;

/// Every list that the server says it has, and how it treats what it does not know.
pub(super) async fn all(client: &Client, report: &mut Report) {
    let (words, told) = match Inspection::of(client).await {
        Ok(told) => {
            let name = told.server.map_or_else(
                || "it does not say who it is".to_owned(),
                |info| format!("it is {} {}", info.name, info.version),
            );
            (name, told.capabilities.raw().decode().unwrap_or_default())
        }
        Err(error) => (error.message().to_owned(), Members::new()),
    };
    let names: Vec<&str> = told.iter().map(|(name, _)| name).collect();
    let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    let words = format!("{words}; capabilities: {names}");
    report.steps.push(Step::new("server", State::Ok, words));
    let has = |name: &str| told.get(name).is_some();
    if has("tools")
        && let Some(tools) = list(client, Client::list_tools, "tools", report).await
    {
        judge(&tools, report);
        unknown_tool(client, report).await;
    }
    if has("resources") {
        list(client, Client::list_resources, "resources", report).await;
        list(client, Client::list_resource_templates, "templates", report).await;
    }
    if has("prompts") {
        list(client, Client::list_prompts, "prompts", report).await;
    }
    if dialect(client.protocol()).era() == Era::Initialize {
        let (pong, took) = timed(client.ping()).await;
        match pong {
            Ok(_) => {
                report.steps.push(Step::new("ping", State::Ok, "a ping is answered").took(took))
            }
            Err(error) => {
                report.steps.push(Step::new("ping", State::Failed, error.message()).took(took));
                report.findings.push(Finding::wrong(
                    format!("a ping is not answered: {}", error.message()),
                    "answer `ping` with an empty result",
                ));
            }
        }
    }
}

async fn list<T: Item + Send + 'static>(
    client: &Client,
    of: fn(&Client) -> List<T>,
    name: &'static str,
    report: &mut Report,
) -> Option<Vec<T>> {
    let (listed, took) = timed(of(client)).await;
    match listed {
        Ok(items) => {
            let words = format!("{} in the list", items.len());
            report.steps.push(Step::new(name, State::Ok, words).took(took));
            Some(items)
        }
        Err(error) => {
            let words = format!("the list fails: {}", error.message());
            report.steps.push(Step::new(name, State::Failed, words).took(took));
            report.findings.push(Finding::wrong(
                format!("it says that it has {name}, and the list fails: {}", error.message()),
                list_fix(&error),
            ));
            None
        }
    }
}

fn list_fix(error: &Error) -> &'static str {
    match error.cause() {
        Some(Cause::RepeatedCursor { .. } | Cause::PageLimit { .. }) => {
            "leave `nextCursor` out on the last page, and never give one twice"
        }
        Some(Cause::ListLimit { .. }) => {
            "list less, or keep what is long out of descriptions and schemas"
        }
        Some(Cause::Timeout) => "answer every request",
        _ => "answer the list, or leave the capability out",
    }
}

/// Tools that models or clients cannot use.
fn judge(tools: &[Tool], report: &mut Report) {
    let mut names = HashSet::new();
    for tool in tools {
        let name = &tool.name;
        if !names.insert(name) {
            report.findings.push(Finding::wrong(
                format!("the tool {name:?} stands in the list twice"),
                "give every tool a name of its own",
            ));
        }
        let schema: Value = tool.input_schema.decode().unwrap_or_default();
        if schema["type"] != json!("object") {
            report.findings.push(Finding::wrong(
                format!("the input schema of {name:?} is not one of an object"),
                "write `\"type\": \"object\"` at its root",
            ));
        }
        let fine = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
        if name.is_empty() || name.len() > LONGEST_NAME || !name.chars().all(fine) {
            report.findings.push(Finding::note(
                format!("many clients do not take the name {name:?} for a tool"),
                "use up to 64 letters, digits, `_` and `-`",
            ));
        }
    }
    let silent = tools.iter().filter(|tool| tool.description.as_deref().is_none_or(str::is_empty));
    let silent = silent.count();
    if silent > 0 {
        report.findings.push(Finding::note(
            format!("{silent} of {} tools have no description", tools.len()),
            "say what each tool does: models choose by that",
        ));
    }
}

/// A tool that does not exist has to be refused, by an error or as a result.
async fn unknown_tool(client: &Client, report: &mut Report) {
    let (answer, took) = timed(client.call_tool("snodo-doctor-no-such-tool", json!({}))).await;
    let refused = match &answer {
        Ok(reply) => reply.is_error(),
        Err(error) => error.transport().is_none() && !error.is_timeout(),
    };
    let (state, words) = match (refused, &answer) {
        (true, _) => (State::Ok, "a tool that does not exist is refused".to_owned()),
        (false, Ok(_)) => (State::Failed, "a tool that does not exist answers".to_owned()),
        (false, Err(error)) => (State::Failed, error.message().to_owned()),
    };
    if !refused {
        report.findings.push(Finding::wrong(
            format!("a call of a tool that does not exist is not refused: {words}"),
            "answer it with -32602",
        ));
    }
    report.steps.push(Step::new("refusal", state, words).took(took));
}

const LONGEST_NAME: usize = 64;
