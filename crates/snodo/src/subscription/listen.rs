//! Asking for a subscription.

use std::borrow::Cow;
use std::fmt;
use std::future::IntoFuture;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use snodo_dialect::{Era, Extension};
use snodo_transport::BoxFuture;
use snodo_types::{Error, Overflow, Raw, SubscriptionFilter, TraceContext};

use super::bridged::Bridged;
use super::reopen::Reopen;
use super::streamed::Streamed;
use super::{Source, Subscription};
use crate::Client;
use crate::call::meta_member;

/// A subscription that is opened when it is awaited: once the server agreed to it.
///
/// ```
/// use snodo::types::SubscriptionFilter;
///
/// # async fn watch(client: snodo::Client) -> Result<(), snodo::Error> {
/// let events = client.listen(SubscriptionFilter::new().tools_list_changed()).await?;
/// println!("{:?}", events.accepted());
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// The server's own error (-32601 from one without subscriptions, -32602 for a filter it does not
/// take); -32000 (`Transport`) when it ends the subscription before it agreed, or the connection
/// fails; -32001 when it does not agree in time; -32602 when the transport cannot listen.
///
/// # Cancel safety
///
/// Dropping the future ends what was begun.
#[must_use = "a subscription is opened when it is awaited"]
pub struct Listen {
    pub(super) client: Client,
    pub(super) filter: SubscriptionFilter,
    pub(super) options: Options,
    fault: Option<Error>,
}

/// What may be said of a subscription beside its filter.
#[derive(Clone, Debug)]
pub(super) struct Options {
    pub(super) max_buffer: usize,
    pub(super) overflow: Overflow,
    pub(super) timeout: Option<Duration>,
    pub(super) meta: Vec<(String, Raw)>,
    pub(super) trace: Option<TraceContext>,
    pub(super) extension: Option<Arc<dyn Extension>>,
    pub(super) reopen: Reopen,
}

/// The most events that wait unless another number is set.
const MAX_BUFFER: usize = 100;

impl Listen {
    pub(crate) fn new(client: &Client, filter: SubscriptionFilter) -> Self {
        let options = Options {
            max_buffer: MAX_BUFFER,
            overflow: Overflow::default(),
            timeout: client.core().options.timeout,
            meta: Vec::new(),
            trace: None,
            extension: None,
            reopen: Reopen::default(),
        };
        Self { client: client.clone(), filter, options, fault: None }
    }

    /// The most events that wait to be asked for; 100 unless set, at least 1.
    pub fn max_buffer(mut self, events: usize) -> Self {
        self.options.max_buffer = events.max(1);
        self
    }

    /// Which event gives way when the buffer is full: the oldest unless set.
    pub fn overflow(mut self, overflow: Overflow) -> Self {
        self.options.overflow = overflow;
        self
    }

    /// How long the server may take to agree, in place of the client's timeout; `None` for ever.
    pub fn timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.options.timeout = timeout.into();
        self
    }

    /// Adds a member to the `_meta` of the request; see [`Request::meta`](crate::Request::meta).
    pub fn meta(mut self, name: impl Into<Cow<'static, str>>, value: impl Serialize) -> Self {
        match meta_member(name, value) {
            Ok(member) => self.options.meta.push(member),
            Err(fault) => self.fault = Some(fault),
        }
        self
    }

    /// Sends a W3C trace context with the request.
    pub fn trace_context(mut self, context: TraceContext) -> Self {
        self.options.trace = Some(context);
        self
    }

    /// Names the extension whose keys the filter has. One that the client does not speak otherwise is
    /// declared for this request alone; versions that begin with `initialize` know none.
    pub fn extension(mut self, extension: Arc<dyn Extension>) -> Self {
        self.options.extension = Some(extension);
        self
    }

    /// Whether a subscription that is lost with its stream or its session is opened again; it is,
    /// from half a second to half a minute apart, unless set. The reader is told by
    /// [`Event::Resumed`](crate::Event::Resumed). What the server ends in good order stays ended, and
    /// so does what ended with a process.
    pub fn reopen(mut self, reopen: Reopen) -> Self {
        self.options.reopen = reopen;
        self
    }

    async fn open(self) -> Result<Subscription, Error> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        let Self { client, filter, options, .. } = self;
        let connection = client.core().connection();
        if !connection.transport.abilities().listen {
            return Err(Error::usage("this transport cannot listen"));
        }
        let (source, accepted) = match connection.opened.dialect.era() {
            Era::Initialize => {
                let (bridged, accepted) = Bridged::open(client, filter, options).await?;
                (Source::Bridged(Box::new(bridged)), accepted)
            }
            _ => {
                let (streamed, accepted) = Streamed::open(client, filter, options).await?;
                (Source::Streamed(Box::new(streamed)), accepted)
            }
        };
        Ok(Subscription { source, accepted })
    }
}

impl IntoFuture for Listen {
    type Output = Result<Subscription, Error>;
    type IntoFuture = BoxFuture<'static, Result<Subscription, Error>>;

    fn into_future(self) -> Self::IntoFuture {
        let target = self.client.core().target.clone();
        Box::pin(async move {
            self.open().await.map_err(|error| error.at("subscriptions/listen", &target))
        })
    }
}

impl fmt::Debug for Listen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listen")
            .field("filter", &self.filter)
            .field("max_buffer", &self.options.max_buffer)
            .field("overflow", &self.options.overflow)
            .field("timeout", &self.options.timeout)
            .finish_non_exhaustive()
    }
}
