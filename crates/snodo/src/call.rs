//! A whole call: what is asked, and how it is to be followed.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use serde::Serialize;
use snodo_dialect::check_header;
use snodo_engine::{Answering, Limits};
use snodo_types::{Error, MetaKey, Raw, TraceContext};

use crate::CacheMode;
use crate::checked::{Check, Checks};
use crate::client::Core;
use crate::driver::Driver;
use crate::progress::ProgressSink;
use crate::renewal;
use crate::restart::Restart;
use crate::running::Gate;
use crate::trace::CallSpan;

/// One call from its beginning to its answer, rounds and retries included: what layers see.
///
/// It is made by the client's verbs and carries their options. A layer may read what is asked, add
/// to its metadata, hold it back, or send it again (a clone).
///
/// ```
/// fn label(call: &snodo::Call) -> String {
///     format!("{} at {}", call.method(), call.target())
/// }
/// # let _ = label;
/// ```
#[derive(Clone)]
pub struct Call {
    pub(crate) core: Arc<Core>,
    pub(crate) request: snodo_dialect::Request,
    pub(crate) limits: Limits,
    pub(crate) resets: Resets,
    pub(crate) max_total_timeout: Duration,
    pub(crate) answering: Answering,
    pub(crate) max_input_rounds: usize,
    pub(crate) progress: Option<ProgressSink>,
    pub(crate) renews: Renews,
    pub(crate) doubts: Doubts,
    /// A tool that says it is idempotent, of a server that is trusted in this.
    pub(crate) idempotent: bool,
    /// Set where layers may hold it back.
    pub(crate) gate: Option<Arc<Gate>>,
    /// What it does about the client's cache, as long as it is plain.
    pub(crate) cache: CacheMode,
    /// It has no option besides its clocks and that: what else is asked for is all that decides
    /// the answer.
    pub(crate) plain: bool,
    /// What the call of a tool is held against, where the client does so.
    pub(crate) checks: Option<Arc<Checks>>,
    /// What the caller gave as the tool's definition.
    pub(crate) check: Option<Arc<dyn Check>>,
}

/// What progress does to the timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Resets {
    Never,
    OnProgress,
}

/// Whether a lost session is renewed for the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Renews {
    Never,
    Once,
    /// What is asked for means something on the connection of this epoch alone.
    Within(u64),
}

/// Whether a failure casts a doubt on a version that was taken as known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doubts {
    /// It is the question that a doubt leads to.
    Never,
    Once,
}

/// How far progress may move a timeout unless the caller says otherwise.
const MAX_TOTAL_TIMEOUT: Duration = Duration::from_secs(600);

impl Call {
    pub(crate) fn new(core: &Arc<Core>, request: snodo_dialect::Request) -> Self {
        Self {
            core: Arc::clone(core),
            request,
            limits: core.options.limits(),
            resets: Resets::Never,
            max_total_timeout: MAX_TOTAL_TIMEOUT,
            answering: core.connection().context.handlers.answering(),
            max_input_rounds: core.options.max_input_rounds,
            progress: None,
            renews: Renews::Once,
            doubts: Doubts::Once,
            idempotent: false,
            gate: None,
            cache: CacheMode::Use,
            plain: true,
            checks: core.checks().cloned(),
            check: None,
        }
    }

    /// The method.
    #[must_use]
    pub fn method(&self) -> &str {
        &self.request.method
    }

    /// The text of a parameter's value, such as the name of a tool with its quotes.
    #[must_use]
    pub fn param(&self, name: &str) -> Option<String> {
        self.request.params.member(name)
    }

    /// What errors and logs call the server.
    #[must_use]
    pub fn target(&self) -> &str {
        &self.core.target
    }

    /// Adds a member to the request's `_meta`; see [`Request::meta`](crate::Request::meta).
    ///
    /// # Errors
    ///
    /// The name is none that a `_meta` may have, the value cannot be written as JSON, or it is not
    /// of the format that `traceparent`, `tracestate` and `baggage` have (-32602).
    pub fn add_meta(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        value: impl Serialize,
    ) -> Result<(), Error> {
        self.request.meta.push(meta_member(name, value)?);
        self.plain = false;
        Ok(())
    }

    /// Adds a header; see [`Request::header`](crate::Request::header).
    ///
    /// # Errors
    ///
    /// The header may not be set, or cannot be written (-32602).
    pub fn add_header(&mut self, name: String, value: String) -> Result<(), Error> {
        check_header(&name, &value)?;
        self.request.routing.set(name, value);
        self.plain = false;
        Ok(())
    }

    /// Starts it. `spent` of its time was spent already, in a queue.
    pub(crate) fn start(self, spent: Duration) -> Driver {
        let span = CallSpan::of(&self);
        self.start_in(span, spent)
    }

    /// The same, in a span that began before.
    pub(crate) fn start_in(self, span: CallSpan, spent: Duration) -> Driver {
        // The hook sees the span of the call, so that what the server gets is a child of it.
        let _entered = span.entered();
        let Self { core, mut request, mut limits, .. } = self;
        if let Some((name, value)) = &*core.log_level.lock().unwrap_or_else(PoisonError::into_inner)
        {
            // Lowest of what the caller says: the options of the request win.
            request.meta.insert(0, (name.clone(), value.clone()));
        }
        if let (None, Some(hook)) = (&request.trace, &core.options.trace_context) {
            request.trace = hook.context();
        }
        if request.method == "tools/call" && request.param_headers.is_none() {
            request.param_headers = core.tools.of(&request.params);
        }
        limits.pauses = Some(self.max_total_timeout);
        if self.resets == Resets::OnProgress {
            limits.max_total_timeout = Some(self.max_total_timeout);
        }
        // A peer in the caller's own task is waited for like any function.
        let same_task = core.connection().transport.abilities().same_task;
        let limits = if same_task { Limits::default() } else { limits };
        let call = snodo_engine::Call::new(request, limits)
            .answering(self.answering, self.max_input_rounds)
            .lost_on(Arc::clone(&core.options.lost_on))
            .waiting(core.options.waits)
            .spent(spent);
        let call = if self.idempotent { call.idempotent() } else { call };
        let call = match self.renews {
            Renews::Never => call.in_this_session(),
            Renews::Within(epoch) if core.connection().epoch != epoch => {
                let mut call = call;
                call.stop(renewal::session_lost().into());
                call
            }
            Renews::Once | Renews::Within(_) if core.options.restart != Restart::NEVER => {
                call.restarting()
            }
            Renews::Once | Renews::Within(_) => call,
        };
        Driver::new(core, call, self.progress, self.doubts, span)
    }
}

/// A member of a `_meta`, checked.
pub(crate) fn meta_member(
    name: impl Into<Cow<'static, str>>,
    value: impl Serialize,
) -> Result<(String, Raw), Error> {
    let value = Raw::of(&value).map_err(|error| Error::usage(format!("`_meta`: {error}")))?;
    let name = name.into().into_owned();
    if MetaKey::parse(&name).is_none() {
        return Err(Error::usage(format!("`_meta`: {name:?} is no key")));
    }
    // 2026-07-28, basic, "OpenTelemetry trace context": whoever sends these keeps to their format.
    TraceContext::check(&name, &value)?;
    Ok((name, value))
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call")
            .field("request", &self.request)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
