//! The servers, connected.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use serde::Serialize;
use snodo::types::{
    CallToolResult, GetPromptResult, Prompt, ReadResourceResult, Resource, ResourceTemplate,
    SubscriptionFilter, Tool,
};
use snodo::{Client, Error, List, Reply};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::task::JoinSet;

use crate::builder::Builder;
use crate::changes::Changes;
use crate::limits::Limits;
use crate::listed::{Lists, Missing, gather};
use crate::names;

/// Several servers, each connected or with the reason why not.
///
/// Cheap to clone, and used from any number of tasks at once. The connections end with the last
/// clone; [`close`](Self::close) ends them politely.
///
/// ```
/// # async fn run() {
/// let host = snodo_host::Host::builder().config(&snodo_config::Config::find()).connect().await;
/// for member in host.members() {
///     match member.client() {
///         Ok(client) => println!("{}: {}", member.name(), client.protocol()),
///         Err(error) => println!("{}: {error}", member.name()),
///     }
/// }
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Host {
    members: Arc<[Arc<Member>]>,
}

/// One server of a [`Host`].
///
/// ```
/// fn away(host: &snodo_host::Host) -> usize {
///     host.members().iter().filter(|member| member.client().is_err()).count()
/// }
/// # let _ = away;
/// ```
pub struct Member {
    name: String,
    prefix: String,
    limits: Limits,
    client: Result<Client, Error>,
    turns: Semaphore,
    /// The definitions that the last list held.
    tools: RwLock<HashMap<String, Tool>>,
}

impl Host {
    /// A list of servers to connect to.
    pub fn builder() -> Builder {
        Builder::new()
    }

    pub(crate) fn new(members: Vec<Member>) -> Self {
        Self { members: members.into_iter().map(Arc::new).collect() }
    }

    /// Every server, in the order in which they were named.
    #[must_use]
    pub fn members(&self) -> &[Arc<Member>] {
        &self.members
    }

    /// The first server of this name.
    #[must_use]
    pub fn member(&self, name: &str) -> Option<&Member> {
        self.members.iter().map(|member| &**member).find(|member| member.name == name)
    }

