//! One visit: connect, look around, make the call, leave.

use std::time::Duration;

use snodo::http::Http;
use snodo::stdio::{Stderr, Stdio};
use snodo::types::ServerCapabilities;
use snodo::{Builder, Client, Error, ProtocolVersion};
use snodo_sse_legacy::SseLegacy;

use crate::events;
use crate::keeper::House;
use crate::list::{Call, Server, Transport};
use crate::tasks;

/// Visits a server, pinned to a version or with every version allowed; tells the events that came.
/// `expected` is the version that has to come of it; `None` where the server has to be refused.
pub(crate) async fn visit(
    server: &Server,
    house: &House,
    pin: Option<ProtocolVersion>,
    expected: Option<ProtocolVersion>,
) -> Result<String, String> {
    let whole = tokio::time::timeout(LIMIT, async {
        match (connect(Client::builder(), server, house, pin).await, expected) {
            (Ok(client), Some(expected)) => {
                let looked = look_around(&client, server, expected).await;
                let heard = match &looked {
                    Ok(()) => events::hear(&client, server.events(expected)).await,
                    Err(_) => Ok(String::new()),
                };
                client.close().await;
                looked?;
                give_tasks(&client, server, house, pin).await?;
                heard
            }
            (Ok(client), None) => Err(format!("it was taken, in {}", client.protocol())),
            (Err(error), Some(_)) => Err(explain("connect", &error)),
            (Err(_), None) => Ok("none".to_owned()),
        }
    });
    whole.await.unwrap_or_else(|_| Err(format!("it took more than {LIMIT:?}")))
}

/// Where the server makes tasks: once more, with somebody to ask.
async fn give_tasks(
    known: &Client,
    server: &Server,
    house: &House,
    pin: Option<ProtocolVersion>,
) -> Result<(), String> {
    if !tasks::are_made_by(known) {
        return Ok(());
    }
    let client = connect(tasks::answering(Client::builder()), server, house, pin).await;
    let client = client.map_err(|error| explain("connect", &error))?;
    let given = tasks::give(&client).await;
    client.close().await;
    given
}

async fn connect(
    mut builder: Builder,
    server: &Server,
    house: &House,
    pin: Option<ProtocolVersion>,
) -> Result<Client, Error> {
    if let Some(version) = pin {
        builder = builder.protocol([version]);
    }
    match server.transport {
        Transport::Http => {
            let url = house.url.as_deref().unwrap_or_default();
            builder.connect(Http::new(url)?).await
        }
        Transport::Sse => {
            let url = house.url.as_deref().unwrap_or_default();
            builder.connect(SseLegacy::new(Http::new(url)?)).await
        }
        Transport::Stdio => {
            let mut target = Stdio::new(&server.command).args(&server.args).stderr(Stderr::Null);
            let (name, mark) = &house.mark;
            target = target.env(name, mark);
            for (name, value) in &server.env {
                target = target.env(name, value);
            }
            builder.connect(target).await
        }
    }
}

async fn look_around(
    client: &Client,
    server: &Server,
    expected: ProtocolVersion,
) -> Result<(), String> {
    if client.protocol() != expected {
        return Err(format!("{} was settled", client.protocol()));
    }
    let capabilities = capabilities(client).await?;
    if capabilities.tools() {
        let tools = client.list_tools().await.map_err(|error| explain("tools", &error))?;
        let wanted = server.call.as_ref().map(|call| call.tool.as_str());
        if !tools.iter().any(|tool| Some(tool.name.as_str()) == wanted) {
            return Err(format!("{} tools, and not the one that is called", tools.len()));
        }
    }
    if capabilities.resources() {
        client.list_resources().await.map_err(|error| explain("resources", &error))?;
        let templates = client.list_resource_templates().await;
        templates.map_err(|error| explain("templates", &error))?;
    }
    if capabilities.prompts() {
        client.list_prompts().await.map_err(|error| explain("prompts", &error))?;
    }
    match &server.call {
        Some(call) => make(client, call).await,
        None => Ok(()),
    }
}

/// What the server can do: as it told when the connection was opened, or asked for now.
async fn capabilities(client: &Client) -> Result<ServerCapabilities, String> {
    if let Some(told) = client.server().capabilities() {
        return Ok(told.clone());
    }
    let told = client.discover().await.map_err(|error| explain("discover", &error))?;
    Ok(told.capabilities.clone())
}

async fn make(client: &Client, call: &Call) -> Result<(), String> {
    let result = client.call_tool(&call.tool, &call.arguments).await;
    let text = result.map_err(|error| explain("call", &error))?.text();
    let fits = match (&call.text, &call.contains) {
        (Some(wanted), _) => text == *wanted,
        (None, Some(wanted)) => text.contains(wanted),
        (None, None) => true,
    };
    if fits { Ok(()) } else { Err(format!("the call gave {text:?}")) }
}

/// An error and what lies below it.
pub(crate) fn explain(doing: &str, error: &Error) -> String {
    let cause = error.cause().map(|cause| format!("; {cause:?}")).unwrap_or_default();
    format!("{doing}: {error}{cause}")
}

/// How long a whole visit may take: a slow start, a probe, a second start, a handful of requests.
const LIMIT: Duration = Duration::from_secs(90);
