//! What a response holds, as layers see it.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hyper::body::{Body as _, Frame, SizeHint};
use snodo_types::TransportError;

use crate::body::Body;

/// The body of a response, piece by piece as it comes.
///
/// # Drop behavior
///
/// A body that was not read to its end gives the response up: over HTTP/1.1 that closes its
/// connection.
///
/// ```
/// use http::Response;
/// use snodo_http::ResponseBody;
///
/// fn is_over(response: &Response<ResponseBody>) -> bool {
///     hyper::body::Body::is_end_stream(response.body())
/// }
/// ```
pub struct ResponseBody(pub(crate) Body);

impl hyper::body::Body for ResponseBody {
    type Data = Bytes;
    type Error = TransportError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, TransportError>>> {
        let piece = ready!(self.0.poll_data(cx));
        Poll::Ready(piece.map(|piece| piece.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_ended()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.size_hint()
    }
}

impl fmt::Debug for ResponseBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseBody").field("size", &self.size_hint()).finish()
    }
}
