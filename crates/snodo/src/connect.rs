//! Opening a connection: drive a negotiation to its end.

use std::borrow::Cow;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::task::{Context as TaskContext, Poll};
use std::time::Duration;

use futures_core::Stream;
use snodo_dialect::{Era, Outfit};
use snodo_engine::{Negotiation, Opened, Plan, Step};
use snodo_transport::{BoxFuture, Connect, Exchange, Incoming, Transport, from_fn};
use snodo_types::{Error, Message, ProtocolVersion, Routing, TransportError};

use crate::attendant::{Attendant, Dismissed, Handed, dismiss};
use crate::connection::{Connection, carrier, closed};
use crate::context::Context;
use crate::options::Options;
use crate::server::{Server, Session};
use crate::timer::{self, Timer};
use crate::trace::ConnectionSpan;
use tokio::sync::OnceCell;

/// [`Connect`] without its type: what a client keeps to renew its connection.
pub(crate) trait Connector: Send + Sync {
    fn connect(&self) -> BoxFuture<'_, Result<Arc<dyn Transport>, TransportError>>;

    fn target(&self) -> Cow<'_, str>;

    fn origin(&self) -> Option<String>;
}

impl<C: Connect> Connector for C {
    fn connect(&self) -> BoxFuture<'_, Result<Arc<dyn Transport>, TransportError>> {
        Box::pin(async move {
            let transport: Arc<dyn Transport> = Arc::new(Connect::connect(self).await?);
            Ok(transport)
        })
    }

    fn target(&self) -> Cow<'_, str> {
        Connect::target(self)
    }

    fn origin(&self) -> Option<String> {
        Connect::origin(self)
    }
}

impl fmt::Debug for dyn Connector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Connector({})", self.target())
    }
}

/// What every connection of a client is opened with.
pub(crate) struct Opener<'a> {
    pub(crate) connector: &'a dyn Connector,
    pub(crate) options: &'a Options,
    pub(crate) context: &'a Context,
    pub(crate) ids: &'a AtomicU64,
    pub(crate) epoch: u64,
    /// The one version to try, where it is known.
    pub(crate) verdict: Option<ProtocolVersion>,
}

/// Opens a connection by what the options allow.
pub(crate) async fn open(opener: Opener<'_>) -> Result<Connection, Error> {
    opener.options.check()?;
    let target = opener.connector.target().into_owned();
    let span = Arc::new(ConnectionSpan::to(&target));
    let connection = span.scope().of(try_open(opener, target, Arc::clone(&span))).await;
    match &connection {
        Ok(connection) => span.opened(connection.opened.dialect.version()),
        Err(error) => span.failed(error),
    }
    connection
}

async fn try_open(
    opener: Opener<'_>,
    target: String,
    span: Arc<ConnectionSpan>,
) -> Result<Connection, Error> {
    let Opener { connector, options, context, ids, epoch, verdict } = opener;
    let transport =
        connector.connect().await.map_err(|error| Error::from(error).at("connect", &target))?;
    let abilities = transport.abilities();
    let clocks = |wait: Option<Duration>| if abilities.same_task { None } else { wait };
    let identity = options.identity()?;
    let plan = Plan {
        allowed: verdict.map_or_else(|| options.allowed.clone(), |version| vec![version]),
        identity: identity.clone(),
        carrier: carrier(abilities),
        notifies: abilities.notify,
        probe_timeout: clocks(options.probe_timeout),
        timeout: clocks(options.timeout),
    };
    let context = context.anew(epoch, span.scope());
    let negotiation = Negotiation::new(plan);
    let opening = Opening {
        connector,
        ids,
        negotiation,
        transport,
        attendant: None,
        early: None,
        context: context.clone(),
        close_limit: options.close_limit(),
    };
    let (opened, transport, [attendant, early]) =
        opening.run().await.map_err(|(doing, error)| error.at(doing, &target))?;
    let connection = Connection {
        epoch,
        server: Server::of(&opened),
        session: Session::of(&opened),
        transport,
        opened,
        identity,
        allowed: options.allowed.clone(),
        context,
        target,
        attendant: attendant.map_or_else(OnceLock::new, OnceLock::from),
        stream: OnceCell::new(),
        opening: Mutex::default(),
        restored: OnceCell::new(),
        early,
        span,
    };
    // Both cells are this connection's own; the version of a session is there already.
    let _ = connection.context.dialect.set(connection.opened.dialect);
    if let Some(info) = connection.server.info() {
        drop(connection.context.server.set(info.clone()));
    }
    // Over HTTP a server asks on a stream of its own: it is there before the first call.
    let session = connection.opened.dialect.era() == Era::Initialize;
    let asks = connection.identity.capabilities.text() != "{}" || options.sink.is_some();
    if session && asks && abilities.own_stream && !abilities.same_task {
        // Without it the server can still ask on the streams of calls.
        let _ = connection.server_stream(options.timeout).await;
    }
    Ok(connection)
}

/// A negotiation under way. Dropping it drops the transport, and what was started with it.
struct Opening<'a> {
    connector: &'a dyn Connector,
    ids: &'a AtomicU64,
    negotiation: Negotiation,
    transport: Arc<dyn Transport>,
    attendant: Option<Attendant>,
    early: Option<Attendant>,
    context: Context,
    /// How long a polite end may take.
    close_limit: Duration,
}

