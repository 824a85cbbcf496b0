//! One connection: a transport, what was agreed on, and who attends it.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::Poll;
use std::time::Duration;

use futures_core::Stream;
use snodo_dialect::{Carrier, Identity};
use snodo_engine::{Opened, Terms};
use snodo_transport::{Abilities, BoxFuture, Exchange, Incoming, Transport};
use snodo_types::{
    Envelope, Error, Message, ProtocolVersion, Routing, TransportError, TransportFault,
};
use tokio::sync::OnceCell;

use crate::attendant::{Attendant, Dismissed, Handed, dismiss};
use crate::client::{Client, Core};
use crate::context::Context;
use crate::server::{Server, Session};
use crate::timer::{self, Timer};
use crate::trace::ConnectionSpan;

/// A connection is a value: made by a negotiation, shared by the calls that run on it, and over
/// with the last of them.
pub(crate) struct Connection {
    /// How often this client had connected before.
    pub(crate) epoch: u64,
    pub(crate) server: Server,
    pub(crate) session: Option<Session>,
    pub(crate) transport: Arc<dyn Transport>,
    pub(crate) opened: Opened,
    pub(crate) identity: Identity,
    pub(crate) allowed: Vec<ProtocolVersion>,
    /// What answers the server.
    pub(crate) context: Context,
    /// What errors call the server.
    pub(crate) target: String,
    /// The task that answers the server; made when there is something to attend.
    pub(crate) attendant: OnceLock<Attendant>,
    /// Whether the server's own stream is there, once somebody wanted it.
    pub(crate) stream: OnceCell<Result<bool, Error>>,
    /// That stream, while it is being opened.
    pub(crate) opening: Mutex<Option<Exchange>>,
    /// Whether what stood on the connection before was set up again.
    pub(crate) restored: OnceCell<Result<(), Error>>,
    /// The one that answered before the session was open; its last reply may be on its way.
    pub(crate) early: Option<Attendant>,
    /// What calls point to.
    pub(crate) span: Arc<ConnectionSpan>,
}

