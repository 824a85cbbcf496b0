//! A subscription on versions that begin with `initialize`: the server's own notifications, and
//! `resources/subscribe` for each resource.

use std::sync::Arc;
use std::task::{Context, Poll};

use snodo_dialect::Params;
use snodo_transport::{BoxFuture, Incoming};
use snodo_types::{
    Error, ErrorObject, InboxLimits, ServerCapabilities, SubscriptionFilter, TransportError,
    TransportFault,
};

use super::bridge::{Heard, Loss, Place};
use super::listen::Options;
use super::reopen::{self, Reopen};
use super::{Closed, Event, Notification};
use crate::client::Core;
use crate::{Client, renewal, timer};

/// A listener of the connection's bridge, and the resources it watches.
pub(super) struct Bridged {
    place: Place,
    watched: Watched,
    accepted: SubscriptionFilter,
    reopen: Reopen,
    recovering: Option<BoxFuture<'static, Result<(), Error>>>,
}

/// The resources of one listener. The last to watch one ends that at the server.
struct Watched {
    core: Arc<Core>,
    uris: Vec<String>,
}

impl Bridged {
    pub(super) async fn open(
        client: Client,
        filter: SubscriptionFilter,
        options: Options,
    ) -> Result<(Self, SubscriptionFilter), Error> {
        check(&filter)?;
        if !filter.other.is_empty() || !filter.tasks().is_empty() {
            tracing::debug!("keys of extensions are left out: this version knows none");
        }
        let core = Arc::clone(client.core());
        let connection = core.connection();
        let offered = connection.server_stream(options.timeout).await?;
        let capabilities = client.server().capabilities().cloned().unwrap_or_default();
        let mut accepted = allowed(&filter, &capabilities);
        if !offered {
            // Nothing would ever come.
            accepted = SubscriptionFilter::new();
        }
        let mut limits = InboxLimits::default();
        limits.capacity = options.max_buffer;
        limits.overflow = options.overflow;
        let bridge = Arc::clone(&connection.context.bridge);
        let number = bridge.add(connection.epoch, limits);
        let place = Place { bridge, number };
        let mut watched = Watched { core, uris: Vec::new() };
        // What changes from here on is told.
        place.bridge.set_filter(number, &accepted);
        for uri in accepted.resource_subscriptions.take().unwrap_or_default() {
            match watched.watch(&client, &uri, &options).await {
                Ok(()) => accepted = accepted.resource(uri),
                // Some servers declare what they do not have.
                Err(error) if error.code() == ErrorObject::METHOD_NOT_FOUND => {
                    tracing::warn!(uri, %error, "the server does not let this resource be watched");
                    watched.forget(&uri);
                }
                Err(error) => return Err(error),
            }
        }
        place.bridge.set_filter(number, &accepted);
        let reopen = options.reopen;
        let bridged = Self { place, watched, accepted: accepted.clone(), reopen, recovering: None };
        Ok((bridged, accepted))
    }

    pub(super) fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Event> {
        loop {
            match std::task::ready!(self.place.bridge.poll(self.place.number, cx)) {
                Heard::Event(Incoming::Message(message)) => {
                    return Poll::Ready(Event::Notification(Notification::new(message)));
                }
                Heard::Event(Incoming::Dropped(lost)) => return Poll::Ready(Event::Dropped(lost)),
                Heard::Event(_) => {}
                Heard::Lost(loss) => {
                    let core = &self.watched.core;
                    if core.is_closed() {
                        return Poll::Ready(self.failed(Error::from(loss.why)));
                    }
                    let recovering = self.recovering.get_or_insert_with(|| {
                        Box::pin(recover(Arc::clone(core), self.reopen, loss))
                    });
                    let recovered = std::task::ready!(recovering.as_mut().poll(cx));
                    self.recovering = None;
                    if let Err(error) = recovered {
                        return Poll::Ready(self.failed(error));
                    }
                }
                Heard::Resumed => {
                    self.recovering = None;
                    if self.reopen == Reopen::NEVER {
                        let why = TransportError::new(
                            TransportFault::StreamEnded,
                            "the connection of the subscription is over",
                        );
                        return Poll::Ready(self.failed(Error::from(why)));
                    }
                    let accepted = Box::new(self.accepted.clone());
                    return Poll::Ready(Event::Resumed { accepted, may_have_missed: true });
                }
            }
        }
    }

