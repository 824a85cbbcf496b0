//! The options of a client.

use std::any::Any;
use std::fmt;
use std::future::{Future, IntoFuture};
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use snodo_dialect::Extension;
use snodo_direct::{Direct, Runtime};
use snodo_engine::Waits;
use snodo_transport::{BoxFuture, Connect};
use snodo_types::{
    ClientCapabilities, CreateMessageResult, ElicitResult, Error, Implementation, ProtocolVersion,
    Raw, Roots, TraceContext,
};

use crate::context::{FaultSink, NotificationSink};
use crate::handlers::{Form, HandlerError, Handlers, RootsRequest, Sampling, UrlRequest};
use crate::layers::Layers;
use crate::options::{Options, Repeats, TraceHook};
use crate::{Cache, Client, KeepAlive, Notification, Restart, Verdict};

/// A client that is not connected yet.
///
/// ```
/// use std::time::Duration;
/// use snodo::{Client, ProtocolVersion};
/// use snodo::types::Implementation;
///
/// let builder = Client::builder()
///     .protocol([ProtocolVersion::V2026_07_28, ProtocolVersion::V2025_11_25])
///     .client_info(Implementation::new("agent", "1.4.0"))
///     .timeout(Duration::from_secs(20));
/// # let _ = builder;
/// ```
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until it connects"]
pub struct Builder {
    pub(crate) options: Options,
    handlers: Handlers,
    pub(crate) layers: Layers,
    fault: Option<Error>,
}

impl Builder {
    pub(crate) fn new() -> Self {
        Self {
            options: Options::default(),
            handlers: Handlers::default(),
            layers: Layers::default(),
            fault: None,
        }
    }

    /// The versions that may be spoken; all of [`ProtocolVersion::ALL`] unless set. One version
    /// alone, or versions of one era alone, need no probe. Those of [`ProtocolVersion::OLDER`] are
    /// spoken only where they are named here.
    pub fn protocol(mut self, versions: impl IntoIterator<Item = ProtocolVersion>) -> Self {
        self.options.allowed = versions.into_iter().collect();
        self
    }

    /// Who the client is: `snodo` and the library's version unless set. Servers see it.
    pub fn client_info(mut self, info: Implementation) -> Self {
        self.options.client_info = info;
        self
    }

    /// The capabilities that the client declares, anything written as a JSON object; `{}` unless
    /// set.
    pub fn capabilities(mut self, capabilities: impl Serialize) -> Self {
        match Raw::of(&capabilities) {
            Ok(capabilities) => self.options.capabilities = capabilities,
            Err(error) => self.fault = Some(Error::usage(format!("capabilities: {error}"))),
        }
        self
    }

