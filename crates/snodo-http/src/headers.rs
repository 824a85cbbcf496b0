//! What stands in front of a request.

use std::sync::{Mutex, PoisonError};

use http::header::{ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_TYPE, COOKIE, HOST};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use snodo_types::{Fingerprint, Routing, TransportError, TransportFault};
use zeroize::Zeroizing;

use crate::credentials::fingerprint;
use crate::secret;
use crate::target::Target;
use crate::wire::Draft;

/// The headers of each kind of request, built once and cloned.
pub(crate) struct Templates {
    post: HeaderMap,
    get: HeaderMap,
    delete: HeaderMap,
    /// What the last message was sent with: the next one mostly has the same routing.
    last: Mutex<(Routing, HeaderMap)>,
}

impl Templates {
    pub(crate) fn new(target: &Target, fixed: &Fixed, codings: Option<HeaderValue>) -> Self {
        let with = |accept: Option<&'static str>| {
            let mut headers = HeaderMap::with_capacity(8 + fixed.0.len());
            headers.insert(HOST, target.authority().clone());
            if let Some(accept) = accept {
                headers.insert(ACCEPT, HeaderValue::from_static(accept));
                headers.extend(codings.clone().map(|codings| (ACCEPT_ENCODING, codings)));
            }
            for (name, value) in &fixed.0 {
                match (name == ACCEPT, accept) {
                    (false, _) => drop(headers.append(name.clone(), value.clone())),
                    (true, Some(accept)) => drop(headers.insert(ACCEPT, wider(accept, value))),
                    (true, None) => {}
                }
            }
            headers
        };
        let mut post = with(Some("application/json, text/event-stream"));
        post.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let last = Mutex::new((Routing::new(), post.clone()));
        Self { post, get: with(Some("text/event-stream")), delete: with(None), last }
    }

    /// For a request, but for what credentials add.
    pub(crate) fn of(&self, draft: &Draft<'_>) -> Result<HeaderMap, TransportError> {
        if draft.method == Method::POST {
            return self.post(draft.routing);
        }
        let template = if draft.method == Method::GET { &self.get } else { &self.delete };
        let mut headers = routed(template.clone(), draft.routing)?;
        headers.extend(draft.last_event_id.clone().map(|id| (LAST_EVENT_ID, id)));
        Ok(headers)
    }

    /// For a message.
    fn post(&self, routing: &Routing) -> Result<HeaderMap, TransportError> {
        {
            let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
            if last.0 == *routing {
                return Ok(last.1.clone());
            }
        }
        let headers = routed(self.post.clone(), routing)?;
        let copy = (routing.clone(), headers.clone());
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = copy;
        Ok(headers)
    }
}

/// The caller's own headers, which every request carries.
#[derive(Clone, Default)]
pub(crate) struct Fixed(Vec<(HeaderName, HeaderValue)>);

impl Fixed {
    /// Adds one; names of the transport are refused, and values that HTTP cannot carry.
    pub(crate) fn add(&mut self, name: &str, value: &str) -> Result<(), TransportError> {
        let name = checked_name(name)?;
        if is_protocol(&name) || (is_own(&name) && name != ACCEPT) {
            return Err(usage(format!("the header {name} is the transport's own")));
        }
        // What a caller adds is nearly always a key of some kind.
        let value = secret_value(&name, Zeroizing::new(value.to_owned()))?;
        self.0.push((name, value));
        Ok(())
    }

    /// Sets the one `Authorization`, whatever stood there.
    pub(crate) fn authorize(&mut self, value: HeaderValue) {
        self.0.retain(|(name, _)| name != AUTHORIZATION);
        self.0.push((AUTHORIZATION, value));
    }

    /// For whom requests with these headers are sent.
    pub(crate) fn caller(&self) -> Fingerprint {
        let lines = self.0.iter().map(|(name, value)| (name, value));
        fingerprint(lines.filter(|(name, _)| tells_caller(name)))
    }

