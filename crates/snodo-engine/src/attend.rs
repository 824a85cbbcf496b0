//! What comes while nobody calls.

use std::collections::VecDeque;

use snodo_dialect::{Asks, Outfit};
use snodo_types::{
    Body, Cancelled, Envelope, Error, ErrorObject, Members, Message, Meta, Raw, RequestId,
};

use crate::question::{Answering, Question, Unanswerable};

/// Answers what the server asks of its own accord, and passes on what it tells (initialize era).
///
/// `ping` is always answered. What there is a handler for is given to the driver, a bounded number
/// at a time; everything else is refused at once (2025-11-25, base protocol, "Responses").
///
/// ```
/// use snodo_dialect::{Asks, Outfit};
/// use snodo_engine::{Answering, Attendant, Duty};
/// use snodo_types::Message;
///
/// let mut attendant = Attendant::new(Answering::default(), 16);
/// let ping = Message::parse(r#"{"jsonrpc":"2.0","id":"a","method":"ping"}"#)?;
/// attendant.handle_message(ping, Asks::ALL, &Outfit::default());
/// let pong = r#"{"jsonrpc":"2.0","id":"a","result":{}}"#;
/// assert!(matches!(attendant.poll(), Some(Duty::Send(reply)) if reply.message == pong));
/// assert!(attendant.poll().is_none());
/// # Ok::<(), snodo_types::MalformedMessage>(())
/// ```
#[derive(Debug)]
pub struct Attendant {
    answering: Answering,
    limit: usize,
    /// What handlers work on. A key is never used again.
    running: Vec<Running>,
    next_key: u64,
    /// At most two duties for each message handled; the driver takes them before the next one.
    duties: VecDeque<Duty>,
}

/// A question that a handler works on.
#[derive(Debug)]
struct Running {
    key: u64,
    id: RequestId,
    /// The task that it is asked for, as the server wrote it.
    task: Option<Raw>,
}

/// One thing for the driver of an [`Attendant`] to do.
///
/// ```
/// use snodo_dialect::{Asks, Outfit};
/// use snodo_engine::{Answer, Answering, Attendant, Duty, Refusal};
/// use snodo_types::{Message, Roots};
///
/// let mut attendant = Attendant::new(Answering { roots: true, ..Answering::default() }, 16);
/// let asked = Message::parse(r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#)?;
/// attendant.handle_message(asked, Asks::ALL, &Outfit::default());
/// while let Some(duty) = attendant.poll() {
///     match duty {
///         Duty::Ask(key, question) => {
///             let answer = Answer::Roots(Roots::default()).write(&question);
///             let answer = answer.map_err(|_| Refusal::Failed);
///             attendant.handle_answer(key, answer, &Outfit::default());
///         }
///         Duty::Send(reply) => assert!(reply.message.ends_with(r#""result":{"roots":[]}}"#)),
///         Duty::Fault(_) | Duty::Notify(_) | Duty::Stop(_) => {}
///     }
/// }
/// # Ok::<(), snodo_types::MalformedMessage>(())
/// ```
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "a driver has to do each of them")]
pub enum Duty {
    /// Let a handler answer; then call `handle_answer` with the key.
    Ask(u64, Question),
    /// The server reported an error that belongs to no request: tell whoever wants to know.
    Fault(Error),
    /// Tell whoever wants to know.
    Notify(Message),
    /// Send this.
    Send(Envelope),
    /// The server gave up what this key stands for: stop the handler.
    Stop(u64),
}

/// Why a question of the server's is not answered.
///
/// ```
/// use snodo_engine::Refusal;
///
/// assert_ne!(Refusal::Failed, Refusal::Rejected);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// The handler failed. The server is not told why.
    Failed,
    /// The user said no where the protocol has no other word for it (sampling).
    Rejected,
}

impl Attendant {
    /// An attendant with these handlers, of which `limit` run at once at most.
    #[must_use]
    pub fn new(answering: Answering, limit: usize) -> Self {
        Self { answering, limit, running: Vec::new(), next_key: 0, duties: VecDeque::new() }
    }

