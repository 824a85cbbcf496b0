//! Connections at rest, the last one used first.
//!
//! One connector has one pool; its transports share it, so that a new session costs no new
//! sockets. A connection comes back when the body of its response was read to the end; one whose
//! body was given up is closed.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use http::{Request, Response};
use hyper::body::Incoming;
use hyper::client::conn::TrySendError;
use hyper::client::conn::http1::SendRequest;
use snodo_types::TransportError;
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::AbortHandle;
use tokio::time::Instant;

use crate::backend::{Answer, Outgoing};
use crate::body::Body;
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
    /// costs nothing: the request goes over a new one. One that closes as the request goes out, and
    /// before anything comes back, has [hardly](snodo_types::Processed::Unlikely) carried it.
    pub(crate) async fn send(
        self: &Arc<Self>,
        request: Request<Outgoing>,
    ) -> Result<Answer, TransportError> {
        // The way of nearly all requests. What else may happen is rare and large, hence boxed.
        let Some(mut connection) = self.at_hand() else {
            return Box::pin(self.send_in_turn(request)).await;
        };
        let unsent = match connection.send(request).await {
            Ok(response) => return Ok(self.answer(response, connection, None)),
            Err(error) => self.unsent(error)?,
        };
        Box::pin(self.send_anew(unsent, None)).await
    }

    /// Sends a request when its turn has come, over a connection that may have to be waited for.
    async fn send_in_turn(
        self: &Arc<Self>,
        mut request: Request<Outgoing>,
    ) -> Result<Answer, TransportError> {
        let slot = match &self.slots {
            Some(slots) => slots.clone().acquire_owned().await.ok(),
            None => None,
        };
        if let Some(mut connection) = self.take().await {
            request = match connection.send(request).await {
                Ok(response) => return Ok(self.answer(response, connection, slot)),
                Err(error) => self.unsent(error)?,
            };
        }
        self.send_anew(request, slot).await
    }

    async fn send_anew(
        self: &Arc<Self>,
        request: Request<Outgoing>,
        slot: Option<OwnedSemaphorePermit>,
    ) -> Result<Answer, TransportError> {
        let mut connection = dial(self).await?;
        match connection.send(request).await {
            Ok(response) => Ok(self.answer(response, connection, slot)),
            Err(mut error) => match error.take_message() {
                Some(_) => Err(self.broken(error).not_processed()),
                None => Err(self.broken(error)),
            },
        }
    }

    /// The request, if nothing of it was written over a connection that had rested.
    fn unsent(
        &self,
        mut error: TrySendError<Request<Outgoing>>,
    ) -> Result<Request<Outgoing>, TransportError> {
        error.take_message().ok_or_else(|| {
            let error = error.into_error();
            // What does come back and is no HTTP says that the server was there.
            let heard = error.is_parse();
            let broken = fault::exchange(self.target.shown(), error);
            if heard { broken } else { broken.hardly_processed() }
        })
    }

    fn answer(
        self: &Arc<Self>,
        response: Response<Incoming>,
        connection: Connection,
        slot: Option<OwnedSemaphorePermit>,
    ) -> Answer {
        let (head, incoming) = response.into_parts();
        let lease = Lease { connection, pool: Arc::clone(self), slot };
        let body = Body::new(incoming, lease);
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
        resting.connections.pop_if(|(connection, _)| connection.sender.is_ready()).map(|(at, _)| at)
    }

    /// A resting connection that can be used.
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
            if connection.sender.is_ready() || connection.is_tidied().await {
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

    fn broken(&self, error: TrySendError<Request<Outgoing>>) -> TransportError {
        fault::exchange(self.target.shown(), error.into_error())
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

    /// Waits for a connection that was given back a moment ago and still tidies up; one that does
    /// not get ready is closed, or has a server that reads no further.
    async fn is_tidied(&mut self) -> bool {
        matches!(tokio::time::timeout(TIDY, self.sender.ready()).await, Ok(Ok(())))
    }

    fn send(&mut self, request: Request<Outgoing>) -> impl Future<Output = Sent> + use<> {
        self.requests += 1;
        self.sender.try_send_request(request)
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

/// A response, or an error that holds the request if nothing of it was written.
type Sent = Result<Response<Incoming>, TrySendError<Request<Outgoing>>>;

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