    /// Whether these headers decide nothing but for whom requests are sent.
    pub(crate) fn tells_callers_only(&self) -> bool {
        self.0.iter().all(|(name, _)| tells_caller(name))
    }

    pub(crate) fn has_authorization(&self) -> bool {
        self.0.iter().any(|(name, _)| name == AUTHORIZATION)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }
}

/// Adds what a provider gave, in place of what stood there for all requests.
pub(crate) fn provide(
    headers: &mut HeaderMap,
    mut given: HeaderMap,
    routing: &Routing,
) -> Result<(), TransportError> {
    for (name, _) in routing.iter() {
        given.remove(name);
    }
    put(headers, &given, "a provider")
}

/// Adds what credentials gave, in place of what stood there.
pub(crate) fn grant(headers: &mut HeaderMap, granted: &HeaderMap) -> Result<(), TransportError> {
    put(headers, granted, "credentials")
}

fn put(headers: &mut HeaderMap, given: &HeaderMap, who: &str) -> Result<(), TransportError> {
    for name in given.keys() {
        if is_own(name) || is_protocol(name) {
            return Err(usage(format!("{who} gave the transport's own header {name}")));
        }
        headers.remove(name);
    }
    for (name, value) in given {
        if !value.as_bytes().is_ascii() {
            return Err(invisible(name));
        }
        let mut value = value.clone();
        value.set_sensitive(true);
        headers.append(name.clone(), value);
    }
    Ok(())
}

/// `Bearer` and the token; the error never shows it.
pub(crate) fn bearer(token: &str) -> Result<HeaderValue, TransportError> {
    let fits = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
    if !fits {
        let why = "a bearer token is visible ASCII without spaces, and not empty";
        return Err(usage(why.to_owned()));
    }
    secret_value(&AUTHORIZATION, Zeroizing::new(format!("Bearer {token}")))
}

/// A value that a header can carry; the error never shows it.
fn checked_value(name: &HeaderName, value: &str) -> Result<HeaderValue, TransportError> {
    // What is ASCII and passes here is visible, a space or a tab.
    let value_read = HeaderValue::from_str(value).ok().filter(|_| value.is_ascii());
    value_read.ok_or_else(|| invisible(name))
}

/// The same for one that is wiped when it is no longer used.
fn secret_value(
    name: &HeaderName,
    value: Zeroizing<String>,
) -> Result<HeaderValue, TransportError> {
    secret::header_value(value).ok_or_else(|| invisible(name))
}

fn invisible(name: &HeaderName) -> TransportError {
    usage(format!("the value of the header {name} has a character that is not visible ASCII"))
}

fn routed(mut headers: HeaderMap, routing: &Routing) -> Result<HeaderMap, TransportError> {
    for (name, value) in routing.iter() {
        let name = match PROTOCOL.iter().find(|known| name.eq_ignore_ascii_case(known.as_str())) {
            Some(known) => known.clone(),
            None => checked_name(name)?,
        };
        if is_own(&name) {
            return Err(usage(format!("the header {name} is the transport's own")));
        }
        let value = checked_value(&name, value)?;
        headers.insert(name, value);
    }
    Ok(headers)
}

fn checked_name(name: &str) -> Result<HeaderName, TransportError> {
    HeaderName::from_bytes(name.as_bytes())
        .map_err(|_| usage(format!("{name:?} is not the name of a header")))
}

/// The names that come with nearly every message; to know them saves reading and copying them.
static PROTOCOL: [HeaderName; 4] = [
    HeaderName::from_static("mcp-protocol-version"),
    HeaderName::from_static("mcp-method"),
    HeaderName::from_static("mcp-name"),
    HeaderName::from_static("mcp-session-id"),
];

