//! The life of a subscription.

use std::time::{Duration, Instant};

use snodo_dialect::{Carrier, Extensions, Identity, Outfit, dialect};
use snodo_types::{
    Cause, Envelope, Message, ProtocolVersion, Raw, SubscriptionFilter, TransportError,
    TransportFault,
};

use super::{Ending, Subscription, Tidings};
use crate::Terms;

struct Line {
    subscription: Subscription,
    identity: Identity,
    outfit: Outfit,
    now: Instant,
}

impl Line {
    fn open() -> Self {
        let identity = Identity {
            client_info: Raw::empty_object(),
            capabilities: Raw::empty_object(),
            extensions: Extensions::new(),
        };
        let outfit =
            dialect(ProtocolVersion::V2026_07_28).outfit(&identity, Carrier::default(), None);
        let filter = SubscriptionFilter::new().tools_list_changed().resource("file:///a");
        let subscription =
            Subscription::new(&filter, Some(Duration::from_secs(30))).expect("written");
        Self { subscription, identity, outfit, now: Instant::now() }
    }

    /// One that the server acknowledged.
    fn acknowledged() -> Self {
        let mut line = Self::open();
        line.sent();
        line.hear(&note(
            "notifications/subscriptions/acknowledged",
            r#""notifications":{"toolsListChanged":true},"#,
            7,
        ));
        assert!(matches!(line.next(), Some(Tidings::Accepted(_))));
        line
    }

    fn next(&mut self) -> Option<Tidings> {
        let terms = Terms {
            dialect: dialect(ProtocolVersion::V2026_07_28),
            outfit: &self.outfit,
            identity: &self.identity,
            carrier: Carrier::default(),
            allowed: ProtocolVersion::ALL,
        };
        self.subscription.poll(|| 7, &terms, self.now)
    }

    fn sent(&mut self) -> Envelope {
        match self.next() {
            Some(Tidings::Send(envelope)) => envelope,
            other => panic!("a request: {other:?}"),
        }
    }

    fn hear(&mut self, text: &str) {
        let terms = Terms {
            dialect: dialect(ProtocolVersion::V2026_07_28),
            outfit: &self.outfit,
            identity: &self.identity,
            carrier: Carrier::default(),
            allowed: ProtocolVersion::ALL,
        };
        self.subscription.handle_message(Message::parse(text).expect(text), &terms);
    }

    fn ending(&mut self) -> Ending {
        match self.next() {
            Some(Tidings::Closed(ending)) => ending,
            other => panic!("the end: {other:?}"),
        }
    }
}

fn note(method: &str, members: &str, id: u64) -> String {
    let meta = format!(r#""_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}"#);
    format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{{{members}{meta}}}}}"#)
}

// S-60, SUB-01, RES-10
#[test]
fn the_filter_is_sent_as_given_on_a_request_that_stays_open() {
    let envelope = Line::open().sent();
    assert!(envelope.message.contains(
        r#""notifications":{"toolsListChanged":true,"resourceSubscriptions":["file:///a"]}"#
    ));
    assert!(envelope.listen && envelope.inbox.keep_first);
}

// S-61, SUB-03
#[test]
fn it_is_open_once_acknowledged_with_the_filter_that_was_accepted() {
    let mut line = Line::open();
    line.sent();
    assert!(line.next().is_none() && line.subscription.deadline().is_some());
    line.hear(&note(
        "notifications/subscriptions/acknowledged",
        r#""notifications":{"toolsListChanged":true},"#,
        7,
    ));
    let Some(Tidings::Accepted(filter)) = line.next() else { panic!("acknowledged") };
    assert_eq!(filter.tools_list_changed, Some(true));
    assert!(filter.resources().is_empty());
    assert_eq!(line.subscription.deadline(), None, "an open subscription has no clock");
}

