//! The methods of this version.

use crate::Role::{ClientNotification, ClientRequest, ServerNotification, ServerRequest};
use crate::{Catalog, Entry};

pub(super) static CATALOG: Catalog = Catalog::new(&[
    Entry::new("completion/complete", &[ClientRequest]),
    Entry::new("elicitation/create", &[ServerRequest]),
    Entry::new("initialize", &[ClientRequest]),
    Entry::new("logging/setLevel", &[ClientRequest]),
    Entry::new("notifications/cancelled", &[ClientNotification, ServerNotification]),
    Entry::new("notifications/initialized", &[ClientNotification]),
    Entry::new("notifications/message", &[ServerNotification]),
    Entry::new("notifications/progress", &[ClientNotification, ServerNotification]),
    Entry::new("notifications/prompts/list_changed", &[ServerNotification]),
    Entry::new("notifications/resources/list_changed", &[ServerNotification]),
    Entry::new("notifications/resources/updated", &[ServerNotification]),
    Entry::new("notifications/roots/list_changed", &[ClientNotification]),
    Entry::new("notifications/tools/list_changed", &[ServerNotification]),
    Entry::new("ping", &[ClientRequest, ServerRequest]),
    Entry::new("prompts/get", &[ClientRequest]),
    Entry::new("prompts/list", &[ClientRequest]),
    Entry::new("resources/list", &[ClientRequest]),
    Entry::new("resources/read", &[ClientRequest]),
    Entry::new("resources/subscribe", &[ClientRequest]),
    Entry::new("resources/templates/list", &[ClientRequest]),
    Entry::new("resources/unsubscribe", &[ClientRequest]),
    Entry::new("roots/list", &[ServerRequest]),
    Entry::new("sampling/createMessage", &[ServerRequest]),
    Entry::new("tools/call", &[ClientRequest]),
    Entry::new("tools/list", &[ClientRequest]),
]);
