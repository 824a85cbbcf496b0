//! Calls, driven by hand: simulated time, no IO.

mod answers;
mod asked;
mod meanwhile;
mod never_stuck;
mod put_off;
mod waiting;

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use snodo_dialect::{Carrier, Extensions, Identity, Outfit, Params, Request, dialect};
use snodo_types::{Envelope, Error, Message, Outcome, ProtocolVersion, Raw};

use super::{Call, Limits};
use crate::{Step, Terms};

const V26: ProtocolVersion = ProtocolVersion::V2026_07_28;
const V25B: ProtocolVersion = ProtocolVersion::V2025_11_25;
const V25A: ProtocolVersion = ProtocolVersion::V2025_06_18;

const SECOND: Duration = Duration::from_secs(1);

/// What was agreed on for a connection.
struct Agreed {
    version: ProtocolVersion,
    outfit: Outfit,
    identity: Identity,
    carrier: Carrier,
    allowed: Vec<ProtocolVersion>,
}

impl Agreed {
    fn terms(&self) -> Terms<'_> {
        Terms {
            dialect: dialect(self.version),
            outfit: &self.outfit,
            identity: &self.identity,
            carrier: self.carrier,
            allowed: &self.allowed,
        }
    }
}

/// A call on a connection of one version, with a clock and the ids it was given.
struct Line {
    call: Call,
    agreed: Agreed,
    now: Instant,
    last_id: u64,
}

impl Line {
    fn new(version: ProtocolVersion, request: Request, limits: Limits) -> Self {
        let identity = Identity {
            client_info: Raw::empty_object(),
            capabilities: Raw::empty_object(),
            extensions: Extensions::new(),
        };
        let outfit = dialect(version).outfit(&identity, Carrier::default(), None);
        let carrier = Carrier::default();
        let agreed = Agreed { version, outfit, identity, carrier, allowed: vec![V26, V25B] };
        Self { call: Call::new(request, limits), agreed, now: Instant::now(), last_id: 7 }
    }

    /// A `tools/call` on its way.
    fn calling(version: ProtocolVersion) -> Self {
        Self::asking(version, "tools/call", patient())
    }

    /// Any request on its way; progress is wanted.
    fn asking(version: ProtocolVersion, method: &'static str, limits: Limits) -> Self {
        let params = Params::new().with("name", "echo").expect("JSON");
        let mut request = Request::new(method, params);
        request.progress = true;
        let mut line = Self::new(version, request, limits);
        line.sends();
        line
    }

    fn step(&mut self) -> Option<Step<Outcome<Message>>> {
        let last_id = &mut self.last_id;
        let next_id = || {
            *last_id += 1;
            *last_id
        };
        self.call.poll(next_id, &self.agreed.terms(), self.now)
    }

    /// Expects that the request is sent, under an id that was not used before.
    fn sends(&mut self) -> Envelope {
        let before = self.last_id;
        let step = self.step();
        let Some(Step::Send(envelope)) = step else { panic!("it is sent: {step:?}") };
        assert_eq!((envelope.id, self.last_id), (Some(before + 1), before + 1));
        self.rests();
        envelope
    }

    fn done(&mut self) -> Result<Outcome<Message>, Error> {
        let step = self.step();
        let Some(Step::Done(result)) = step else { panic!("it is over: {step:?}") };
        self.rests();
        assert_eq!(self.call.deadline(), None);
        result
    }

    /// Expects a complete result, and gives back what it holds.
    fn complete(&mut self) -> Value {
        let outcome = self.done().expect("a result");
        let Outcome::Complete(answer) = outcome else { panic!("complete: {outcome:?}") };
        let text: Value = serde_json::from_str(answer.text()).expect("JSON");
        text["result"].clone()
    }

    fn failed(&mut self) -> Error {
        self.done().expect_err("it failed")
    }

    /// Nothing is to be done now.
    fn rests(&mut self) {
        let step = self.step();
        assert!(step.is_none(), "there is nothing to do: {step:?}");
    }

    fn hears(&mut self, text: &Value) {
        let message = Message::parse(text.to_string()).expect("a message");
        self.call.handle_message(message, &self.agreed.terms(), self.now);
    }

    fn result(&mut self, result: &Value) {
        self.hears(&json!({ "jsonrpc": "2.0", "id": self.last_id, "result": result }));
    }

    fn error(&mut self, error: &Value) {
        self.hears(&json!({ "jsonrpc": "2.0", "id": self.last_id, "error": error }));
    }

    fn progress(&mut self, token: &Value) {
        let params = json!({ "progressToken": token, "progress": 1 });
        self.hears(&notification("notifications/progress", &params));
    }

    /// Lets time pass, and the timer fire.
    fn waits(&mut self, time: Duration) {
        self.now += time;
        self.call.handle_timeout(self.now);
    }

    /// How long it waits at most from now on.
    fn patience(&self) -> Option<Duration> {
        self.call.deadline().map(|deadline| deadline - self.now)
    }
}

/// Half a minute from each sending to its answer.
fn patient() -> Limits {
    Limits { timeout: Some(30 * SECOND), ..Limits::default() }
}

fn notification(method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}

fn data(error: &Error) -> Value {
    error.data().expect("data").decode().expect("JSON")
}