    fn failed(&self, error: Error) -> Event {
        let error = error.at("subscriptions/listen", &self.watched.core.target);
        Event::Closed(Closed::Failed(error))
    }
}

/// Opens a new connection where the old one no longer brings what the server tells. A pipe that is
/// over stays over, unless its process is started again.
async fn recover(core: Arc<Core>, reopen: Reopen, loss: Loss) -> Result<(), Error> {
    let Loss { mut epoch, why } = loss;
    let own_stream = core.connection().transport.abilities().own_stream;
    let mut last = Error::from(why.clone());
    let (mut attempt, mut refusals) = (0, 0);
    if !own_stream {
        core.note_end(epoch);
    }
    while !core.is_closed()
        && (own_stream || core.options.restart.follows(&why))
        && refusals < MOST_REFUSALS
        && let Some(pause) = reopen.pause(attempt)
    {
        attempt += 1;
        timer::sleep(pause).await?;
        last = match renewal::renew(Arc::clone(&core), epoch, Some(why.clone())).await {
            Ok(()) => {
                let connection = core.connection();
                let Err(error) = connection.restored(&core).await else { return Ok(()) };
                epoch = connection.epoch;
                error
            }
            Err(error) => error,
        };
        refusals = match last.transport().and_then(|below| below.status()) {
            _ if reopen::follows(&last) => 0,
            Some(401 | 403) => MOST_REFUSALS,
            _ => refusals + 1,
        };
    }
    Err(last)
}

/// A refusal may come of a session that was lost again before its stream was there; so many in a
/// row do not.
const MOST_REFUSALS: u32 = 3;

impl Watched {
    /// Watches one more resource. The server is asked once for all who watch it.
    async fn watch(&mut self, client: &Client, uri: &str, options: &Options) -> Result<(), Error> {
        let first = self.core.connection().context.bridge.watch(uri);
        self.uris.push(uri.to_owned());
        if first {
            let mut request = client.subscribe(uri).timeout(options.timeout);
            for (name, value) in &options.meta {
                request = request.meta(name.clone(), value);
            }
            if let Some(trace) = options.trace.clone() {
                request = request.trace_context(trace);
            }
            request.await?;
        }
        Ok(())
    }
}

impl Watched {
    /// The server never heard of it.
    fn forget(&mut self, uri: &str) {
        self.core.connection().context.bridge.unwatch(uri);
        self.uris.retain(|watched| watched != uri);
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let connection = self.core.connection();
        for uri in &self.uris {
            if !connection.context.bridge.unwatch(uri) || self.core.is_closed() {
                continue;
            }
            let dressed = Params::new().with("uri", uri.as_str()).and_then(|params| {
                let request = snodo_dialect::Request::new("resources/unsubscribe", params);
                connection.opened.dialect.dress(
                    &request,
                    self.core.next_id(),
                    &connection.opened.outfit,
                )
            });
            match dressed {
                Ok(envelope) => connection.post(envelope),
                Err(error) => tracing::debug!(%error, "a resource is still watched at the server"),
            }
        }
    }
}

/// Where no server sees the filter, its known members are checked here: one of another kind than it
/// has stands among the others.
fn check(filter: &SubscriptionFilter) -> Result<(), Error> {
    let known = SubscriptionFilter::MEMBERS.iter().find(|name| filter.other.get(name).is_some());
    known.map_or(Ok(()), |name| Err(Error::usage(format!("the filter's `{name}` cannot be read"))))
}

/// As much of a filter as the server declared to tell.
fn allowed(filter: &SubscriptionFilter, server: &ServerCapabilities) -> SubscriptionFilter {
    let both = |asked: Option<bool>, told: bool| asked.filter(|asked| *asked && told);
    let mut allowed = SubscriptionFilter::new();
    allowed.tools_list_changed = both(filter.tools_list_changed, server.tools_list_changed());
    allowed.prompts_list_changed = both(filter.prompts_list_changed, server.prompts_list_changed());
    allowed.resources_list_changed =
        both(filter.resources_list_changed, server.resources_list_changed());
    if server.resources_subscribe() {
        allowed.resource_subscriptions.clone_from(&filter.resource_subscriptions);
    }
    allowed
}
