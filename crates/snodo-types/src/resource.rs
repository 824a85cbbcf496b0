//! Resources.

use crate::object::object;
use crate::{
    Annotations, CacheHints, CacheScope, Icon, InputResponses, Members, Meta, Raw, RequestState,
    ResultType, lens,
};

/// Something a server lets be read.
///
/// The same type is a link to a resource in content. A `file:` URI need not be a file here, and
/// nothing opens it by itself.
///
/// ```
/// use snodo_types::Resource;
///
/// let notes = Resource::new("note://1", "shopping").with_mime_type("text/plain").with_size(120);
/// assert_eq!(notes.display_name(), "shopping");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Resource {
    /// What it is read by; any scheme.
    pub uri: String,
    /// The name for programs.
    pub name: String,
    /// The name for people.
    pub title: Option<String>,
    /// What it is.
    pub description: Option<String>,
    /// Its type.
    pub mime_type: Option<String>,
    /// Its size in bytes, before any encoding.
    pub size: Option<u64>,
    /// Hints, as they came; read by [`annotations`](Self::annotations).
    pub annotations: Option<Raw>,
    /// Icons, as they came; read by [`icons`](Self::icons). Not before 2025-11-25.
    pub icons: Option<Raw>,
    /// `_meta`, as it came; read by [`meta`](Self::meta).
    pub meta: Option<Raw>,
    /// Members without a name here.
    pub other: Members,
}

/// A pattern of URIs that a server lets be read.
///
/// ```
/// use snodo_types::ResourceTemplate;
///
/// let users = ResourceTemplate::new("users://{id}", "user").with_mime_type("application/json");
/// assert_eq!(users.uri_template, "users://{id}");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResourceTemplate {
    /// The pattern, by RFC 6570.
    pub uri_template: String,
    /// The name for programs.
    pub name: String,
    /// The name for people.
    pub title: Option<String>,
    /// What they are.
    pub description: Option<String>,
    /// Their type, where all have the same.
    pub mime_type: Option<String>,
    /// Hints, as they came; read by [`annotations`](Self::annotations).
    pub annotations: Option<Raw>,
    /// Icons, as they came; read by [`icons`](Self::icons). Not before 2025-11-25.
    pub icons: Option<Raw>,
    /// `_meta`, as it came; read by [`meta`](Self::meta).
    pub meta: Option<Raw>,
    /// Members without a name here.
    pub other: Members,
}

/// What is in a resource: text, or bytes in base64.
///
/// ```
/// use snodo_types::ResourceContents;
///
/// let contents = ResourceContents::text("note://1", "buy milk").with_mime_type("text/plain");
/// assert_eq!(contents.text.as_deref(), Some("buy milk"));
/// assert_eq!(contents.blob, None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResourceContents {
    /// Which resource; it may be a part of the one that was asked for.
    pub uri: String,
    /// The type.
    pub mime_type: Option<String>,
    /// The text, if it is text.
    pub text: Option<String>,
    /// The bytes in base64, if it is not.
    pub blob: Option<String>,
    /// `_meta`, as it came; read by [`meta`](Self::meta).
    pub meta: Option<Raw>,
    /// Members without a name here.
    pub other: Members,
}

/// The params of `resources/read`.
///
/// ```
/// use snodo_types::ReadResourceParams;
///
/// let params = ReadResourceParams::new("note://1");
/// assert_eq!(serde_json::to_string(&params)?, r#"{"uri":"note://1"}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadResourceParams {
    /// Which resource.
    pub uri: String,
    /// 2026-07-28: what the server asked for in the round before.
    pub input_responses: Option<InputResponses>,
    /// 2026-07-28: what the server wants to see again.
    pub request_state: Option<RequestState>,
    /// `_meta`, as it came; read by [`meta`](Self::meta).
    pub meta: Option<Raw>,
    /// Members without a name here.
    pub other: Members,
}

