//! Negotiations, driven by hand: simulated time, no IO.

mod failures;
mod modern;
mod never_stuck;
mod old;
mod sessions;
mod waiting;

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use snodo_dialect::{Carrier, Extensions, Identity};
use snodo_types::{
    Cause, Envelope, Error, Message, Outside, ProtocolVersion, Raw, TransportError, TransportFault,
};

use super::{Negotiation, Opened, Plan};
use crate::Step;

const V26: ProtocolVersion = ProtocolVersion::V2026_07_28;
const V25B: ProtocolVersion = ProtocolVersion::V2025_11_25;
const V25A: ProtocolVersion = ProtocolVersion::V2025_06_18;
const ALL: [ProtocolVersion; 3] = [V25A, V26, V25B];

const PIPE: Carrier = Carrier { routes: false, own_stream: false };
const HTTP: Carrier = Carrier { routes: true, own_stream: true };

const PROBE: Duration = Duration::from_secs(10);
const LIMIT: Duration = Duration::from_secs(30);

/// A negotiation with a clock, and the ids it was given.
struct Talk {
    negotiation: Negotiation,
    now: Instant,
    last_id: u64,
    /// The clock was stopped.
    held: bool,
}

impl Talk {
    fn over(carrier: Carrier, allowed: &[ProtocolVersion]) -> Self {
        Self::by(plan(carrier, allowed))
    }

    fn by(plan: Plan) -> Self {
        Self { negotiation: Negotiation::new(plan), now: Instant::now(), last_id: 40, held: false }
    }

    /// A negotiation whose probe is on its way.
    fn probing(carrier: Carrier) -> Self {
        let mut talk = Self::over(carrier, &ALL);
        talk.asks("server/discover", V26);
        talk
    }

    /// A negotiation whose `initialize` is on its way, with no probe before it.
    fn initializing(carrier: Carrier) -> Self {
        let mut talk = Self::over(carrier, &[V25A, V25B]);
        talk.asks("initialize", V25B);
        talk
    }

    fn step(&mut self) -> Option<Step<Opened>> {
        let last_id = &mut self.last_id;
        let next_id = || {
            *last_id += 1;
            *last_id
        };
        self.negotiation.poll(next_id, self.now)
    }

    /// Expects a request at a version, as its text says it.
    fn asks(&mut self, method: &str, version: ProtocolVersion) -> Envelope {
        let step = self.step();
        let Some(Step::Send(envelope)) = step else { panic!("{method} is asked: {step:?}") };
        let text: Value = serde_json::from_str(&envelope.message).expect("JSON");
        assert_eq!((&text["method"], &text["id"]), (&json!(method), &json!(self.last_id)));
        assert_eq!(envelope.id, Some(self.last_id));
        let params = &text["params"];
        let told = match method {
            "initialize" => &params["protocolVersion"],
            _ => &params["_meta"]["io.modelcontextprotocol/protocolVersion"],
        };
        assert_eq!(told, &json!(version.as_str()));
        self.rests();
        envelope
    }

    fn reopens(&mut self) {
        let step = self.step();
        assert!(matches!(step, Some(Step::Reopen)), "the connection is made anew: {step:?}");
        self.rests();
        self.negotiation.handle_reopened();
    }

    /// Expects `notifications/initialized`, and says that it was sent.
    fn announces(&mut self) -> Envelope {
        let step = self.step();
        let Some(Step::Send(envelope)) = step else { panic!("the session is begun: {step:?}") };
        let notice = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        assert_eq!((envelope.id, envelope.message.as_str()), (None, notice));
        self.rests();
        self.negotiation.handle_sent();
        envelope
    }

    /// Expects that a connection of this version is open.
    fn opened(&mut self, version: ProtocolVersion) -> Opened {
        let step = self.step();
        let Some(Step::Done(Ok(opened))) = step else { panic!("it is open: {step:?}") };
        assert_eq!(opened.dialect.version(), version);
        self.is_over();
        opened
    }

    fn failed(&mut self) -> Error {
        let step = self.step();
        let Some(Step::Done(Err(error))) = step else { panic!("it failed: {step:?}") };
        self.is_over();
        error
    }

    /// Nothing is to be done now.
    fn rests(&mut self) {
        let step = self.step();
        assert!(step.is_none(), "there is nothing to do: {step:?}");
    }

    fn is_over(&mut self) {
        self.rests();
        assert_eq!(self.negotiation.deadline(), None);
    }

    fn hears(&mut self, message: Message) {
        self.negotiation.handle_message(message, self.now);
    }

    fn result(&mut self, result: &Value) {
        self.hears(Message::result(&self.last_id.into(), &result.to_string()));
    }

    fn error(&mut self, error: &Value) {
        self.hears(message(&json!({ "jsonrpc": "2.0", "id": self.last_id, "error": error })));
    }

    fn breaks(&mut self, why: TransportError) {
        self.negotiation.handle_closed(Some(why));
    }

    /// Lets time pass, and the timer fire.
    fn waits(&mut self, time: Duration) {
        self.now += time;
        self.negotiation.handle_timeout(self.now);
    }

    /// A person is waited for.
    fn holds(&mut self) {
        self.held = true;
        self.negotiation.handle_held(self.now);
    }

    fn goes_on(&mut self) {
        self.held = false;
        self.negotiation.handle_released(self.now);
    }

    /// How long it waits at most from now on.
    fn patience(&self) -> Option<Duration> {
        self.negotiation.deadline().map(|deadline| deadline - self.now)
    }
}

fn plan(carrier: Carrier, allowed: &[ProtocolVersion]) -> Plan {
    Plan {
        allowed: allowed.to_vec(),
        identity: Identity {
            client_info: Raw::parse(r#"{"name":"agent","version":"1"}"#).expect("JSON"),
            capabilities: Raw::parse(r#"{"roots":{}}"#).expect("JSON"),
            extensions: Extensions::new(),
        },
        carrier,
        notifies: true,
        probe_timeout: Some(PROBE),
        timeout: Some(LIMIT),
    }
}

fn message(text: &Value) -> Message {
    Message::parse(text.to_string()).expect("a message")
}

/// As HTTP hands on a body that came with a status.
fn with_status(message: Message, status: u16) -> Message {
    message.with_outside(Outside { status: Some(status), ..Outside::default() })
}

/// As HTTP reports a status without a JSON-RPC body.
fn status(status: u16) -> TransportError {
    TransportError::new(TransportFault::Status, format!("HTTP {status}")).with_status(status)
}

fn fault(fault: TransportFault) -> TransportError {
    TransportError::new(fault, format!("{fault:?}"))
}

fn data(error: &Error) -> Value {
    error.data().expect("data").decode().expect("JSON")
}

/// What both eras answered.
fn both(error: &Error) -> (&Error, &Error) {
    match error.cause() {
        Some(Cause::Negotiation { probe, initialize }) => (probe, initialize),
        other => panic!("both answers are told: {other:?}"),
    }
}