    /// How long each request may take unless it says otherwise; 30 s unless set, `None` for ever.
    /// `initialize` counts as one.
    pub fn timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.options.timeout = timeout.into();
        self
    }

    /// How long the server may take to answer the first question, whether it speaks a stateless
    /// version; 10 s unless set, `None` for ever. Slow servers need some seconds to start: a
    /// shorter time may take a new server for an old one.
    pub fn probe_timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.options.probe_timeout = timeout.into();
        self
    }

    /// The most bytes that a whole list may take, its text and its items together; 256 MiB unless
    /// set. Whoever takes the pages one at a time has each of them alone in memory.
    pub fn max_list_bytes(mut self, bytes: usize) -> Self {
        self.options.max_list_bytes = bytes;
        self
    }

    /// The most pages of one list that are fetched; 1,000 unless set, at least 1.
    pub fn max_pages(mut self, pages: usize) -> Self {
        self.options.max_pages = pages.max(1);
        self
    }

    /// Answers forms that a server wants filled in; declares `elicitation.form`.
    pub fn on_form<F, G>(mut self, handler: F) -> Self
    where
        F: Fn(Form) -> G + Send + Sync + 'static,
        G: Future<Output = Result<ElicitResult, HandlerError>> + Send + 'static,
    {
        self.handlers.set_form(handler);
        self
    }

    /// Answers wishes to open a page; declares `elicitation.url`.
    pub fn on_url<F, G>(mut self, handler: F) -> Self
    where
        F: Fn(UrlRequest) -> G + Send + Sync + 'static,
        G: Future<Output = Result<ElicitResult, HandlerError>> + Send + 'static,
    {
        self.handlers.set_url(handler);
        self
    }

    /// Answers with a message of a model; declares `sampling`. A model that may use tools, or takes
    /// context of servers, is declared with [`capabilities`](Self::capabilities):
    /// `{"sampling": {"tools": {}, "context": {}}}`. Deprecated in 2026-07-28, still part of it.
    pub fn on_sampling<F, G>(mut self, handler: F) -> Self
    where
        F: Fn(Sampling) -> G + Send + Sync + 'static,
        G: Future<Output = Result<CreateMessageResult, HandlerError>> + Send + 'static,
    {
        self.handlers.set_sampling(handler);
        self
    }

    /// Answers where the server may work; declares `roots`. Deprecated in 2026-07-28, still part of
    /// it.
    pub fn on_roots<F, G>(mut self, handler: F) -> Self
    where
        F: Fn(RootsRequest) -> G + Send + Sync + 'static,
        G: Future<Output = Result<Roots, HandlerError>> + Send + 'static,
    {
        self.handlers.set_roots(handler);
        self
    }

    /// Calls a function with everything the server tells: log messages, changes, whatever is not the
    /// progress of a request. It is called in the task that read the message and should not wait;
    /// what was read before [`Client::close`](crate::Client::close) is told before that ends. Over
    /// HTTP it makes versions that begin with `initialize` open the server's own stream.
    pub fn on_notification(
        mut self,
        function: impl Fn(Notification) + Send + Sync + 'static,
    ) -> Self {
        self.options.sink = Some(NotificationSink::new(function));
        self
    }

    /// Calls a function with each error that the server reports for no request: it could not read
    /// something, and no request fails by it. It is called in the task that read the message and
    /// should not wait. Such errors are logged in any case.
    pub fn on_stray_error(mut self, function: impl Fn(Error) + Send + Sync + 'static) -> Self {
        self.options.faults = Some(FaultSink::new(function));
        self
    }

    /// Whether a server process that ended is started again; never unless set.
    pub fn restart(mut self, restart: Restart) -> Self {
        self.options.restart = restart;
        self
    }

    /// Sends the call of a tool once more where its answer was cut off and cannot be resumed
    /// (2026-07-28 over HTTP), if the tool was given by its definition and that says it is
    /// idempotent. Only for servers that are trusted to say so; without it only requests that read
    /// are sent again.
    pub fn repeat_idempotent_tools(mut self) -> Self {
        self.options.repeats = Repeats::IdempotentTools;
        self
    }

    /// How often a request is put off where the server says for how long (`Retry-After` with 429 or
    /// 503), and then sent again, and how long each time at most; 2 times and 10 seconds unless set,
    /// 0 for never.
    ///
    /// Only requests that read are put off, and tools as
    /// [`repeat_idempotent_tools`](Self::repeat_idempotent_tools) says. The timeout of the request
    /// runs meanwhile, and a wait past its end is not begun: the error then tells how long
    /// ([`TransportError::retry_after`](snodo_types::TransportError::retry_after)).
    pub fn retry_after(mut self, times: u32, longest: Duration) -> Self {
        self.options.waits = Waits { times, longest };
        self
    }

    /// Takes more HTTP statuses than 404 for a lost session, such as 400 or 401 of servers that
    /// answer so (a refused call was not carried out, and is repeated once in a new session). An
    /// error that names the request is an answer to it, whatever its status.
    pub fn session_lost_on(mut self, statuses: impl IntoIterator<Item = u16>) -> Self {
        self.options.lost_on = statuses.into_iter().collect();
        self
    }

    /// Asks the server for signs of life; never unless set.
    pub fn keep_alive(mut self, keep_alive: KeepAlive) -> Self {
        self.options.keep_alive = Some(keep_alive);
        self
    }

    /// Takes the server's version as known, from [`Client::verdict`] of an earlier client of the same
    /// server. One that is not allowed is passed over.
    pub fn verdict(mut self, verdict: Verdict) -> Self {
        self.options.verdict = Some(verdict);
        self
    }

    /// Keeps results that the server allows to be kept; none are unless set. See [`Cache`].
    pub fn cache(mut self, cache: Cache) -> Self {
        self.options.cache = Some(cache);
        self
    }

    /// Supplies the trace context of each request, asked when the request is sent: a tracing layer
    /// installs itself here. A request's own [`trace_context`](crate::Request::trace_context) wins.
    pub fn trace_context(
        mut self,
        hook: impl Fn() -> Option<TraceContext> + Send + Sync + 'static,
    ) -> Self {
        self.options.trace_context = Some(TraceHook::new(hook));
        self
    }

    /// Speaks an extension of the protocol: its capability is declared, its methods are routed, and
    /// its types of results are understood. Versions that begin with `initialize` know no
    /// extensions. An id that is no prefixed key, or registered already, fails the connect.
    pub fn extension(mut self, extension: impl Extension) -> Self {
        match self.options.extensions.clone().with(Arc::new(extension)) {
            Ok(extensions) => self.options.extensions = extensions,
            Err(fault) => self.fault = Some(fault),
        }
        self
    }

    /// The most rounds of questions that handlers answer for one request; 10 unless set. The next
    /// one fails with -32000 and `maxInputRounds` in the data.
    pub fn max_input_rounds(mut self, rounds: usize) -> Self {
        self.options.max_input_rounds = rounds;
        self
    }

    /// The most questions of the server's own that are answered at once (initialize era); 16 unless
    /// set. The next one is refused with -32603.
    pub fn max_server_requests(mut self, requests: usize) -> Self {
        self.options.max_server_requests = requests;
        self
    }

    /// Connects, and settles the version before it returns.
    ///
    /// Where versions of both eras are allowed, the server is asked with `server/discover` first; an
    /// older server's answer, whatever it is, leads to a fresh connection and `initialize`.
    ///
    /// # Errors
    ///
    /// - -32602 (`Protocol`): the options make no sense; no version in common (`requested` and
    ///   `supported` in the data); the server chose a version that is not allowed (`negotiated` and
    ///   `requested`); the transport cannot open a session.
    /// - -32000 (`Transport`): the server cannot be reached or started, or its answer is no answer.
    /// - -32001 (`Transport`): it does not answer in time.
    /// - kind `Authorization`: it wants a credential (HTTP 401 or 403).
    /// - the server's own error to `initialize`; where `server/discover` had failed before, the
    ///   cause holds both.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves nothing behind: what was started is ended.
    pub async fn connect(self, target: impl Connect) -> Result<Client, Error> {
        let Self { mut options, mut handlers, layers, fault } = self;
        if let Some(fault) = fault {
            return Err(fault);
        }
        let declared: ClientCapabilities = options.capabilities.decode().unwrap_or_default();
        handlers.sampling_tools = declared.sampling_tools();
        options.handlers = Arc::new(handlers);
        Client::open(Arc::new(target), options, layers.stack()).await
    }

    /// Connects to a server in this process, called in the caller's own task.
    pub fn direct<R: Runtime>(self, runtime: R) -> ConnectDirect<R> {
        ConnectDirect { builder: self, direct: Direct::new(runtime) }
    }
}

