//! A subscription on versions that begin with `initialize`: the server's own notifications, and
//! `resources/subscribe` for each resource.

use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use snodo_dialect::Params;
use snodo_transport::{BoxFuture, Incoming};
use snodo_types::{
    Error, ErrorObject, InboxLimits, ServerCapabilities, SubscriptionFilter, TransportError,
};

use super::bridge::{Heard, Place};
use super::listen::Options;
use super::reopen::Reopen;
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
        if !filter.other.is_empty() || !filter.tasks().is_empty() {
            tracing::debug!("keys of extensions are left out: this version knows none");
        }
        let core = Arc::clone(client.core());
        let offered = core.connection().server_stream(options.timeout).await;
        let capabilities = client.server().capabilities().cloned().unwrap_or_default();
        let mut accepted = allowed(&filter, &capabilities);
        if !offered {
            // Nothing would ever come.
            accepted = SubscriptionFilter::new();
        }
        let mut limits = InboxLimits::default();
        limits.capacity = options.max_buffer;
        limits.overflow = options.overflow;
        let bridge = Arc::clone(&core.connection().context.bridge);
        let number = bridge.add(SubscriptionFilter::new(), limits);
        let place = Place { bridge, number };
        let mut watched = Watched { core, uris: Vec::new() };
        // What changes from here on is told.
        place.bridge.set_filter(number, &accepted);
        for uri in accepted.resource_subscriptions.take().unwrap_or_default() {
            match watched.watch(&client, &uri, options.timeout).await {
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
            if let Some(recovering) = &mut self.recovering {
                let recovered = std::task::ready!(recovering.as_mut().poll(cx));
                self.recovering = None;
                if let Err(error) = recovered {
                    let error = error.at("subscriptions/listen", &self.watched.core.target);
                    return Poll::Ready(Event::Closed(Closed::Failed(error)));
                }
            }
            match std::task::ready!(self.place.bridge.poll(self.place.number, cx)) {
                Heard::Event(Incoming::Message(message)) => {
                    return Poll::Ready(Event::Notification(Notification::new(message)));
                }
                Heard::Event(Incoming::Dropped(lost)) => return Poll::Ready(Event::Dropped(lost)),
                Heard::Event(_) => {}
                Heard::Lost(why) => {
                    let core = Arc::clone(&self.watched.core);
                    self.recovering = Some(Box::pin(recover(core, self.reopen, why)));
                }
                Heard::Resumed => {
                    let accepted = Box::new(self.accepted.clone());
                    return Poll::Ready(Event::Resumed { accepted, may_have_missed: true });
                }
            }
        }
    }
}

/// Opens a new connection where the old one no longer brings what the server tells. A pipe that is
/// over stays over.
async fn recover(core: Arc<Core>, reopen: Reopen, why: TransportError) -> Result<(), Error> {
    let connection = core.connection();
    let comes_back =
        connection.transport.abilities().own_stream || core.options.restart.follows(&why);
    if !comes_back || core.is_closed() {
        return Err(Error::from(why));
    }
    let mut last = Error::from(why.clone());
    let mut attempt = 0;
    while let Some(pause) = reopen.pause(attempt) {
        attempt += 1;
        timer::sleep(pause).await?;
        match renewal::renew(Arc::clone(&core), connection.epoch, Some(why.clone())).await {
            Ok(()) => return Ok(()),
            Err(error) => last = error,
        }
    }
    Err(last)
}

impl Watched {
    /// Watches one more resource. The server is asked once for all who watch it.
    async fn watch(
        &mut self,
        client: &Client,
        uri: &str,
        timeout: Option<Duration>,
    ) -> Result<(), Error> {
        let first = self.core.connection().context.bridge.watch(uri);
        self.uris.push(uri.to_owned());
        if first {
            client.subscribe(uri).timeout(timeout).await?;
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