/// What is in a resource and in its parts.
///
/// ```
/// use snodo_types::{ReadResourceResult, ResourceContents};
///
/// let result = ReadResourceResult::new(vec![ResourceContents::text("note://1", "buy milk")]);
/// assert_eq!(result.text().as_deref(), Some("buy milk"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadResourceResult {
    /// One or several; none means an empty resource (2026-07-28).
    pub contents: Vec<ResourceContents>,
    /// 2026-07-28: for how many milliseconds it is fresh; read by
    /// [`cache_hints`](Self::cache_hints).
    pub ttl_ms: Option<i64>,
    /// 2026-07-28: who may be served with it from a cache.
    pub cache_scope: Option<CacheScope>,
    /// What kind of answer it is; absent means complete.
    pub result_type: Option<ResultType>,
    /// `_meta`, as it came; read by [`meta`](Self::meta).
    pub meta: Option<Raw>,
    /// Members without a name here.
    pub other: Members,
}

/// A resource is meant, and nothing else said of it: the params of `resources/subscribe`,
/// `resources/unsubscribe` and `notifications/resources/updated`.
///
/// An update may name a part of the resource that was subscribed to.
///
/// ```
/// use snodo_types::ResourceParams;
///
/// let updated: ResourceParams = serde_json::from_str(r#"{"uri":"note://1"}"#)?;
/// assert_eq!(updated.uri, "note://1");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResourceParams {
    /// Which resource.
    pub uri: String,
    /// `_meta`, as it came; read by [`meta`](Self::meta).
    pub meta: Option<Raw>,
    /// Members without a name here.
    pub other: Members,
}

impl Resource {
    /// A resource with its URI and the name for programs.
    #[must_use]
    pub fn new(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            name: name.into(),
            title: None,
            description: None,
            mime_type: None,
            size: None,
            annotations: None,
            icons: None,
            meta: None,
            other: Members::new(),
        }
    }

    /// Sets the name for people.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Sets what it is.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Sets the type.
    #[must_use]
    pub fn with_mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }

    /// Sets the size in bytes.
    #[must_use]
    pub fn with_size(mut self, size: u64) -> Self {
        self.size = Some(size);
        self
    }

    /// Sets the hints, as JSON.
    #[must_use]
    pub fn with_annotations(mut self, annotations: impl Into<Raw>) -> Self {
        self.annotations = Some(annotations.into());
        self
    }

    /// Sets the icons.
    #[must_use]
    pub fn with_icons(mut self, icons: impl IntoIterator<Item = Icon>) -> Self {
        self.icons = Some(Icon::list(icons));
        self
    }

    /// Sets `_meta`.
    #[must_use]
    pub fn with_meta(mut self, meta: impl Into<Raw>) -> Self {
        self.meta = Some(meta.into());
        self
    }

    /// The name to show: the title, or else the name.
    #[must_use]
    pub fn display_name(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }

    /// The hints that can be read.
    #[must_use]
    pub fn annotations(&self) -> Annotations {
        lens::hint(self.annotations.as_ref())
    }

    /// The icons that can be read.
    #[must_use]
    pub fn icons(&self) -> Vec<Icon> {
        lens::hints(self.icons.as_ref())
    }

    /// What is known of `_meta`.
    #[must_use]
    pub fn meta(&self) -> Meta<'_> {
        Meta::of(self.meta.as_ref())
    }
}

