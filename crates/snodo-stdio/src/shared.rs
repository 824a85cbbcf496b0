//! What the exchanges, the reader and the writer of one pipe share.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use snodo_transport::{Incoming, Pending, Route};
use snodo_types::{Envelope, TransportError};

use crate::outbox::{Delivery, Outbox, Withdrawal};
use crate::reader::{Item, Skipped};

/// A sink that takes what fits at once, and nothing else.
pub(crate) trait TryWrite: Send + Sync {
    fn try_write(&self, bytes: &[u8]) -> io::Result<usize>;
}

/// The state of one pipe under its one lock.
pub(crate) struct Shared {
    state: Mutex<State>,
}

struct State {
    pending: Pending,
    outbox: Outbox,
    /// For a caller who is alone: no detour over the writer.
    direct: Option<Arc<dyn TryWrite>>,
    /// The writer, while it waits for something to write.
    writer: Option<Waker>,
    output: Output,
    skipped: u64,
    too_long: u64,
}

enum Output {
    Open,
    /// The writer ends when the outbox is empty.
    Closing,
    /// Nothing can be written any more, though something may still be read.
    Refused(TransportError),
}

/// What happened on a pipe so far; see [`Pipe::counts`](crate::Pipe::counts).
///
/// ```
/// let counts = snodo_stdio::Counts::default();
/// assert_eq!(counts.skipped_lines, 0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Exchanges that wait for their end.
    pub live_exchanges: usize,
    /// Messages that came for exchanges that were over, and were dropped.
    pub late_messages: u64,
    /// Lines that were no message, or too long to be looked at, and were skipped.
    pub skipped_lines: u64,
    /// Those of the skipped lines that were longer than the limit.
    pub too_long_lines: u64,
}

/// What the writer does next.
pub(crate) enum Work {
    /// Write the batch.
    Batch,
    /// Wait: its waker is kept.
    Nothing,
    /// End.
    Finish,
}

/// Where an exchange stands after its message was taken.
pub(crate) struct Opened {
    /// Its place in the outbox, unless it was written at once.
    pub(crate) ticket: Option<u64>,
    /// What came already.
    pub(crate) polled: Poll<Option<Result<Incoming, TransportError>>>,
}

impl Shared {
    pub(crate) fn new(direct: Option<Arc<dyn TryWrite>>) -> Self {
        Self {
            state: Mutex::new(State {
                pending: Pending::new(),
                outbox: Outbox::default(),
                direct,
                writer: None,
                output: Output::Open,
                skipped: 0,
                too_long: 0,
            }),
        }
    }

    /// Takes the message of an exchange that is polled for the first time.
    pub(crate) fn open(
        &self,
        envelope: &mut Envelope,
        cx: &Context<'_>,
    ) -> Result<Opened, TransportError> {
        let mut state = self.lock();
        if let (None, Output::Refused(error)) = (state.pending.closed(), &state.output) {
            return Err(error.clone().not_processed());
        }
        state.pending.open(envelope)?;
        let alone = state.pending.live() == usize::from(envelope.id.is_some());
        let text = frame(std::mem::take(&mut envelope.message));
        let (ticket, writer) = state.send(text, envelope.id, alone);
        let polled = match (envelope.id, ticket) {
            (Some(id), _) => state.pending.poll(id, cx),
            (None, None) => Poll::Ready(Some(Ok(Incoming::Sent))),
            (None, Some(ticket)) => {
                // The entry is there: this only leaves the waker.
                let _ = state.outbox.poll(ticket, cx.waker());
                Poll::Pending
            }
        };
        drop(state);
        wake(writer);
        Ok(Opened { ticket, polled })
    }

    /// The next thing for a request, and whether it was the last.
    pub(crate) fn poll_request(
        &self,
        id: u64,
        cx: &Context<'_>,
    ) -> (Poll<Option<Result<Incoming, TransportError>>>, bool) {
        let mut state = self.lock();
        let before = state.pending.live();
        let polled = state.pending.poll(id, cx);
        // The table frees the place of an exchange with its end.
        let over = state.pending.live() < before || matches!(polled, Poll::Ready(None));
        (polled, over)
    }

    /// Whether a message that nothing answers was handed over.
    pub(crate) fn poll_sent(
        &self,
        ticket: u64,
        cx: &Context<'_>,
    ) -> Poll<Result<Incoming, TransportError>> {
        let mut state = self.lock();
        state.outbox.poll(ticket, cx.waker()).map(|delivery| match delivery {
            Delivery::Written => Ok(Incoming::Sent),
            Delivery::TakenOut => Err(state.reason().not_processed()),
            Delivery::Torn => Err(state.reason()),
        })
    }

    /// The next thing that concerns no exchange.
    pub(crate) fn poll_unsolicited(
        &self,
        cx: &Context<'_>,
    ) -> Poll<Option<Result<Incoming, TransportError>>> {
        self.lock().pending.poll_unsolicited(cx)
    }

    pub(crate) fn take_unsolicited(&self) -> bool {
        self.lock().pending.take_unsolicited()
    }

    /// Gives a request up: takes its message back, or tells the peer.
    pub(crate) fn abandon(&self, id: u64, ticket: Option<u64>, notice: Option<String>) {
        let mut state = self.lock();
        let unanswered = state.pending.forget(id) && state.pending.closed().is_none();
        let notice = notice.filter(|_| unanswered).map(frame);
        let withdrawal = match ticket {
            Some(ticket) => state.outbox.withdraw(ticket, notice),
            None => Withdrawal::Written(notice),
        };
        let writer = match withdrawal {
            Withdrawal::Written(Some(notice)) if matches!(state.output, Output::Open) => {
                let alone = state.pending.live() == 0;
                state.send(notice, None, alone).1
            }
            _ => None,
        };
        drop(state);
        wake(writer);
    }

