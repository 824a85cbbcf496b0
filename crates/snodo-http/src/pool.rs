//! Connections at rest, the last one used first.
//!
//! One connector has one pool; its transports share it, so that a new session costs no new
//! sockets. A connection comes back when the body of its response was read to the end; one whose
//! body was given up is closed.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use http::{Request, Response};
use hyper::body::Incoming;
use hyper::client::conn::http1::SendRequest;
use snodo_types::TransportError;
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::AbortHandle;
use tokio::time::Instant;

use crate::backend::Outgoing;
use crate::dial::dial;
use crate::fault;
use crate::limits::Limits;
use crate::target::Target;
use crate::tls::Tls;

/// All connections to one server.
pub(crate) struct Pool {
    pub(crate) target: Arc<Target>,
    pub(crate) limits: Limits,
    pub(crate) tls: Tls,
    resting: Mutex<Resting>,
    slots: Option<Arc<Semaphore>>,
}

/// The connections at rest; the one that rests longest is the first.
#[derive(Default)]
struct Resting {
    connections: Vec<(Connection, Instant)>,
    /// Closes what rested too long; there is one while anything rests.
    reaper: Option<AbortHandle>,
}

/// One connection and the task that moves its bytes, which ends with it.
pub(crate) struct Connection {
    sender: SendRequest<Outgoing>,
    task: AbortHandle,
    requests: usize,
}

/// The right to use a connection for one exchange.
pub(crate) struct Lease {
    connection: Connection,
    pool: Arc<Pool>,
    slot: Option<OwnedSemaphorePermit>,
}

impl Pool {
    pub(crate) fn new(target: Arc<Target>, limits: Limits, tls: Tls) -> Arc<Self> {
        let slots = limits.at_once.map(|slots| Arc::new(Semaphore::new(slots.max(1))));
        Arc::new(Self { target, limits, tls, resting: Mutex::default(), slots })
    }

    /// Sends a request over a resting connection, or a new one.
    ///
    /// A resting connection that turns out to be closed before anything of the request was written
    /// costs nothing: the request goes over a new one.
    pub(crate) async fn send(
        self: &Arc<Self>,
        mut request: Request<Outgoing>,
    ) -> Result<(Response<Incoming>, Lease), TransportError> {
        if Handle::try_current().is_err() {
            return Err(fault::no_runtime());
        }
        let slot = match &self.slots {
            Some(slots) => slots.clone().acquire_owned().await.ok(),
            None => None,
        };
        if let Some(mut connection) = self.take().await {
            match connection.send(request).await {
                Ok(response) => return Ok((response, self.lease(connection, slot))),
                Err(Failure::Unsent(unsent, _)) => request = unsent,
                Err(Failure::Broken(error)) => return Err(self.broken(error)),
            }
        }
        let mut connection = dial(self).await?;
        match connection.send(request).await {
            Ok(response) => Ok((response, self.lease(connection, slot))),
            Err(Failure::Unsent(_, error)) => Err(self.broken(error).not_processed()),
            Err(Failure::Broken(error)) => Err(self.broken(error)),
        }
    }

    fn lease(
        self: &Arc<Self>,
        connection: Connection,
        slot: Option<OwnedSemaphorePermit>,
    ) -> Lease {
        Lease { connection, pool: Arc::clone(self), slot }
    }

    /// A resting connection that can be used at once.
    async fn take(&self) -> Option<Connection> {
        loop {
            let (mut connection, since) = self.resting().connections.pop()?;
            let rested = since.elapsed();
            if rested > self.limits.idle_timeout {
                continue;
            }
            if rested > NOTICED {
                // The server may have hung up meanwhile; let the connection's task see it.
                tokio::task::yield_now().await;
            }
            if connection.sender.is_closed() {
                continue;
            }
            // One that was given back a moment ago still tidies up. It is nearly always ready at
            // once; one that is not has a server that reads no further.
            let ready = tokio::time::timeout(TIDY, connection.sender.ready()).await;
            if let Ok(Ok(())) = ready {
                return Some(connection);
            }
        }
    }

    /// Lets a connection rest.
    fn put(self: &Arc<Self>, connection: Connection) {
        let worn = self.limits.per_connection.is_some_and(|most| connection.requests >= most);
        if worn || connection.sender.is_closed() || self.limits.idle == 0 {
            return;
        }
        let mut resting = self.resting();
        let full = resting.connections.len() >= self.limits.idle;
        let oldest = full.then(|| resting.connections.remove(0));
        resting.connections.push((connection, Instant::now()));
        if resting.reaper.as_ref().is_none_or(AbortHandle::is_finished)
            && let Ok(runtime) = Handle::try_current()
        {
            let task = runtime.spawn(reap(Arc::downgrade(self), self.limits.idle_timeout));
            resting.reaper = Some(task.abort_handle());
        }
        drop(resting);
        drop(oldest);
    }

    fn resting(&self) -> MutexGuard<'_, Resting> {
        self.resting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn broken(&self, error: hyper::Error) -> TransportError {
        fault::exchange(self.target.shown(), error)
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        if let Some(reaper) = self.resting().reaper.take() {
            reaper.abort();
        }
    }
}

impl Connection {
    pub(crate) fn new(sender: SendRequest<Outgoing>, task: AbortHandle) -> Self {
        Self { sender, task, requests: 0 }
    }

    async fn send(&mut self, request: Request<Outgoing>) -> Result<Response<Incoming>, Failure> {
        self.requests += 1;
        self.sender.try_send_request(request).await.map_err(|mut error| {
            match error.take_message() {
                Some(unsent) => Failure::Unsent(unsent, error.into_error()),
                None => Failure::Broken(error.into_error()),
            }
        })
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Lease {
    /// The body was read to its end: the connection may carry another request.
    pub(crate) fn give_back(self) {
        let Self { connection, pool, slot } = self;
        pool.put(connection);
        drop(slot);
    }

    /// A stream may stay open for days: it no longer counts as a request under way.
    pub(crate) fn free_slot(&mut self) {
        self.slot = None;
    }

    /// What the server is called in errors.
    pub(crate) fn target(&self) -> &str {
        self.pool.target.shown()
    }
}

#[expect(clippy::large_enum_variant, reason = "lives for a moment on the stack")]
enum Failure {
    /// Nothing of it was written.
    Unsent(Request<Outgoing>, hyper::Error),
    Broken(hyper::Error),
}

/// Closes connections that rested too long, and ends when none is left.
async fn reap(pool: Weak<Pool>, idle_timeout: Duration) {
    loop {
        let wait = {
            let Some(pool) = pool.upgrade() else { return };
            let mut resting = pool.resting();
            let now = Instant::now();
            let worn = resting
                .connections
                .iter()
                .take_while(|(_, since)| now.duration_since(*since) >= idle_timeout)
                .count();
            let old: Vec<_> = resting.connections.drain(..worn).collect();
            let Some((_, since)) = resting.connections.first() else {
                resting.reaper = None;
                drop(resting);
                drop(old);
                return;
            };
            (*since + idle_timeout).duration_since(now)
        };
        tokio::time::sleep(wait).await;
    }
}

/// A rest so long that the server may have hung up.
const NOTICED: Duration = Duration::from_millis(1);

/// The time a connection has to get ready for the next request.
const TIDY: Duration = Duration::from_millis(100);
