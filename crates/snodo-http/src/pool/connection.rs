//! Connections: one that carries a request at a time, and one that carries many.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

use http::{Request, Response};
use hyper::body::Incoming;
use hyper::client::conn::TrySendError;
use hyper::client::conn::{http1, http2};
use tokio::task::AbortHandle;

use crate::backend::RequestBody;

/// What a new connection turned out to be.
pub(crate) enum Carrier {
    Many(Shared),
    One(Connection),
}

/// A connection over HTTP/1.1 and the task that moves its bytes, which ends with it.
pub(crate) struct Connection {
    sender: http1::SendRequest<RequestBody>,
    task: Task,
    requests: usize,
}

/// Ends with its owner.
struct Task(AbortHandle);

/// A connection over HTTP/2, as each of its requests holds it.
#[derive(Clone)]
pub(crate) struct Shared {
    sender: http2::SendRequest<RequestBody>,
    link: Arc<Link>,
}

/// What all holders of a connection over HTTP/2 share; its task ends with the last of them.
pub(crate) struct Link {
    task: AbortHandle,
    /// The most requests at once that the server takes.
    most: Arc<AtomicUsize>,
    under_way: AtomicUsize,
    requests: AtomicUsize,
}

/// What came of a request, or an error that holds the request if nothing of it was written.
pub(crate) type Sent<T> = Result<T, TrySendError<Request<RequestBody>>>;

impl Connection {
    pub(crate) fn new(sender: http1::SendRequest<RequestBody>, task: AbortHandle) -> Self {
        Self { sender, task: Task(task), requests: 0 }
    }

    /// Whether a request may be sent at once.
    pub(crate) fn is_ready(&self) -> bool {
        self.sender.is_ready()
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.sender.is_closed()
    }

    /// How many requests it has carried.
    pub(crate) fn requests(&self) -> usize {
        self.requests
    }

    /// Waits for a connection that was given back a moment ago and still tidies up; one that does
    /// not get ready is closed, or has a server that reads no further.
    pub(crate) async fn is_tidied(&mut self) -> bool {
        matches!(tokio::time::timeout(TIDY, self.sender.ready()).await, Ok(Ok(())))
    }

    /// Sends a request; gives the connection back with the response, unless it is over by then.
    ///
    /// A request that is handed over at the very moment at which the connection's task ends can be
    /// left lying between the two, where nobody answers it. Letting go of our end brings it back.
    pub(crate) async fn send(
        self,
        request: Request<RequestBody>,
    ) -> Sent<(Response<Incoming>, Option<Self>)> {
        let Self { mut sender, task, requests } = self;
        let mut sending = pin!(sender.try_send_request(request));
        let sent = poll_fn(|cx| match sending.as_mut().poll(cx) {
            Poll::Ready(sent) => Poll::Ready(Some(sent)),
            Poll::Pending => match sender.poll_ready(cx) {
                Poll::Ready(Err(_)) => Poll::Ready(None),
                _ => Poll::Pending,
            },
        });
        if let Some(sent) = sent.await {
            let requests = requests + 1;
            return sent.map(|response| (response, Some(Self { sender, task, requests })));
        }
        drop(sender);
        sending.await.map(|response| (response, None))
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Shared {
    pub(crate) fn new(
        sender: http2::SendRequest<RequestBody>,
        task: AbortHandle,
        most: Arc<AtomicUsize>,
    ) -> Self {
        let (under_way, requests) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Self { sender, link: Arc::new(Link { task, most, under_way, requests }) }
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.sender.is_closed()
    }

    /// Whether the server takes no further request now.
    pub(crate) fn is_full(&self) -> bool {
        self.link.under_way() >= self.link.most.load(Ordering::Relaxed)
    }

    /// How many requests it has carried, those under way included.
    pub(crate) fn requests(&self) -> usize {
        self.link.requests.load(Ordering::Relaxed)
    }

    pub(crate) fn link(&self) -> &Arc<Link> {
        &self.link
    }

    /// Counts a request before it is sent; [`Link::leave`] counts its end.
    pub(crate) fn enter(&self) {
        self.link.under_way.fetch_add(1, Ordering::AcqRel);
        self.link.requests.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn send(
        &mut self,
        request: Request<RequestBody>,
    ) -> impl Future<Output = Sent<Response<Incoming>>> + use<> {
        self.sender.try_send_request(request)
    }
}

impl Link {
    /// A request has ended; whether it was the last.
    pub(crate) fn leave(&self) -> bool {
        self.under_way.fetch_sub(1, Ordering::AcqRel) == 1
    }

    /// How many requests have not ended.
    pub(crate) fn under_way(&self) -> usize {
        self.under_way.load(Ordering::Acquire)
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The time a connection has to get ready for the next request.
const TIDY: Duration = Duration::from_millis(100);
