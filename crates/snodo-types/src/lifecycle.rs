//! Opening: `initialize`, and `server/discover`.

use crate::object::object;
use crate::{
    CacheHints, CacheScope, ClientCapabilities, Implementation, Members, Meta, ProtocolVersion,
    Raw, ResultType, ServerCapabilities,
};

/// The params of `initialize`, in the versions opened by it.
///
/// ```
/// use snodo_types::{ClientCapabilities, Implementation, InitializeParams, ProtocolVersion};
///
/// let params = InitializeParams::new(
///     ProtocolVersion::V2025_11_25,
///     ClientCapabilities::new(),
///     Implementation::new("agent", "1.4.0"),
/// );
/// assert_eq!(params.protocol_version, "2025-11-25");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InitializeParams {
    /// The version the client wants to speak.
    pub protocol_version: String,
    /// What the client can do.
    pub capabilities: ClientCapabilities,
    /// Who the client is.
    pub client_info: Implementation,
    /// `_meta`, as it came; read by [`meta`](Self::meta).
    pub meta: Option<Raw>,
    /// Members without a name here.
    pub other: Members,
}

/// The result of `initialize`.
///
/// ```
/// use snodo_types::InitializeResult;
///
/// let result: InitializeResult = serde_json::from_str(
///     r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},
///         "serverInfo":{"name":"demo","version":"1"}}"#,
/// )?;
/// assert!(result.capabilities.tools());
/// assert_eq!(result.server_info.expect("told").name, "demo");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InitializeResult {
    /// The version the server speaks.
    pub protocol_version: String,
    /// What the server can do.
    pub capabilities: ServerCapabilities,
    /// Who the server is; required of it, and not missed if it says nothing.
    pub server_info: Option<Implementation>,
    /// How to use it, for the model.
    pub instructions: Option<String>,
    /// `_meta`, as it came; read by [`meta`](Self::meta).
    pub meta: Option<Raw>,
    /// Members without a name here.
    pub other: Members,
}

/// The result of `server/discover`, 2026-07-28.
///
/// Who the server is stands in `_meta`: `result.meta().server_info()`.
///
/// ```
/// use snodo_types::DiscoverResult;
///
/// let result: DiscoverResult = serde_json::from_str(
///     r#"{"supportedVersions":["2026-07-28"],"capabilities":{},"ttlMs":0}"#,
/// )?;
/// assert!(result.supports("2026-07-28") && !result.supports("2025-11-25"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DiscoverResult {
    /// The versions the server speaks.
    pub supported_versions: Vec<String>,
    /// What the server can do.
    pub capabilities: ServerCapabilities,
    /// How to use it, for the model.
    pub instructions: Option<String>,
    /// For how many milliseconds it is fresh; read by [`cache_hints`](Self::cache_hints).
    pub ttl_ms: Option<i64>,
    /// Who may be served with it from a cache.
    pub cache_scope: Option<CacheScope>,
    /// What kind of answer it is; absent means complete.
    pub result_type: Option<ResultType>,
    /// `_meta`, as it came; read by [`meta`](Self::meta).
    pub meta: Option<Raw>,
    /// Members without a name here.
    pub other: Members,
}

/// Params with nothing but `_meta`: of `ping`, `server/discover`, `roots/list`, and of the
/// notifications that only say that something happened.
///
/// ```
/// use snodo_types::MetaParams;
/// assert_eq!(serde_json::to_string(&MetaParams::default())?, "{}");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MetaParams {
    /// `_meta`, as it came; read by [`meta`](Self::meta).
    pub meta: Option<Raw>,
    /// Members without a name here.
    pub other: Members,
}

impl InitializeParams {
    /// Opens with this version, these capabilities and this identity.
    #[must_use]
    pub fn new(
        version: ProtocolVersion,
        capabilities: ClientCapabilities,
        client_info: Implementation,
    ) -> Self {
        Self {
            protocol_version: version.as_str().to_owned(),
            capabilities,
            client_info,
            meta: None,
            other: Members::new(),
        }
    }

    /// What is known of `_meta`.
    #[must_use]
    pub fn meta(&self) -> Meta<'_> {
        Meta::of(self.meta.as_ref())
    }
}

impl InitializeResult {
    /// Answers with this version, these capabilities and this identity.
    #[must_use]
    pub fn new(
        version: ProtocolVersion,
        capabilities: ServerCapabilities,
        server_info: Implementation,
    ) -> Self {
        Self {
            protocol_version: version.as_str().to_owned(),
            capabilities,
            server_info: Some(server_info),
            instructions: None,
            meta: None,
            other: Members::new(),
        }
    }

    /// Says how to use the server, for the model.
    #[must_use]
    pub fn with_instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// What is known of `_meta`.
    #[must_use]
    pub fn meta(&self) -> Meta<'_> {
        Meta::of(self.meta.as_ref())
    }
}

impl DiscoverResult {
    /// Answers with these versions and capabilities.
    #[must_use]
    pub fn new(
        versions: impl IntoIterator<Item = ProtocolVersion>,
        capabilities: ServerCapabilities,
    ) -> Self {
        let versions = versions.into_iter().map(|version| version.as_str().to_owned());
        Self {
            supported_versions: versions.collect(),
            capabilities,
            instructions: None,
            ttl_ms: None,
            cache_scope: None,
            result_type: None,
            meta: None,
            other: Members::new(),
        }
    }

    /// Says how to use the server, for the model.
    #[must_use]
    pub fn with_instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// Whether the server speaks this version.
    #[must_use]
    pub fn supports(&self, version: &str) -> bool {
        self.supported_versions.iter().any(|supported| supported == version)
    }

    /// What may be kept of it, and for how long.
    #[must_use]
    pub fn cache_hints(&self) -> CacheHints {
        CacheHints::new(self.ttl_ms, self.cache_scope.as_ref())
    }

    /// What is known of `_meta`.
    #[must_use]
    pub fn meta(&self) -> Meta<'_> {
        Meta::of(self.meta.as_ref())
    }
}

impl MetaParams {
    /// What is known of `_meta`.
    #[must_use]
    pub fn meta(&self) -> Meta<'_> {
        Meta::of(self.meta.as_ref())
    }
}

object! {
    impl InitializeParams {
        required protocol_version: "protocolVersion",
        default capabilities: "capabilities",
        required client_info: "clientInfo",
        optional meta: "_meta";
        other
    }
}

object! {
    impl InitializeResult {
        required protocol_version: "protocolVersion",
        default capabilities: "capabilities",
        optional server_info: "serverInfo",
        optional instructions: "instructions",
        optional meta: "_meta";
        other
    }
}

object! {
    impl DiscoverResult {
        required supported_versions: "supportedVersions",
        default capabilities: "capabilities",
        optional instructions: "instructions",
        optional ttl_ms: "ttlMs",
        optional cache_scope: "cacheScope",
        optional result_type: "resultType",
        optional meta: "_meta";
        other
    }
}

object! {
    impl MetaParams {
        optional meta: "_meta";
        other
    }
}
