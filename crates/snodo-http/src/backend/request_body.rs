//! What a request holds.

use std::convert::Infallible;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};

/// The body of a request: one piece, whose length goes ahead of it.
///
/// ```
/// use http::Request;
/// use snodo_http::RequestBody;
///
/// fn message(request: &Request<RequestBody>) -> usize {
///     request.body().bytes().len()
/// }
/// ```
pub struct RequestBody {
    bytes: Bytes,
    written: Option<Arc<AtomicBool>>,
}

impl RequestBody {
    pub(crate) fn new(bytes: Bytes, written: Option<Arc<AtomicBool>>) -> Self {
        Self { bytes, written }
    }

    /// What has not been read yet; all of it, in a layer.
    #[must_use]
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
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

impl fmt::Debug for RequestBody {
    /// Shows the length: what stands in a message may be private.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RequestBody({} bytes)", self.bytes.len())
    }
}
