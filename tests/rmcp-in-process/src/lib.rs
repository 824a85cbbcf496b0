//! A server on rmcp, and the way to it inside one process.

use std::borrow::Cow;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, ServerCapabilities,
    ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde_json::{Value, json};
use snodo::stdio::Pipe;
use snodo::transport::{Connect, connect_fn};

/// A server with two tools: `add`, and `slow`, which tells each step and notices when it is given up.
#[derive(Clone, Debug, Default)]
pub struct Calculator;

impl ServerHandler for Calculator {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("calculator", "1.0.0"))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let integer = json!({ "type": "integer" });
        Ok(ListToolsResult::with_all_items(vec![
            tool("add", json!({ "a": integer, "b": integer })),
            tool("slow", json!({ "steps": integer })),
        ]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let number = |name: &str| arguments[name].as_i64().unwrap_or_default();
        let text = match request.name.as_ref() {
            "add" => (number("a") + number("b")).to_string(),
            "slow" => {
                for step in 1..=number("steps") {
                    if let Some(token) = context.meta.get_progress_token() {
                        let progress = ProgressNotificationParam::new(token, step as f64);
                        // A client that is gone wants to know nothing.
                        let _ = context.peer.notify_progress(progress).await;
                    }
                    tokio::task::yield_now().await;
                }
                "done".to_owned()
            }
            other => {
                let why = format!("no such tool: {other}");
                return Err(ErrorData::invalid_params(why, None));
            }
        };
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
    }
}

/// The way to a server of rmcp's: each connection is a pipe in memory with the server at its end.
pub fn in_process<S>(server: S) -> impl Connect
where
    S: ServerHandler + Clone,
{
    connect_fn(move || {
        let server = server.clone();
        async move {
            let (near, far) = tokio::io::duplex(64 * 1024);
            // It ends with the pipe, which ends with the client.
            tokio::spawn(async move {
                if let Ok(running) = server.serve(far).await {
                    let _ = running.waiting().await;
                }
            });
            let (reader, writer) = tokio::io::split(near);
            Ok(Pipe::new(reader, writer))
        }
    })
    .named("a server in this process")
}

fn tool(name: &'static str, properties: Value) -> Tool {
    let schema = json!({ "type": "object", "properties": properties });
    let schema = schema.as_object().cloned().unwrap_or_default();
    Tool::new(Cow::Borrowed(name), "", schema)
}