    /// The server that a name from [`list_tools`](Self::list_tools) or
    /// [`list_prompts`](Self::list_prompts) belongs to, and what the server itself calls it. It need
    /// not have been listed.
    ///
    /// # Errors
    ///
    /// No server has such names (-32602, usage).
    pub fn route<'n>(&self, name: &'n str) -> Result<(&Member, &'n str), Error> {
        let found = names::split(name).and_then(|(prefix, rest)| {
            let member = self.members.iter().find(|member| member.prefix == prefix)?;
            Some((&**member, rest))
        });
        found.ok_or_else(|| Error::usage(format!("no server has a name such as {name:?}")))
    }

    /// The tools of all servers. It does not fail: what is missing is told beside what there is.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future cancels what is being asked of each server.
    pub async fn list_tools(&self) -> Lists<Tool> {
        let listed = gather(&self.members, Client::list_tools, |tool| tool.name.clone()).await;
        for member in self.members.iter() {
            let own = listed.items().iter().filter(|tool| tool.server() == member.name);
            let own = own.map(|tool| (tool.item().name.clone(), tool.item().clone())).collect();
            *member.tools.write().unwrap_or_else(PoisonError::into_inner) = own;
        }
        listed
    }

    /// The prompts of all servers, named as tools are.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future cancels what is being asked of each server.
    pub async fn list_prompts(&self) -> Lists<Prompt> {
        gather(&self.members, Client::list_prompts, |prompt| prompt.name.clone()).await
    }

    /// The resources of all servers; the name of each is its URI, which belongs to its server alone.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future cancels what is being asked of each server.
    pub async fn list_resources(&self) -> Lists<Resource> {
        self.by_uri(Client::list_resources, |resource| resource.uri.clone()).await
    }

    /// The templates of resources of all servers, by their URI template.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future cancels what is being asked of each server.
    pub async fn list_resource_templates(&self) -> Lists<ResourceTemplate> {
        self.by_uri(Client::list_resource_templates, |template| template.uri_template.clone()).await
    }

    async fn by_uri<T: snodo::types::Item + Send + 'static>(
        &self,
        list: fn(&Client) -> List<T>,
        uri: fn(&T) -> String,
    ) -> Lists<T> {
        gather(&self.members, list, uri).await.with_names(uri)
    }

    /// Calls a tool by its name among those of all servers. The call waits until its server has fewer
    /// running than its [limit](Limits::calls_at_once); its timeouts begin after that. For options of the
    /// request, go by
    /// [`route`](Self::route) and [`Member::client`].
    ///
    /// # Errors
    ///
    /// No server has such names (-32602, usage); the server is not connected (its error of then); see
    /// [`Client::call_tool`].
    ///
    /// # Cancel safety
    ///
    /// Dropping the future cancels the call at the server, or gives up its place among those that
    /// wait.
    pub async fn call_tool(
        &self,
        name: &str,
        arguments: impl Serialize,
    ) -> Result<Reply<CallToolResult>, Error> {
        let (member, tool) = self.route(name)?;
        let client = member.client()?;
        let definition = member.definition(tool);
        let request = match &definition {
            Some(definition) => client.call_tool(definition, arguments),
            None => client.call_tool(tool, arguments),
        };
        let _turn = member.turn().await?;
        request.await
    }

    /// Renders a prompt by its name among those of all servers, as [`call_tool`](Self::call_tool)
    /// does it.
    ///
    /// # Errors
    ///
    /// As for [`call_tool`](Self::call_tool).
    ///
    /// # Cancel safety
    ///
    /// As for [`call_tool`](Self::call_tool).
    pub async fn get_prompt(
        &self,
        name: &str,
        arguments: impl Serialize,
    ) -> Result<Reply<GetPromptResult>, Error> {
        let (member, prompt) = self.route(name)?;
        let request = member.client()?.get_prompt(prompt, arguments);
        let _turn = member.turn().await?;
        request.await
    }

    /// Reads a resource of a server.
    ///
    /// # Errors
    ///
    /// No server has this name (-32602, usage); else as for [`call_tool`](Self::call_tool).
    ///
    /// # Cancel safety
    ///
    /// As for [`call_tool`](Self::call_tool).
    pub async fn read_resource(
        &self,
        server: &str,
        uri: &str,
    ) -> Result<Reply<ReadResourceResult>, Error> {
        let member = self.member(server);
        let member =
            member.ok_or_else(|| Error::usage(format!("no server is called {server:?}")))?;
        let request = member.client()?.read_resource(uri);
        let _turn = member.turn().await?;
        request.await
    }

    /// Listens to all servers that are connected, and returns once each has agreed or refused.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future gives every subscription up, those that were agreed to as well.
    pub async fn listen(&self, filter: SubscriptionFilter) -> Changes {
        let mut running = JoinSet::new();
        for (at, member) in self.members.iter().enumerate() {
            let (client, filter) = (member.client.clone(), filter.clone());
            running.spawn(async move {
                match client {
                    Ok(client) => (at, client.listen(filter).await),
                    Err(error) => (at, Err(error)),
                }
            });
        }
        let mut opened = Vec::new();
        // Its tasks do not panic, and nobody aborts them.
        while let Some(Ok(ended)) = running.join_next().await {
            opened.push(ended);
        }
        opened.sort_by_key(|(at, _)| *at);
        let (mut open, mut missing) = (Vec::new(), Vec::new());
        for (at, result) in opened {
            let server = self.members[at].name.clone();
            match result {
                Ok(subscription) => open.push((server, subscription)),
                Err(error) => missing.push(Missing::new(server, error)),
            }
        }
        Changes::new(open, missing)
    }

    /// Ends all connections politely, at the same time; each takes as long as [`Client::close`] may.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves the rest to be ended without politeness, or by closing again.
    pub async fn close(&self) {
        let mut running = JoinSet::new();
        for client in self.members.iter().filter_map(|member| member.client.clone().ok()) {
            running.spawn(async move { client.close().await });
        }
        while running.join_next().await.is_some() {}
    }
}

impl Member {
    pub(crate) fn new(
        name: String,
        prefix: String,
        limits: Limits,
        client: Result<Client, Error>,
    ) -> Self {
        let turns = Semaphore::new(limits.calls);
        Self { name, prefix, limits, client, turns, tools: RwLock::default() }
    }

    /// What it was called.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the names of its tools and prompts begin with, before `__`.
    #[must_use]
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Its limits.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Its client.
    ///
    /// # Errors
    ///
    /// It could not be connected: the error of then.
    pub fn client(&self) -> Result<&Client, Error> {
        self.client.as_ref().map_err(Clone::clone)
    }

    fn definition(&self, tool: &str) -> Option<Tool> {
        self.tools.read().unwrap_or_else(PoisonError::into_inner).get(tool).cloned()
    }

    async fn turn(&self) -> Result<SemaphorePermit<'_>, Error> {
        // It is never closed.
        self.turns.acquire().await.map_err(|error| Error::usage(error.to_string()))
    }
}

impl fmt::Debug for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Member")
            .field("name", &self.name)
            .field("limits", &self.limits)
            .field("connected", &self.client.is_ok())
            .finish_non_exhaustive()
    }
}
