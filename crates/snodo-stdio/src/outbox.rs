//! What waits to be written.

use std::collections::VecDeque;
use std::task::{Poll, Waker};

/// The messages of one pipe that are not handed over yet, in the order of their exchanges' first
/// polls.
///
/// A message stays the property of its exchange: while it waits here the exchange waits too, and
/// takes it out again when it is dropped. So the box holds no more than its callers do, and needs no
/// limit of its own. Only notices of abandonment outlive their exchange: one for each request that
/// was already on its way, and a peer that does not read cannot have many of those.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    queue: VecDeque<Entry>,
    /// How much of the first entry is written.
    front_at: usize,
    /// How many entries, from the first, are being written at this moment, outside the lock.
    in_flight: usize,
    next: u64,
    /// Entries before this ticket are written, or were taken out.
    written: u64,
    /// The entry that was cut short when the box was emptied.
    torn: Option<u64>,
}

#[derive(Debug)]
struct Entry {
    ticket: u64,
    text: Vec<u8>,
    /// The request, if it is one.
    id: Option<u64>,
    waker: Option<Waker>,
    withdrawn: Withdrawn,
}

/// What an exchange said about an entry that was in flight as it was dropped.
#[derive(Debug)]
enum Withdrawn {
    No,
    Yes { notice: Option<Vec<u8>> },
}

/// What became of a message that is no longer wanted.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Withdrawal {
    /// Nothing of it was written, and nothing will be.
    TakenOut,
    /// It is on its way; the notice follows, where one was given.
    UnderWay,
    /// It was written before; the notice was given back.
    Written(Option<Vec<u8>>),
}

/// What became of a message that nothing answers.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Delivery {
    /// It was handed over.
    Written,
    /// It was not, and never will be.
    TakenOut,
    /// A part of it was.
    Torn,
}

impl Outbox {
    /// Adds a message of which `written` bytes went out already; that is only so for the first.
    pub(crate) fn push(&mut self, text: Vec<u8>, id: Option<u64>, written: usize) -> u64 {
        if self.queue.is_empty() {
            self.front_at = written;
        }
        let ticket = self.next;
        self.next += 1;
        self.queue.push_back(Entry { ticket, text, id, waker: None, withdrawn: Withdrawn::No });
        ticket
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.queue.len()
    }

    /// Copies what comes next into `batch`. Until [`settle`](Self::settle) the entries it came
    /// from count as being written.
    pub(crate) fn gather(&mut self, batch: &mut Vec<u8>) {
        batch.clear();
        self.in_flight = 0;
        let mut at = self.front_at;
        for entry in &self.queue {
            if batch.len() == BATCH {
                break;
            }
            let piece = &entry.text[at..];
            batch.extend_from_slice(&piece[..piece.len().min(BATCH - batch.len())]);
            self.in_flight += 1;
            at = 0;
        }
    }

    /// Notes how much of the gathered bytes was written; gives back whom to wake.
    pub(crate) fn settle(&mut self, mut count: usize) -> Vec<Waker> {
        let mut wakers = Vec::new();
        let mut notices = Vec::new();
        while let Some(entry) = self.queue.front() {
            let left = entry.text.len() - self.front_at;
            if count < left {
                self.front_at += count;
                break;
            }
            count -= left;
            self.front_at = 0;
            self.in_flight = self.in_flight.saturating_sub(1);
            self.written = entry.ticket + 1;
            let entry = self.queue.pop_front().expect("it was looked at just now");
            wakers.extend(entry.waker);
            if let Withdrawn::Yes { notice } = entry.withdrawn {
                notices.extend(notice);
            }
        }
        let mut index = 0;
        for _ in 0..std::mem::take(&mut self.in_flight).min(self.queue.len()) {
            match std::mem::replace(&mut self.queue[index].withdrawn, Withdrawn::No) {
                Withdrawn::No => index += 1,
                Withdrawn::Yes { notice } if index == 0 && self.front_at > 0 => {
                    notices.extend(notice);
                    index += 1;
                }
                Withdrawn::Yes { .. } => {
                    self.queue.remove(index);
                }
            }
        }
        for notice in notices {
            self.push(notice, None, 0);
        }
        wakers
    }

    /// Takes a message back. What was begun is finished, since a line cannot be taken back, and the
    /// notice follows it.
    pub(crate) fn withdraw(&mut self, ticket: u64, notice: Option<Vec<u8>>) -> Withdrawal {
        let Some(index) = self.find(ticket) else { return Withdrawal::Written(notice) };
        let entry = &mut self.queue[index];
        entry.waker = None;
        if index == 0 && self.front_at > 0 {
            if let Some(notice) = notice {
                self.push(notice, None, 0);
            }
            Withdrawal::UnderWay
        } else if index < self.in_flight {
            entry.withdrawn = Withdrawn::Yes { notice };
            Withdrawal::UnderWay
        } else {
            self.queue.remove(index);
            Withdrawal::TakenOut
        }
    }

    /// What became of a message; while it waits, the waker is kept.
    pub(crate) fn poll(&mut self, ticket: u64, waker: &Waker) -> Poll<Delivery> {
        if let Some(index) = self.find(ticket) {
            self.queue[index].waker = Some(waker.clone());
            return Poll::Pending;
        }
        Poll::Ready(if ticket < self.written {
            Delivery::Written
        } else if self.torn == Some(ticket) {
            Delivery::Torn
        } else {
            Delivery::TakenOut
        })
    }

    /// Takes out the requests of which nothing is written; gives back their ids.
    pub(crate) fn take_requests(&mut self) -> Vec<u64> {
        let kept = self.in_flight.max(usize::from(self.front_at > 0)).min(self.queue.len());
        let mut waiting = self.queue.split_off(kept);
        let ids = waiting.iter().filter_map(|entry| entry.id).collect();
        waiting.retain(|entry| entry.id.is_none());
        self.queue.append(&mut waiting);
        ids
    }

    /// Empties the box, since nothing can be written any more; gives back whom to wake.
    pub(crate) fn clear(&mut self) -> Vec<Waker> {
        if self.front_at > 0 {
            self.torn = self.queue.front().map(|entry| entry.ticket);
        }
        (self.front_at, self.in_flight) = (0, 0);
        self.queue.drain(..).filter_map(|entry| entry.waker).collect()
    }

    fn find(&self, ticket: u64) -> Option<usize> {
        self.queue.binary_search_by_key(&ticket, |entry| entry.ticket).ok()
    }
}

/// What one write hands over at most: what a pipe holds on Linux.
const BATCH: usize = 64 * 1024;

#[cfg(test)]
#[path = "outbox_tests.rs"]
mod tests;
