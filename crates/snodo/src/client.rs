//! The client.

use std::borrow::Cow;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock, Weak};

use serde::Serialize;
use snodo_dialect::{LogLevel, Params};
use snodo_direct::Runtime;
use snodo_engine::{handler_failed, questions};
use snodo_transport::{BoxFuture, Connect};
use snodo_types::{
    CallToolResult, ClientCapabilities, CompleteParams, CompleteResult, DiscoverResult,
    EmptyResult, Error, GetPromptResult, InputRequired, InputResponses, Item, LoggingLevel, Page,
    Prompt, ProtocolVersion, Raw, ReadResourceResult, Resource, ResourceTemplate,
    SubscriptionFilter, Tool,
};
use tokio::sync::{OnceCell, watch};

use crate::Request;
use crate::builder::{Builder, ConnectDirect};
use crate::cache::Desk;
use crate::checked::Checks;
use crate::connect::{self, Connector, Opener};
use crate::connection::Connection;
use crate::context::Context;
use crate::doing::naming;
use crate::handlers::answer_all;
use crate::keep_alive::Keeper;
use crate::list::{List, ListKind};
use crate::options::Options;
use crate::renewal::Renewal;
use crate::restart::Starts;
use crate::running::Stack;
use crate::server::{Server, Session};
use crate::state::{State, StateChanges};
use crate::subscription::Listen;
use crate::timer::Timers;
use crate::tools::Tools;
use crate::verdict::Verdict;

/// A client of one server.
///
/// Cheap to clone, and used from any number of tasks at once. The connection ends when the last
/// clone and the last running request are gone; [`close`](Self::close) ends it politely.
///
/// ```
/// use serde_json::json;
/// use snodo::types::CallToolResult;
/// use snodo::{Client, direct};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), snodo::Error> {
/// let server = direct::Server::new("demo", "0.1.0").tool(
///     "shout",
///     json!({ "type": "object", "properties": { "text": { "type": "string" } } }),
///     |args: serde_json::Value, _cx| async move {
///         Ok(CallToolResult::from_text(args["text"].as_str().unwrap_or_default().to_uppercase()))
///     },
/// );
/// let client = Client::direct(server).await?;
/// assert_eq!(client.call_tool("shout", json!({ "text": "hi" })).await?.text(), "HI");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Client {
    core: Arc<Core>,
    /// It stands beside the core, since calls that go through it hold the core.
    stack: Option<Stack>,
}

/// What the clones of a client and its running requests share.
pub(crate) struct Core {
    pub(crate) options: Options,
    /// What errors and logs call the server.
    pub(crate) target: String,
    pub(crate) tools: Tools,
    /// What each request says of log messages, where each says so by itself.
    pub(crate) log_level: Mutex<Option<(String, Raw)>>,
    pub(crate) renewal: Renewal,
    pub(crate) starts: Starts,
    pub(crate) timers: Timers,
    pub(crate) state: watch::Sender<State>,
    connector: Arc<dyn Connector>,
    context: Context,
    current: RwLock<Arc<Connection>>,
    /// Those before it on which calls are still under way.
    pub(crate) before: Mutex<Vec<Weak<Connection>>>,
    /// The next id. It is never used again, whatever becomes of the connection.
    ids: AtomicU64,
    closed: AtomicBool,
    /// The version is a kept verdict that nothing has confirmed.
    pub(crate) believed: AtomicBool,
    /// It proved wrong: what was sent on the first connection tells nothing.
    pub(crate) revised: AtomicBool,
    keeper: OnceLock<Keeper>,
    /// Set once the polite end is over.
    closing: OnceCell<()>,
}

