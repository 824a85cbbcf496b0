//! Events of a real server: what it agrees to tell, and that it does when a call causes it.

use std::time::Duration;

use serde_json::json;
use snodo::types::SubscriptionFilter;
use snodo::{Client, Error, Event, Subscription};
use tokio::time::timeout;

use crate::visit::explain;

/// What causes an event at the servers that have it.
struct Cause {
    kind: &'static str,
    tool: &'static str,
    method: &'static str,
    uri: Option<&'static str>,
}

const CAUSES: [Cause; 3] = [
    Cause { kind: "tools", tool: "flip", method: "notifications/tools/list_changed", uri: None },
    Cause {
        kind: "resource",
        tool: "bump",
        method: "notifications/resources/updated",
        uri: Some("zoo://counter"),
    },
    Cause {
        kind: "resource",
        tool: "toggle-subscriber-updates",
        method: "notifications/resources/updated",
        uri: Some("demo://resource/dynamic/text/1"),
    },
];

/// Listens to everything and causes what can be caused. What arrives has to be `expected`, and is
/// told; a server that tells nothing must not keep anybody waiting either.
pub(crate) async fn hear(client: &Client, expected: &[String]) -> Result<String, String> {
    let tools = client.list_tools().await.map_err(|error| explain("tools", &error))?;
    let has = |cause: &&Cause| tools.iter().any(|tool| tool.name == cause.tool);
    let causes: Vec<&Cause> = CAUSES.iter().filter(has).collect();
    let filter = SubscriptionFilter::new().tools_list_changed().prompts_list_changed();
    let filter = filter.resources_list_changed();
    let uris = causes.iter().filter_map(|cause| cause.uri);
    let filter = uris.fold(filter, SubscriptionFilter::resource);
    let mut events = match timeout(PATIENCE, client.listen(filter).into_future()).await {
        Ok(Ok(events)) => events,
        Ok(Err(error)) if expected.is_empty() && is_refusal(&error) => {
            return Ok("refused".to_owned());
        }
        Ok(Err(error)) => return Err(explain("listen", &error)),
        Err(_) => return Err("listen hangs".to_owned()),
    };
    let mut heard = Vec::new();
    let accepted = events.accepted().clone();
    for cause in causes.iter().filter(|cause| is_accepted(cause, &accepted)) {
        let is_expected = expected.iter().any(|kind| kind == cause.kind);
        // Some servers acknowledge before they listen to themselves: what happens in between is
        // not told.
        let (attempts, patience) = if is_expected { (5, PATIENCE) } else { (1, GLANCE) };
        for _ in 0..attempts {
            let called = client.call_tool(cause.tool, json!({})).await;
            called.map_err(|error| explain(cause.tool, &error))?;
            if arrives(&mut events, cause.method, patience).await? {
                heard.push(cause.kind);
                break;
            }
        }
    }
    let agreed = serde_json::to_string(&accepted).unwrap_or_default();
    if heard != expected {
        return Err(format!("events {heard:?} arrived, agreed on {agreed}"));
    }
    Ok(if heard.is_empty() { format!("none, agreed on {agreed}") } else { heard.join(" ") })
}

/// The server has no subscriptions (2026-07-28), or none of what its capabilities say.
fn is_refusal(error: &Error) -> bool {
    error.code() == -32601
}

fn is_accepted(cause: &Cause, accepted: &SubscriptionFilter) -> bool {
    match cause.uri {
        Some(uri) => accepted.resources().iter().any(|known| known == uri),
        None => accepted.tools_list_changed == Some(true),
    }
}

/// Whether an event of this method comes in time; others may come before it.
async fn arrives(
    events: &mut Subscription,
    method: &str,
    patience: Duration,
) -> Result<bool, String> {
    let arriving = timeout(patience, async {
        loop {
            match events.next().await {
                Some(Event::Notification(told)) if told.method() == method => return Ok(()),
                Some(Event::Notification(_)) => {}
                other => return Err(format!("instead of an event came {other:?}")),
            }
        }
    });
    match arriving.await {
        Ok(arrived) => arrived.map(|()| true),
        Err(_) => Ok(false),
    }
}

/// For an event that was caused and has to come.
const PATIENCE: Duration = Duration::from_secs(5);

/// For one that no server of this kind was seen to tell.
const GLANCE: Duration = Duration::from_millis(500);
