//! The methods of this version.

use crate::Role::{ClientNotification, ClientRequest, Embedded, ServerNotification};
use crate::{Catalog, Entry};

pub(super) static CATALOG: Catalog = Catalog::new(&[
    Entry::new("completion/complete", &[ClientRequest]).reading(),
    Entry::new("elicitation/create", &[Embedded]),
    Entry::new("notifications/cancelled", &[ClientNotification, ServerNotification]),
    Entry::new("notifications/message", &[ServerNotification]),
    Entry::new("notifications/progress", &[ServerNotification]),
    Entry::new("notifications/prompts/list_changed", &[ServerNotification]),
    Entry::new("notifications/resources/list_changed", &[ServerNotification]),
    Entry::new("notifications/resources/updated", &[ServerNotification]),
    Entry::new("notifications/subscriptions/acknowledged", &[ServerNotification]),
    Entry::new("notifications/tools/list_changed", &[ServerNotification]),
    Entry::new("prompts/get", &[ClientRequest]).mirroring("name").asking().reading(),
    Entry::new("prompts/list", &[ClientRequest]).reading(),
    Entry::new("resources/list", &[ClientRequest]).reading(),
    Entry::new("resources/read", &[ClientRequest]).mirroring("uri").asking().reading(),
    Entry::new("resources/templates/list", &[ClientRequest]).reading(),
    Entry::new("roots/list", &[Embedded]),
    Entry::new("sampling/createMessage", &[Embedded]),
    Entry::new("server/discover", &[ClientRequest]).reading(),
    Entry::new("subscriptions/listen", &[ClientRequest]),
    Entry::new("tools/call", &[ClientRequest]).mirroring("name").asking(),
    Entry::new("tools/list", &[ClientRequest]).reading(),
]);