impl Connection {
    pub(crate) fn terms(&self) -> Terms<'_> {
        Terms {
            dialect: self.opened.dialect,
            outfit: &self.opened.outfit,
            identity: &self.identity,
            carrier: carrier(self.transport.abilities()),
            allowed: &self.allowed,
        }
    }

    /// Hands what the server said on the stream of a call to the attendant; the future waits for
    /// room.
    pub(crate) fn attend(&self, message: Message) -> Option<BoxFuture<'static, ()>> {
        self.attendant().hand(Handed::Message(message))
    }

    /// Sends something that nobody waits for.
    pub(crate) fn post(&self, envelope: Envelope) {
        if self.attendant().hand(Handed::Send(envelope)).is_some() {
            tracing::warn!("there was no room for a message that nobody waits for");
        }
    }

    /// Makes sure that the server's own notifications come in; says whether they do. Over HTTP the
    /// stream for them is opened at the first call, and its head waited for a while: a server drops
    /// what it has to tell while there is none.
    pub(crate) async fn server_stream(&self, timeout: Option<Duration>) -> Result<bool, Error> {
        let abilities = self.transport.abilities();
        if !abilities.own_stream {
            return Ok(self.attendant.get().is_some());
        }
        self.stream.get_or_init(|| self.open_stream(timeout)).await.clone()
    }

    async fn open_stream(&self, timeout: Option<Duration>) -> Result<bool, Error> {
        let offered = self.transport.unsolicited(self.opened.outfit.routing().clone());
        if let Some(stream) = offered {
            *self.opening() = Some(stream);
        }
        let mut timer = Timer::default();
        let patience = timeout.map_or(HEAD_WAIT, |timeout| timeout.min(HEAD_WAIT));
        let deadline = timer::now().checked_add(patience);
        let mut first = None;
        let opened = poll_fn(|cx| {
            let mut opening = self.opening();
            // Given up by whoever began, it waits here.
            let Some(stream) = &mut *opening else { return Poll::Ready(Ok(false)) };
            loop {
                return match Pin::new(&mut *stream).poll_next(cx) {
                    Poll::Ready(Some(Ok(Incoming::Sent))) => Poll::Ready(Ok(true)),
                    // A transport whose streams have no head begins with what the server says.
                    Poll::Ready(Some(Ok(Incoming::Message(message)))) => {
                        first = Some(message);
                        Poll::Ready(Ok(true))
                    }
                    Poll::Ready(Some(Ok(_))) => continue,
                    Poll::Ready(Some(Err(error))) => Poll::Ready(Err(Error::from(error))),
                    Poll::Ready(None) => Poll::Ready(Ok(false)),
                    // Proxies there are that keep a head back until something follows it (nginx
                    // over HTTP/2): the attendant goes on with it.
                    Poll::Pending => timer.poll(deadline, cx).map(|waited| waited.map(|()| true)),
                };
            }
        });
        let opened = opened.await;
        let stream = self.opening().take();
        match &opened {
            Ok(true) => {
                let first = first.map(Handed::Message);
                for handed in first.into_iter().chain(stream.map(Handed::Stream)) {
                    if let Some(handing) = self.attendant().hand(handed) {
                        handing.await;
                    }
                }
            }
            Ok(false) => tracing::debug!("the server offers no stream of its own"),
            Err(error) => tracing::warn!(%error, "the server's own stream could not be opened"),
        }
        opened
    }

    fn opening(&self) -> MutexGuard<'_, Option<Exchange>> {
        self.opening.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets up anew what stood on the connection before: the server's own stream, and the resources
    /// that are watched. It is done once; who finds it half done goes on with it.
    pub(crate) async fn restored(&self, core: &Arc<Core>) -> Result<(), Error> {
        self.restored.get_or_init(|| self.restore(core)).await.clone()
    }

    async fn restore(&self, core: &Arc<Core>) -> Result<(), Error> {
        let bridge = &self.context.bridge;
        if bridge.is_heard() && !self.server_stream(core.options.timeout).await? {
            let text = "the server no longer offers a stream of its own";
            return Err(TransportError::new(TransportFault::Unsupported, text).into());
        }
        let client = Client::of(Arc::clone(core));
        for uri in bridge.watched() {
            match client.subscribe(&uri).in_this_session().await {
                Err(error) if error.transport().is_some() || error.is_timeout() => {
                    return Err(error);
                }
                Err(error) => tracing::warn!(uri, %error, "a resource is not watched any more"),
                Ok(_) => {}
            }
        }
        if bridge.is_heard() {
            self.context.missed();
        }
        bridge.resume(self.epoch);
        Ok(())
    }

    /// Ends it politely: first whoever answers and listens on this side, so that nothing is sent
    /// behind the end.
    pub(crate) async fn close(&self, limit: Duration) {
        self.span.closed();
        let dismissed = self.dismiss(limit).await;
        self.context.bridge.lose(self.epoch, closed());
        let routing = self.opened.outfit.routing().clone();
        self.transport.close(routing, dismissed.left).await;
    }

    /// Ends one that another has followed: its session is over at the server.
    pub(crate) async fn leave(&self, limit: Duration) {
        let dismissed = self.dismiss(limit).await;
        self.transport.close(Routing::new(), dismissed.left).await;
    }

    async fn dismiss(&self, limit: Duration) -> Dismissed {
        dismiss([self.attendant.get(), self.early.as_ref()], limit).await
    }

    fn attendant(&self) -> &Attendant {
        self.attendant.get_or_init(|| {
            let transport = Arc::clone(&self.transport);
            Attendant::spawn(transport, self.opened.outfit.clone(), self.context.clone(), None)
        })
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("target", &self.target)
            .field("version", &self.opened.dialect.version())
            .finish_non_exhaustive()
    }
}

/// Why nothing is sent any more once a client was closed.
pub(crate) fn closed() -> TransportError {
    TransportError::new(TransportFault::Closed, "this client is closed").not_processed()
}

pub(crate) fn carrier(abilities: Abilities) -> Carrier {
    Carrier { routes: abilities.routing, own_stream: abilities.own_stream }
}

/// How long the head of the server's own stream is waited for, within the timeout of calls.
const HEAD_WAIT: Duration = Duration::from_secs(2);
