//! The only door to the network: requests to authorization servers, under the policy.

use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use serde_json::{Map, Value};
use snodo_http::Errands;
use snodo_types::steers;
use zeroize::Zeroizing;

use crate::error::{Error, ErrorKind};
use crate::form::{self, Form};
use crate::policy::Policy;

/// How requests beside the messages are sent.
#[derive(Clone, Debug)]
pub(crate) struct Web {
    errands: Errands,
    policy: Policy,
}

/// What came back, whatever the status.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    body: Zeroizing<Vec<u8>>,
}

/// The members of a JSON object.
pub(crate) type Members = Map<String, Value>;

impl Web {
    pub(crate) fn new(errands: &Errands, policy: &Policy) -> Self {
        let allowed = policy.clone();
        let errands = errands
            .clone()
            .max_body_bytes(policy.bytes)
            .timeout(policy.limit)
            .addresses(move |address| allowed.allows(address));
        Self { errands, policy: policy.clone() }
    }

    pub(crate) fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The same door for others, under the same policy but for the check of the URL.
    pub(crate) fn errands(&self) -> &Errands {
        &self.errands
    }

    /// Asks for a document.
    pub(crate) async fn get(&self, url: &str) -> Result<Answer, Error> {
        self.send(Method::GET, url, HeaderMap::new(), Vec::new()).await
    }

    /// Sends a form. It is sent once: nobody knows what became of one that was not answered.
    pub(crate) async fn post_form(
        &self,
        url: &str,
        mut headers: HeaderMap,
        form: &Form,
    ) -> Result<Answer, Error> {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(FORM));
        self.send(Method::POST, url, headers, form.encode().into_bytes()).await
    }

    /// Sends a JSON document.
    pub(crate) async fn post_json(&self, url: &str, document: &Value) -> Result<Answer, Error> {
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(JSON))]);
        self.send(Method::POST, url, headers, document.to_string().into_bytes()).await
    }

    async fn send(
        &self,
        method: Method,
        url: &str,
        mut headers: HeaderMap,
        body: Vec<u8>,
    ) -> Result<Answer, Error> {
        self.policy.check(url)?;
        headers.insert(ACCEPT, HeaderValue::from_static(JSON));
        let (head, body) = self.errands.send(method, url, headers, body).await?.into_parts();
        Ok(Answer { status: head.status, headers: head.headers, body: Zeroizing::new(body) })
    }
}

impl Answer {
    /// An answer as a test has it.
    #[cfg(test)]
    pub(crate) fn of(status: u16, media: &'static str, body: &str) -> Self {
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(media))]);
        let status = StatusCode::from_u16(status).expect("a status");
        Self { status, headers, body: Zeroizing::new(body.as_bytes().to_vec()) }
    }

    /// The JSON object that the body is. Its depth is limited by the reader to 128.
    pub(crate) fn object(&self) -> Option<Members> {
        serde_json::from_slice(&self.body).ok()
    }

    /// The members of a token answer: a JSON object, or a form from servers that ignore `Accept`.
    pub(crate) fn members(&self) -> Option<Members> {
        if !self.is_form() {
            return self.object();
        }
        let text = std::str::from_utf8(&self.body).ok()?;
        Some(form::pairs(text).map(|(name, value)| (name.into(), value.into())).collect())
    }

    /// What a refusal says, cut to what people can read.
    pub(crate) fn refusal(&self, by: &str) -> Error {
        let members = self.members().unwrap_or_default();
        let status = self.status.as_u16();
        let Some(code) = text(&members, "error").map(printable).filter(|code| !code.is_empty())
        else {
            let kind = if self.status.is_client_error() {
                ErrorKind::Refused
            } else {
                ErrorKind::Unreachable
            };
            return Error::new(kind, format!("{by} answered HTTP {status}"));
        };
        let mut message = format!("{by} refused: {code}");
        if let Some(description) = text(&members, "error_description").map(printable) {
            message.push_str(&format!(" ({description})"));
        }
        Error::new(ErrorKind::Refused, message).with_code(&code)
    }

    fn is_form(&self) -> bool {
        let kind = self.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let essence = kind.and_then(|kind| kind.split(';').next()).unwrap_or_default().trim();
        essence.eq_ignore_ascii_case(FORM)
    }
}

/// A member that is a text and not an empty one: empty is how some servers write absent.
pub(crate) fn text<'a>(members: &'a Members, name: &str) -> Option<&'a str> {
    members.get(name)?.as_str().filter(|text| !text.is_empty())
}

/// The texts of a member that is a list.
pub(crate) fn texts(members: &Members, name: &str) -> Option<Vec<String>> {
    let items = members.get(name)?.as_array()?;
    Some(items.iter().filter_map(Value::as_str).map(str::to_owned).collect())
}

/// One line of visible text, at most 200 characters.
pub(crate) fn printable(text: &str) -> String {
    let shown = text.chars().map(|c| if steers(c) { ' ' } else { c });
    shown.take(200).collect::<String>().trim().to_owned()
}

const FORM: &str = "application/x-www-form-urlencoded";

const JSON: &str = "application/json";

#[cfg(test)]
mod tests {
    use super::Answer;
    use crate::error::ErrorKind;

    // AUTH-112, AUTH-154
    #[test]
    fn a_refusal_tells_two_members_and_nothing_else_of_the_body() {
        let json = r#"{"error":"invalid_grant","error_description":"too\nold","hint":"s3cret"}"#;
        for (status, media, body, kind, expected) in [
            (
                400,
                "application/json",
                json,
                ErrorKind::Refused,
                "the server refused: invalid_grant (too old)",
            ),
            (
                400,
                "application/x-www-form-urlencoded",
                "error=bad&x=s3cret",
                ErrorKind::Refused,
                "the server refused: bad",
            ),
            (403, "text/html", "<p>s3cret", ErrorKind::Refused, "the server answered HTTP 403"),
            (502, "text/html", "s3cret", ErrorKind::Unreachable, "the server answered HTTP 502"),
        ] {
            let error = Answer::of(status, media, body).refusal("the server");
            assert_eq!((error.kind(), error.message()), (kind, expected));
        }
    }

    // AUTH-154
    #[test]
    fn a_document_that_is_too_deep_is_none() {
        let deep = format!("{{\"a\":{}1{}}}", "[".repeat(1000), "]".repeat(1000));
        assert!(Answer::of(200, "application/json", &deep).object().is_none());
    }
}
