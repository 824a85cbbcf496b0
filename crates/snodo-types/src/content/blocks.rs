//! What the kinds of blocks hold beside their kind.

use serde::de::DeserializeOwned;

use crate::object::object;
use crate::{Annotations, Content, Members, Meta, Raw, ResourceContents, lens};

/// A block of text.
///
/// ```
/// use snodo_types::TextContent;
/// assert_eq!(TextContent::new("hi").text, "hi");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TextContent {
    /// The text.
    pub text: String,
    /// Hints, as they came; read by [`annotations`](Self::annotations).
    pub annotations: Option<Raw>,
    /// `_meta`, as it came; read by [`meta`](Self::meta).
    pub meta: Option<Raw>,
    /// Members without a name here.
    pub other: Members,
}

/// A picture, or sound.
///
/// ```
/// use snodo_types::MediaContent;
/// assert_eq!(MediaContent::new("AAAA", "image/png").mime_type, "image/png");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MediaContent {
    /// The bytes, in base64.
    pub data: String,
    /// The type.
    pub mime_type: String,
    /// Hints, as they came; read by [`annotations`](Self::annotations).
    pub annotations: Option<Raw>,
    /// `_meta`, as it came; read by [`meta`](Self::meta).
    pub meta: Option<Raw>,
    /// Members without a name here.
    pub other: Members,
}

/// A resource with its contents.
///
/// ```
/// use snodo_types::{EmbeddedResource, ResourceContents};
///
/// let block = EmbeddedResource::new(ResourceContents::text("note://1", "buy milk"));
/// assert_eq!(block.resource.uri, "note://1");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EmbeddedResource {
    /// The contents and where they come from.
    pub resource: ResourceContents,
    /// Hints, as they came; read by [`annotations`](Self::annotations).
    pub annotations: Option<Raw>,
    /// `_meta`, as it came; read by [`meta`](Self::meta).
    pub meta: Option<Raw>,
    /// Members without a name here.
    pub other: Members,
}

/// A model wants a tool called.
///
/// ```
/// use snodo_types::ToolUse;
///
/// let call = ToolUse::new("c1", "add", serde_json::json!({ "a": 1 }));
/// assert_eq!(call.input::<serde_json::Value>()?["a"], 1);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolUse {
    /// The id that the tool's result refers to.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments: an object, as it came.
    pub input: Raw,
    /// `_meta`, as it came; it should come along when the block is sent again.
    pub meta: Option<Raw>,
    /// Members without a name here.
    pub other: Members,
}

/// What came of a tool call in sampling.
///
/// ```
/// use snodo_types::{Content, ToolResult};
/// assert!(!ToolResult::new("c1", vec![Content::text("3")]).is_error());
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolResult {
    /// Which [`ToolUse`] it answers.
    pub tool_use_id: String,
    /// What the tool said.
    pub content: Vec<Content>,
    /// What the tool said, as data; `null` is a value.
    pub structured_content: Option<Raw>,
    /// Whether the tool failed; absent means no.
    pub is_error: Option<bool>,
    /// `_meta`, as it came; it should come along when the block is sent again.
    pub meta: Option<Raw>,
    /// Members without a name here.
    pub other: Members,
}

/// A block that is of no known kind, or is not what its kind has to be.
///
/// ```
/// use snodo_types::Content;
///
/// let block: Content = serde_json::from_str(r#"{"type":"text","txt":"typo"}"#)?;
/// let Content::Other(other) = block else { panic!("there is no text") };
/// assert_eq!((other.kind(), other.raw().text()), ("text", r#"{"type":"text","txt":"typo"}"#));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherContent {
    kind: Box<str>,
    raw: Raw,
}

impl TextContent {
    /// A text.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), annotations: None, meta: None, other: Members::new() }
    }

    /// The hints that can be read.
    #[must_use]
    pub fn annotations(&self) -> Annotations {
        lens::hint(self.annotations.as_ref())
    }

    /// What is known of `_meta`.
    #[must_use]
    pub fn meta(&self) -> Meta<'_> {
        Meta::of(self.meta.as_ref())
    }
}

impl MediaContent {
    /// Bytes in base64, and their type.
    #[must_use]
    pub fn new(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        let (data, mime_type) = (data.into(), mime_type.into());
        Self { data, mime_type, annotations: None, meta: None, other: Members::new() }
    }

    /// The hints that can be read.
    #[must_use]
    pub fn annotations(&self) -> Annotations {
        lens::hint(self.annotations.as_ref())
    }

    /// What is known of `_meta`.
    #[must_use]
    pub fn meta(&self) -> Meta<'_> {
        Meta::of(self.meta.as_ref())
    }
}

impl EmbeddedResource {
    /// These contents.
    #[must_use]
    pub fn new(resource: ResourceContents) -> Self {
        Self { resource, annotations: None, meta: None, other: Members::new() }
    }

    /// The hints that can be read.
    #[must_use]
    pub fn annotations(&self) -> Annotations {
        lens::hint(self.annotations.as_ref())
    }

    /// What is known of `_meta`.
    #[must_use]
    pub fn meta(&self) -> Meta<'_> {
        Meta::of(self.meta.as_ref())
    }
}

impl ToolUse {
    /// A call of this tool with these arguments.
    #[must_use]
    pub fn new(id: impl Into<String>, name: impl Into<String>, input: impl Into<Raw>) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            input: input.into(),
            meta: None,
            other: Members::new(),
        }
    }

    /// The arguments as a `T`.
    ///
    /// # Errors
    ///
    /// They are no `T`.
    pub fn input<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        self.input.decode()
    }

    /// What is known of `_meta`.
    #[must_use]
    pub fn meta(&self) -> Meta<'_> {
        Meta::of(self.meta.as_ref())
    }
}

impl ToolResult {
    /// What the tool said to the call with this id.
    #[must_use]
    pub fn new(tool_use_id: impl Into<String>, content: Vec<Content>) -> Self {
        Self {
            tool_use_id: tool_use_id.into(),
            content,
            structured_content: None,
            is_error: None,
            meta: None,
            other: Members::new(),
        }
    }

    /// Whether the tool failed.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.is_error.unwrap_or(false)
    }

    /// What is known of `_meta`.
    #[must_use]
    pub fn meta(&self) -> Meta<'_> {
        Meta::of(self.meta.as_ref())
    }
}

impl OtherContent {
    pub(super) fn new(kind: &str, raw: Raw) -> Self {
        Self { kind: kind.into(), raw }
    }

    /// The kind as it came; empty where there was none.
    #[must_use]
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// Everything it came with, its kind included.
    #[must_use]
    pub fn raw(&self) -> &Raw {
        &self.raw
    }
}

object! {
    impl TextContent {
        required text: "text",
        optional annotations: "annotations",
        optional meta: "_meta";
        other
    }
}

object! {
    impl MediaContent {
        required data: "data",
        required mime_type: "mimeType",
        optional annotations: "annotations",
        optional meta: "_meta";
        other
    }
}

object! {
    impl EmbeddedResource {
        required resource: "resource",
        optional annotations: "annotations",
        optional meta: "_meta";
        other
    }
}

object! {
    impl ToolUse {
        required id: "id",
        required name: "name",
        required input: "input",
        optional meta: "_meta";
        other
    }
}

object! {
    impl ToolResult {
        required tool_use_id: "toolUseId",
        default content: "content",
        any structured_content: "structuredContent",
        optional is_error: "isError",
        optional meta: "_meta";
        other
    }
}
