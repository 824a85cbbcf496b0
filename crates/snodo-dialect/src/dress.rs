//! What the messages of a connection wear.

use std::borrow::Cow;
use std::sync::Arc;

use snodo_types::{Abandon, Envelope, Error, Raw, Routing};

use crate::params::{push_number, push_string};
use crate::{Extensions, Request, check_header, meta};

/// Who is asking: told in every stateless request, and in `initialize`.
///
/// ```
/// use snodo_dialect::{Extensions, Identity};
/// use snodo_types::Raw;
///
/// let identity = Identity {
///     client_info: Raw::parse(r#"{"name":"agent","version":"1.0"}"#)?,
///     capabilities: Raw::empty_object(),
///     extensions: Extensions::new(),
/// };
/// assert_eq!(identity.capabilities.text(), "{}");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "these are all that a client tells of itself")]
pub struct Identity {
    /// The `Implementation` of the client.
    pub client_info: Raw,
    /// Its capabilities, with those of its extensions ([`declare`](crate::declare)).
    pub capabilities: Raw,
    /// The extensions it speaks. One that the capabilities do not declare is not listened to.
    pub extensions: Extensions,
}

/// What a dialect has to know about the transport.
///
/// ```
/// # use snodo_dialect::Carrier;
/// let pipe = Carrier::default();
/// assert!(!pipe.routes && !pipe.own_stream);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "built from a transport's abilities")]
pub struct Carrier {
    /// It carries routing beside the message.
    pub routes: bool,
    /// Each exchange has its own stream, whose closing the peer notices.
    pub own_stream: bool,
}

/// What every message of one connection wears, made once. The default is nothing at all, which is
/// what a pipe wears before a version is settled.
///
/// ```
/// use snodo_dialect::{Carrier, Extensions, Identity, dialect};
/// use snodo_types::{ProtocolVersion, Raw};
///
/// let identity = Identity {
///     client_info: Raw::empty_object(),
///     capabilities: Raw::empty_object(),
///     extensions: Extensions::new(),
/// };
/// let http = Carrier { routes: true, own_stream: true };
/// let outfit = dialect(ProtocolVersion::V2026_07_28).outfit(&identity, http, None);
/// assert_eq!(outfit.routing().value("MCP-Protocol-Version"), Some("2026-07-28"));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Outfit {
    /// The members of `_meta`, rendered.
    meta: String,
    meta_pairs: Vec<(&'static str, Raw)>,
    routing: Routing,
    abandon: Option<Arc<Abandon>>,
    routes: bool,
    extensions: Extensions,
}

impl Outfit {
    pub(crate) fn new(
        meta_pairs: Vec<(&'static str, Raw)>,
        routing: Routing,
        abandon: Option<Abandon>,
        carrier: Carrier,
    ) -> Self {
        let mut meta = String::new();
        for (name, value) in &meta_pairs {
            if !meta.is_empty() {
                meta.push(',');
            }
            push_string(&mut meta, name);
            meta.push(':');
            meta.push_str(value.text());
        }
        Self {
            meta,
            meta_pairs,
            routing,
            abandon: abandon.map(Arc::new),
            routes: carrier.routes,
            extensions: Extensions::new(),
        }
    }

    /// Lets these extensions take part.
    pub(crate) fn extended(mut self, extensions: &Extensions) -> Self {
        self.extensions = extensions.clone();
        self
    }

    /// What travels beside every message: version and session.
    #[must_use]
    pub fn routing(&self) -> &Routing {
        &self.routing
    }

    /// Whether messages name a session that the server issued.
    #[must_use]
    pub fn has_session(&self) -> bool {
        self.routing.value("Mcp-Session-Id").is_some()
    }

    /// An envelope for a notification or a reply of this connection.
    #[must_use]
    pub fn wrap(&self, message: String) -> Envelope {
        let mut envelope = Envelope::notification(message);
        envelope.routing = self.routing.clone();
        envelope
    }

    pub(crate) fn meta(&self) -> &str {
        &self.meta
    }

    pub(crate) fn meta_pairs(&self) -> &[(&'static str, Raw)] {
        &self.meta_pairs
    }

    pub(crate) fn abandon(&self) -> Option<Arc<Abandon>> {
        self.abandon.clone()
    }

    pub(crate) fn extensions(&self) -> &Extensions {
        &self.extensions
    }

    pub(crate) fn routes(&self) -> bool {
        self.routes
    }
}

/// Writes a request, with its metadata and without routing. `declared` is metadata of the version
/// itself that already holds what the caller gave under its name.
pub(crate) fn envelope(
    request: &Request,
    id: u64,
    outfit: &Outfit,
    declared: Option<(&str, Raw)>,
) -> Result<Envelope, Error> {
    let meta = meta::members(request, id, outfit, declared)?;
    let mut envelope = Envelope::request(id, message(request, id, &meta));
    envelope.abandon = outfit.abandon();
    envelope.listen = request.listen;
    envelope.inbox = request.inbox;
    Ok(envelope)
}

/// What travels beside a request: the version's own, then what the caller may add to it.
pub(crate) fn beside(mut own: Routing, request: &Request, outfit: &Outfit) -> Routing {
    if outfit.routes() {
        for (name, value) in request.routing.iter() {
            if check_header(name, value).is_ok() {
                own.set(name.to_owned(), value.to_owned());
            }
        }
    }
    own
}

/// The text of `notifications/cancelled` around an id.
pub(crate) fn abandon(routing: &Routing) -> Abandon {
    Abandon::new(
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"#,
        r#","reason":"nobody waits for the answer any more"}}"#,
        routing.clone(),
    )
}

/// The parameters without those that an option or a round of input takes the place of.
fn parameters(request: &Request) -> Cow<'_, str> {
    let replaced: &[&str] = match (&request.input_responses, &request.request_state) {
        (None, None) => return Cow::Borrowed(request.params.text()),
        (Some(_), None) => &["inputResponses"],
        (None, Some(_)) => &["requestState"],
        (Some(_), Some(_)) => &["inputResponses", "requestState"],
    };
    Cow::Owned(request.params.text_without(replaced))
}

fn message(request: &Request, id: u64, meta: &str) -> String {
    let members = parameters(request);
    let mut text = String::with_capacity(96 + request.method.len() + members.len() + meta.len());
    text.push_str(r#"{"jsonrpc":"2.0","id":"#);
    push_number(&mut text, id);
    text.push_str(r#","method":"#);
    push_string(&mut text, &request.method);
    let bare = text.len();
    text.push_str(r#","params":{"#);
    let open = text.len();
    let member = |text: &mut String, name: &str, value: &str| {
        if text.len() > open {
            text.push(',');
        }
        text.push_str(name);
        text.push_str(value);
    };
    if !members.is_empty() {
        member(&mut text, "", &members);
    }
    if let Some(responses) = &request.input_responses {
        let responses =
            serde_json::to_string(responses).expect("raw values under text keys are JSON");
        member(&mut text, r#""inputResponses":"#, &responses);
    }
    if let Some(state) = &request.request_state {
        member(&mut text, r#""requestState":"#, "");
        push_string(&mut text, state.as_str());
    }
    if !meta.is_empty() {
        member(&mut text, r#""_meta":{"#, meta);
        text.push('}');
    }
    if text.len() == open {
        text.truncate(bare);
    } else {
        text.push('}');
    }
    text.push('}');
    text
}
