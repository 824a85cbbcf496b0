//! Whatever happens in whatever order: a negotiation waits for something, or it is over.

use serde_json::{Value, json};
use snodo_types::{Message, ProtocolVersion, TransportFault};

use super::{
    ALL, HTTP, LIMIT, PIPE, PROBE, Talk, V25A, V25B, V26, fault, message, plan, status, with_status,
};
use crate::Step;

/// What may happen to a negotiation, in no order.
const EVENTS: &[fn(&mut Talk)] = &[
    |talk| talk.waits(PROBE),
    |talk| talk.waits(LIMIT),
    |talk| talk.waits(PROBE / 3),
    |talk| talk.holds(),
    |talk| talk.goes_on(),
    |talk| talk.negotiation.handle_sent(),
    |talk| talk.negotiation.handle_reopened(),
    |talk| talk.negotiation.handle_closed(None),
    |talk| talk.breaks(fault(TransportFault::Exited)),
    |talk| talk.breaks(fault(TransportFault::Connect)),
    |talk| talk.breaks(status(401).with_credential_sent()),
    |talk| talk.breaks(status(503)),
    |talk| talk.result(&json!({ "supportedVersions": ["2026-07-28", "2025-11-25"] })),
    |talk| talk.result(&json!({ "supportedVersions": ["2025-06-18"] })),
    |talk| talk.result(&json!({ "supportedVersions": [] })),
    |talk| talk.result(&json!({ "protocolVersion": "2025-11-25" })),
    |talk| talk.result(&json!({ "protocolVersion": "2025-06-18" })),
    |talk| talk.result(&json!({ "protocolVersion": "1999-01-01" })),
    |talk| talk.error(&json!({ "code": -32601, "message": "no" })),
    |talk| talk.error(&json!({ "code": "no number" })),
    |talk| talk.error(&refusal(&json!(["2026-07-28"]))),
    |talk| talk.error(&refusal(&json!(["2025-11-25"]))),
    |talk| talk.error(&json!({ "code": -32020, "message": "no" })),
    |talk| talk.hears(with_status(Message::result(&7.into(), "{}"), 404)),
    |talk| talk.hears(message(&json!({ "jsonrpc": "2.0", "id": 0, "method": "ping" }))),
    |talk| talk.hears(message(&json!({ "jsonrpc": "2.0", "method": "window/logMessage" }))),
];

fn refusal(supported: &Value) -> Value {
    json!({ "code": -32022, "message": "no", "data": { "supported": supported } })
}

/// What a negotiation did so far.
#[derive(Debug, Default)]
struct Trace {
    sent: usize,
    initialized: usize,
    reopened: usize,
    done: usize,
    reopening: bool,
}

impl Trace {
    /// Does what is to be done, and checks that it is little.
    fn drain(&mut self, talk: &mut Talk) {
        for _ in 0..4 {
            let Some(step) = talk.step() else { return self.check(talk) };
            assert_eq!(self.done, 0, "nothing follows the end: {step:?}");
            match step {
                Step::Done(_) => self.done += 1,
                Step::Reopen => (self.reopened, self.reopening) = (self.reopened + 1, true),
                Step::Send(envelope) => {
                    self.sent += 1;
                    self.initialized += usize::from(envelope.opens_session);
                    self.reopening = false;
                }
                Step::Notify(_) | Step::Serve(_) => {}
                Step::Ask(_) | Step::Define(_) | Step::Progress(_) => panic!("nobody asked for it"),
            }
        }
        panic!("it does not rest: {self:?}");
    }

    fn check(&self, talk: &Talk) {
        assert!(self.reopened <= 1 && self.initialized <= 1 && self.sent <= 4, "{self:?}");
        let deadline = talk.negotiation.deadline().is_some();
        match self.done {
            0 => assert!(deadline || talk.held || self.reopening, "it is stuck: {self:?}"),
            _ => assert!(!deadline, "it is over: {self:?}"),
        }
    }
}

/// Numbers that look random and are the same on every run (xorshift).
fn random(state: &mut u64) -> usize {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    usize::try_from(*state >> 33).expect("31 bits")
}

#[test]
fn whatever_happens_it_ends_once_or_waits_for_something() {
    let sets: [&[ProtocolVersion]; 6] = [&ALL, &[V26, V25A], &[V26], &[V25B], &[V25A, V25B], &[]];
    let mut state = 0x9E37_79B9_7F4A_7C15;
    for walk in 0..if cfg!(miri) { 12_usize } else { 9_000 } {
        let mut plan = plan(if walk % 2 == 0 { PIPE } else { HTTP }, sets[walk % sets.len()]);
        plan.notifies = walk % 7 != 0;
        let mut talk = Talk::by(plan);
        let mut trace = Trace::default();
        trace.drain(&mut talk);
        for _ in 0..random(&mut state) % 10 {
            EVENTS[random(&mut state) % EVENTS.len()](&mut talk);
            trace.drain(&mut talk);
        }
        // Left alone, it gives up within its deadlines.
        for _ in 0..6 {
            talk.goes_on();
            talk.negotiation.handle_reopened();
            talk.waits(LIMIT);
            trace.drain(&mut talk);
        }
        assert_eq!(trace.done, 1, "walk {walk}: {trace:?}");
    }
}