    /// Takes back a message that nothing answers.
    pub(crate) fn withdraw(&self, ticket: u64) {
        self.lock().outbox.withdraw(ticket, None);
    }

    /// Hands on what the reader found. `wakers` is empty before and after: the caller keeps it for
    /// the next time.
    pub(crate) fn deliver(&self, items: &mut Vec<Item>, wakers: &mut Vec<Waker>) {
        let mut state = self.lock();
        let late_before = state.pending.late_messages();
        for item in items.drain(..) {
            match item {
                Item::Message(message) => {
                    if let Route::Delivered(waker) = state.pending.deliver(message) {
                        wakers.extend(waker);
                    }
                }
                Item::Skipped { kind, fails } => {
                    state.skipped += 1;
                    state.too_long += u64::from(kind == Skipped::TooLong);
                    if let Some((id, error)) = fails {
                        wakers.extend(state.pending.fail(id, error));
                    }
                }
            }
        }
        let late = state.pending.late_messages() - late_before;
        drop(state);
        wake(wakers.drain(..));
        if late > 0 {
            tracing::debug!(messages = late, "answers to calls that are over were dropped");
        }
    }

    /// What the writer does next; a batch counts as being written until it is settled.
    pub(crate) fn work(&self, batch: &mut Vec<u8>, waker: &Waker) -> Work {
        let mut state = self.lock();
        if state.outbox.is_empty() {
            if matches!(state.output, Output::Closing) {
                return Work::Finish;
            }
            state.writer = Some(waker.clone());
            return Work::Nothing;
        }
        // While it writes nobody needs to wake it: it looks again before it sleeps.
        state.writer = None;
        state.outbox.gather(batch);
        Work::Batch
    }

    /// Notes how much of the batch was written.
    pub(crate) fn settle(&self, count: usize) {
        let wakers = self.lock().outbox.settle(count);
        wake(wakers);
    }

    /// No new messages; what waits is written, except for requests, which nobody would hear the
    /// answer to. Every exchange fails.
    pub(crate) fn begin_close(&self, error: &TransportError) {
        let mut state = self.lock();
        let mut wakers = state.fail_requests(error);
        if matches!(state.output, Output::Open) {
            state.output = Output::Closing;
        }
        wakers.extend(state.writer.take());
        drop(state);
        wake(wakers);
    }

    /// Nothing can be written any more. What is under way fails, what is written may be answered.
    pub(crate) fn refuse(&self, error: TransportError) {
        let mut state = self.lock();
        let mut wakers = Vec::new();
        for id in state.outbox.take_requests() {
            wakers.extend(state.pending.fail(id, error.clone().not_processed()));
        }
        state.direct = None;
        state.output = Output::Refused(error);
        wakers.extend(state.outbox.clear());
        drop(state);
        wake(wakers);
    }

    /// The end: every exchange fails, and nothing is written any more.
    pub(crate) fn end(&self, error: TransportError) {
        let mut state = self.lock();
        let mut wakers = state.fail_requests(&error);
        state.direct = None;
        if !matches!(state.output, Output::Refused(_)) {
            state.output = Output::Refused(error);
        }
        wakers.extend(state.outbox.clear());
        wakers.extend(state.writer.take());
        drop(state);
        wake(wakers);
    }

    /// Lets go of the way round the writer, so that the pipe can close.
    pub(crate) fn drop_direct(&self) {
        self.lock().direct = None;
    }

    pub(crate) fn counts(&self) -> Counts {
        let state = self.lock();
        Counts {
            live_exchanges: state.pending.live(),
            late_messages: state.pending.late_messages(),
            skipped_lines: state.skipped,
            too_long_lines: state.too_long,
        }
    }

    /// How many messages wait to be written.
    #[cfg(test)]
    pub(crate) fn waiting(&self) -> usize {
        self.lock().outbox.len()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Writes a line at once if nobody else has something to say, or leaves it to the writer, who
    /// is to be woken then.
    fn send(
        &mut self,
        text: Vec<u8>,
        id: Option<u64>,
        alone: bool,
    ) -> (Option<u64>, Option<Waker>) {
        let mut written = 0;
        if let (true, true, Some(direct)) = (alone, self.outbox.is_empty(), &self.direct) {
            // A failure comes to light when the writer tries.
            written = direct.try_write(&text).unwrap_or(0);
            if written == text.len() {
                return (None, None);
            }
        }
        (Some(self.outbox.push(text, id, written)), self.writer.take())
    }

    fn fail_requests(&mut self, error: &TransportError) -> Vec<Waker> {
        let mut wakers = Vec::new();
        for id in self.outbox.take_requests() {
            wakers.extend(self.pending.fail(id, error.clone().not_processed()));
        }
        wakers.extend(self.pending.close(error.clone()));
        wakers
    }

    /// Why something was not written.
    fn reason(&self) -> TransportError {
        match (&self.output, self.pending.closed()) {
            (_, Some(error)) | (Output::Refused(error), None) => error.clone(),
            _ => crate::pipe::closed_here(),
        }
    }
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("counts", &self.counts()).finish_non_exhaustive()
    }
}

/// One line of a message. A line break in JSON text can only stand between tokens, where a space
/// means the same (2026-07-28, stdio: messages must not contain embedded newlines).
fn frame(message: String) -> Vec<u8> {
    let mut line = message.into_bytes();
    let mut from = 0;
    while let Some(found) = memchr::memchr2(b'\n', b'\r', &line[from..]) {
        line[from + found] = b' ';
        from += found + 1;
    }
    line.push(b'\n');
    line
}

/// Wakes whom the lock was in the way of.
fn wake(wakers: impl IntoIterator<Item = Waker>) {
    wakers.into_iter().for_each(Waker::wake);
}