fn tells_caller(name: &HeaderName) -> bool {
    name == AUTHORIZATION || name == COOKIE
}

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// Framing and negotiation: nobody but this crate may set them.
fn is_own(name: &HeaderName) -> bool {
    const OWN: [&str; 15] = [
        "accept",
        "accept-encoding",
        "connection",
        "content-encoding",
        "content-length",
        "content-type",
        "expect",
        "host",
        "keep-alive",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    ];
    OWN.contains(&name.as_str())
}

/// What the protocol says in headers: it comes with each message's routing, from nowhere else.
fn is_protocol(name: &HeaderName) -> bool {
    name.as_str().starts_with("mcp-") || name.as_str() == "last-event-id"
}

/// The protocol's media types first; a caller may only add to them.
fn wider(accept: &str, more: &HeaderValue) -> HeaderValue {
    let more = more.to_str().unwrap_or_default();
    HeaderValue::from_str(&format!("{accept}, {more}"))
        .unwrap_or_else(|_| HeaderValue::from_static("application/json, text/event-stream"))
}

fn usage(message: String) -> TransportError {
    TransportError::new(TransportFault::Usage, message).not_processed()
}

#[cfg(test)]
mod tests {
    use snodo_types::{Routing, TransportFault};

    use super::{Fixed, Templates};
    use crate::target::Target;

    fn templates(fixed: &Fixed) -> Templates {
        Templates::new(&Target::parse("http://h/mcp").expect("a URL"), fixed, None)
    }

    #[test]
    fn a_header_that_is_the_transport_s_own_or_cannot_be_sent_is_refused() {
        let mut fixed = Fixed::default();
        for name in [
            "Host",
            "content-type",
            "Content-Length",
            "transfer-encoding",
            "Connection",
            "mcp-session-id",
            "MCP-Protocol-Version",
            "mcp-method",
            "Mcp-Name",
            "mcp-param-region",
            "last-event-id",
            "accept-encoding",
            "",
            "a b",
            "a:b",
            "a\r\nb",
            "\u{e4}",
        ] {
            let error = fixed.add(name, "x").expect_err(name);
            assert_eq!(error.fault(), TransportFault::Usage);
        }
        for value in ["a\r\nb", "a\nb", "a\0b", "caf\u{e9}", "\u{7f}"] {
            let error = fixed.add("x-key", value).expect_err("not a header's value");
            assert!(!error.message().contains(value));
        }
        assert_eq!(fixed.names().count(), 0);
        fixed.add("x-key", "k").expect("a header");
    }

    #[test]
    fn a_caller_s_accept_is_added_behind_the_protocol_s() {
        let mut fixed = Fixed::default();
        fixed.add("Accept", "application/vnd.x").expect("a header");
        let headers = templates(&fixed).post(&Routing::new()).expect("headers");
        let accept: Vec<_> = headers.get_all("accept").iter().collect();
        assert_eq!(accept, ["application/json, text/event-stream, application/vnd.x"]);
    }

    #[test]
    fn routing_goes_out_unchanged_and_only_framing_is_refused() {
        let routing = Routing::new().with("Mcp-Name", "=?base64?IHg=?=").with("X-Trace", "1");
        let headers = templates(&Fixed::default()).post(&routing).expect("headers");
        assert_eq!(headers.get("mcp-name").expect("the name"), "=?base64?IHg=?=");
        assert_eq!(headers.get("x-trace").expect("the trace"), "1");
        let target = Target::parse("http://h/").expect("a URL");
        let kept = Templates::new(&target, &Fixed::default(), None);
        for name in ["a", "a", "b", "a"] {
            let headers = kept.post(&Routing::new().with("Mcp-Name", name)).expect("headers");
            assert_eq!(headers.get("mcp-name").expect("the name"), name);
        }
        for (name, value) in [("Content-Type", "x"), ("host", "x"), ("x-a", "b\r\nc: d")] {
            let routing = Routing::new().with(name, value);
            let error = templates(&Fixed::default()).post(&routing).expect_err(name);
            assert_eq!(error.fault(), TransportFault::Usage);
        }
    }
}
