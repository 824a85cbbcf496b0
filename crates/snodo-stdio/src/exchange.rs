//! One exchange on a pipe.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use snodo_transport::Incoming;
use snodo_types::{Abandon, Envelope, TransportError};

use crate::shared::Shared;

/// A message and what comes back because of it.
///
/// # Drop behavior
///
/// Before its first poll nothing happened. A message that still waits is taken out of the queue.
/// One that is on its way is finished, and the notice of abandonment follows it.
pub(crate) struct PipeExchange {
    shared: Arc<Shared>,
    stage: Stage,
}

enum Stage {
    /// Not polled yet.
    New(Envelope),
    /// The message is taken, the end has not come.
    Asked {
        id: u64,
        ticket: Option<u64>,
        abandon: Option<Arc<Abandon>>,
    },
    /// A message that nothing answers waits to be written.
    Telling {
        ticket: u64,
    },
    Ended,
}

impl PipeExchange {
    pub(crate) fn new(shared: Arc<Shared>, envelope: Envelope) -> Self {
        Self { shared, stage: Stage::New(envelope) }
    }

    fn open(
        &mut self,
        mut envelope: Envelope,
        cx: &Context<'_>,
    ) -> Poll<Option<Result<Incoming, TransportError>>> {
        // Failures leave the stage at its end.
        let opened = match self.shared.open(&mut envelope, cx) {
            Ok(opened) => opened,
            Err(error) => return Poll::Ready(Some(Err(error))),
        };
        let ticket = opened.ticket;
        match (envelope.id, ticket) {
            (Some(id), _) => {
                let abandon = envelope.abandon.take();
                self.stage = Stage::Asked { id, ticket, abandon };
            }
            (None, Some(ticket)) => self.stage = Stage::Telling { ticket },
            (None, None) => {}
        }
        opened.polled
    }
}

impl futures_core::Stream for PipeExchange {
    type Item = Result<Incoming, TransportError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        match &self.stage {
            Stage::New(_) => match std::mem::replace(&mut self.stage, Stage::Ended) {
                Stage::New(envelope) => self.open(envelope, cx),
                _ => Poll::Ready(None),
            },
            &Stage::Asked { id, .. } => {
                let (polled, over) = self.shared.poll_request(id, cx);
                if over {
                    self.stage = Stage::Ended;
                }
                polled
            }
            &Stage::Telling { ticket } => {
                let polled = self.shared.poll_sent(ticket, cx);
                if polled.is_ready() {
                    self.stage = Stage::Ended;
                }
                polled.map(Some)
            }
            Stage::Ended => Poll::Ready(None),
        }
    }
}

impl Drop for PipeExchange {
    fn drop(&mut self) {
        match std::mem::replace(&mut self.stage, Stage::Ended) {
            Stage::Asked { id, ticket, abandon } => {
                let notice = abandon.map(|abandon| abandon.message(id));
                self.shared.abandon(id, ticket, notice);
            }
            Stage::Telling { ticket } => self.shared.withdraw(ticket),
            Stage::New(_) | Stage::Ended => {}
        }
    }
}

/// What concerns no exchange.
pub(crate) struct Unsolicited(pub(crate) Arc<Shared>);

impl futures_core::Stream for Unsolicited {
    type Item = Result<Incoming, TransportError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_unsolicited(cx)
    }
}