impl Core {
    /// The connection of today. A call keeps the one it was sent on.
    pub(crate) fn connection(&self) -> Arc<Connection> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Opens the connection that follows `epoch`, and makes it the one of today.
    pub(crate) async fn reconnect(&self, epoch: u64) -> Result<Arc<Connection>, Error> {
        let opened = connect::open(Opener {
            connector: &*self.connector,
            options: &self.options,
            context: &self.context,
            ids: &self.ids,
            epoch: epoch + 1,
            verdict: None,
        });
        let connection = Arc::new(opened.await?);
        if let Some(desk) = self.desk() {
            desk.reconnected();
        }
        // Another server may have taken the place of the one before.
        if let Some(checks) = self.checks() {
            checks.forget();
        }
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::replace(&mut *current, Arc::clone(&connection));
        drop(current);
        before.span.lost();
        let mut all = self.before.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|one| one.strong_count() > 0);
        all.push(Arc::downgrade(&before));
        drop(all);
        Ok(connection)
    }

    /// Notes how the connection is. What is closed stays closed.
    pub(crate) fn note(&self, state: State) {
        self.state.send_if_modified(|known| {
            let changes = *known != State::Closed && *known != state;
            if changes {
                *known = state;
            }
            changes
        });
    }

    /// Notes that the connection of this epoch is over; another may have followed it already.
    pub(crate) fn note_end(&self, epoch: u64) {
        let connection = self.connection();
        if connection.epoch == epoch {
            connection.span.lost();
            self.note(State::Lost);
        }
    }

    /// Ready when the client is closed.
    pub(crate) fn closing(&self) -> BoxFuture<'static, ()> {
        let mut state = self.state.subscribe();
        // The sender lives as long as this; its end would be an end too.
        Box::pin(async move { drop(state.wait_for(|state| *state == State::Closed).await) })
    }

    pub(crate) fn next_id(&self) -> u64 {
        self.ids.fetch_add(1, Ordering::Relaxed)
    }

    /// What there is to do with a cache, where there is one.
    pub(crate) fn desk(&self) -> Option<&Arc<Desk>> {
        self.context.desk.as_ref()
    }

    /// What tools are held against, where they are.
    pub(crate) fn checks(&self) -> Option<&Arc<Checks>> {
        self.context.checks.as_ref()
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }
}

impl Client {
    /// Connects with the default options; see [`builder`](Self::builder) for others.
    ///
    /// The version is settled when this returns.
    ///
    /// # Errors
    ///
    /// The server cannot be reached or started, or does not answer in a version of this library:
    /// see [`Builder::connect`].
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves nothing behind: what was started is ended.
    pub async fn connect(target: impl Connect) -> Result<Self, Error> {
        Self::builder().connect(target).await
    }

    /// A client with options.
    pub fn builder() -> Builder {
        Builder::new()
    }

    /// A client of a server in this process, called in the caller's own task.
    pub fn direct<R: Runtime>(runtime: R) -> ConnectDirect<R> {
        Self::builder().direct(runtime)
    }

    /// A client of this connection without layers, for what a call needs on its way.
    pub(crate) fn of(core: Arc<Core>) -> Self {
        Self { core, stack: None }
    }

    pub(crate) fn core(&self) -> &Arc<Core> {
        &self.core
    }

    pub(crate) fn stack(&self) -> Option<&Stack> {
        self.stack.as_ref()
    }

    pub(crate) async fn open(
        connector: Arc<dyn Connector>,
        options: Options,
        stack: Option<Stack>,
    ) -> Result<Self, Error> {
        let ids = AtomicU64::new(1);
        let desk = |cache| Arc::new(Desk::new(cache, connector.origin()));
        let context = Context::new(&options, options.cache.as_ref().map(desk));
        let verdict = options.verdict.map(Verdict::version);
        let verdict = verdict.filter(|version| options.allowed.contains(version));
        let open = |verdict| {
            connect::open(Opener {
                connector: &*connector,
                options: &options,
                context: &context,
                ids: &ids,
                epoch: 0,
                verdict,
            })
        };
        let connection = match open(verdict).await {
            Err(error) if verdict.is_some() => {
                tracing::debug!(%error, "a kept verdict is wrong, or the server away");
                open(None).await?
            }
            opened => opened?,
        };
        // A session that was opened proves itself; a stateless version is believed.
        let believed = verdict.is_some() && connection.session.is_none();
        let core = Core {
            options,
            target: connection.target.clone(),
            tools: Tools::default(),
            log_level: Mutex::default(),
            renewal: Renewal::default(),
            starts: Starts::default(),
            timers: Timers::default(),
            state: watch::Sender::new(State::Connected),
            connector,
            context,
            current: RwLock::new(Arc::new(connection)),
            before: Mutex::default(),
            ids,
            closed: AtomicBool::new(false),
            believed: AtomicBool::new(believed),
            revised: AtomicBool::new(false),
            keeper: OnceLock::new(),
            closing: OnceCell::new(),
        };
        let core = Arc::new(core);
        if let Some(keep_alive) = core.options.keep_alive {
            core.keeper.get_or_init(|| Keeper::spawn(&core, keep_alive));
        }
        Ok(Self { core, stack })
    }

