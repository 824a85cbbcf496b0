//! The same client for programs without async: each verb gives what [`Wait::wait`] waits for.
//!
//! ```
//! use serde_json::{Value, json};
//! use snodo::types::CallToolResult;
//! use snodo::{blocking, direct};
//!
//! # fn main() -> Result<(), snodo::Error> {
//! let server = direct::Server::new("demo", "0.1.0").tool("greet", json!({}), |_: Value, _| async {
//!     Ok(CallToolResult::from_text("hello"))
//! });
//! let client = blocking::Client::open(snodo::Client::direct(server))?;
//! assert_eq!(client.call_tool("greet", ()).wait()?.text(), "hello");
//! # Ok(())
//! # }
//! ```
//!
//! Options stand where they always stand, and [`Wait::with`] reaches them. Handlers and callbacks
//! run in the thread that waits, or in the client's own; they may wait for this client too.
//!
//! Do not wait within async code of another runtime: nothing breaks, but the thread stands still.

mod park;
mod subscription;

use std::borrow::Cow;
use std::fmt;
use std::future::IntoFuture;
use std::sync::Arc;

use serde::Serialize;
use snodo_transport::Connect;
use snodo_types::{
    CallToolResult, CompleteParams, CompleteResult, DiscoverResult, EmptyResult, Error,
    GetPromptResult, Item, Page, Prompt, ProtocolVersion, Raw, ReadResourceResult, Resource,
    ResourceTemplate, SubscriptionFilter, Tool, TransportError, TransportFault,
};
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::block_in_place;

pub use self::subscription::Subscription;

use crate::{List, ListKind, Listen, Request, Server, ToolRef};

/// A [`Client`](crate::Client) whose verbs wait.
///
/// It has a thread of its own, which moves messages while nobody waits. Clones share the
/// connection and the thread; both end with the last of them.
///
/// ```no_run
/// use serde_json::json;
/// use snodo::blocking::Client;
/// use snodo::stdio::Stdio;
///
/// # fn main() -> Result<(), snodo::Error> {
/// let client = Client::connect(Stdio::new("npx").args(["-y", "@modelcontextprotocol/server-everything"]))?;
/// for tool in client.list_tools().wait()? {
///     println!("{}", tool.name);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Client {
    client: crate::Client,
    rest: Arc<Rest>,
}

impl Client {
    /// Connects, as [`Client::connect`](crate::Client::connect) does.
    ///
    /// # Errors
    ///
    /// The same, and -32000 (`Transport`) where no thread can be had.
    pub fn connect(target: impl Connect) -> Result<Self, Error> {
        Self::open(crate::Client::connect(target))
    }

    /// Waits for a client that is built in any other way.
    ///
    /// ```no_run
    /// # use std::time::Duration;
    /// use snodo::{Client, blocking, http::Http};
    ///
    /// # fn main() -> Result<(), snodo::Error> {
    /// let builder = Client::builder().timeout(Duration::from_secs(5));
    /// let client = blocking::Client::open(builder.connect(Http::new("https://example.com/mcp")?))?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// What the connecting gives, and -32000 (`Transport`) where no thread can be had.
    pub fn open<F>(connecting: F) -> Result<Self, Error>
    where
        F: IntoFuture<Output = Result<crate::Client, Error>>,
    {
        let mut rest = Rest::new()?;
        let client = rest.wait(connecting)?;
        rest.last = Some(client.clone());
        Ok(Self { client, rest: Arc::new(rest) })
    }

    /// The client that is waited for, to use from async code, or for what has no verb here.
    #[must_use]
    pub fn as_async(&self) -> &crate::Client {
        &self.client
    }

    /// The negotiated version; see [`protocol`](crate::Client::protocol).
    #[must_use]
    pub fn protocol(&self) -> ProtocolVersion {
        self.client.protocol()
    }

    /// What the server says of itself; see [`server`](crate::Client::server).
    #[must_use]
    pub fn server(&self) -> Server {
        self.client.server()
    }

