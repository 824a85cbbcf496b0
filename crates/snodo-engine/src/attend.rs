//! What comes while nobody calls.

use std::collections::VecDeque;
use std::convert::Infallible;

use snodo_dialect::Outfit;
use snodo_types::{Body, ErrorObject, Message, RequestId};

use crate::Step;

/// Answers what the server asks of its own accord, and passes on what it tells (initialize era).
///
/// `ping` is always answered; nothing else is known until handlers are there, and is refused with
/// -32601 (2025-11-25, base protocol, "Responses").
#[derive(Debug, Default)]
pub struct Attendant {
    /// At most one step for each message handled; the driver takes it before the next one.
    steps: VecDeque<Step<Infallible>>,
}

impl Attendant {
    /// An attendant that knows `ping`.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes a message that concerns no call.
    pub fn handle_message(&mut self, message: Message, outfit: &Outfit) {
        match message.body() {
            Body::Request { id, method, .. } => {
                let reply = answer(id, method);
                self.steps.push_back(Step::Send(outfit.wrap(reply.text().to_owned())));
            }
            Body::Notification { .. } => self.steps.push_back(Step::Notify(message)),
            Body::Error { id: None, error } => {
                tracing::warn!(error, "the server reported an error that belongs to no request");
            }
            Body::Error { .. } | Body::Result { .. } => {
                tracing::debug!("an answer came that nobody waits for");
            }
        }
    }

    /// What is to be done next.
    pub fn poll(&mut self) -> Option<Step<Infallible>> {
        self.steps.pop_front()
    }
}

fn answer(id: &RequestId, method: &str) -> Message {
    if method == "ping" {
        return Message::result(id, "{}");
    }
    let reason = format!("this client does not answer {method}");
    let error = ErrorObject::new(ErrorObject::METHOD_NOT_FOUND, "Method not found");
    Message::error(Some(id), &error.with_data(serde_json::json!({ "reason": reason })))
}

#[cfg(test)]
mod tests {
    use snodo_dialect::{Carrier, Identity, Outfit, dialect};
    use snodo_types::{Message, ProtocolVersion, Raw};

    use super::Attendant;
    use crate::Step;

    fn outfit() -> Outfit {
        let identity =
            Identity { client_info: Raw::empty_object(), capabilities: Raw::empty_object() };
        let http = Carrier { routes: true, own_stream: true };
        dialect(ProtocolVersion::V2025_11_25).outfit(&identity, http, None)
    }

    fn attend(text: &str) -> Vec<Step<std::convert::Infallible>> {
        let mut attendant = Attendant::new();
        attendant.handle_message(Message::parse(text).expect(text), &outfit());
        std::iter::from_fn(|| attendant.poll()).collect()
    }

    // INIT-17, SRV-01
    #[test]
    fn ping_is_answered_under_the_server_s_own_id() {
        let steps = attend(r#"{"jsonrpc":"2.0","id":"p-1","method":"ping"}"#);
        let [Step::Send(reply)] = steps.as_slice() else { panic!("one reply: {steps:?}") };
        assert_eq!(reply.message, r#"{"jsonrpc":"2.0","id":"p-1","result":{}}"#);
        assert_eq!(reply.id, None);
        assert_eq!(reply.routing.value("MCP-Protocol-Version"), Some("2025-11-25"));
    }

    // SRV-02
    #[test]
    fn what_nobody_handles_is_refused() {
        let steps = attend(r#"{"jsonrpc":"2.0","id":0,"method":"roots/list"}"#);
        let [Step::Send(reply)] = steps.as_slice() else { panic!("one reply: {steps:?}") };
        assert!(
            reply.message.contains(r#""id":0"#) && reply.message.contains("-32601"),
            "{}",
            reply.message
        );
    }

    // BASE-04
    #[test]
    fn a_notification_is_passed_on_and_never_answered() {
        let steps = attend(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#);
        assert!(matches!(steps.as_slice(), [Step::Notify(_)]));
        assert!(attend(r#"{"jsonrpc":"2.0","id":9,"result":{}}"#).is_empty());
    }
}
