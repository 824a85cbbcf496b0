//! What waits for a reader that is slower than its peer.

use std::collections::VecDeque;

use snodo_types::{InboxLimits, Message, Overflow, TransportError};

use crate::Incoming;

/// A bounded queue for one exchange.
///
/// Messages on the way wait within [`InboxLimits`]; past them one gives way, is counted, and the
/// count is told where the gap is. The response and the failure that ends the exchange always fit.
/// An inbox that only ever holds a response allocates nothing.
///
/// ```
/// use snodo_transport::{Inbox, Incoming};
/// use snodo_types::{InboxLimits, Message};
///
/// let event = || Message::parse(r#"{"jsonrpc":"2.0","method":"news"}"#).expect("a message");
/// let mut limits = InboxLimits::default();
/// limits.capacity = 1;
/// let mut inbox = Inbox::new(limits);
/// inbox.push(event());
/// inbox.push(event());
/// inbox.finish(Message::result(&1.into(), "{}"));
/// assert!(matches!(inbox.take(), Some(Ok(Incoming::Dropped(1)))));
/// assert!(matches!(inbox.take(), Some(Ok(Incoming::Message(_)))));
/// assert!(matches!(inbox.take(), Some(Ok(Incoming::Message(_)))));
/// assert!(inbox.take().is_none() && inbox.is_ended());
/// ```
#[derive(Debug)]
pub struct Inbox {
    limits: InboxLimits,
    /// The first message, where it is kept whatever comes.
    first: First,
    /// Lost before the front of the queue.
    gap: u64,
    queue: VecDeque<Entry>,
    messages: usize,
    bytes: usize,
    end: End,
}

#[derive(Debug)]
enum First {
    Expected,
    Kept(Message),
    Passed,
}

#[derive(Debug)]
enum Entry {
    Gap(u64),
    Message(Message),
}

#[derive(Debug)]
enum End {
    /// Nothing yet.
    Open,
    /// It came, and waits behind the queue.
    Came(Result<Message, TransportError>),
    /// It was taken.
    Taken,
}

impl Inbox {
    /// An empty inbox.
    #[must_use]
    pub fn new(limits: InboxLimits) -> Self {
        Self {
            limits,
            first: if limits.keep_first { First::Expected } else { First::Passed },
            gap: 0,
            queue: VecDeque::new(),
            messages: 0,
            bytes: 0,
            end: End::Open,
        }
    }

    /// Takes a message on the way. After the end it is ignored.
    pub fn push(&mut self, message: Message) {
        if !matches!(self.end, End::Open) {
            return;
        }
        if matches!(self.first, First::Expected) {
            self.first = First::Kept(message);
            return;
        }
        let size = message.text().len();
        match self.limits.overflow {
            Overflow::DropNewest if self.is_full(size) => self.miss(1),
            _ => {
                while self.is_full(size) {
                    self.lose_oldest();
                }
                self.messages += 1;
                self.bytes += size;
                self.queue.push_back(Entry::Message(message));
            }
        }
    }

    /// Says that so many messages were lost on their way here. After the end it is ignored.
    pub fn miss(&mut self, lost: u64) {
        if lost == 0 || !matches!(self.end, End::Open) {
            return;
        }
        match self.queue.back_mut() {
            Some(Entry::Gap(known)) => *known += lost,
            _ => self.queue.push_back(Entry::Gap(lost)),
        }
    }

    /// Takes the response, which ends the exchange.
    pub fn finish(&mut self, response: Message) {
        self.end_with(Ok(response));
    }

    /// Takes the failure that ends the exchange.
    pub fn fail(&mut self, error: TransportError) {
        self.end_with(Err(error));
    }

    /// The next thing for the reader; `None` when nothing waits.
    ///
    /// # Errors
    ///
    /// The failure that ended the exchange, once.
    pub fn take(&mut self) -> Option<Result<Incoming, TransportError>> {
        match std::mem::replace(&mut self.first, First::Passed) {
            First::Kept(message) => return Some(Ok(Incoming::Message(message))),
            other => self.first = other,
        }
        if self.gap > 0 {
            return Some(Ok(Incoming::Dropped(std::mem::take(&mut self.gap))));
        }
        match self.queue.pop_front() {
            Some(Entry::Gap(lost)) => return Some(Ok(Incoming::Dropped(lost))),
            Some(Entry::Message(message)) => {
                self.messages -= 1;
                self.bytes -= message.text().len();
                return Some(Ok(Incoming::Message(message)));
            }
            None => {}
        }
        match std::mem::replace(&mut self.end, End::Taken) {
            End::Came(end) => Some(end.map(Incoming::Message)),
            End::Open => {
                self.end = End::Open;
                None
            }
            End::Taken => None,
        }
    }

    /// Whether the end was taken: nothing comes any more.
    #[must_use]
    pub fn is_ended(&self) -> bool {
        matches!(self.end, End::Taken)
    }

