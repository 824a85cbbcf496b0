//! What goes wrong on the way from a server.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use snodo_types::{Body, Message};

/// Something that goes wrong with what a [`Server`](crate::Server) says.
///
/// It befalls every message, unless it is narrowed down: [`on`](Self::on) a method,
/// [`nth`](Self::nth) time. Several at once add up.
///
/// ```
/// use std::time::Duration;
///
/// use snodo_testkit::Fault;
///
/// let faults = [
///     Fault::delay(Duration::from_secs(2)).on("tools/call"),
///     Fault::cut_after(20).on("resources/read").nth(1),
///     Fault::junk("Debugger listening on port 9229"),
/// ];
/// # let _ = faults;
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Fault {
    kind: Kind,
    method: Option<String>,
    nth: Option<u64>,
}

#[derive(Clone, Debug)]
enum Kind {
    ContentType(String),
    CutAfter(usize),
    Delay(Duration),
    Duplicate,
    Junk(String),
    Slow(usize, Duration),
    Status(u16, String),
}

impl Fault {
    /// The connection breaks after so many bytes of the message; with 0 before it.
    ///
    /// Over HTTP the bytes are those of the body, and with 0 there is no answer at all.
    pub fn cut_after(bytes: usize) -> Self {
        Self::new(Kind::CutAfter(bytes))
    }

    /// The message comes so much later; others may overtake it.
    pub fn delay(time: Duration) -> Self {
        Self::new(Kind::Delay(time))
    }

    /// The message comes twice: an answer with an id that was answered already.
    ///
    /// Over HTTP the answer is an event stream then.
    pub fn duplicate() -> Self {
        Self::new(Kind::Duplicate)
    }

    /// Something that is no message comes before it: a line on a pipe, an event over HTTP, where
    /// the answer is an event stream then.
    pub fn junk(text: impl Into<String>) -> Self {
        Self::new(Kind::Junk(text.into()))
    }

    /// The message comes in pieces of so many bytes (at least 1), each after such a time.
    pub fn slow(bytes: usize, pause: Duration) -> Self {
        Self::new(Kind::Slow(bytes.max(1), pause))
    }

    /// Over HTTP: an answer that says to be of another type. On a pipe it does nothing.
    pub fn content_type(media: impl Into<String>) -> Self {
        Self::new(Kind::ContentType(media.into()))
    }

    /// Over HTTP: another answer in place of the server's, with this status and an HTML body, as
    /// proxies give it. On a pipe it does nothing.
    pub fn status(status: u16, body: impl Into<String>) -> Self {
        Self::new(Kind::Status(status, body.into()))
    }

    /// Only for answers to requests of this method, and for notifications and requests of this
    /// method that the server sends.
    pub fn on(mut self, method: impl Into<String>) -> Self {
        self.method = Some(method.into());
        self
    }

    /// Only for the nth of the messages it would befall, counted from 1 over all connections.
    pub fn nth(mut self, number: u64) -> Self {
        self.nth = Some(number);
        self
    }

    fn new(kind: Kind) -> Self {
        Self { kind, method: None, nth: None }
    }
}

/// The faults of a server, and how often each could have befallen a message.
#[derive(Clone, Debug, Default)]
pub(super) struct Faults(Vec<(Fault, Arc<AtomicU64>)>);

/// What befalls one message.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Plan {
    pub(super) content_type: Option<String>,
    pub(super) cut_after: Option<usize>,
    pub(super) delay: Duration,
    pub(super) copies: usize,
    pub(super) junk: Vec<String>,
    pub(super) slow: Option<(usize, Duration)>,
    pub(super) status: Option<(u16, String)>,
}

impl Faults {
    pub(super) fn add(&mut self, fault: Fault) {
        self.0.push((fault, Arc::default()));
    }

