//! Results that are kept: what may be, for whom, for how long, and what makes them stale
//! (2026-07-28, server utilities, "Caching").

mod key;
mod lookup;

pub use key::{Group, Key};
pub use lookup::{Asking, Claim, Facts, Found, Leaving, Lookup, LookupStep, Turn, Whose};

use std::sync::Arc;

use serde::Deserialize;
use snodo_types::{Body, Message, ResourceParams};

/// What a notification of a server's makes stale, the server being kept under this name.
///
/// A list that changed is stale with all its pages; a resource that was updated is by its exact
/// URI (2026-07-28, caching, "Interaction with Notifications").
#[must_use]
pub fn made_stale(server: &Arc<str>, message: &Message) -> Vec<Group> {
    let Body::Notification { method, params } = message.body() else { return Vec::new() };
    let list = |method| Group::list(server, method);
    match method {
        "notifications/tools/list_changed" => vec![list("tools/list")],
        "notifications/prompts/list_changed" => vec![list("prompts/list")],
        "notifications/resources/list_changed" => {
            vec![list("resources/list"), list("resources/templates/list")]
        }
        "notifications/resources/updated" => {
            let told =
                params.and_then(|params| serde_json::from_str::<ResourceParams>(params).ok());
            told.map(|told| Group::resource(server, &told.uri)).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// Whether a result says that it is whole, or nothing of that.
fn is_complete(result: &str) -> bool {
    #[derive(Deserialize)]
    struct Head<'a> {
        #[serde(borrow, default, rename = "resultType")]
        result_type: Option<std::borrow::Cow<'a, str>>,
    }

    let head = serde_json::from_str::<Head<'_>>(result);
    head.is_ok_and(|head| head.result_type.is_none_or(|kind| kind == "complete"))
}

#[cfg(test)]
mod tests;
