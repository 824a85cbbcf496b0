//! Calling a tool.

use std::fmt::Write;

use snodo::types::{Kind, Members, Progress, Tool};
use snodo::{Client, Error};

use super::{Answer, Form};
use crate::arguments::Arguments;
use crate::failure::Status;
use crate::{log, print, safe};

/// Whether somebody wants to see how far a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Watch {
    Progress,
    Nothing,
}

pub(super) async fn call(
    client: &Client,
    name: &str,
    arguments: Arguments,
    form: Form,
    watch: Watch,
) -> Result<Answer, Error> {
    let tool = if arguments.need_a_schema() { find(client, name).await? } else { None };
    let arguments: Members = arguments.typed(tool.as_ref().map(|tool| &tool.input_schema))?;
    let mut request = match &tool {
        Some(tool) => client.call_tool(tool, &arguments),
        None => client.call_tool(name, &arguments),
    };
    if watch == Watch::Progress {
        request = request.progress(|progress| log::tell(&line(&progress)));
    }
    let reply = request.await?;
    let mut answer = form.answer(reply.raw(), || print::tool(&reply));
    if reply.is_error() {
        answer.status = Status::ToolFailed;
        answer.remark = Some("the tool reported an error");
    }
    Ok(answer)
}

/// The definition of a tool. A server may know more tools than it lists, or list none.
async fn find(client: &Client, name: &str) -> Result<Option<Tool>, Error> {
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
