//! What a status says when no JSON-RPC stands behind it.

use std::time::{Duration, SystemTime};

use http::header::{
    CONTENT_ENCODING, CONTENT_TYPE, DATE, HeaderName, LOCATION, RETRY_AFTER, WWW_AUTHENTICATE,
};
use http::{HeaderMap, StatusCode};
use snodo_types::{TransportError, TransportFault, steers};

use crate::backend::Answer;
use crate::date;
use crate::target::Target;

/// What a body is, by its `Content-Type`: without case and parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Media {
    EventStream,
    Json,
    Other,
}

impl Media {
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        let value = headers.get(CONTENT_TYPE).map_or(&b""[..], |value| value.as_bytes());
        let essence = value.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
        if essence.eq_ignore_ascii_case(b"text/event-stream") {
            Self::EventStream
        } else if essence.eq_ignore_ascii_case(b"application/json") || essence.ends_with(b"+json") {
            Self::Json
        } else {
            Self::Other
        }
    }
}

/// The error for a status that is no success, with what its body says.
pub(crate) fn error(
    target: &Target,
    answer: &Answer,
    body: &[u8],
    credential_sent: bool,
) -> TransportError {
    let status = answer.status;
    let mut message = format!("HTTP {}", status.as_u16());
    if let Some(reason) = status.canonical_reason() {
        message.push(' ');
        message.push_str(reason);
    }
    if status.is_redirection() {
        message.push_str(": moved to ");
        message.push_str(&match header(&answer.headers, LOCATION) {
            Some(location) => shorten(&target.show_location(location)),
            None => "nowhere".to_owned(),
        });
    } else {
        let said = said(body);
        if !said.is_empty() {
            message.push_str(": ");
            message.push_str(&said);
        }
    }
    message.push_str(" (");
    message.push_str(target.shown());
    message.push(')');
    if let Some(meaning) = meaning(status, credential_sent) {
        message.push_str("; it usually means that ");
        message.push_str(meaning);
    }
    let mut error = TransportError::new(TransportFault::Status, message)
        .with_status(status.as_u16())
        .with_challenges(challenges(&answer.headers));
    if let Some(wait) = retry_after(&answer.headers) {
        error = error.with_retry_after(wait);
    }
    if credential_sent { error.with_credential_sent() } else { error }
}

/// What a status mostly comes from, for whoever has to mend it.
fn meaning(status: StatusCode, credential_sent: bool) -> Option<&'static str> {
    Some(match status.as_u16() {
        300..=303 | 305..=399 => "the endpoint has another URL now",
        400 => "the server did not understand the message",
        401 if credential_sent => "the credentials are wrong, or no longer good",
        401 => "the server wants credentials",
        403 => "these credentials, or this address, are not allowed to do that",
        404 => "there is no MCP endpoint under this path",
        405 => "this is no Streamable HTTP endpoint; older servers speak HTTP+SSE",
        406 => "the server gives neither JSON nor an event stream",
        407 => "a proxy wants credentials",
        408 => "the message arrived too slowly",
        413 => "the message is larger than the server, or a proxy before it, takes",
        415 => "the server wants another body than JSON",
        421 => "the server does not answer for this host",
        422 => "the server wants `initialize` first",
        429 => "there were too many requests",
        431 => "there are too many headers, or too large ones",
        500 => "the server failed in serving the message",
        502 => "a proxy does not reach the server behind it",
        503 => "the server is overloaded, or just starting",
        504 => "a proxy gave up waiting for the server behind it",
        _ => return None,
    })
}

/// The error for a success that brought no JSON-RPC message.
pub(crate) fn unreadable(status: StatusCode, headers: &HeaderMap) -> TransportError {
    let kind = match header(headers, CONTENT_TYPE) {
        Some(kind) => format!("the content type {}", shorten(kind)),
        None => "no content type".to_owned(),
    };
    let message = format!("HTTP {} with {kind} brought no JSON-RPC message", status.as_u16());
    TransportError::new(TransportFault::Malformed, message)
}

/// The error for an answer in a coding that was not unpacked.
pub(crate) fn packed(headers: &HeaderMap) -> Option<TransportError> {
    let coding =
        header(headers, CONTENT_ENCODING).filter(|it| !it.eq_ignore_ascii_case("identity"))?;
    let coding = shorten(coding);
    let message = format!("the answer is packed as {coding}, which was not asked for");
    Some(TransportError::new(TransportFault::Malformed, message))
}

/// The values of all challenges, as they came.
pub(crate) fn challenges(headers: &HeaderMap) -> Vec<String> {
    let values = headers.get_all(WWW_AUTHENTICATE).iter();
    values.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()).collect()
}

/// How long the server wants to be left alone: seconds, or a date read against the server's own.
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let value = header(headers, RETRY_AFTER)?.trim();
    if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        // Digits past all numbers mean for ever, and no sum with a clock may overflow.
        let seconds = value.parse().unwrap_or(u32::MAX);
        return Some(Duration::from_secs(seconds.into()));
    }
    let then = date::parse(value)?;
    let now = header(headers, DATE)
        .and_then(date::parse)
        .or_else(|| SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).ok())?;
    Some(then.saturating_sub(now))
}

/// What a body says to a person: one line of printable text, tags left out, shortened.
fn said(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(&body[..body.len().min(MOST_SEARCHED)]);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if text.starts_with('<') { shorten(&without_tags(text)) } else { shorten(text) }
}

/// Leaves out tags, and what stands in scripts and style sheets.
fn without_tags(html: &str) -> String {
    let mut text = String::new();
    let mut rest = html;
    while let Some((before, behind)) = rest.split_once('<') {
        text.push_str(before);
        text.push(' ');
        let silent = ["script", "style"].into_iter().find(|name| {
            behind.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name))
        });
        let behind = match silent {
            Some(name) => {
                let closing = format!("</{name}");
                let lower = behind.to_ascii_lowercase();
                lower.find(&closing).map_or("", |at| &behind[at..])
            }
            None => behind,
        };
        rest = behind.split_once('>').map_or("", |(_, rest)| rest);
    }
    text.push_str(rest);
    text
}

/// One line without what [`steers`], at most [`MOST_SHOWN`] characters long.
fn shorten(text: &str) -> String {
    let mut line = String::new();
    let mut count = 0;
    for word in text.split(|c: char| c.is_whitespace() || steers(c)) {
        if word.is_empty() {
            continue;
        }
        if !line.is_empty() {
            line.push(' ');
            count += 1;
        }
        for character in word.chars() {
            if count + 1 >= MOST_SHOWN {
                line.push('…');
                return line;
            }
            line.push(character);
            count += 1;
        }
    }
    line
}

fn header(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// The most that is read of an error's body, unless it says it is JSON.
pub(crate) const MOST_READ: usize = 64 * 1024;

const MOST_SEARCHED: usize = 16 * 1024;

const MOST_SHOWN: usize = 200;