// SUB-06, SUB-18, SUB-05
#[test]
fn what_is_early_or_under_another_id_is_passed_over_and_counted() {
    let mut line = Line::open();
    line.sent();
    line.hear(&note("notifications/tools/list_changed", "", 7));
    assert!(line.next().is_none());
    line.hear(&note("notifications/subscriptions/acknowledged", r#""notifications":{},"#, 8));
    assert!(line.next().is_none());
    line.hear(&note("notifications/subscriptions/acknowledged", r#""notifications":{},"#, 7));
    assert!(matches!(line.next(), Some(Tidings::Accepted(_))));
    line.hear(&note("notifications/tools/list_changed", "", 8));
    assert!(line.next().is_none());
    line.hear(&note("notifications/tools/list_changed", "", 7));
    assert!(matches!(line.next(), Some(Tidings::Event(_))));
    assert_eq!(line.subscription.strays(), 3);
}

// S-64, SUB-09, SUB-10
#[test]
fn every_way_to_end_is_told_apart_and_told_once() {
    let mut line = Line::acknowledged();
    line.hear(r#"{"jsonrpc":"2.0","id":7,"result":{"resultType":"complete"}}"#);
    assert!(matches!(line.ending(), Ending::Complete));
    line.hear(&note("notifications/tools/list_changed", "", 7));
    assert!(line.next().is_none(), "nothing follows");

    let mut line = Line::acknowledged();
    line.hear(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#);
    assert!(matches!(line.ending(), Ending::Cancelled));

    let mut line = Line::acknowledged();
    line.hear(r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32603,"message":"gone"}}"#);
    assert!(matches!(line.ending(), Ending::Failed(error) if error.code() == -32603));

    let mut line = Line::acknowledged();
    line.subscription.handle_closed(None);
    assert!(
        matches!(line.ending(), Ending::Failed(error) if matches!(error.cause(), Some(Cause::Transport(_))))
    );
}

// S-62, SUB-17
#[test]
fn an_end_before_the_acknowledgement_is_a_failure() {
    let refused = r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"no such method"}}"#;
    let complete = r#"{"jsonrpc":"2.0","id":7,"result":{}}"#;
    for (answer, code) in [(refused, -32601), (complete, -32000)] {
        let mut line = Line::open();
        line.sent();
        line.hear(answer);
        assert!(matches!(line.ending(), Ending::Failed(error) if error.code() == code), "{answer}");
    }
    let mut line = Line::open();
    line.sent();
    line.subscription.handle_closed(Some(TransportError::new(TransportFault::Closed, "over")));
    assert!(matches!(line.ending(), Ending::Failed(error) if error.is_closed()));
}

// S-62, CAN-11
#[test]
fn no_acknowledgement_in_time_is_a_timeout() {
    let mut line = Line::open();
    line.sent();
    let at = line.subscription.deadline().expect("a clock");
    line.subscription.handle_timeout(at - Duration::from_millis(1));
    assert!(line.next().is_none());
    line.subscription.handle_timeout(at);
    assert!(matches!(line.ending(), Ending::Failed(error) if error.code() == -32001));
}

#[test]
fn while_a_person_is_waited_for_the_clock_of_the_acknowledgement_stands() {
    let mut line = Line::open();
    line.sent();
    let at = line.subscription.deadline().expect("a clock");
    line.subscription.handle_held(line.now);
    assert_eq!(line.subscription.deadline(), None);
    line.subscription.handle_timeout(at);
    assert!(line.next().is_none());
    line.subscription.handle_released(at);
    assert_eq!(line.subscription.deadline(), Some(at + Duration::from_secs(30)));
}

#[test]
fn it_waits_once_it_was_sent_and_what_came_was_told() {
    let mut line = Line::open();
    assert!(!line.subscription.is_waiting());
    line.sent();
    assert!(line.subscription.is_waiting());
    line.hear(&note("notifications/subscriptions/acknowledged", r#""notifications":{},"#, 7));
    assert!(!line.subscription.is_waiting());
    line.next();
    assert!(line.subscription.is_waiting());
    line.hear(&note("notifications/tools/list_changed", "", 7));
    assert!(!line.subscription.is_waiting());
    line.next();
    line.hear(r#"{"jsonrpc":"2.0","id":7,"result":{"resultType":"complete"}}"#);
    assert!(!line.subscription.is_waiting());
    line.ending();
    assert!(line.subscription.is_waiting());
}

#[test]
fn an_acknowledgement_that_says_nothing_is_none() {
    for params in ["", r#","params":{}"#, r#","params":{"notifications":7}"#] {
        let mut line = Line::open();
        line.sent();
        let method = "notifications/subscriptions/acknowledged";
        line.hear(&format!(r#"{{"jsonrpc":"2.0","method":"{method}"{params}}}"#));
        assert!(
            matches!(line.ending(), Ending::Failed(error) if error.code() == -32000),
            "{params}"
        );
    }
}

#[test]
fn a_server_that_asks_instead_of_answering_ends_it() {
    let mut line = Line::acknowledged();
    line.hear(
        r#"{"jsonrpc":"2.0","id":7,"result":{"resultType":"input_required","requestState":"s"}}"#,
    );
    assert!(matches!(line.ending(), Ending::Failed(_)));
}

#[test]
fn a_request_of_the_server_s_own_and_a_second_acknowledgement_change_nothing() {
    let mut line = Line::acknowledged();
    line.hear(r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#);
    assert!(line.next().is_none());
    line.hear(&note("notifications/subscriptions/acknowledged", r#""notifications":{},"#, 7));
    assert!(line.next().is_none());
    assert_eq!(line.subscription.strays(), 1);
}

#[test]
fn what_is_changed_before_it_is_sent_is_sent() {
    let mut line = Line::open();
    line.subscription.request_mut().inbox.capacity = 3;
    assert_eq!(line.sent().inbox.capacity, 3);
}