    /// Whether the response or the failure has come, taken or not.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        !matches!(self.end, End::Open)
    }

    fn end_with(&mut self, end: Result<Message, TransportError>) {
        if matches!(self.end, End::Open) {
            self.end = End::Came(end);
        }
    }

    fn is_full(&self, size: usize) -> bool {
        self.messages > 0
            && (self.messages >= self.limits.capacity
                || self.bytes.saturating_add(size) > self.limits.bytes)
    }

    fn lose_oldest(&mut self) {
        match self.queue.pop_front() {
            Some(Entry::Gap(lost)) => self.gap += lost,
            Some(Entry::Message(message)) => {
                self.messages -= 1;
                self.bytes -= message.text().len();
                self.gap += 1;
            }
            None => {}
        }
    }
}

#[cfg(test)]
#[path = "inbox_tests.rs"]
mod orders;
#[cfg(test)]
mod tests {
    use snodo_types::{InboxLimits, Message, Overflow, TransportError, TransportFault};

    use super::Inbox;
    use crate::Incoming;

    fn event(number: u64) -> Message {
        let text = format!(r#"{{"jsonrpc":"2.0","method":"e{number}"}}"#);
        Message::parse(text).expect("a message")
    }

    fn limits(capacity: usize, overflow: Overflow) -> InboxLimits {
        let mut limits = InboxLimits::default();
        (limits.capacity, limits.overflow) = (capacity, overflow);
        limits
    }

    /// What the reader sees: method names, `-n` for a gap, `!` for a failure, `=` for a response.
    fn read(inbox: &mut Inbox) -> String {
        let mut seen = Vec::new();
        while let Some(next) = inbox.take() {
            seen.push(match next {
                Ok(Incoming::Message(message)) => match message.body() {
                    snodo_types::Body::Notification { method, .. } => method.to_owned(),
                    _ => "=".to_owned(),
                },
                Ok(Incoming::Dropped(lost)) => format!("-{lost}"),
                Ok(_) => "?".to_owned(),
                Err(_) => "!".to_owned(),
            });
        }
        seen.join(" ")
    }

    // S-63
    #[test]
    fn a_full_inbox_drops_the_oldest_and_tells_before_the_next() {
        let mut inbox = Inbox::new(limits(2, Overflow::DropOldest));
        (0..5).for_each(|number| inbox.push(event(number)));
        inbox.finish(Message::result(&1.into(), "{}"));
        assert_eq!(read(&mut inbox), "-3 e3 e4 =");
        assert!(inbox.is_ended());
    }

    // S-63
    #[test]
    fn a_full_inbox_that_drops_the_newest_tells_where_the_gap_is() {
        let mut inbox = Inbox::new(limits(2, Overflow::DropNewest));
        (0..4).for_each(|number| inbox.push(event(number)));
        assert!(matches!(inbox.take(), Some(Ok(Incoming::Message(_)))));
        inbox.push(event(4));
        inbox.push(event(5));
        inbox.fail(TransportError::new(TransportFault::Closed, "over"));
        assert_eq!(read(&mut inbox), "e1 -2 e4 -1 !");
    }

    // S-63
    #[test]
    fn what_was_lost_before_it_came_here_is_told_where_it_is_missing() {
        let mut inbox = Inbox::new(limits(2, Overflow::DropOldest));
        inbox.push(event(0));
        inbox.miss(2);
        inbox.miss(1);
        inbox.push(event(4));
        assert_eq!(read(&mut inbox), "e0 -3 e4");
        inbox.push(event(5));
        inbox.miss(1);
        (7..10).for_each(|number| inbox.push(event(number)));
        inbox.finish(Message::result(&1.into(), "{}"));
        inbox.miss(1);
        assert_eq!(read(&mut inbox), "-3 e8 e9 =");
    }

    #[test]
    fn an_acknowledgement_is_kept_whatever_comes() {
        let mut limits = limits(1, Overflow::DropOldest);
        limits.keep_first = true;
        let mut inbox = Inbox::new(limits);
        (0..4).for_each(|number| inbox.push(event(number)));
        assert_eq!(read(&mut inbox), "e0 -2 e3");
    }

    #[test]
    fn bytes_are_bounded_and_one_large_message_still_passes() {
        let mut limits = limits(100, Overflow::DropOldest);
        limits.bytes = 1;
        let mut inbox = Inbox::new(limits);
        inbox.push(event(0));
        inbox.push(event(1));
        assert_eq!(read(&mut inbox), "-1 e1");
    }

    #[test]
    fn nothing_comes_after_the_end_and_the_first_end_counts() {
        let mut inbox = Inbox::new(InboxLimits::default());
        inbox.finish(Message::result(&1.into(), "{}"));
        inbox.fail(TransportError::new(TransportFault::Closed, "later"));
        inbox.push(event(1));
        assert!(inbox.is_finished() && !inbox.is_ended());
        assert_eq!(read(&mut inbox), "=");
    }
}
