//! The connections to one server: those at rest, the last one used first, and the one that is
//! shared over HTTP/2.
//!
//! One connector has one pool; its transports share it, so that a new session costs no new
//! sockets. A connection over HTTP/1.1 comes back when the body of its response was read to the
//! end; one whose body was given up is closed. Over HTTP/2 all requests use one connection, as
//! long as the server takes so many at once.

mod connection;
mod resting;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use http::header::{HOST, PROXY_AUTHORIZATION};
use http::{HeaderValue, Request, Response};
use hyper::body::Incoming;
use hyper::client::conn::TrySendError;
use snodo_types::TransportError;
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::AbortHandle;
use tokio::time::Instant;

use crate::backend::{Answer, Form, RequestBody};
use crate::body::Body;
use crate::dial::{Dial, Expected};
use crate::fault;
use crate::limits::Limits;

use self::connection::Link;
pub(crate) use self::connection::{Carrier, Connection, Shared};
use self::resting::Resting;

/// All connections to one server.
pub(crate) struct Pool {
    dial: Dial,
    /// For the proxy that sends requests on, if it wants to know who asks.
    proxy_authorization: Option<HeaderValue>,
    limits: Limits,
    resting: Mutex<Resting>,
    slots: Option<Arc<Semaphore>>,
    /// Held while a connection is opened that may turn out to be for all; the last failure to.
    turn: tokio::sync::Mutex<Option<TransportError>>,
    /// How many attempts to open one have ended.
    attempts: AtomicU64,
}

/// The right to use a connection for one exchange.
pub(crate) struct Lease {
    hold: Hold,
    slot: Option<OwnedSemaphorePermit>,
}

enum Hold {
    Many(Ticket),
    /// Without the connection, if it ended behind the head of the response.
    One(Option<Connection>, Arc<Pool>),
}

/// One request among others over a shared connection.
struct Ticket {
    link: Arc<Link>,
    pool: Arc<Pool>,
}

/// A connection for one request.
enum Taken {
    Many(Shared, Ticket),
    One(Connection),
}

/// A request that brought no response; it is there if nothing of it was written.
struct Failure {
    error: hyper::Error,
    request: Option<Request<RequestBody>>,
    /// Others were under way over the same connection, and may be still.
    shared: bool,
}

impl Pool {
    pub(crate) fn new(dial: Dial, limits: Limits) -> Arc<Self> {
        let slots = limits.at_once.map(|slots| Arc::new(Semaphore::new(slots.max(1))));
        Arc::new(Self {
            proxy_authorization: dial.proxy_authorization(),
            dial,
            limits,
            resting: Mutex::default(),
            slots,
            turn: tokio::sync::Mutex::default(),
            attempts: AtomicU64::new(0),
        })
    }

    /// How requests name their place.
    pub(crate) fn form(&self) -> Form {
        self.dial.form()
    }

    /// Gives a request that names the whole URL the form of this pool.
    pub(crate) fn reshape(&self, request: &mut Request<RequestBody>) {
        let target = &self.dial.target;
        request.headers_mut().insert(HOST, target.authority().clone());
        if self.form() == Form::Origin {
            let path = target.relative(request.uri());
            *request.uri_mut() = path;
        }
    }

    /// Sends a request over a resting connection, a shared one, or a new one.
    ///
    /// A resting connection that turns out to be closed before anything of the request was written
    /// costs nothing: the request goes over a new one. One that closes as the request goes out, and
    /// before anything comes back, has [hardly](snodo_types::Processed::Unlikely) carried it.
    pub(crate) async fn send(
        self: &Arc<Self>,
        mut request: Request<RequestBody>,
    ) -> Result<Answer, TransportError> {
        if let Some(value) = &self.proxy_authorization {
            request.headers_mut().insert(PROXY_AUTHORIZATION, value.clone());
        }
        // The way of nearly all requests. What else may happen is rare and large, hence boxed.
        let Some(connection) = self.at_hand() else {
            return Box::pin(self.send_in_turn(request)).await;
        };
        let unsent = match connection.send(request).await {
            Ok((response, connection)) => {
                return Ok(self.answer(response, Hold::One(connection, Arc::clone(self)), None));
            }
            Err(error) => self.unsent(Failure::new(error))?,
        };
        Box::pin(self.send_anew(unsent, None)).await
    }

    /// Sends a request when its turn has come, over a connection that may have to be waited for.
    async fn send_in_turn(
        self: &Arc<Self>,
        mut request: Request<RequestBody>,
    ) -> Result<Answer, TransportError> {
        let slot = match &self.slots {
            Some(slots) => slots.clone().acquire_owned().await.ok(),
            None => None,
        };
        if let Some(taken) = self.take().await {
            request = match self.send_over(taken, request).await {
                Ok((response, hold)) => return Ok(self.answer(response, hold, slot)),
                Err(failure) => self.unsent(failure)?,
            };
        }
        self.send_anew(request, slot).await
    }

