//! Calling a tool.

use std::fmt::Write;

use serde_json::json;
use snodo::types::{Kind, Members, Progress, Raw, Tool};
use snodo::{Client, Error};

use super::{Answer, show_request};
use crate::arguments::{self, Arguments, Wanted};
use crate::failure::Status;
use crate::settings::Settings;
use crate::terminal::{self, Terminal};
use crate::wait::{self, Waiting};
use crate::{log, print, safe, save};

pub(super) async fn call(
    client: &Client,
    name: &str,
    arguments: Arguments,
    settings: &Settings,
) -> Result<Answer, Error> {
    let (form, terminal) = (settings.form(), settings.terminal);
    let wanted = arguments.need_a_schema() || arguments.is_empty() && terminal.asks;
    let tool = if wanted { find(client, name).await? } else { None };
    let schema = tool.as_ref().map(|tool| &tool.input_schema);
    let mut arguments: Members = arguments.typed(schema)?;
    if let Some(schema) = schema {
        complete(schema, &mut arguments, terminal).await?;
    }
    if settings.dry_run {
        return Ok(show_request("tools/call", &params(name, &arguments), form));
    }
    let mut request = match &tool {
        Some(tool) => client.call_tool(tool, &arguments),
        None => client.call_tool(name, &arguments),
    };
    if terminal.errors.width.is_some() && settings.verbosity == 0 {
        request = request.progress(|progress| Waiting::progress(&progress));
    } else if settings.verbosity > 0 {
        request = request.progress(|progress| log::tell(&line(&progress)));
    }
    let reply = request.await?;
    let mut answer = form.answer(reply.raw(), || print::tool(&reply));
    if let Some(folder) = &settings.save {
        answer.add(form, &save::tool(&reply, folder)?);
    }
    if reply.is_error() {
        answer.status = Status::ToolFailed;
        answer.remark = Some("the tool reported an error".to_owned());
    }
    Ok(answer)
}

pub(super) fn params(name: &str, arguments: &Members) -> Raw {
    let mut params = Members::new();
    params.insert("name", json!(name));
    params.insert("arguments", Raw::from(arguments));
    Raw::from(&params)
}

/// Asks for what is required and missing, where somebody can be asked.
///
/// # Errors
///
/// Nobody can, or the input ends (usage).
async fn complete(schema: &Raw, arguments: &mut Members, terminal: Terminal) -> Result<(), Error> {
    let missing = arguments::missing(schema, arguments);
    if !missing.is_empty() && !terminal.asks {
        let names: Vec<String> = missing.iter().map(describe).collect();
        let text = format!("the tool requires more arguments: {}", names.join(", "));
        return Err(Error::usage(text));
    }
    if !missing.is_empty() {
        wait::stop();
    }
    for wanted in missing {
        if let Some(about) = &wanted.about {
            log::tell(&terminal.errors.dim(&safe::line(about)));
        }
        let question = terminal.errors.bold(&format!("{}: ", describe(&wanted)));
        let value = loop {
            let given = terminal::ask(&question).await;
            let given = given.map_err(|error| Error::usage(format!("the terminal: {error}")))?;
            let Some(text) = given else {
                return Err(Error::usage(format!("argument {:?} is missing", wanted.name)));
            };
            match arguments::read_one(schema, &wanted.name, &text) {
                Ok(value) => break value,
                Err(error) => log::tell(&terminal.errors.bad(&safe::line(error.message()))),
            }
        };
        arguments.insert(wanted.name, value);
    }
    Ok(())
}

fn describe(wanted: &Wanted) -> String {
    let name = safe::line(&wanted.name);
    match wanted.kinds.as_str() {
        "" => name.into_owned(),
        kinds => format!("{name} ({kinds})"),
    }
}

/// The definition of a tool. A server may know more tools than it lists, or list none.
pub(super) async fn find(client: &Client, name: &str) -> Result<Option<Tool>, Error> {
    match client.list_tools().await {
        Ok(tools) => Ok(tools.into_iter().find(|tool| tool.name == name)),
        Err(error) if matches!(error.kind(), Kind::Authorization | Kind::Transport) => Err(error),
        Err(error) => {
            tracing::warn!(%error, "no schema to read the arguments by: they are taken for JSON, or else for text");
            Ok(None)
        }
    }
}

/// One line about how far a call is.
fn line(progress: &Progress) -> String {
    let mut line = format!("progress: {}", progress.progress);
    // Writing to a string cannot fail.
    if let Some(total) = progress.total {
        let _ = write!(line, "/{total}");
    }
    if let Some(message) = &progress.message {
        let _ = write!(line, " {}", safe::line(message));
    }
    line
}

#[cfg(test)]
mod tests {
    use snodo::types::Progress;

    use super::line;

    #[test]
    fn progress_is_one_harmless_line() {
        let progress = Progress::new(1.into(), 0.5).with_total(2.0).with_message("on\r\u{1b}");
        assert_eq!(line(&progress), "progress: 0.5/2 on\\r\\u{1b}");
        assert_eq!(line(&Progress::new(1.into(), 3.0)), "progress: 3");
    }
}
