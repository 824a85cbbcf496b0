//! The body of a response, and what becomes of its connection.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body as _, Frame, Incoming, SizeHint};
use snodo_types::{TransportError, TransportFault};
use tokio::task::coop;

use crate::decode::{Unpacked, Unpacker};
use crate::fault;
use crate::pool::Lease;

/// What is left of a response.
///
/// # Drop behavior
///
/// A body that was not read to its end closes its connection.
pub(crate) struct Body(Source);

enum Source {
    /// Still on its connection.
    Live {
        incoming: Incoming,
        lease: Lease,
    },
    /// From a service that is not of this crate.
    Foreign(Foreign),
    /// Read already.
    Kept(Bytes),
    /// Another body, unpacked while it is read.
    Packed(Box<Packed>),
    Ended,
}

struct Packed {
    below: Body,
    unpacker: Unpacker,
}

type Foreign = Pin<Box<dyn hyper::body::Body<Data = Bytes, Error = TransportError> + Send>>;

impl Body {
    pub(crate) fn new(incoming: Incoming, lease: Lease) -> Self {
        let mut body = Self(Source::Live { incoming, lease });
        body.settle();
        body
    }

    /// A body of somebody else's.
    pub(crate) fn foreign<B>(body: B) -> Self
    where
        B: hyper::body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        if body.is_end_stream() {
            return Self(Source::Ended);
        }
        Self(Source::Foreign(Box::pin(Named(Box::pin(body)))))
    }

    /// The same body, unpacked while it is read.
    pub(crate) fn unpacked(self, unpacker: Unpacker) -> Self {
        Self(Source::Packed(Box::new(Packed { below: self, unpacker })))
    }

    /// A body that was read already.
    pub(crate) fn kept(bytes: Bytes) -> Self {
        Self(Source::Kept(bytes))
    }

    /// The next piece; `None` at the end. Costs a unit of tokio's budget, so that a body that
    /// always has more starves nobody.
    pub(crate) fn poll_data(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, TransportError>>> {
        loop {
            let (frame, lease) = match &mut self.0 {
                Source::Live { incoming, lease } => {
                    let budget = ready!(coop::poll_proceed(cx));
                    let frame = ready!(Pin::new(incoming).poll_frame(cx));
                    budget.made_progress();
                    (frame, lease)
                }
                Source::Foreign(_) => return self.poll_foreign(cx),
                Source::Packed(_) => return self.poll_packed(cx),
                Source::Kept(bytes) => {
                    let bytes = std::mem::take(bytes);
                    self.0 = Source::Ended;
                    return Poll::Ready((!bytes.is_empty()).then_some(Ok(bytes)));
                }
                Source::Ended => return Poll::Ready(None),
            };
            match frame {
                Some(Ok(frame)) => {
                    self.settle();
                    // Trailers say nothing here.
                    if let Ok(data) = frame.into_data() {
                        return Poll::Ready(Some(Ok(data)));
                    }
                }
                Some(Err(error)) => {
                    let error = fault::body(lease.target(), error);
                    self.0 = Source::Ended;
                    return Poll::Ready(Some(Err(error)));
                }
                None => {
                    self.finish();
                    return Poll::Ready(None);
                }
            }
        }
    }

    fn poll_foreign(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, TransportError>>> {
        loop {
            let Source::Foreign(body) = &mut self.0 else { return Poll::Ready(None) };
            let budget = ready!(coop::poll_proceed(cx));
            let frame = ready!(body.as_mut().poll_frame(cx));
            budget.made_progress();
            match frame {
                Some(Ok(frame)) => {
                    let Ok(data) = frame.into_data() else { continue };
                    if body.is_end_stream() {
                        self.0 = Source::Ended;
                    }
                    return Poll::Ready(Some(Ok(data)));
                }
                Some(Err(error)) => {
                    self.0 = Source::Ended;
                    return Poll::Ready(Some(Err(error)));
                }
                None => {
                    self.0 = Source::Ended;
                    return Poll::Ready(None);
                }
            }
        }
    }

    fn poll_packed(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, TransportError>>> {
        loop {
            let Source::Packed(packed) = &mut self.0 else { return Poll::Ready(None) };
            let budget = ready!(coop::poll_proceed(cx));
            let end = match packed.unpacker.next() {
                Ok(Unpacked::Piece(piece)) => {
                    budget.made_progress();
                    return Poll::Ready(Some(Ok(piece)));
                }
                Ok(Unpacked::More) => match ready!(packed.below.poll_data(cx)) {
                    Some(Ok(piece)) => {
                        packed.unpacker.feed(piece);
                        continue;
                    }
                    Some(Err(error)) => Some(error),
                    None => {
                        packed.unpacker.finish();
                        continue;
                    }
                },
                Ok(Unpacked::End) => None,
                Err(error) => Some(error),
            };
            self.0 = Source::Ended;
            return Poll::Ready(end.map(Err));
        }
    }

    /// How much comes, as far as it is known.
    pub(crate) fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Source::Live { incoming, .. } => incoming.size_hint(),
            Source::Foreign(body) => body.size_hint(),
            Source::Kept(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Source::Packed(_) => SizeHint::default(),
            Source::Ended => SizeHint::with_exact(0),
        }
    }

    /// Whether nothing comes any more.
    pub(crate) fn is_ended(&self) -> bool {
        match &self.0 {
            Source::Foreign(_) | Source::Live { .. } | Source::Packed(_) => false,
            Source::Kept(bytes) => bytes.is_empty(),
            Source::Ended => true,
        }
    }

    /// Reads to the end, at most `limit` bytes.
    pub(crate) async fn whole(mut self, limit: usize) -> Result<Vec<u8>, TransportError> {
        let promised = self.size_hint().exact().unwrap_or(0);
        let promised = usize::try_from(promised).unwrap_or(usize::MAX);
        if promised > limit {
            return Err(too_large(limit));
        }
        // A promise costs address space only, and no more than this much of it.
        let mut bytes = Vec::with_capacity(promised.min(MOST_RESERVED));
        while let Some(piece) = poll_fn(|cx| self.poll_data(cx)).await {
            let piece = piece?;
            if bytes.len() + piece.len() > limit {
                return Err(too_large(limit));
            }
            bytes.extend_from_slice(&piece);
        }
        Ok(bytes)
    }

    /// Reads what comes of at most `limit` bytes within a short time: the body of an error, which
    /// is told whether it is whole or not.
    pub(crate) async fn beginning(&mut self, limit: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        let reading = async {
            while bytes.len() < limit
                && let Some(Ok(piece)) = poll_fn(|cx| self.poll_data(cx)).await
            {
                bytes.extend_from_slice(&piece);
            }
        };
        let _ = tokio::time::timeout(PATIENCE, reading).await;
        bytes.truncate(limit);
        bytes
    }

    /// Reads and forgets a short rest, so that the connection can be used again; a long one or a
    /// slow one is not worth it.
    pub(crate) async fn drain(mut self) {
        if self.is_ended() {
            return;
        }
        let reading = async {
            let mut seen = 0;
            while seen < MOST_DRAINED
                && let Some(Ok(piece)) = poll_fn(|cx| self.poll_data(cx)).await
            {
                seen += piece.len();
            }
        };
        let _ = tokio::time::timeout(BRIEFLY, reading).await;
    }

    /// See [`Lease::free_slot`].
    pub(crate) fn free_slot(&mut self) {
        match &mut self.0 {
            Source::Live { lease, .. } => lease.free_slot(),
            Source::Packed(packed) => packed.below.free_slot(),
            Source::Ended | Source::Foreign(_) | Source::Kept(_) => {}
        }
    }

    /// Gives the connection back as soon as the last byte is known to have come.
    fn settle(&mut self) {
        if let Source::Live { incoming, .. } = &self.0
            && incoming.is_end_stream()
        {
            self.finish();
        }
    }

    fn finish(&mut self) {
        if let Source::Live { lease, .. } = std::mem::replace(&mut self.0, Source::Ended) {
            lease.give_back();
        }
    }
}

/// A body whose errors are of this side.
struct Named<B>(Pin<Box<B>>);

impl<B> hyper::body::Body for Named<B>
where
    B: hyper::body::Body<Data = Bytes>,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Data = Bytes;
    type Error = TransportError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, TransportError>>> {
        let frame = ready!(self.0.as_mut().poll_frame(cx));
        Poll::Ready(frame.map(|frame| frame.map_err(fault::foreign_body)))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.size_hint()
    }
}

fn too_large(limit: usize) -> TransportError {
    TransportError::new(TransportFault::TooLarge, format!("the answer is over {limit} bytes"))
}

/// The most that is reserved for a body on its server's word.
const MOST_RESERVED: usize = 16 * 1024 * 1024;

/// The most that is read of a body nobody wants.
const MOST_DRAINED: usize = 64 * 1024;

/// How long a body that nobody wants is waited for.
const BRIEFLY: Duration = Duration::from_millis(50);

/// How long the body of an error is waited for.
const PATIENCE: Duration = Duration::from_secs(2);
