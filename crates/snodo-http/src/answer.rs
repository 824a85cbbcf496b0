//! What the answer to a POST says.

use http::StatusCode;
use snodo_types::{
    Body as Parts, Message, Outside, RequestId, SessionId, TransportError, TransportFault,
};

use crate::backend::Answer;
use crate::events::Events;
use crate::status::{self, Media};
use crate::wire::Wire;

/// A POST that was answered.
pub(crate) enum Opened {
    /// The response to a request, whole.
    Answered(Message),
    /// A stream on which the response will come, and what stands outside it.
    Events(Box<Events>, Outside),
    /// Nothing answers the message; the server took it.
    Taken,
}

/// A request that waits for its response.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    pub(crate) id: u64,
    /// Whether the response may open a session.
    pub(crate) opens_session: bool,
}

/// Whether a message that came for a request is its response.
pub(crate) enum Verdict {
    Answer(Message),
    /// A request or a notification.
    OnTheWay(Message),
    /// A failure that names another request, or a word: the answer, if no better one comes.
    Stray(Message),
    /// A result for another request.
    Foreign(RequestId),
}

impl Waiting {
    /// An error without an id answers the only request there is; one with a foreign id may.
    pub(crate) fn judge(self, message: Message) -> Verdict {
        match message.body() {
            Parts::Notification { .. } | Parts::Request { .. } => Verdict::OnTheWay(message),
            Parts::Error { id: None, .. } => Verdict::Answer(message),
            Parts::Error { id: Some(id), .. } | Parts::Result { id, .. }
                if id.as_ours() == Some(self.id) =>
            {
                Verdict::Answer(message)
            }
            Parts::Error { .. } => Verdict::Stray(message),
            Parts::Result { id, .. } => {
                let id = id.clone();
                Verdict::Foreign(id)
            }
        }
    }
}

/// Reads the answer to a message that nothing answers: its body means nothing.
pub(crate) async fn to_notice(
    wire: &Wire,
    mut answer: Answer,
    credential_sent: bool,
) -> Result<Opened, TransportError> {
    if answer.status.is_success() {
        if Media::of(&answer.headers) != Media::EventStream {
            Box::pin(answer.body.drain()).await;
        }
        return Ok(Opened::Taken);
    }
    let body = Box::pin(failure_body(wire, &mut answer)).await;
    Err(status::error(&wire.target, &answer, &body, credential_sent))
}

/// Reads the answer to a request as far as it stands outside a stream.
pub(crate) async fn to_request(
    wire: &Wire,
    mut answer: Answer,
    credential_sent: bool,
    waiting: Waiting,
) -> Result<Opened, TransportError> {
    if !answer.status.is_success() {
        let body = Box::pin(failure_body(wire, &mut answer)).await;
        // A refusal for want of credentials is never the server's word on the request itself.
        let response = match answer.status {
            StatusCode::UNAUTHORIZED => None,
            _ => response(&body, waiting),
        };
        return match response {
            Some(message) => Ok(Opened::Answered(message.with_outside(outside(&answer, waiting)))),
            None => Err(status::error(&wire.target, &answer, &body, credential_sent)),
        };
    }
    let outside = outside(&answer, waiting);
    let media = Media::of(&answer.headers);
    if media == Media::EventStream {
        if let Some(error) = status::packed(&answer.headers) {
            return Err(error);
        }
        let events = Events::new(answer.body, wire.limits.body_bytes);
        return Ok(Opened::Events(Box::new(events), outside));
    }
    let bytes = answer.body.whole(wire.limits.body_bytes).await?;
    let text = match text(bytes) {
        Ok(text) => text,
        Err(error) => return Err(status::packed(&answer.headers).unwrap_or(error)),
    };
    let says_json = media == Media::Json && !text.is_empty();
    let message = match Message::parse(text) {
        Ok(message) => message,
        Err(error) if says_json => return Err(malformed(&error.to_string()).with_source(error)),
        Err(_) => return Err(status::unreadable(answer.status, &answer.headers)),
    };
    match waiting.judge(message) {
        Verdict::Answer(message) | Verdict::Stray(message) => {
            Ok(Opened::Answered(message.with_outside(outside)))
        }
        Verdict::OnTheWay(_) => Err(malformed("the body is no response but a message of its own")),
        Verdict::Foreign(id) => {
            Err(malformed(&format!("the answer to request {} carries the id {id}", waiting.id)))
        }
    }
}

/// The response that the body of a failure holds, whatever its content type says.
fn response(body: &[u8], waiting: Waiting) -> Option<Message> {
    let text = text(body.to_vec()).ok()?;
    match waiting.judge(Message::parse(text).ok()?) {
        Verdict::Answer(message) | Verdict::Stray(message) => Some(message),
        Verdict::Foreign(_) | Verdict::OnTheWay(_) => None,
    }
}

async fn failure_body(wire: &Wire, answer: &mut Answer) -> Vec<u8> {
    let limit = match Media::of(&answer.headers) {
        Media::Json => wire.limits.body_bytes,
        Media::EventStream | Media::Other => wire.limits.body_bytes.min(status::MOST_READ),
    };
    answer.body.beginning(limit).await
}

fn outside(answer: &Answer, waiting: Waiting) -> Outside {
    let plain = answer.status == StatusCode::OK;
    Outside {
        status: (!plain).then(|| answer.status.as_u16()),
        retry_after: if plain { None } else { status::retry_after(&answer.headers) },
        session: if plain && waiting.opens_session { session(answer) } else { None },
        kept: None,
    }
}

/// The session of an answer; one that no header could carry back is left alone.
fn session(answer: &Answer) -> Option<SessionId> {
    let value = answer.headers.get("mcp-session-id")?;
    let session = value.to_str().ok().and_then(SessionId::new);
    if session.is_none() {
        tracing::warn!("the server's session id is not visible ASCII, or too long: it is ignored");
    }
    session
}

/// JSON is UTF-8 (RFC 8259, section 8.1); a byte order mark may be ignored.
fn text(mut bytes: Vec<u8>) -> Result<String, TransportError> {
    if bytes.starts_with(b"\xEF\xBB\xBF") {
        bytes.drain(..3);
    }
    String::from_utf8(bytes).map_err(|error| malformed("the body is not UTF-8").with_source(error))
}

pub(crate) fn malformed(why: &str) -> TransportError {
    TransportError::new(TransportFault::Malformed, why)
}