    /// Takes a message that concerns no call, of a server that may ask so much.
    pub fn handle_message(&mut self, message: Message, asks: Asks, outfit: &Outfit) {
        match message.body() {
            Body::Request { id, method: "ping", .. } => {
                self.reply(Message::result(id, "{}"), outfit)
            }
            Body::Request { id, method, params } => {
                let question = Question::read(method, params, self.answering, asks);
                self.asked(id.clone(), question, params.and_then(task_of), outfit);
            }
            Body::Notification { method: "notifications/cancelled", params: Some(params) } => {
                self.cancelled(params)
            }
            Body::Notification { .. } => self.duties.push_back(Duty::Notify(message)),
            Body::Error { id: None, error } => {
                tracing::warn!(error, "the server reported an error that belongs to no request");
                let error = serde_json::from_str::<ErrorObject>(error).map(Error::from);
                let error = error.unwrap_or_else(|fault| Error::decode(fault.to_string()));
                self.duties.push_back(Duty::Fault(error));
            }
            Body::Error { .. } | Body::Result { .. } => {
                tracing::debug!("an answer came that nobody waits for")
            }
        }
    }

    /// Takes what a handler said.
    pub fn handle_answer(&mut self, key: u64, answer: Result<Raw, Refusal>, outfit: &Outfit) {
        let Some(place) = self.running.iter().position(|running| running.key == key) else {
            return;
        };
        let Running { id, task, .. } = self.running.swap_remove(place);
        let reply = match answer {
            Ok(result) => Message::result(&id, related(result, task).text()),
            Err(Refusal::Failed) => {
                refuse(&id, ErrorObject::INTERNAL_ERROR, "the client could not answer")
            }
            // 2025-11-25, sampling, "Error Handling".
            Err(Refusal::Rejected) => refuse(&id, -1, "User rejected sampling request"),
        };
        self.reply(reply, outfit);
    }

    /// What is to be done next.
    pub fn poll(&mut self) -> Option<Duty> {
        self.duties.pop_front()
    }

    fn asked(
        &mut self,
        id: RequestId,
        question: Result<Question, Unanswerable>,
        task: Option<Raw>,
        outfit: &Outfit,
    ) {
        let reply = match question {
            Ok(_) if self.running.len() >= self.limit => {
                let text = format!("the client already answers {} requests", self.limit);
                refuse(&id, ErrorObject::INTERNAL_ERROR, &text)
            }
            Ok(question) => {
                let key = self.next_key;
                self.next_key += 1;
                self.running.push(Running { key, id, task });
                return self.duties.push_back(Duty::Ask(key, question));
            }
            Err(Unanswerable::Malformed(why)) => refuse(&id, ErrorObject::INVALID_PARAMS, &why),
            // 2025-11-25, elicitation, "Error Handling": a mode that was not declared, or that the
            // version does not have.
            Err(Unanswerable::Mode(kind)) => {
                let text = format!("this client does not answer {kind} here");
                refuse(&id, ErrorObject::INVALID_PARAMS, &text)
            }
            Err(Unanswerable::Nobody(kind)) => {
                let text = format!("this client does not answer {kind}");
                refuse(&id, ErrorObject::METHOD_NOT_FOUND, &text)
            }
        };
        self.reply(reply, outfit);
    }

    /// 2025-11-25, cancellation: stop the work, and send no answer.
    fn cancelled(&mut self, params: &str) {
        let Ok(Cancelled { request_id: Some(id), reason, .. }) = serde_json::from_str(params)
        else {
            return;
        };
        if let Some(place) = self.running.iter().position(|running| running.id == id) {
            let Running { key, .. } = self.running.swap_remove(place);
            // As literals: both are the server's own words.
            tracing::debug!(?id, reason = ?reason.unwrap_or_default(), "given up by the server");
            self.duties.push_back(Duty::Stop(key));
        }
    }

    fn reply(&mut self, reply: Message, outfit: &Outfit) {
        self.duties.push_back(Duty::Send(outfit.wrap(reply.text().to_owned())));
    }
}

/// The task that a question is asked for, if it is.
fn task_of(params: &str) -> Option<Raw> {
    if !params.contains(Meta::RELATED_TASK) {
        return None;
    }
    Meta::within(&Raw::parse(params).ok()?).read(Meta::RELATED_TASK)
}

/// What is said about a task names it (2025-11-25, tasks, "Associating Task-Related Messages").
fn related(result: Raw, task: Option<Raw>) -> Raw {
    let Some(task) = task else { return result };
    let Ok(mut members) = result.decode::<Members>() else { return result };
    let meta = members.get("_meta").and_then(|meta| meta.decode::<Members>().ok());
    let mut meta = meta.unwrap_or_default();
    meta.insert(Meta::RELATED_TASK, task);
    members.insert("_meta", Raw::from(&meta));
    Raw::from(&members)
}

fn refuse(id: &RequestId, code: i64, message: &str) -> Message {
    Message::error(Some(id), &ErrorObject::new(code, message))
}

#[cfg(test)]
#[path = "attend_tests.rs"]
mod tests;