    /// The version that was settled.
    #[must_use]
    pub fn protocol(&self) -> ProtocolVersion {
        self.core.connection().opened.dialect.version()
    }

    /// What the server told of itself when the connection was opened.
    #[must_use]
    pub fn server(&self) -> Server {
        self.core.connection().server.clone()
    }

    /// The session, on versions that have one.
    #[must_use]
    pub fn session(&self) -> Option<Session> {
        self.core.connection().session.clone()
    }

    /// What was found out about the server, to be kept for a later client of it.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        Verdict::new(self.protocol())
    }

    /// How the connection is, as far as it is known.
    #[must_use]
    pub fn state(&self) -> State {
        *self.core.state.borrow()
    }

    /// The changes of the connection's state from here on.
    #[must_use]
    pub fn state_changes(&self) -> StateChanges {
        StateChanges::new(self.core.state.subscribe())
    }

    /// Calls a tool, by name or with its definition from a list. Arguments are anything written as
    /// a JSON object; `()` stands for none.
    ///
    /// A result whose `is_error` is true is a complete answer: the tool ran and reports a failure.
    pub fn call_tool<'t>(
        &self,
        tool: impl Into<ToolRef<'t>>,
        arguments: impl Serialize,
    ) -> Request<CallToolResult> {
        let tool = tool.into();
        let request = self.named("tools/call", &tool.name, &arguments);
        match tool.definition {
            Some(definition) => request.definition(definition),
            None => request,
        }
    }

    /// Renders a prompt. The values of its arguments are strings; `()` stands for none.
    pub fn get_prompt(
        &self,
        name: impl AsRef<str>,
        arguments: impl Serialize,
    ) -> Request<GetPromptResult> {
        self.named("prompts/get", name.as_ref(), &arguments)
    }

    /// Reads a resource by its exact URI.
    pub fn read_resource(&self, uri: impl AsRef<str>) -> Request<ReadResourceResult> {
        self.ask("resources/read", Params::new().with("uri", uri.as_ref()))
    }

    /// Asks how an argument of a prompt or a resource template may go on. Parameters with a
    /// [fault](CompleteParams::fault) are refused before anything is sent.
    ///
    /// Whoever asks with every key of a user drops the request before: that cancels it. A layer
    /// bounds how many there are.
    pub fn complete(&self, params: &CompleteParams) -> Request<CompleteResult> {
        let checked = params.fault().map_or(Ok(()), |fault| Err(Error::usage(fault)));
        self.ask("completion/complete", checked.and_then(|()| Params::from_object(params)))
    }

    /// Asks the server what it is and speaks. Versions that begin with `initialize` have no such
    /// request: -32601; there the [`session`](Self::session) tells.
    pub fn discover(&self) -> Request<DiscoverResult> {
        self.ask("server/discover", Ok(Params::new()))
    }

    /// Asks the server for a sign of life. The stateless version has no such request, and a server
    /// of it answers -32601.
    pub fn ping(&self) -> Request<EmptyResult> {
        self.ask("ping", Ok(Params::new()))
    }

    /// Every tool.
    pub fn list_tools(&self) -> List<Tool> {
        List::new(self, ListKind::TOOLS)
    }

    /// Every resource.
    pub fn list_resources(&self) -> List<Resource> {
        List::new(self, ListKind::RESOURCES)
    }

    /// Every resource template.
    pub fn list_resource_templates(&self) -> List<ResourceTemplate> {
        List::new(self, ListKind::RESOURCE_TEMPLATES)
    }

    /// Every prompt.
    pub fn list_prompts(&self) -> List<Prompt> {
        List::new(self, ListKind::PROMPTS)
    }

    /// One page of a list: the first one, or the one behind a cursor.
    pub fn list_page<T: Item>(&self, kind: ListKind<T>, cursor: Option<&str>) -> Request<Page<T>> {
        List::new(self, kind).page(cursor, None)
    }

    /// Sends any request. Parameters are anything written as a JSON object; `()` stands for none.
    /// The version's metadata is merged under their `_meta`, where keys already present win.
    ///
    /// On versions that begin with `initialize`, a method that is not a client's request there is
    /// refused with -32601 before anything is sent; the stateless version also sends methods it
    /// does not know, since extensions have them.
    pub fn request(
        &self,
        method: impl Into<Cow<'static, str>>,
        params: impl Serialize,
    ) -> Request<Raw> {
        let method = method.into();
        if method == "subscriptions/listen" {
            return Request::new(
                self,
                Err(Error::usage("the answer to subscriptions/listen is a stream")),
            );
        }
        self.ask(method, Params::from_object(&params))
    }

    /// Says from which level on the server is to send log messages. On versions that begin with
    /// `initialize` it is told at once, by `logging/setLevel`; on the stateless version every
    /// request from now on says so by itself. The messages come to
    /// [`Builder::on_notification`]. Deprecated in 2026-07-28, still part of it.
    ///
    /// # Errors
    ///
    /// What the server answers; -32601 from one that does not log.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future cancels the request, where there is one.
    pub async fn set_log_level(&self, level: LoggingLevel) -> Result<(), Error> {
        match self.core.connection().opened.dialect.log_level(level) {
            LogLevel::Meta(name, value) => {
                let mut kept = self.core.log_level.lock().unwrap_or_else(PoisonError::into_inner);
                *kept = Some((name, value));
                Ok(())
            }
            LogLevel::Request(request) => {
                let request: Request<EmptyResult> = Request::new(self, Ok(*request));
                request.await.map(drop)
            }
        }
    }

    /// Tells the server that what the roots handler answers has changed, on versions that have a
    /// word for it; on the stateless version a server asks anew each time, and nothing is sent.
    /// Declare `{"roots": {"listChanged": true}}` with [`Builder::capabilities`] to use it.
    ///
    /// # Errors
    ///
    /// It was not declared (-32602); the notification cannot be delivered (-32000).
    ///
    /// # Cancel safety
    ///
    /// Dropped before it was written, nothing is sent.
    pub async fn roots_changed(&self) -> Result<(), Error> {
        let connection = self.core.connection();
        let Some(text) = connection.opened.dialect.roots_changed() else { return Ok(()) };
        let declared = connection.identity.capabilities.decode::<ClientCapabilities>();
        if !declared.is_ok_and(|declared| declared.roots_list_changed()) {
            return Err(Error::usage(
                "changes of roots are told once `roots.listChanged` is declared",
            ));
        }
        let mut exchange = connection.transport.exchange(connection.opened.outfit.wrap(text));
        while let Some(incoming) = exchange.next().await {
            let told = incoming.map_err(Error::from);
            told.map_err(|error| error.at("notifications/roots/list_changed", &connection.target))?;
        }
        Ok(())
    }

    /// Listens to the server: one API on every version. See [`Subscription`](crate::Subscription).
    pub fn listen(&self, filter: SubscriptionFilter) -> Listen {
        Listen::new(self, filter)
    }

    /// Lets the client's handlers answer what a server asks, as the rounds of a request do: every
    /// question is checked before the first is asked, then one after the other in the order of
    /// their ids. For extensions whose questions come by other ways.
    ///
    /// # Errors
    ///
    /// -32602 (`Protocol`) where nobody answers a kind, -32000 (`Transport`) where a question is
    /// malformed, -32603 (`Execution`) where a handler failed; each holds what was asked.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the handler that runs.
    pub async fn answer_input(&self, asked: &InputRequired) -> Result<InputResponses, Error> {
        let context = &self.core.connection().context;
        let questions = questions(asked, context.handlers.answering())?;
        let server = context.server.get().cloned();
        let answers = answer_all(Arc::clone(&context.handlers), questions, server).await;
        answers.map_err(|failure| handler_failed(failure.id, failure.reason, asked.clone()))
    }

    /// Ends the connection politely: a session is ended at the server, a server process is given
    /// the time to finish. Waits at most 5 s or the client's timeout, whichever is shorter; the
    /// outcome is not told. Requests made afterwards fail with -32000, subscriptions end, and
    /// handlers that are still at work are dropped. A request that was sent before may still be
    /// answered, but nothing more is sent for it. Who closes meanwhile waits for the same end. In
    /// process it does nothing.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves the rest to be ended without politeness, or by closing again.
    pub async fn close(&self) {
        let connection = self.core.connection();
        if connection.transport.abilities().same_task {
            return;
        }
        self.core.note(State::Closed);
        self.core.closed.store(true, Ordering::Release);
        let limit = self.core.options.close_limit();
        self.core.closing.get_or_init(|| self.core.close(connection, limit)).await;
    }

    /// Watches a resource, on versions that begin with `initialize`.
    pub(crate) fn subscribe(&self, uri: &str) -> Request<EmptyResult> {
        self.ask("resources/subscribe", Params::new().with("uri", uri))
    }

    fn ask<T>(
        &self,
        method: impl Into<Cow<'static, str>>,
        params: Result<Params, Error>,
    ) -> Request<T> {
        Request::new(self, params.map(|params| snodo_dialect::Request::new(method, params)))
    }

    fn named<T>(&self, method: &'static str, name: &str, arguments: &impl Serialize) -> Request<T> {
        let params = Params::new().with("name", name);
        let params = params.and_then(|params| params.with_object("arguments", arguments));
        self.ask(method, params.map_err(|error| error.at(&naming(method, name), &self.core.target)))
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.core.connection().fmt(f)
    }
}

