//! What carries one request and brings its answer: the only door to the network.
//!
//! Everything above it knows requests and answers; everything below knows sockets. A stack of
//! other people's layers goes here.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{HeaderMap, Request, StatusCode};
use hyper::body::{Frame, SizeHint};
use snodo_types::TransportError;

use crate::body::Body;
use crate::dial::Dial;
use crate::limits::Limits;
use crate::pool::Pool;

/// How requests reach the server.
#[derive(Clone)]
pub(crate) struct Backend {
    pool: Arc<Pool>,
}

/// How a request names its place (RFC 9112, section 3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// By the whole URL.
    Absolute,
    /// By path and query.
    Origin,
}

/// A response whose body is still to be read.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Body,
}

impl Backend {
    pub(crate) fn new(dial: Dial, limits: Limits) -> Self {
        Self { pool: Pool::new(dial, limits) }
    }

    /// How requests name their place.
    pub(crate) fn form(&self) -> Form {
        Form::Origin
    }

    /// Sends a request and waits for the head of its answer.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future closes the connection that carries the request.
    pub(crate) fn send(
        &self,
        request: Request<Outgoing>,
    ) -> impl Future<Output = Result<Answer, TransportError>> + use<'_> {
        self.pool.send(request)
    }
}

/// The body of a request: one piece, whose length goes ahead of it.
#[derive(Debug)]
pub(crate) struct Outgoing {
    bytes: Bytes,
    written: Option<Arc<AtomicBool>>,
}

impl Outgoing {
    pub(crate) fn new(bytes: Bytes, written: Option<Arc<AtomicBool>>) -> Self {
        Self { bytes, written }
    }
}

impl hyper::body::Body for Outgoing {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        // The head is in the connection's buffer by now: what follows cannot be taken back.
        if let Some(written) = &self.written {
            written.store(true, Ordering::Release);
        }
        let bytes = std::mem::take(&mut self.bytes);
        Poll::Ready((!bytes.is_empty()).then(|| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.bytes.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.bytes.len() as u64)
    }
}
