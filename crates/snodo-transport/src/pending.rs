//! Who waits for what on a pipe that many exchanges share.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::task::{Context, Poll, Waker};

use snodo_types::{Concern, Envelope, InboxLimits, Message, TransportError, TransportFault};

use crate::{Inbox, Incoming};

/// The table of live exchanges of one pipe, and what concerns none of them.
///
/// It has no lock and wakes nobody: a pipe keeps it under its own lock and wakes the [`Waker`]s it
/// gets back after letting go of it.
///
/// ```
/// use std::task::{Context, Poll, Waker};
/// use snodo_transport::{Incoming, Pending, Route};
/// use snodo_types::{Envelope, Message};
///
/// let mut pending = Pending::new();
/// pending.open(&Envelope::request(1, String::new()))?;
/// assert!(matches!(pending.deliver(Message::result(&1.into(), "{}")), Route::Delivered(None)));
/// let mut cx = Context::from_waker(Waker::noop());
/// assert!(matches!(pending.poll(1, &mut cx), Poll::Ready(Some(Ok(Incoming::Message(_))))));
/// assert!(matches!(pending.deliver(Message::result(&1.into(), "{}")), Route::Late));
/// # Ok::<(), snodo_types::TransportError>(())
/// ```
#[derive(Debug)]
pub struct Pending {
    slots: HashMap<u64, Slot, BuildHasherDefault<IdHasher>>,
    unsolicited: Slot,
    unsolicited_taken: bool,
    closed: Option<TransportError>,
    late: u64,
}

/// What became of a message that a pipe delivered.
///
/// ```
/// # use snodo_transport::Route;
/// assert!(matches!(Route::Delivered(None), Route::Delivered(_)));
/// ```
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "a pipe has to handle each case")]
pub enum Route {
    /// It found its reader, who is to be woken.
    Delivered(Option<Waker>),
    /// Nobody waits for it any more. It was dropped and counted.
    Late,
}

#[derive(Debug)]
struct Slot {
    inbox: Inbox,
    waker: Option<Waker>,
    listen: bool,
}

impl Pending {
    /// An empty table.
    #[must_use]
    pub fn new() -> Self {
        Self {
            slots: HashMap::default(),
            unsolicited: Slot::new(InboxLimits::default(), true),
            unsolicited_taken: false,
            closed: None,
            late: 0,
        }
    }

    /// Makes room for what comes back because of a request. An envelope without an id needs none.
    ///
    /// # Errors
    ///
    /// The table is closed, or an exchange with this id is live.
    pub fn open(&mut self, envelope: &Envelope) -> Result<(), TransportError> {
        if let Some(error) = &self.closed {
            return Err(error.clone().not_processed());
        }
        let Some(id) = envelope.id else { return Ok(()) };
        if self.slots.contains_key(&id) {
            let text = format!("a request with id {id} is already on its way");
            return Err(TransportError::new(TransportFault::Usage, text).not_processed());
        }
        self.slots.insert(id, Slot::new(envelope.inbox, envelope.listen));
        Ok(())
    }

    /// Gives a message to the exchange it concerns, and the rest to the unsolicited reader.
    pub fn deliver(&mut self, message: Message) -> Route {
        match message.concerns() {
            Concern::Answer(id) => match self.slots.get_mut(&id) {
                Some(slot) if !slot.inbox.is_finished() => {
                    slot.inbox.finish(message);
                    Route::Delivered(slot.waker.take())
                }
                _ => self.late(),
            },
            Concern::Part(id) => match self.slots.get_mut(&id) {
                Some(slot) if !slot.inbox.is_finished() => {
                    slot.inbox.push(message);
                    Route::Delivered(slot.waker.take())
                }
                _ => self.late(),
            },
            Concern::Ends(id) => match self.slots.get_mut(&id) {
                Some(slot) if slot.listen && !slot.inbox.is_finished() => {
                    slot.inbox.finish(message);
                    Route::Delivered(slot.waker.take())
                }
                _ => self.deliver_unsolicited(message),
            },
            Concern::Nobody => self.deliver_unsolicited(message),
        }
    }