/// A client of a server in this process, before it is connected; await it.
///
/// The highest version that is allowed and that the runtime enables is spoken; there is no probe
/// and no timeout.
///
/// ```
/// # use snodo::{Client, direct};
/// # async fn connect() -> Result<(), snodo::Error> {
/// let client = Client::direct(direct::Server::new("demo", "0.1.0")).auth("ada").await?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Those of [`Builder::connect`].
///
/// # Cancel safety
///
/// Dropping the future leaves nothing behind.
#[must_use = "await it to connect"]
pub struct ConnectDirect<R> {
    builder: Builder,
    direct: Direct<R>,
}

impl<R: Runtime> ConnectDirect<R> {
    /// What handlers and policies of the server see as the context's `auth`.
    pub fn auth(mut self, auth: impl Any + Send + Sync) -> Self {
        self.direct = self.direct.auth(auth);
        self
    }
}

impl<R: Runtime> IntoFuture for ConnectDirect<R> {
    type Output = Result<Client, Error>;
    type IntoFuture = BoxFuture<'static, Result<Client, Error>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let Self { mut builder, direct } = self;
            let enabled = direct.versions();
            let allowed = std::mem::take(&mut builder.options.allowed);
            let best = allowed.iter().copied().filter(|version| enabled.contains(version)).max();
            match best {
                Some(version) => builder.options.allowed = vec![version],
                None if allowed.is_empty() => {}
                None => return Err(no_common_version(&allowed, &enabled)),
            }
            builder.connect(direct).await
        })
    }
}

impl<R> fmt::Debug for ConnectDirect<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectDirect").field("builder", &self.builder).finish_non_exhaustive()
    }
}

fn no_common_version(allowed: &[ProtocolVersion], enabled: &[ProtocolVersion]) -> Error {
    let names = |versions: &[ProtocolVersion]| {
        versions.iter().map(|version| version.as_str()).collect::<Vec<_>>()
    };
    let data = serde_json::json!({ "requested": names(allowed), "supported": names(enabled) });
    Error::usage("the server enables none of the protocol versions that are allowed")
        .with_data(data)
}
