//! What a client is told once, and every request goes by.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use snodo_dialect::{Extensions, Identity, declare};
use snodo_engine::{Limits, Waits};
use snodo_types::{Error, Implementation, Members, ProtocolVersion, Raw, TraceContext};

use crate::Cache;
use crate::checked::Checkers;
use crate::context::{FaultSink, NotificationSink};
use crate::handlers::Handlers;
use crate::keep_alive::KeepAlive;
use crate::restart::Restart;
use crate::verdict::Verdict;

/// The settings of a client; see [`Builder`](crate::Builder) for what each means.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) allowed: Vec<ProtocolVersion>,
    pub(crate) client_info: Implementation,
    pub(crate) capabilities: Raw,
    pub(crate) timeout: Option<Duration>,
    pub(crate) probe_timeout: Option<Duration>,
    pub(crate) max_list_bytes: usize,
    pub(crate) max_pages: usize,
    pub(crate) handlers: Arc<Handlers>,
    pub(crate) extensions: Extensions,
    pub(crate) restart: Restart,
    pub(crate) repeats: Repeats,
    pub(crate) lost_on: Arc<[u16]>,
    pub(crate) waits: Waits,
    pub(crate) keep_alive: Option<KeepAlive>,
    pub(crate) verdict: Option<Verdict>,
    pub(crate) sink: Option<NotificationSink>,
    pub(crate) faults: Option<FaultSink>,
    pub(crate) trace_context: Option<TraceHook>,
    pub(crate) checkers: Checkers,
    pub(crate) cache: Option<Cache>,
    pub(crate) max_input_rounds: usize,
    pub(crate) max_server_requests: usize,
}

/// What is sent once more where its answer was cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Repeats {
    IdempotentTools,
    Reads,
}

/// Gives each request the trace context it runs in.
#[derive(Clone)]
pub(crate) struct TraceHook(Arc<dyn Fn() -> Option<TraceContext> + Send + Sync>);

impl TraceHook {
    pub(crate) fn new(hook: impl Fn() -> Option<TraceContext> + Send + Sync + 'static) -> Self {
        Self(Arc::new(hook))
    }

    /// The context of the request that is being sent.
    pub(crate) fn context(&self) -> Option<TraceContext> {
        (self.0)()
    }
}

impl fmt::Debug for TraceHook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TraceHook")
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            allowed: ProtocolVersion::ALL.to_vec(),
            client_info: Implementation::new("snodo", env!("CARGO_PKG_VERSION")),
            capabilities: Raw::empty_object(),
            timeout: Some(Duration::from_secs(30)),
            probe_timeout: Some(Duration::from_secs(10)),
            max_list_bytes: 256 * 1024 * 1024,
            max_pages: 1000,
            handlers: Arc::default(),
            extensions: Extensions::new(),
            restart: Restart::NEVER,
            repeats: Repeats::Reads,
            lost_on: Arc::default(),
            waits: Waits::default(),
            keep_alive: None,
            verdict: None,
            sink: None,
            faults: None,
            trace_context: None,
            checkers: Checkers::default(),
            cache: None,
            max_input_rounds: 10,
            max_server_requests: 16,
        }
    }
}

impl Options {
    /// Checks what no type could.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.allowed.is_empty() {
            return Err(Error::usage("no protocol version is allowed: name at least one"));
        }
        if !self.capabilities.is_object() {
            return Err(Error::usage("the client's capabilities are a JSON object"));
        }
        // 2025-11-25, tasks: who declares to do a server's questions as tasks has to keep them, and
        // nothing here does.
        let declared: Members = self.capabilities.decode().unwrap_or_default();
        if declared.get("tasks").is_some_and(|tasks| !tasks.is_null()) {
            return Err(Error::usage("this client answers questions itself, and never as tasks"));
        }
        if self.client_info.name.is_empty() {
            return Err(Error::usage("the client's name is empty"));
        }
        Ok(())
    }

    /// Who is asking.
    pub(crate) fn identity(&self) -> Result<Identity, Error> {
        let client_info =
            Raw::of(&self.client_info).map_err(|error| Error::usage(error.to_string()))?;
        let capabilities = self.handlers.capabilities(&self.capabilities)?;
        let capabilities = declare(&capabilities, &self.extensions)?;
        Ok(Identity { client_info, capabilities, extensions: self.extensions.clone() })
    }

    /// The clocks of a request that sets none.
    pub(crate) fn limits(&self) -> Limits {
        Limits { timeout: self.timeout, ..Limits::default() }
    }

    /// How long a polite end may take.
    pub(crate) fn close_limit(&self) -> Duration {
        self.timeout.map_or(CLOSE_LIMIT, |timeout| timeout.min(CLOSE_LIMIT))
    }
}

const CLOSE_LIMIT: Duration = Duration::from_secs(5);