    /// Fails one exchange; gives back its reader.
    pub fn fail(&mut self, id: u64, error: TransportError) -> Option<Waker> {
        let slot = self.slots.get_mut(&id)?;
        slot.inbox.fail(error);
        slot.waker.take()
    }

    /// Fails every exchange and the unsolicited reader, and all that is opened from now on. The
    /// first reason stays.
    pub fn close(&mut self, error: TransportError) -> Vec<Waker> {
        if self.closed.is_some() {
            return Vec::new();
        }
        let slots = self.slots.values_mut().chain([&mut self.unsolicited]);
        let wakers = slots.filter_map(|slot| {
            slot.inbox.fail(error.clone());
            slot.waker.take()
        });
        let wakers = wakers.collect();
        self.closed = Some(error);
        wakers
    }

    /// Why the table is closed, if it is.
    #[must_use]
    pub fn closed(&self) -> Option<&TransportError> {
        self.closed.as_ref()
    }

    /// The next thing for an exchange. Its place is freed with the end.
    ///
    /// # Errors
    ///
    /// The failure that ended the exchange, once.
    pub fn poll(
        &mut self,
        id: u64,
        cx: &Context<'_>,
    ) -> Poll<Option<Result<Incoming, TransportError>>> {
        let Some(slot) = self.slots.get_mut(&id) else { return Poll::Ready(None) };
        let polled = slot.poll(cx);
        if slot.inbox.is_ended() {
            self.slots.remove(&id);
        }
        polled
    }

    /// Whether this is the first call: the unsolicited reader is given out once.
    pub fn take_unsolicited(&mut self) -> bool {
        !std::mem::replace(&mut self.unsolicited_taken, true)
    }

    /// The next thing that concerns no exchange.
    ///
    /// # Errors
    ///
    /// Why the table was closed, once.
    pub fn poll_unsolicited(
        &mut self,
        cx: &Context<'_>,
    ) -> Poll<Option<Result<Incoming, TransportError>>> {
        if self.unsolicited.inbox.is_ended() {
            Poll::Ready(None)
        } else {
            self.unsolicited.poll(cx)
        }
    }

    /// Frees the place of an exchange whose reader went away. Says whether the peer may still work
    /// on it, that is, whether its end had not come.
    pub fn forget(&mut self, id: u64) -> bool {
        self.slots.remove(&id).is_some_and(|slot| !slot.inbox.is_finished())
    }

    /// How many exchanges are live.
    #[must_use]
    pub fn live(&self) -> usize {
        self.slots.len()
    }

    /// How many messages came for exchanges that were over.
    #[must_use]
    pub fn late_messages(&self) -> u64 {
        self.late
    }

    fn deliver_unsolicited(&mut self, message: Message) -> Route {
        self.unsolicited.inbox.push(message);
        Route::Delivered(self.unsolicited.waker.take())
    }

    fn late(&mut self) -> Route {
        self.late += 1;
        Route::Late
    }
}

impl Default for Pending {
    fn default() -> Self {
        Self::new()
    }
}

impl Slot {
    fn new(limits: InboxLimits, listen: bool) -> Self {
        Self { inbox: Inbox::new(limits), waker: None, listen }
    }

    fn poll(&mut self, cx: &Context<'_>) -> Poll<Option<Result<Incoming, TransportError>>> {
        if let Some(next) = self.inbox.take() {
            return Poll::Ready(Some(next));
        }
        if !self.waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
            self.waker = Some(cx.waker().clone());
        }
        Poll::Pending
    }
}

/// Spreads the client's own counters; nobody else chooses them, so no keyed hash is needed.
#[derive(Default)]
struct IdHasher(u64);

impl Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(self.0 ^ u64::from(byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}

#[cfg(test)]
#[path = "orders_tests.rs"]
mod orders;
#[cfg(test)]
#[path = "pending_tests.rs"]
mod tests;