    async fn send_anew(
        self: &Arc<Self>,
        request: Request<RequestBody>,
        slot: Option<OwnedSemaphorePermit>,
    ) -> Result<Answer, TransportError> {
        let taken = self.open().await?;
        match self.send_over(taken, request).await {
            Ok((response, hold)) => Ok(self.answer(response, hold, slot)),
            Err(Failure { error, request: Some(_), .. }) => Err(self.broken(error).not_processed()),
            Err(failure) => Err(self.broken(failure.error)),
        }
    }

    async fn send_over(
        self: &Arc<Self>,
        taken: Taken,
        mut request: Request<RequestBody>,
    ) -> Result<(Response<Incoming>, Hold), Failure> {
        match taken {
            Taken::One(connection) => match connection.send(request).await {
                Ok((response, rest)) => Ok((response, Hold::One(rest, Arc::clone(self)))),
                Err(error) => Err(Failure::new(error)),
            },
            Taken::Many(mut shared, ticket) => {
                // The authority goes ahead in a field of its own (RFC 9113, section 8.3.1).
                let absolute = self.dial.target.absolute(request.uri());
                let uri = std::mem::replace(request.uri_mut(), absolute);
                let host = request.headers_mut().remove(HOST);
                match shared.send(request).await {
                    Ok(response) => Ok((response, Hold::Many(ticket))),
                    Err(error) => {
                        let mut failure = Failure::new(error);
                        failure.shared = true;
                        if let Some(request) = &mut failure.request {
                            *request.uri_mut() = uri;
                            request.headers_mut().extend(host.map(|host| (HOST, host)));
                        }
                        Err(failure)
                    }
                }
            }
        }
    }

    /// The request, if nothing of it was written over a connection that had rested.
    fn unsent(&self, failure: Failure) -> Result<Request<RequestBody>, TransportError> {
        failure.request.ok_or_else(|| {
            // What does come back and is no HTTP says that the server was there.
            let heard = failure.error.is_parse() || failure.shared;
            let broken = self.broken(failure.error);
            if heard { broken } else { broken.hardly_processed() }
        })
    }

    fn answer(
        self: &Arc<Self>,
        response: Response<Incoming>,
        hold: Hold,
        slot: Option<OwnedSemaphorePermit>,
    ) -> Answer {
        let (head, incoming) = response.into_parts();
        let body = Body::new(incoming, Lease { hold, slot });
        Answer { status: head.status, headers: head.headers, body }
    }

    /// The connection used last, where that was a moment ago and nobody has to wait.
    fn at_hand(&self) -> Option<Connection> {
        if self.slots.is_some() {
            return None;
        }
        let mut resting = self.resting();
        let (_, since) = resting.connections.last()?;
        if since.elapsed() > NOTICED {
            return None;
        }
        resting.connections.pop_if(|(connection, _)| connection.is_ready()).map(|(at, _)| at)
    }

    /// A connection that can be used: one that rests, or the one that is shared.
    async fn take(self: &Arc<Self>) -> Option<Taken> {
        loop {
            let popped = self.resting().connections.pop();
            let Some((mut connection, since)) = popped else { break };
            let rested = since.elapsed();
            if rested > self.limits.idle_timeout {
                continue;
            }
            if rested > NOTICED {
                // The server may have hung up meanwhile; let the connection's task see it.
                tokio::task::yield_now().await;
            }
            if connection.is_ready() || connection.is_tidied().await {
                return Some(Taken::One(connection));
            }
        }
        let (taken, quiet) = self.enter()?;
        if quiet > self.limits.idle_timeout {
            return None;
        }
        if quiet > NOTICED {
            tokio::task::yield_now().await;
        }
        Some(taken).filter(|taken| !taken.is_closed())
    }

    /// A place on the shared connection, and for how long that had no request.
    fn enter(self: &Arc<Self>) -> Option<(Taken, Duration)> {
        let (shared, quiet) = self.resting().enter(self.limits.per_connection)?;
        let ticket = Ticket { link: Arc::clone(shared.link()), pool: Arc::clone(self) };
        Some((Taken::Many(shared, ticket), quiet))
    }