/// What a negotiation leaves behind: the attendants are kept with the connection.
type Settled = (Opened, Arc<dyn Transport>, [Option<Attendant>; 2]);

impl Opening<'_> {
    async fn run(mut self) -> Result<Settled, (&'static str, Error)> {
        let (mut exchange, mut timer) = (None, Timer::default());
        if self.context.is_attended() {
            self.attend();
        }
        loop {
            let doing = self.negotiation.doing();
            match self.negotiation.poll(|| self.ids.fetch_add(1, Ordering::Relaxed), timer::now()) {
                Some(Step::Done(Ok(opened))) => {
                    return Ok((opened, self.transport, [self.attendant, self.early]));
                }
                Some(Step::Done(Err(error))) => {
                    self.leave().await;
                    return Err((doing, error));
                }
                Some(Step::Send(envelope)) => {
                    if envelope.opens_session {
                        self.attend();
                    }
                    if let Some(dialect) = self.negotiation.agreed() {
                        // The server may ask as soon as it hears of this.
                        let _ = self.context.dialect.set(dialect);
                    }
                    exchange = Some(self.transport.exchange(envelope));
                }
                Some(Step::Reopen) => {
                    exchange = None;
                    match self.reopen().await {
                        Ok(()) if self.context.is_attended() => self.attend(),
                        Ok(()) => {}
                        Err(error) => self.negotiation.handle_reopen_failed(error.into()),
                    }
                }
                Some(Step::Serve(message)) => self.serve(message).await,
                Some(Step::Ask(_) | Step::Define(_) | Step::Notify(_) | Step::Progress(_)) => {}
                None => {
                    let waited = poll_fn(|cx| self.poll_event(&mut exchange, &mut timer, cx)).await;
                    waited.map_err(|error| (doing, error))?;
                    // A peer that always has something to say must not keep the thread to itself.
                    tokio::task::coop::consume_budget().await;
                }
            }
        }
    }

    /// On a shared pipe the server may ask from the first byte on, before the session is open
    /// (2025-11-25, lifecycle, "Initialization").
    fn attend(&mut self) {
        let abilities = self.transport.abilities();
        if abilities.own_stream || abilities.same_task || self.attendant.is_some() {
            return;
        }
        if let Some(unsolicited) = self.transport.unsolicited(Routing::new()) {
            self.attendant = Some(Attendant::spawn(
                Arc::clone(&self.transport),
                Outfit::default(),
                self.context.clone(),
                Some(unsolicited),
            ));
        }
    }

    /// What the server asks on the stream of `initialize` itself is answered without a session, by
    /// an attendant of that time alone.
    async fn serve(&mut self, message: Message) {
        let early = self.early.get_or_insert_with(|| {
            let transport = Arc::clone(&self.transport);
            Attendant::spawn(transport, Outfit::default(), self.context.clone(), None)
        });
        if let Some(handing) = early.hand(Handed::Message(message)) {
            handing.await;
        }
    }

    async fn reopen(&mut self) -> Result<(), TransportError> {
        // An older server that took the probe badly must not hold up its successor for long.
        let dismissed = self.dismiss(Duration::from_secs(1)).await;
        self.transport.close(Routing::new(), dismissed.left).await;
        // It is gone before its successor comes: both may want the same process, port or file.
        self.transport = Arc::new(from_fn(|_| async { Err(closed()) }));
        self.transport = self.connector.connect().await?;
        self.negotiation.handle_reopened();
        Ok(())
    }

    /// A session that the server has opened and nobody will use is ended there.
    async fn leave(&mut self) {
        if let Some(routing) = self.negotiation.take_session() {
            let dismissed = self.dismiss(self.close_limit).await;
            self.transport.close(routing, dismissed.left).await;
        }
    }

    async fn dismiss(&mut self, limit: Duration) -> Dismissed {
        let attendants = [self.attendant.take(), self.early.take()];
        dismiss(attendants.each_ref().map(Option::as_ref), limit).await
    }

    fn poll_event(
        &mut self,
        exchange: &mut Option<Exchange>,
        timer: &mut Timer,
        cx: &mut TaskContext<'_>,
    ) -> Poll<Result<(), Error>> {
        if let Some(running) = exchange {
            match Pin::new(running).poll_next(cx) {
                Poll::Ready(Some(Ok(Incoming::Message(message)))) => {
                    self.negotiation.handle_message(message, timer::now())
                }
                Poll::Ready(Some(Ok(Incoming::Held))) => self.negotiation.handle_held(timer::now()),
                Poll::Ready(Some(Ok(Incoming::Released))) => {
                    self.negotiation.handle_released(timer::now());
                }
                Poll::Ready(Some(Ok(Incoming::Sent))) => self.negotiation.handle_sent(),
                Poll::Ready(Some(Ok(_))) => {}
                Poll::Ready(Some(Err(error))) => {
                    *exchange = None;
                    self.negotiation.handle_closed(Some(error));
                }
                Poll::Ready(None) => {
                    *exchange = None;
                    self.negotiation.handle_closed(None);
                }
                Poll::Pending => {
                    return timer.poll(self.negotiation.deadline(), cx).map_ok(|()| {
                        self.negotiation.handle_timeout(timer::now());
                    });
                }
            }
            return Poll::Ready(Ok(()));
        }
        timer
            .poll(self.negotiation.deadline(), cx)
            .map_ok(|()| self.negotiation.handle_timeout(timer::now()))
    }
}