    /// Calls a tool; see [`call_tool`](crate::Client::call_tool).
    pub fn call_tool<'t>(
        &self,
        tool: impl Into<ToolRef<'t>>,
        arguments: impl Serialize,
    ) -> Wait<Request<CallToolResult>> {
        self.ask(self.client.call_tool(tool, arguments))
    }

    /// Gets a prompt; see [`get_prompt`](crate::Client::get_prompt).
    pub fn get_prompt(
        &self,
        name: impl AsRef<str>,
        arguments: impl Serialize,
    ) -> Wait<Request<GetPromptResult>> {
        self.ask(self.client.get_prompt(name, arguments))
    }

    /// Reads a resource; see [`read_resource`](crate::Client::read_resource).
    pub fn read_resource(&self, uri: impl AsRef<str>) -> Wait<Request<ReadResourceResult>> {
        self.ask(self.client.read_resource(uri))
    }

    /// Completes an argument; see [`complete`](crate::Client::complete).
    pub fn complete(&self, params: &CompleteParams) -> Wait<Request<CompleteResult>> {
        self.ask(self.client.complete(params))
    }

    /// Asks what the server is; see [`discover`](crate::Client::discover).
    pub fn discover(&self) -> Wait<Request<DiscoverResult>> {
        self.ask(self.client.discover())
    }

    /// Asks whether the server is there; see [`ping`](crate::Client::ping).
    pub fn ping(&self) -> Wait<Request<EmptyResult>> {
        self.ask(self.client.ping())
    }

    /// The tools; see [`list_tools`](crate::Client::list_tools).
    pub fn list_tools(&self) -> Wait<List<Tool>> {
        self.ask(self.client.list_tools())
    }

    /// The resources; see [`list_resources`](crate::Client::list_resources).
    pub fn list_resources(&self) -> Wait<List<Resource>> {
        self.ask(self.client.list_resources())
    }

    /// The templates; see [`list_resource_templates`](crate::Client::list_resource_templates).
    pub fn list_resource_templates(&self) -> Wait<List<ResourceTemplate>> {
        self.ask(self.client.list_resource_templates())
    }

    /// The prompts; see [`list_prompts`](crate::Client::list_prompts).
    pub fn list_prompts(&self) -> Wait<List<Prompt>> {
        self.ask(self.client.list_prompts())
    }

    /// One page of a list; see [`list_page`](crate::Client::list_page).
    pub fn list_page<T: Item>(
        &self,
        kind: ListKind<T>,
        cursor: Option<&str>,
    ) -> Wait<Request<Page<T>>> {
        self.ask(self.client.list_page(kind, cursor))
    }

    /// Any request; see [`request`](crate::Client::request).
    pub fn request(
        &self,
        method: impl Into<Cow<'static, str>>,
        params: impl Serialize,
    ) -> Wait<Request<Raw>> {
        self.ask(self.client.request(method, params))
    }

    /// Opens a subscription, an iterator of events; see [`listen`](crate::Client::listen).
    ///
    /// # Errors
    ///
    /// See [`Listen`].
    ///
    /// ```
    /// use snodo::Event;
    /// use snodo::types::SubscriptionFilter;
    ///
    /// # fn watch(client: snodo::blocking::Client) -> Result<(), snodo::Error> {
    /// let filter = SubscriptionFilter::new().tools_list_changed();
    /// for event in client.listen(filter, |listen| listen.max_buffer(16))? {
    ///     if let Event::Notification(told) = event {
    ///         println!("{}", told.method());
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn listen(
        &self,
        filter: SubscriptionFilter,
        options: impl FnOnce(Listen) -> Listen,
    ) -> Result<Subscription, Error> {
        let opened = self.rest.wait(options(self.client.listen(filter)))?;
        Ok(Subscription::new(opened, Arc::clone(&self.rest)))
    }

    /// Ends the connection politely; see [`close`](crate::Client::close).
    pub fn close(&self) {
        self.rest.wait(self.client.close());
    }

    fn ask<R>(&self, what: R) -> Wait<R> {
        Wait { what, rest: Arc::clone(&self.rest) }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("blocking::Client").field(&self.client).finish()
    }
}

/// Something that is done, and waited for, by [`wait`](Self::wait).
///
/// ```
/// # use std::time::Duration;
/// # fn ask(client: snodo::blocking::Client) -> Result<(), snodo::Error> {
/// let reply = client
///     .call_tool("report", ())
///     .with(|call| call.timeout(Duration::from_secs(60)).header("x-request-id", "r-17"))
///     .wait()?;
/// # Ok(())
/// # }
/// ```
#[must_use = "nothing is done before `wait`"]
pub struct Wait<R> {
    what: R,
    rest: Arc<Rest>,
}

impl<R: IntoFuture> Wait<R> {
    /// Sets options: what goes in is the request of the async client.
    pub fn with<T>(self, options: impl FnOnce(R) -> T) -> Wait<T> {
        Wait { what: options(self.what), rest: self.rest }
    }

    /// Does it, and holds the thread until there is a result.
    ///
    /// # Errors
    ///
    /// Those of the request or the list.
    pub fn wait(self) -> R::Output {
        self.rest.wait(self.what)
    }
}

impl<R: fmt::Debug> fmt::Debug for Wait<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Wait").field(&self.what).finish()
    }
}

/// What the clones of a client, its requests and its subscriptions share.
struct Rest {
    /// The thread in which the connection lives while nobody waits.
    runtime: Option<Runtime>,
    /// Kept so that the connection ends where its thread can still be reached.
    last: Option<crate::Client>,
}

impl Rest {
    fn new() -> Result<Self, Error> {
        let runtime =
            Builder::new_multi_thread().worker_threads(1).thread_name("snodo").enable_all().build();
        runtime.map(|runtime| Self { runtime: Some(runtime), last: None }).map_err(|error| {
            let text = format!("no thread for the client: {error}");
            Error::from(TransportError::new(TransportFault::Connect, text).not_processed())
        })
    }

    /// Polls in this thread. `Runtime::block_on` would panic within async code.
    fn wait<F: IntoFuture>(&self, what: F) -> F::Output {
        let home = self.runtime.as_ref().map(|runtime| runtime.handle().id());
        let is_home = Handle::try_current().is_ok_and(|here| Some(here.id()) == home);
        let wait = || park::block_on(what.into_future());
        // A handler that waits would hold the one thread that moves what it waits for.
        self.within(|| if is_home { block_in_place(wait) } else { wait() })
    }

    /// Does what may ask for the runtime.
    fn within<T>(&self, work: impl FnOnce() -> T) -> T {
        let _entered = self.runtime.as_ref().map(Runtime::enter);
        work()
    }
}

impl Drop for Rest {
    fn drop(&mut self) {
        let last = self.last.take();
        self.within(|| drop(last));
        // Dropped as it is, it would wait for its thread, and panic within async code.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

#[cfg(test)]
mod tests;