impl ResourceTemplate {
    /// A pattern and the name for programs.
    #[must_use]
    pub fn new(uri_template: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            uri_template: uri_template.into(),
            name: name.into(),
            title: None,
            description: None,
            mime_type: None,
            annotations: None,
            icons: None,
            meta: None,
            other: Members::new(),
        }
    }

    /// Sets the name for people.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Sets what they are.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Sets the type that all have.
    #[must_use]
    pub fn with_mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }

    /// Sets the icons.
    #[must_use]
    pub fn with_icons(mut self, icons: impl IntoIterator<Item = Icon>) -> Self {
        self.icons = Some(Icon::list(icons));
        self
    }

    /// Sets `_meta`.
    #[must_use]
    pub fn with_meta(mut self, meta: impl Into<Raw>) -> Self {
        self.meta = Some(meta.into());
        self
    }

    /// The name to show: the title, or else the name.
    #[must_use]
    pub fn display_name(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }

    /// The hints that can be read.
    #[must_use]
    pub fn annotations(&self) -> Annotations {
        lens::hint(self.annotations.as_ref())
    }

    /// The icons that can be read.
    #[must_use]
    pub fn icons(&self) -> Vec<Icon> {
        lens::hints(self.icons.as_ref())
    }

    /// What is known of `_meta`.
    #[must_use]
    pub fn meta(&self) -> Meta<'_> {
        Meta::of(self.meta.as_ref())
    }
}

impl ResourceContents {
    /// Text.
    #[must_use]
    pub fn text(uri: impl Into<String>, text: impl Into<String>) -> Self {
        Self { text: Some(text.into()), ..Self::empty(uri) }
    }

    /// Bytes in base64.
    #[must_use]
    pub fn blob(uri: impl Into<String>, base64: impl Into<String>) -> Self {
        Self { blob: Some(base64.into()), ..Self::empty(uri) }
    }

    fn empty(uri: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            mime_type: None,
            text: None,
            blob: None,
            meta: None,
            other: Members::new(),
        }
    }

    /// Sets the type.
    #[must_use]
    pub fn with_mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }

    /// What is known of `_meta`.
    #[must_use]
    pub fn meta(&self) -> Meta<'_> {
        Meta::of(self.meta.as_ref())
    }
}

impl ReadResourceParams {
    /// Reads this resource.
    #[must_use]
    pub fn new(uri: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            input_responses: None,
            request_state: None,
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

impl ReadResourceResult {
    /// These contents.
    #[must_use]
    pub fn new(contents: Vec<ResourceContents>) -> Self {
        Self {
            contents,
            ttl_ms: None,
            cache_scope: None,
            result_type: None,
            meta: None,
            other: Members::new(),
        }
    }

    /// The text, if all of it is text: several parts have a line break between them.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        let texts: Option<Vec<&str>> =
            self.contents.iter().map(|contents| contents.text.as_deref()).collect();
        texts.map(|texts| texts.join("\n"))
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

impl ResourceParams {
    /// This resource.
    #[must_use]
    pub fn new(uri: impl Into<String>) -> Self {
        Self { uri: uri.into(), meta: None, other: Members::new() }
    }

    /// What is known of `_meta`.
    #[must_use]
    pub fn meta(&self) -> Meta<'_> {
        Meta::of(self.meta.as_ref())
    }
}

object! {
    impl Resource {
        required uri: "uri",
        required name: "name",
        optional title: "title",
        optional description: "description",
        optional mime_type: "mimeType",
        optional size: "size",
        optional annotations: "annotations",
        optional icons: "icons",
        optional meta: "_meta";
        other
    }
}

object! {
    impl ResourceTemplate {
        required uri_template: "uriTemplate",
        required name: "name",
        optional title: "title",
        optional description: "description",
        optional mime_type: "mimeType",
        optional annotations: "annotations",
        optional icons: "icons",
        optional meta: "_meta";
        other
    }
}

object! {
    impl ResourceContents {
        required uri: "uri",
        optional mime_type: "mimeType",
        optional text: "text",
        optional blob: "blob",
        optional meta: "_meta";
        other
    }
}

object! {
    impl ReadResourceParams {
        required uri: "uri",
        optional input_responses: "inputResponses",
        optional request_state: "requestState",
        optional meta: "_meta";
        other
    }
}

object! {
    impl ReadResourceResult {
        required contents: "contents",
        optional ttl_ms: "ttlMs",
        optional cache_scope: "cacheScope",
        optional result_type: "resultType",
        optional meta: "_meta";
        other
    }
}

object! {
    impl ResourceParams {
        required uri: "uri",
        optional meta: "_meta";
        other
    }
}
