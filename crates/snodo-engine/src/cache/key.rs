//! Under what a result is kept.

use std::fmt;
use std::sync::Arc;

use snodo_dialect::{Identity, Request};
use snodo_types::ProtocolVersion;

/// What decides an answer, besides who asks: the server, the protocol version, what the client
/// tells of itself, the method and its parameters, a cursor among them.
///
/// Metadata of the single request is no part of it: requests that carry any are not kept.
///
/// ```
/// use snodo_dialect::{Extensions, Identity, Params, Request};
/// use snodo_engine::{Group, Key};
/// use snodo_types::{ProtocolVersion, Raw};
///
/// let identity = Identity {
///     client_info: Raw::empty_object(),
///     capabilities: Raw::empty_object(),
///     extensions: Extensions::new(),
/// };
/// let (server, version) = ("https://example.com/mcp".into(), ProtocolVersion::V2026_07_28);
/// let page = Request::new("tools/list", Params::new().with("cursor", "2")?);
/// let key = Key::of(&page, &server, version, &identity).expect("lists are kept");
/// assert!(key.text().contains(r#"{"cursor":"2"}"#));
/// assert!(Group::all(&server).covers(key.group()));
/// # Ok::<(), snodo_types::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Key {
    text: Arc<str>,
    group: Group,
}

/// Results that grow stale together: all pages of a list, one resource, or all of a server.
///
/// ```
/// use snodo_engine::Group;
///
/// let server = "https://example.com/mcp".into();
/// let tools = Group::list(&server, "tools/list");
/// assert!(tools.whole().covers(&tools) && !tools.covers(&tools.whole()));
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Group {
    server: Arc<str>,
    /// `None` for all of the server.
    method: Option<&'static str>,
    /// Of a resource that is read.
    uri: Option<Arc<str>>,
}

impl Key {
    /// The key of a request; `None` where its results are not for keeping.
    #[must_use]
    pub fn of(
        request: &Request,
        server: &Arc<str>,
        version: ProtocolVersion,
        identity: &Identity,
    ) -> Option<Self> {
        let method = KEPT.iter().copied().find(|method| *method == request.method)?;
        let group = if method == READ {
            let uri: String = serde_json::from_str(&request.params.member("uri")?).ok()?;
            Group::resource(server, &uri)
        } else {
            Group::list(server, method)
        };
        let text = format!(
            "[{},{},{},{},{},{{{}}}]",
            quoted(server),
            quoted(version.as_str()),
            identity.client_info.text(),
            identity.capabilities.text(),
            quoted(method),
            request.params.text(),
        );
        Some(Self { text: text.into(), group })
    }

    /// The whole key as text: equal for equal keys, and for no others. It holds the parameters,
    /// and no credential.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// With what it grows stale.
    #[must_use]
    pub fn group(&self) -> &Group {
        &self.group
    }

    /// The text, to be shared.
    #[must_use]
    pub fn shared_text(&self) -> Arc<str> {
        Arc::clone(&self.text)
    }
}

impl Group {
    /// All pages of a list, or what a server tells of itself.
    #[must_use]
    pub fn list(server: &Arc<str>, method: &'static str) -> Self {
        Self { server: Arc::clone(server), method: Some(method), uri: None }
    }

    /// What one resource holds.
    #[must_use]
    pub fn resource(server: &Arc<str>, uri: &str) -> Self {
        Self { server: Arc::clone(server), method: Some(READ), uri: Some(uri.into()) }
    }

    /// All of a server.
    #[must_use]
    pub fn all(server: &Arc<str>) -> Self {
        Self { server: Arc::clone(server), method: None, uri: None }
    }

    /// The same server's whole.
    #[must_use]
    pub fn whole(&self) -> Self {
        Self::all(&self.server)
    }

    /// Whether all of the other is among this.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        self.server == other.server
            && (self.method.is_none() || (self.method == other.method && self.uri == other.uri))
    }

    /// The whole group as text: equal for equal groups, and for no others.
    #[must_use]
    pub fn text(&self) -> String {
        let parts = [Some(&*self.server), self.method, self.uri.as_deref()];
        let parts: Vec<_> = parts.into_iter().flatten().map(quoted).collect();
        format!("[{}]", parts.join(","))
    }
}

impl fmt::Debug for Key {
    /// Leaves out the parameters.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Key").field("method", &self.group.method).finish_non_exhaustive()
    }
}

impl fmt::Debug for Group {
    /// Leaves out the resource.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Group").field("method", &self.method).finish_non_exhaustive()
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// 2026-07-28, caching, "Cacheable Results".
const KEPT: [&str; 6] = [
    READ,
    "prompts/list",
    "resources/list",
    "resources/templates/list",
    "server/discover",
    "tools/list",
];

const READ: &str = "resources/read";
