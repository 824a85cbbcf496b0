//! What a connection needs to answer its server.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

use snodo_dialect::{Asks, Dialect, Era};
use snodo_types::{Error, Implementation, Message, Raw};

use crate::cache::Desk;
use crate::checked::Checks;
use crate::handlers::Handlers;
use crate::options::Options;
use crate::served::Served;
use crate::subscription::{Bridge, Notification};
use crate::trace::Scope;

/// The handlers, and what they are told; shared by the attendant and the calls.
#[derive(Clone, Debug)]
pub(crate) struct Context {
    /// How often the client had connected before.
    pub(crate) epoch: u64,
    pub(crate) handlers: Arc<Handlers>,
    /// The most questions of the server's that are answered at once.
    pub(crate) max_server_requests: usize,
    /// Known once the connection is open; the first questions may come before.
    pub(crate) server: Arc<OnceLock<Implementation>>,
    pub(crate) served: Arc<Served>,
    /// Who listens to the server's own notifications.
    pub(crate) bridge: Arc<Bridge>,
    /// The caller's function for all of them.
    pub(crate) sink: Option<NotificationSink>,
    /// The caller's function for errors that belong to no request.
    pub(crate) faults: Option<FaultSink>,
    /// Known once the version is settled.
    pub(crate) dialect: Arc<OnceLock<&'static dyn Dialect>>,
    /// What the server's events are to make stale.
    pub(crate) desk: Option<Arc<Desk>>,
    /// What tools are held against.
    pub(crate) checks: Option<Arc<Checks>>,
    /// The connection's span, in which its attendant works.
    pub(crate) scope: Scope,
}

/// The caller's function for what a server tells.
#[derive(Clone)]
pub(crate) struct NotificationSink(Arc<dyn Fn(Notification) + Send + Sync>);

impl NotificationSink {
    pub(crate) fn new(sink: impl Fn(Notification) + Send + Sync + 'static) -> Self {
        Self(Arc::new(sink))
    }
}

impl fmt::Debug for NotificationSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NotificationSink")
    }
}

/// The caller's function for errors that belong to no request.
#[derive(Clone)]
pub(crate) struct FaultSink(Arc<dyn Fn(Error) + Send + Sync>);

impl FaultSink {
    pub(crate) fn new(sink: impl Fn(Error) + Send + Sync + 'static) -> Self {
        Self(Arc::new(sink))
    }
}

impl fmt::Debug for FaultSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FaultSink")
    }
}

impl Context {
    pub(crate) fn new(options: &Options, desk: Option<Arc<Desk>>) -> Self {
        Self {
            epoch: 0,
            handlers: Arc::clone(&options.handlers),
            max_server_requests: options.max_server_requests,
            server: Arc::default(),
            served: Arc::default(),
            bridge: Arc::default(),
            sink: options.sink.clone(),
            faults: options.faults.clone(),
            dialect: Arc::default(),
            desk,
            checks: options.checkers.make(),
            scope: Scope::none(),
        }
    }

    /// The same for another connection, of which nothing is known yet.
    pub(crate) fn anew(&self, epoch: u64, scope: Scope) -> Self {
        Self { epoch, scope, server: Arc::default(), dialect: Arc::default(), ..self.clone() }
    }

    /// What came unasked and was lost before anybody saw it.
    pub(crate) fn miss(&self, count: u64) {
        tracing::warn!(count, "the server told more than was read");
        self.missed();
        self.bridge.miss(count);
    }

    /// The server's own stream was opened anew: what it told between is not known.
    pub(crate) fn reopened(&self) {
        self.missed();
        self.bridge.reopened(self.epoch);
    }

    /// Something that the server told was missed.
    pub(crate) fn missed(&self) {
        if let Some(desk) = &self.desk {
            desk.missed();
        }
        if let Some(checks) = &self.checks {
            checks.forget();
        }
    }

    /// The server told something that may make what is kept of it stale.
    pub(crate) fn hear(&self, message: &Message) {
        if let Some(desk) = &self.desk {
            desk.hear(message);
        }
        if let Some(checks) = &self.checks {
            checks.hear(message);
        }
    }

    /// A machine that knows these handlers.
    pub(crate) fn machine(&self) -> snodo_engine::Attendant {
        snodo_engine::Attendant::new(self.handlers.answering(), self.max_server_requests)
    }

    /// Whether the server may ask of its own accord: not where every request stands alone
    /// (2026-07-28, transports, "Receiving Messages").
    pub(crate) fn answers(&self) -> bool {
        self.dialect.get().is_none_or(|dialect| dialect.era() != Era::Stateless)
    }

    /// What the server may ask. Before the version is settled, nothing that some versions lack.
    pub(crate) fn asks(&self) -> Asks {
        self.dialect.get().map_or(Asks::PLAIN, |dialect| dialect.asks())
    }

    /// Whether somebody wants to know of what comes while nobody calls, on every version.
    pub(crate) fn is_attended(&self) -> bool {
        self.sink.is_some() || self.faults.is_some()
    }

    /// Tells of an error that belongs to no request.
    pub(crate) fn fault(&self, error: Error) {
        if let Some(FaultSink(sink)) = &self.faults
            && catch_unwind(AssertUnwindSafe(|| sink(error))).is_err()
        {
            tracing::error!("the function for errors of no request panicked");
        }
    }

    /// Tells everybody who wants to know. A function of the caller's that panics harms nobody else.
    pub(crate) fn tell(&self, message: Message) {
        self.hear(&message);
        self.bridge.publish(&message);
        if let Some(NotificationSink(sink)) = &self.sink {
            let told = AssertUnwindSafe(|| sink(Notification::new(message)));
            if catch_unwind(told).is_err() {
                tracing::error!("the function for notifications panicked");
            }
        }
    }

    /// Answers one question of the server's. The clock of waiting calls stands meanwhile.
    pub(crate) async fn answer(
        self,
        question: snodo_engine::Question,
    ) -> Result<Raw, snodo_engine::Refusal> {
        let _serving = self.served.begin();
        let server = self.server.get().cloned();
        self.handlers.answer(question, server).await.map_err(|error| {
            tracing::warn!(reason = error.reason(), "a handler did not answer the server");
            if error.is_rejected() {
                snodo_engine::Refusal::Rejected
            } else {
                snodo_engine::Refusal::Failed
            }
        })
    }
}