    /// What befalls a message that answers a request of this method, or that concerns none.
    pub(super) fn plan(&self, message: &Message, answers: Option<&str>) -> Plan {
        let method = match message.body() {
            Body::Notification { method, .. } | Body::Request { method, .. } => Some(method),
            Body::Result { .. } | Body::Error { .. } => answers,
        };
        let mut plan = Plan { copies: 1, ..Plan::default() };
        for (fault, met) in &self.0 {
            if fault.method.is_some() && fault.method.as_deref() != method {
                continue;
            }
            let number = met.fetch_add(1, Ordering::Relaxed) + 1;
            if fault.nth.is_none_or(|nth| nth == number) {
                plan.add(&fault.kind);
            }
        }
        plan
    }
}

impl Plan {
    fn add(&mut self, kind: &Kind) {
        match kind {
            Kind::ContentType(media) => self.content_type = Some(media.clone()),
            Kind::CutAfter(bytes) => {
                self.cut_after = Some(self.cut_after.map_or(*bytes, |before| before.min(*bytes)));
            }
            Kind::Delay(time) => self.delay += *time,
            Kind::Duplicate => self.copies += 1,
            Kind::Junk(text) => self.junk.push(text.clone()),
            Kind::Slow(bytes, pause) => self.slow = Some((*bytes, *pause)),
            Kind::Status(status, body) => self.status = Some((*status, body.clone())),
        }
    }

    /// What is written of a text, each piece with the pause before it; and whether the connection
    /// breaks behind it.
    pub(super) fn pieces(&self, text: &str) -> (Vec<(Duration, String)>, bool) {
        let mut rest = text;
        let cut = self.cut_after.filter(|bytes| *bytes < text.len());
        if let Some(bytes) = cut {
            rest = &text[..floor(text, bytes)];
        }
        let Some((bytes, pause)) = self.slow else {
            return (vec![(Duration::ZERO, rest.to_owned())], self.cut_after.is_some());
        };
        let mut pieces = Vec::new();
        while !rest.is_empty() {
            // A character stays whole.
            let end = floor(rest, bytes);
            let end = if end == 0 { rest.chars().next().map_or(1, char::len_utf8) } else { end };
            let (piece, after) = rest.split_at(end);
            pieces.push((pause, piece.to_owned()));
            rest = after;
        }
        (pieces, self.cut_after.is_some())
    }
}

/// The last place between two characters that is no further than so many bytes.
fn floor(text: &str, bytes: usize) -> usize {
    (0..=bytes.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use snodo_types::Message;

    use super::{Fault, Faults, Plan};

    fn faults(all: impl IntoIterator<Item = Fault>) -> Faults {
        let mut faults = Faults::default();
        all.into_iter().for_each(|fault| faults.add(fault));
        faults
    }

    #[test]
    fn a_fault_befalls_what_it_is_narrowed_down_to() {
        let faults = faults([
            Fault::duplicate().on("tools/call").nth(2),
            Fault::delay(Duration::from_secs(1)).on("notifications/progress"),
        ]);
        let answer = Message::result(&1.into(), "{}");
        let copies = |answers| faults.plan(&answer, Some(answers)).copies;
        assert_eq!([copies("ping"), copies("tools/call"), copies("tools/call")], [1, 1, 2]);
        assert_eq!(copies("tools/call"), 1);
        let progress = Message::notification("notifications/progress", None);
        assert_eq!(faults.plan(&progress, Some("tools/call")).delay, Duration::from_secs(1));
    }

    #[test]
    fn pieces_keep_characters_whole_and_end_where_they_are_cut() {
        let pause = Duration::from_millis(5);
        let plan = Plan { slow: Some((2, pause)), cut_after: Some(6), ..Plan::default() };
        let (pieces, breaks) = plan.pieces("aé€bcd");
        let texts: Vec<_> = pieces.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!((texts, breaks), (vec!["a", "é", "€"], true));
        let (pieces, breaks) = Plan::default().pieces("abc");
        assert_eq!((pieces, breaks), (vec![(Duration::ZERO, "abc".to_owned())], false));
    }
}
