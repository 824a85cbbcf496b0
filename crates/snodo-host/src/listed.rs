//! Lists of all servers, put together.

use std::sync::Arc;

use snodo::types::Item;
use snodo::{Client, Error, List};
use tokio::task::JoinSet;

use crate::host::Member;
use crate::names;

/// What all servers list, and what is missing.
///
/// ```
/// # async fn show(host: snodo_host::Host) {
/// let tools = host.list_tools().await;
/// for missing in tools.missing() {
///     eprintln!("{}: {}", missing.server(), missing.error());
/// }
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Lists<T> {
    items: Vec<Listed<T>>,
    missing: Vec<Missing>,
}

/// An item, with the name it has among those of all servers.
///
/// ```
/// fn line(tool: &snodo_host::Listed<snodo::types::Tool>) -> String {
///     format!("{} ({} of {})", tool.name(), tool.item().name, tool.server())
/// }
/// # let _ = line;
/// ```
#[derive(Clone, Debug)]
pub struct Listed<T> {
    name: String,
    server: String,
    item: T,
}

/// A server whose items, or events, are not there, or not all of them.
///
/// ```
/// fn line(missing: &snodo_host::Missing) -> String {
///     format!("{}: {}", missing.server(), missing.error())
/// }
/// # let _ = line;
/// ```
#[derive(Clone, Debug)]
pub struct Missing {
    server: String,
    error: Error,
}

impl<T> Lists<T> {
    /// The items, in the order of the servers and then in theirs.
    #[must_use]
    pub fn items(&self) -> &[Listed<T>] {
        &self.items
    }

    /// The items by themselves.
    #[must_use]
    pub fn into_items(self) -> Vec<Listed<T>> {
        self.items
    }

    /// The servers that are not connected, that refused, or that list more than their
    /// [limit](crate::Limits::items). One without the capability is not missing: it has none.
    #[must_use]
    pub fn missing(&self) -> &[Missing] {
        &self.missing
    }

    pub(crate) fn with_names(mut self, name: fn(&T) -> String) -> Self {
        for listed in &mut self.items {
            listed.name = name(&listed.item);
        }
        self
    }
}

impl<T> Listed<T> {
    /// Its name among those of all servers.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The server it belongs to, as it was named in the list of servers.
    #[must_use]
    pub fn server(&self) -> &str {
        &self.server
    }

    /// What the server said of it.
    #[must_use]
    pub fn item(&self) -> &T {
        &self.item
    }
}

impl Missing {
    pub(crate) fn new(server: String, error: Error) -> Self {
        Self { server, error }
    }

    /// The server, as it was named in the list of servers.
    #[must_use]
    pub fn server(&self) -> &str {
        &self.server
    }

    /// Why.
    #[must_use]
    pub fn error(&self) -> &Error {
        &self.error
    }
}

/// What came of one server: the items, and why there are not more.
type Came<T> = (Vec<T>, Option<Error>);

/// Asks all servers at once, and puts their answers together in the order of the servers.
pub(crate) async fn gather<T: Item + Send + 'static>(
    members: &[Arc<Member>],
    list: fn(&Client) -> List<T>,
    name: fn(&T) -> String,
) -> Lists<T> {
    let mut running = JoinSet::new();
    for (at, member) in members.iter().enumerate() {
        let (client, most) = (member.client().cloned(), member.limits().items);
        running.spawn(async move {
            match client {
                Ok(client) => (at, fetch(list(&client), most).await),
                Err(error) => (at, (Vec::new(), Some(error))),
            }
        });
    }
    let mut came: Vec<Option<Came<T>>> = members.iter().map(|_| None).collect();
    // Its tasks do not panic, and nobody aborts them.
    while let Some(Ok((at, what))) = running.join_next().await {
        came[at] = Some(what);
    }
    let mut lists = Lists { items: Vec::new(), missing: Vec::new() };
    for (member, came) in members.iter().zip(came) {
        let (items, error) = came.unwrap_or_default();
        let server = member.name().to_owned();
        lists.items.extend(items.into_iter().map(|item| Listed {
            name: names::join(member.prefix(), &name(&item)),
            server: server.clone(),
            item,
        }));
        lists.missing.extend(error.map(|error| Missing { server, error }));
    }
    lists
}

/// The items of one server, up to so many.
async fn fetch<T: Item>(list: List<T>, most: usize) -> Came<T> {
    let mut pages = list.pages();
    let mut items = Vec::new();
    while let Some(page) = pages.next().await {
        match page {
            Ok(page) => items.extend(page.into_inner().items),
            // A server that has no such list says so in this way.
            Err(error) if error.code() == UNKNOWN_METHOD && items.is_empty() => break,
            Err(error) => return (items, Some(error)),
        }
        if items.len() > most {
            items.truncate(most);
            let text = format!("the list has more than {most} items, and the rest is left out");
            return (items, Some(Error::usage(text)));
        }
    }
    (items, None)
}

/// JSON-RPC 2.0, section 5.1.
const UNKNOWN_METHOD: i64 = -32601;
