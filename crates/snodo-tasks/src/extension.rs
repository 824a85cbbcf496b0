//! Tasks as an extension of the protocol.

use snodo::ProtocolVersion;
use snodo::dialect::{Extension, Params};
use snodo::types::{DetailedTask, Routing};

/// The extension `io.modelcontextprotocol/tasks`.
///
/// [`TaskClient`](crate::TaskClient) declares it with each of its own requests. Registered on a
/// client it is declared with every request of that, and then any call of a tool may be answered
/// with a task: use [`TaskClient::call_tool`](crate::TaskClient::call_tool) for them all.
///
/// ```
/// use snodo::Client;
/// use snodo_tasks::Tasks;
///
/// let builder = Client::builder().extension(Tasks);
/// # let _ = builder;
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "the extension has no settings")]
pub struct Tasks;

impl Extension for Tasks {
    fn id(&self) -> &str {
        DetailedTask::EXTENSION
    }

    fn methods(&self) -> &[&str] {
        &[GET, UPDATE, CANCEL]
    }

    fn result_types(&self, method: &str) -> &[&str] {
        match method {
            // Tasks, "Supported Methods": a call of a tool is all that may become a task. Examples
            // of that page write the same type where a task is asked after; its status tells.
            "tools/call" | GET => &["task"],
            _ => &[],
        }
    }

    fn routing(&self, _: ProtocolVersion, _: &str, params: &Params) -> Routing {
        // Tasks, "Streamable HTTP: Routing Headers".
        let id =
            params.member("taskId").and_then(|text| serde_json::from_str::<String>(&text).ok());
        id.map_or_else(Routing::new, |id| Routing::new().with("Mcp-Name", id))
    }
}

/// How a task stands.
pub(crate) const GET: &str = "tasks/get";
/// Answers what it asks.
pub(crate) const UPDATE: &str = "tasks/update";
/// Gives it up.
pub(crate) const CANCEL: &str = "tasks/cancel";
/// Core tasks alone: waits for what came of it.
pub(crate) const RESULT: &str = "tasks/result";
