//! What a transcript may tell the client to do.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};
use snodo::{Client, Error, ListKind, ProtocolVersion, Reply};
use snodo_types::CompleteParams;

pub(crate) enum Act {
    Call { tool: String, arguments: Value, within: Option<Duration> },
    Close,
    Complete(Value),
    Connect { versions: Vec<ProtocolVersion>, capabilities: Value },
    Discover,
    Drop,
    Leave,
    List(List),
    Page(Option<String>),
    Ping,
    Progress { tool: String, arguments: Value },
    Prompt { name: String, arguments: Value },
    Read(String),
    Request { method: String, params: Value },
}

#[derive(Clone, Copy)]
pub(crate) enum List {
    Prompts,
    Resources,
    Templates,
    Tools,
}

impl Act {
    /// Reads the text of a `?` line.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let (verb, rest) = text.split_once(' ').unwrap_or((text, ""));
        let named = || -> Result<(String, Value), String> {
            let (name, arguments) = rest.split_once(' ').unwrap_or((rest, "{}"));
            Ok((name.to_owned(), json(arguments)?))
        };
        Ok(match verb {
            "call" => {
                let (call, within) = rest.rsplit_once(" within ").unwrap_or((rest, ""));
                let (tool, arguments) = call.split_once(' ').unwrap_or((call, "{}"));
                Self::Call {
                    tool: tool.to_owned(),
                    arguments: json(arguments)?,
                    within: time(within)?,
                }
            }
            "close" => Self::Close,
            "complete" => Self::Complete(json(rest)?),
            "connect" => connect(rest)?,
            "discover" => Self::Discover,
            "drop" => Self::Drop,
            "leave" => Self::Leave,
            "page" => Self::Page((rest != "-").then(|| rest.to_owned())),
            "ping" => Self::Ping,
            "progress" => {
                let (tool, arguments) = named()?;
                Self::Progress { tool, arguments }
            }
            "prompt" => {
                let (name, arguments) = named()?;
                Self::Prompt { name, arguments }
            }
            "prompts" => Self::List(List::Prompts),
            "read" => Self::Read(rest.to_owned()),
            "request" => {
                let (method, params) = named()?;
                Self::Request { method, params }
            }
            "resources" => Self::List(List::Resources),
            "templates" => Self::List(List::Templates),
            "tools" => Self::List(List::Tools),
            _ => return Err(format!("the client does not know how to `{verb}`")),
        })
    }

    /// Does it with a client.
    pub(crate) async fn run(self, client: &Client) -> Result<Value, Error> {
        match self {
            Self::Call { tool, arguments, within } => {
                let mut request = client.call_tool(&tool, arguments);
                if let Some(within) = within {
                    request = request.timeout(within);
                }
                Ok(raw(&request.await?))
            }
            Self::Close => {
                client.close().await;
                Ok(json!("closed"))
            }
            Self::Complete(params) => {
                let params: CompleteParams = serde_json::from_value(params)
                    .map_err(|error| Error::usage(format!("complete: {error}")))?;
                Ok(raw(&client.complete(&params).await?))
            }
            Self::Discover => Ok(raw(&client.discover().await?)),
            Self::List(List::Prompts) => Ok(value(&client.list_prompts().await?)),
            Self::List(List::Resources) => Ok(value(&client.list_resources().await?)),
            Self::List(List::Templates) => Ok(value(&client.list_resource_templates().await?)),
            Self::List(List::Tools) => Ok(value(&client.list_tools().await?)),
            Self::Page(cursor) => {
                Ok(raw(&client.list_page(ListKind::TOOLS, cursor.as_deref()).await?))
            }
            Self::Ping => Ok(raw(&client.ping().await?)),
            Self::Progress { tool, arguments } => progress(client, &tool, arguments).await,
            Self::Prompt { name, arguments } => {
                Ok(raw(&client.get_prompt(name, arguments).await?))
            }
            Self::Read(uri) => Ok(raw(&client.read_resource(uri).await?)),
            Self::Request { method, params } => Ok(raw(&client.request(method, params).await?)),
            Self::Connect { .. } | Self::Drop | Self::Leave => Ok(Value::Null),
        }
    }
}

/// What is known of a client that has just connected.
pub(crate) fn opened(client: &Client) -> Value {
    json!({
        "protocol": client.protocol().as_str(),
        "session": client.session().map(|session| json!({
            "version": session.version().as_str(),
            "id": session.id(),
        })),
        "server": client.server().info(),
        "instructions": client.server().instructions(),
    })
}

async fn progress(client: &Client, tool: &str, arguments: Value) -> Result<Value, Error> {
    let told = Arc::new(Mutex::new(Vec::new()));
    let telling = Arc::clone(&told);
    let request = client.call_tool(tool, arguments).progress(move |progress| {
        telling.lock().expect("no panic while it is held").push(value(&progress));
    });
    let reply = request.await?;
    let told = std::mem::take(&mut *told.lock().expect("no panic while it is held"));
    Ok(json!({ "progress": told, "result": raw(&reply) }))
}

fn connect(rest: &str) -> Result<Act, String> {
    let (versions, capabilities) = match rest.find('{') {
        Some(at) => (&rest[..at], &rest[at..]),
        None => (rest, "{}"),
    };
    let versions = versions.split_whitespace().map(str::parse);
    let versions = versions.collect::<Result<Vec<_>, _>>().map_err(|error| format!("{error}"))?;
    Ok(Act::Connect { versions, capabilities: json(capabilities)? })
}

fn raw<T>(reply: &Reply<T>) -> Value
where
    T: serde::de::DeserializeOwned,
{
    serde_json::from_str(reply.raw()).unwrap_or_default()
}

fn value(typed: &impl Serialize) -> Value {
    serde_json::to_value(typed).unwrap_or_default()
}

fn json(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| format!("`{text}` is no JSON: {error}"))
}

fn time(text: &str) -> Result<Option<Duration>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    let number = text.strip_suffix("ms").and_then(|number| number.parse().ok());
    number
        .map(|number| Some(Duration::from_millis(number)))
        .ok_or_else(|| format!("`{text}` is no time; it is written as `250ms`"))
}