    /// Opens a connection. Where it may turn out to be for all, one is opened at a time, and who
    /// waited meanwhile shares it, or its failure.
    async fn open(self: &Arc<Self>) -> Result<Taken, TransportError> {
        let attempts = self.attempts.load(Ordering::Acquire);
        if self.dial.expected() == Expected::One {
            return self.own(self.dial.open().await?);
        }
        let mut turn = self.turn.lock().await;
        if let Some((taken, _)) = self.enter() {
            return Ok(taken);
        }
        if self.dial.expected() == Expected::One {
            drop(turn);
            return self.own(self.dial.open().await?);
        }
        if self.attempts.load(Ordering::Acquire) > attempts
            && let Some(error) = &*turn
        {
            return Err(error.clone());
        }
        let opened = self.dial.open().await;
        *turn = opened.as_ref().err().cloned();
        self.attempts.fetch_add(1, Ordering::AcqRel);
        self.own(opened?)
    }

    /// Takes a place on a connection that was just opened.
    fn own(self: &Arc<Self>, carrier: Carrier) -> Result<Taken, TransportError> {
        match carrier {
            Carrier::One(connection) => Ok(Taken::One(connection)),
            Carrier::Many(shared) => {
                shared.enter();
                let ticket = Ticket { link: Arc::clone(shared.link()), pool: Arc::clone(self) };
                let before = match self.limits.idle {
                    0 => None,
                    _ => self.resting().share(shared.clone()),
                };
                drop(before);
                Ok(Taken::Many(shared, ticket))
            }
        }
    }

    /// Lets a connection rest.
    fn put(self: &Arc<Self>, connection: Connection) {
        let worn = self.limits.per_connection.is_some_and(|most| connection.requests() >= most);
        if worn || connection.is_closed() || self.limits.idle == 0 {
            return;
        }
        let mut resting = self.resting();
        let full = resting.connections.len() >= self.limits.idle;
        let oldest = full.then(|| resting.connections.remove(0));
        resting.connections.push((connection, Instant::now()));
        self.look_after(&mut resting);
        drop(resting);
        drop(oldest);
    }

    /// A shared connection has no request any more.
    fn quiet(self: &Arc<Self>, link: &Arc<Link>) {
        let mut resting = self.resting();
        if resting.quiet(link) {
            self.look_after(&mut resting);
        }
    }

    fn look_after(self: &Arc<Self>, resting: &mut Resting) {
        if resting.reaper.as_ref().is_none_or(AbortHandle::is_finished)
            && let Ok(runtime) = Handle::try_current()
        {
            let task = runtime.spawn(reap(Arc::downgrade(self), self.limits.idle_timeout));
            resting.reaper = Some(task.abort_handle());
        }
    }

    fn resting(&self) -> MutexGuard<'_, Resting> {
        self.resting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn broken(&self, error: hyper::Error) -> TransportError {
        fault::exchange(self.dial.target.shown(), error)
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        if let Some(reaper) = self.resting().reaper.take() {
            reaper.abort();
        }
    }
}

impl Taken {
    fn is_closed(&self) -> bool {
        match self {
            Self::Many(shared, _) => shared.is_closed(),
            Self::One(connection) => connection.is_closed(),
        }
    }
}

impl Failure {
    fn new(mut error: TrySendError<Request<RequestBody>>) -> Self {
        let request = error.take_message();
        Self { error: error.into_error(), request, shared: false }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if self.link.leave() {
            self.pool.quiet(&self.link);
        }
    }
}

impl Lease {
    /// The body was read to its end: the connection may carry another request.
    pub(crate) fn give_back(self) {
        let Self { hold, slot } = self;
        match hold {
            Hold::Many(ticket) => drop(ticket),
            Hold::One(Some(connection), pool) => pool.put(connection),
            Hold::One(None, _) => {}
        }
        drop(slot);
    }

    /// A stream may stay open for days: it no longer counts as a request under way.
    pub(crate) fn free_slot(&mut self) {
        self.slot = None;
    }

    /// What the server is called in errors.
    pub(crate) fn target(&self) -> &str {
        let (Hold::One(_, pool) | Hold::Many(Ticket { pool, .. })) = &self.hold;
        pool.dial.target.shown()
    }
}

/// Closes connections that rested too long, and ends when none is left.
async fn reap(pool: Weak<Pool>, idle_timeout: Duration) {
    loop {
        let wait = {
            let Some(pool) = pool.upgrade() else { return };
            let mut resting = pool.resting();
            let worn = resting.wear(idle_timeout);
            if worn.next.is_none() {
                resting.reaper = None;
            }
            drop(resting);
            worn.next
        };
        let Some(wait) = wait else { return };
        tokio::time::sleep(wait).await;
    }
}

/// A rest so long that the server may have hung up.
const NOTICED: Duration = Duration::from_millis(1);
