//! `_meta`: what stands beside a message.

use serde::de::DeserializeOwned;

use crate::{
    ClientCapabilities, Implementation, LoggingLevel, ProgressToken, Raw, RelatedTask, RequestId,
    lens,
};

/// A look into a `_meta`, which is kept as text.
///
/// Nothing is assumed of what stands there: a value of another kind reads as absent, and breaks
/// nothing (basic, "`_meta`"). Each question scans the text.
///
/// ```
/// use snodo_types::{Meta, Raw, RequestId};
///
/// let raw = Raw::parse(r#"{"progressToken": 7, "com.example/tenant": "t1"}"#)?;
/// let meta = Meta::of(Some(&raw));
/// assert_eq!(meta.progress_token(), Some(RequestId::Number(7)));
/// assert_eq!(meta.read::<String>("com.example/tenant").as_deref(), Some("t1"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Meta<'a> {
    text: &'a str,
}

impl<'a> Meta<'a> {
    /// 2026-07-28, on requests: the client's capabilities.
    pub const CLIENT_CAPABILITIES: &'static str = "io.modelcontextprotocol/clientCapabilities";
    /// 2026-07-28, on requests: who the client is.
    pub const CLIENT_INFO: &'static str = "io.modelcontextprotocol/clientInfo";
    /// 2026-07-28, on requests: log messages wanted with this request, from this level on.
    pub const LOG_LEVEL: &'static str = "io.modelcontextprotocol/logLevel";
    /// 2025-11-25, on the result that creates a task: what the model may be told at once.
    pub const MODEL_IMMEDIATE_RESPONSE: &'static str =
        "io.modelcontextprotocol/model-immediate-response";
    /// On requests: the token that progress comes with.
    pub const PROGRESS_TOKEN: &'static str = "progressToken";
    /// 2026-07-28, on requests: the version of the protocol.
    pub const PROTOCOL_VERSION: &'static str = "io.modelcontextprotocol/protocolVersion";
    /// 2025-11-25: the task a message belongs to.
    pub const RELATED_TASK: &'static str = "io.modelcontextprotocol/related-task";
    /// 2026-07-28, on results: who the server is.
    pub const SERVER_INFO: &'static str = "io.modelcontextprotocol/serverInfo";
    /// 2026-07-28, on what a subscription brings: the id of the request that opened it.
    pub const SUBSCRIPTION_ID: &'static str = "io.modelcontextprotocol/subscriptionId";

    /// A look into this `_meta`, if there is one.
    #[must_use]
    pub fn of(raw: Option<&'a Raw>) -> Self {
        Self { text: raw.map_or("{}", Raw::text) }
    }

    /// A look into the `_meta` of params or of a result that are text.
    #[must_use]
    pub fn within(object: &'a Raw) -> Self {
        Self { text: lens::member(object.text(), &["_meta"]).unwrap_or("{}") }
    }

    /// The JSON text under a key; `None` also for `null`.
    #[must_use]
    pub fn text(&self, key: &str) -> Option<&'a str> {
        lens::member(self.text, &[key])
    }

    /// The value under a key; `None` if it is no `T`.
    #[must_use]
    pub fn read<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        lens::read(self.text, &[key])
    }

    /// The token that progress comes with.
    #[must_use]
    pub fn progress_token(&self) -> Option<ProgressToken> {
        self.read(Self::PROGRESS_TOKEN)
    }

    /// The protocol version of the request.
    #[must_use]
    pub fn protocol_version(&self) -> Option<String> {
        self.read(Self::PROTOCOL_VERSION)
    }

    /// What the client can do.
    #[must_use]
    pub fn client_capabilities(&self) -> Option<ClientCapabilities> {
        self.read(Self::CLIENT_CAPABILITIES)
    }

    /// Who the client is.
    #[must_use]
    pub fn client_info(&self) -> Option<Implementation> {
        self.read(Self::CLIENT_INFO)
    }

    /// From which level on log messages are wanted with this request.
    #[must_use]
    pub fn log_level(&self) -> Option<LoggingLevel> {
        self.read(Self::LOG_LEVEL)
    }

    /// Who the server is: to show and to log, never to decide by.
    #[must_use]
    pub fn server_info(&self) -> Option<Implementation> {
        self.read(Self::SERVER_INFO)
    }

    /// The request that opened the subscription this belongs to.
    #[must_use]
    pub fn subscription_id(&self) -> Option<RequestId> {
        self.read(Self::SUBSCRIPTION_ID)
    }

    /// The task this message belongs to.
    #[must_use]
    pub fn related_task(&self) -> Option<RelatedTask> {
        self.read(Self::RELATED_TASK)
    }
}

/// A key that may stand in a `_meta`: an optional prefix and a name.
///
/// ```
/// use snodo_types::MetaKey;
///
/// let key = MetaKey::parse("com.example/tenant").expect("a key");
/// assert_eq!((key.prefix(), key.name()), (Some("com.example"), "tenant"));
/// assert!(!key.is_reserved());
/// assert!(MetaKey::parse("-/x").is_none());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetaKey<'a> {
    prefix: Option<&'a str>,
    name: &'a str,
}

