//! Cases of `oauth/`: a question to one part, or a whole flow against a scripted pair of servers.

mod answer;
mod flow;
mod part;
mod person;
mod start;

use serde::Deserialize;
use serde_json::Value;

use super::Verdict;
use super::head;
use super::later::Need;
use super::store::CaseFile;

/// A file of `oauth/`, by what it tests.
#[derive(Debug, Deserialize)]
#[serde(tag = "test", rename_all = "snake_case", deny_unknown_fields)]
enum Case {
    Challenge(part::Challenge),
    Flow(flow::Flow),
    Metadata(part::Metadata),
    Register(answer::Register),
    Scope(answer::Scope),
    Token(answer::Token),
    UrlPolicy(part::UrlPolicy),
    Wellknown(part::WellKnown),
}

/// Runs a case.
pub(crate) fn run(file: &CaseFile) -> Result<Verdict, Need> {
    let text = file.text("json").map_err(Need::unknown)?;
    // Read in two steps: a tagged choice would not refuse members that it does not know.
    let (_, members) = head::read::<Value>(&text)?;
    let case = serde_json::from_value(members).map_err(|error| Need::unknown(error.to_string()))?;
    let faults = match case {
        Case::Challenge(case) => case.run(),
        Case::Flow(case) => case.run()?,
        Case::Metadata(case) => case.run(),
        Case::Register(case) => case.run()?,
        Case::Scope(case) => case.run()?,
        Case::Token(case) => case.run()?,
        Case::UrlPolicy(case) => case.run(),
        Case::Wellknown(case) => case.run(),
    };
    Ok(Verdict::of(faults))
}
