//! Everything that can be done to an inbox, in every order, against a list that forgets nothing.

use snodo_types::{InboxLimits, Message, Overflow, TransportError, TransportFault};

use super::Inbox;
use crate::Incoming;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Do {
    Fail,
    Finish,
    Miss,
    PushLarge,
    PushSmall,
    Take,
}

const ALL: [Do; 6] = [Do::Fail, Do::Finish, Do::Miss, Do::PushLarge, Do::PushSmall, Do::Take];

// S-63
#[test]
fn whatever_is_done_to_an_inbox_in_any_order_it_tells_what_is_missing() {
    let (small, large) = (message(""), message(&"x".repeat(50)));
    let mut orders = 0_u32;
    for overflow in [Overflow::DropOldest, Overflow::DropNewest] {
        for keep_first in [false, true] {
            let mut limits = InboxLimits::default();
            (limits.capacity, limits.overflow, limits.keep_first) = (2, overflow, keep_first);
            // Room for one large message and a small one, or for two small ones.
            limits.bytes = small.text().len() + large.text().len();
            for number in 0..ALL.len().pow(LENGTH) {
                let steps = (0..LENGTH).map(|at| ALL[number / ALL.len().pow(at) % ALL.len()]);
                try_out(limits, &steps.collect::<Vec<_>>(), [&small, &large]);
                orders += 1;
            }
        }
    }
    println!("{orders} orders of {LENGTH} steps");
}

fn try_out(limits: InboxLimits, steps: &[Do], [small, large]: [&Message; 2]) {
    let (mut inbox, mut list) = (Inbox::new(limits), List::new(limits));
    for step in steps {
        match step {
            Do::Fail => {
                inbox.fail(TransportError::new(TransportFault::Closed, "over"));
                list.end(Entry::Failure);
            }
            Do::Finish => {
                inbox.finish(small.clone());
                list.end(Entry::Response);
            }
            Do::Miss => {
                inbox.miss(2);
                list.miss(2);
            }
            Do::PushLarge => {
                inbox.push(large.clone());
                list.push(large.text().len());
            }
            Do::PushSmall => {
                inbox.push(small.clone());
                list.push(small.text().len());
            }
            Do::Take => list.compare(&mut inbox, steps),
        }
    }
    assert_eq!(inbox.is_finished(), list.end.is_some(), "{steps:?}");
    while !list.is_told() {
        list.compare(&mut inbox, steps);
    }
    assert!(inbox.take().is_none(), "{steps:?}");
    assert_eq!(inbox.is_ended(), list.end.is_some(), "{steps:?}");
}

/// All that ever came, in its order, and what became of it.
struct List {
    limits: InboxLimits,
    entries: Vec<(Entry, Fate)>,
    end: Option<Entry>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Entry {
    Failure,
    /// With its length.
    Message(usize),
    Response,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    /// It waits whatever comes.
    Kept,
    Lost,
    /// It was taken, or its loss was told.
    Told,
    Waits,
}

impl List {
    fn new(limits: InboxLimits) -> Self {
        Self { limits, entries: Vec::new(), end: None }
    }

    fn push(&mut self, length: usize) {
        if self.end.is_some() {
            return;
        }
        let is_first = !self.entries.iter().any(|(entry, _)| *entry != Entry::Message(0));
        if self.limits.keep_first && is_first {
            self.entries.push((Entry::Message(length), Fate::Kept));
            return;
        }
        while !self.has_room(length) {
            if self.limits.overflow == Overflow::DropNewest {
                self.entries.push((Entry::Message(length), Fate::Lost));
                return;
            }
            let oldest = self.entries.iter_mut().find(|(_, fate)| *fate == Fate::Waits);
            oldest.expect("one that takes the room").1 = Fate::Lost;
        }
        self.entries.push((Entry::Message(length), Fate::Waits));
    }

    fn has_room(&self, length: usize) -> bool {
        let waiting = self.entries.iter().filter(|(_, fate)| *fate == Fate::Waits);
        let lengths = waiting.map(|(entry, _)| match entry {
            Entry::Message(length) => *length,
            _ => 0,
        });
        let (count, bytes) = lengths.fold((0, 0), |(count, sum), length| (count + 1, sum + length));
        count == 0 || count < self.limits.capacity && bytes + length <= self.limits.bytes
    }

    fn miss(&mut self, lost: usize) {
        if self.end.is_none() {
            // What never came has no length.
            self.entries.extend([(Entry::Message(0), Fate::Lost)].repeat(lost));
        }
    }

    fn end(&mut self, end: Entry) {
        if self.end.is_none() {
            self.end = Some(end);
            self.entries.push((end, Fate::Kept));
        }
    }

    fn is_told(&self) -> bool {
        self.entries.iter().all(|(_, fate)| *fate == Fate::Told)
    }

    /// Takes one thing out of the inbox: it is the next here.
    fn compare(&mut self, inbox: &mut Inbox, steps: &[Do]) {
        let taken = inbox.take();
        // The first that is kept comes before what was lost in front of it.
        let kept = self
            .entries
            .iter()
            .position(|(entry, fate)| *fate == Fate::Kept && matches!(entry, Entry::Message(_)));
        let next = kept.or_else(|| self.entries.iter().position(|(_, fate)| *fate != Fate::Told));
        let Some(next) = next else {
            assert!(taken.is_none(), "{steps:?}");
            return;
        };
        match (taken, self.entries[next]) {
            (Some(Ok(Incoming::Dropped(lost))), _) => {
                for _ in 0..lost {
                    let mut untold =
                        self.entries.iter_mut().filter(|(_, fate)| *fate != Fate::Told);
                    let entry = untold.next().expect("no more is said to be lost than was");
                    assert_eq!(entry.1, Fate::Lost, "{steps:?}");
                    entry.1 = Fate::Told;
                }
                assert!(lost > 0, "{steps:?}");
            }
            (Some(Ok(Incoming::Message(message))), (entry, Fate::Kept | Fate::Waits)) => {
                let length = message.text().len();
                assert!([Entry::Message(length), Entry::Response].contains(&entry), "{steps:?}");
                self.entries[next].1 = Fate::Told;
            }
            (Some(Err(_)), (Entry::Failure, Fate::Kept)) => self.entries[next].1 = Fate::Told,
            (taken, next) => panic!("{taken:?} where {next:?} is next: {steps:?}"),
        }
    }
}

fn message(padding: &str) -> Message {
    Message::notification("news", Some(&format!(r#"{{"x":"{padding}"}}"#)))
}

/// Of steps: enough to fill the inbox, to overflow it twice and to read on.
const LENGTH: u32 = 6;