impl<'a> MetaKey<'a> {
    /// Takes a text that is a key by the grammar; `None` for any other.
    ///
    /// A prefix is labels with dots between them and a slash after them; a label starts with a
    /// letter, ends with a letter or digit, and has hyphens only inside. A name is empty, or
    /// starts and ends with a letter or digit, with `-`, `_` and `.` allowed inside.
    #[must_use]
    pub fn parse(text: &'a str) -> Option<Self> {
        let (prefix, name) = match text.split_once('/') {
            Some((prefix, name)) => (Some(prefix), name),
            None => (None, text),
        };
        let labels = prefix.is_none_or(|prefix| prefix.split('.').all(is_label));
        (labels && is_name(name)).then_some(Self { prefix, name })
    }

    /// What stands before the slash.
    #[must_use]
    pub fn prefix(&self) -> Option<&'a str> {
        self.prefix
    }

    /// What stands after the slash, or all of it.
    #[must_use]
    pub fn name(&self) -> &'a str {
        self.name
    }

    /// Whether the protocol keeps this key for itself: the second label of the prefix is `mcp`
    /// or `modelcontextprotocol`.
    ///
    /// In 2025-06-18 it is the last label but one (`mcp.dev/`, `tools.mcp.com/`); that counts too.
    #[must_use]
    pub fn is_reserved(&self) -> bool {
        let protocol = |label: &str| label == "mcp" || label == "modelcontextprotocol";
        let prefix = self.prefix.unwrap_or("");
        let second = prefix.split('.').nth(1);
        let last_but_one = prefix.rsplit('.').nth(1);
        second.is_some_and(protocol) || last_but_one.is_some_and(protocol)
    }
}

fn is_label(label: &str) -> bool {
    let bytes = label.as_bytes();
    let inside = bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-');
    let first = bytes.first().is_some_and(u8::is_ascii_alphabetic);
    inside && first && bytes.last().is_some_and(u8::is_ascii_alphanumeric)
}

fn is_name(name: &str) -> bool {
    let bytes = name.as_bytes();
    let inside = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
    let ends = [bytes.first(), bytes.last()];
    ends.iter().flatten().all(|byte| byte.is_ascii_alphanumeric()) && bytes.iter().all(inside)
}

#[cfg(test)]
mod tests {
    use super::{Meta, MetaKey};
    use crate::Raw;

    // META-08
    #[test]
    fn keys_follow_the_grammar_of_prefix_and_name() {
        for key in ["a", "", "a.b_c-d", "com.example/x", "com.example/", "a-1.b/X.9", "9"] {
            assert!(MetaKey::parse(key).is_some(), "{key:?}");
        }
        for key in ["-a", "a_", "/x", "com..example/x", "1a/x", "a-/x", "a_b/x", "a/b/c", "a b"] {
            assert!(MetaKey::parse(key).is_none(), "{key:?}");
        }
    }

    // META-09, INIT-16
    #[test]
    fn the_protocol_owns_what_stands_under_its_second_label_or_its_last_but_one() {
        let reserved = |key| MetaKey::parse(key).expect("a key").is_reserved();
        assert!(reserved("io.modelcontextprotocol/x"));
        assert!(reserved("dev.mcp/x"));
        assert!(reserved("com.mcp.tools/x"));
        assert!(reserved("mcp.dev/x"), "2025-06-18");
        assert!(reserved("modelcontextprotocol.io/x"), "2025-06-18");
        assert!(reserved("api.modelcontextprotocol.org/x"), "2025-06-18");
        assert!(reserved("com.example.mcp.dev/x"), "2025-06-18");
        assert!(!reserved("mcp.example.com/x"));
        assert!(!reserved("com.example.mcp/x"));
        assert!(!reserved("com.example/mcp"));
        assert!(!reserved("mcp"));
    }

    // META-10
    #[test]
    fn a_reserved_key_with_a_value_of_another_kind_reads_as_absent() {
        let raw = Raw::parse(
            r#"{"io.modelcontextprotocol/serverInfo": "demo", "progressToken": [],
                "io.modelcontextprotocol/clientCapabilities": 3,
                "io.modelcontextprotocol/logLevel": {}}"#,
        )
        .expect("JSON");
        let meta = Meta::of(Some(&raw));
        assert!(meta.server_info().is_none());
        assert!(meta.progress_token().is_none());
        assert!(meta.client_capabilities().is_none());
        assert!(meta.log_level().is_none());
        assert!(meta.subscription_id().is_none());
    }

    // META-06
    #[test]
    fn the_server_is_found_beside_a_result() {
        let raw = Raw::parse(
            r#"{"resultType":"complete",
                "_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}}"#,
        )
        .expect("JSON");
        assert_eq!(Meta::within(&raw).server_info().expect("known").name, "s");
    }
}