/// A tool, by its name or its definition.
///
/// With the definition, arguments that its schema wants as headers travel as such over HTTP from
/// the first call on; by name they do once the tool was listed by this client, or after a refusal.
///
/// ```
/// use snodo::ToolRef;
///
/// let by_name: ToolRef<'_> = "echo".into();
/// assert_eq!(by_name.name(), "echo");
/// assert!(by_name.definition().is_none());
/// ```
#[derive(Clone, Debug)]
pub struct ToolRef<'t> {
    name: Cow<'t, str>,
    definition: Option<&'t Tool>,
}

impl<'t> ToolRef<'t> {
    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The definition, where it was given.
    #[must_use]
    pub fn definition(&self) -> Option<&'t Tool> {
        self.definition
    }
}

impl<'t> From<&'t str> for ToolRef<'t> {
    fn from(name: &'t str) -> Self {
        Self { name: Cow::Borrowed(name), definition: None }
    }
}

impl<'t> From<&'t String> for ToolRef<'t> {
    fn from(name: &'t String) -> Self {
        Self::from(name.as_str())
    }
}

impl From<String> for ToolRef<'_> {
    fn from(name: String) -> Self {
        Self { name: Cow::Owned(name), definition: None }
    }
}

impl<'t> From<&'t Tool> for ToolRef<'t> {
    fn from(tool: &'t Tool) -> Self {
        Self { name: Cow::Borrowed(&tool.name), definition: Some(tool) }
    }
}
