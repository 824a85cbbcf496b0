//! The methods of this version.

use crate::Role::{ClientNotification, ClientRequest, ServerNotification, ServerRequest};
use crate::{Catalog, Entry};

pub(super) static CATALOG: Catalog = Catalog::new(&[
    Entry::new("completion/complete", &[ClientRequest]).reading(),
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
    Entry::new("ping", &[ClientRequest, ServerRequest]).reading(),
    Entry::new("prompts/get", &[ClientRequest]).reading(),
    Entry::new("prompts/list", &[ClientRequest]).reading(),
    Entry::new("resources/list", &[ClientRequest]).reading(),
    Entry::new("resources/read", &[ClientRequest]).reading(),
    Entry::new("resources/subscribe", &[ClientRequest]),
    Entry::new("resources/templates/list", &[ClientRequest]).reading(),
    Entry::new("resources/unsubscribe", &[ClientRequest]),
    Entry::new("roots/list", &[ServerRequest]),
    Entry::new("sampling/createMessage", &[ServerRequest]),
    Entry::new("tools/call", &[ClientRequest]),
    Entry::new("tools/list", &[ClientRequest]).reading(),
]);
