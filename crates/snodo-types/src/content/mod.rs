//! Content blocks: what tools, prompts and models say.

mod blocks;
mod read;
#[cfg(test)]
mod tests;

use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub use self::blocks::{
    EmbeddedResource, MediaContent, OtherContent, TextContent, ToolResult, ToolUse,
};
use crate::object::{Object, read_whole};
use crate::{Raw, Resource, ResourceContents};

/// A block of content.
///
/// A block of a kind that is not known, or one that lacks what its kind needs, is
/// [`Other`](Self::Other) with everything it came with: it never loses the message it stands in.
///
/// ```
/// use snodo_types::Content;
///
/// let block: Content = serde_json::from_str(r#"{"type":"text","text":"hello"}"#)?;
/// assert_eq!(block.as_text(), Some("hello"));
/// let block: Content = serde_json::from_str(r#"{"type":"hologram","size":3}"#)?;
/// assert_eq!(block.kind(), "hologram");
/// assert_eq!(serde_json::to_string(&block)?, r#"{"type":"hologram","size":3}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Content {
    /// Sound.
    Audio(MediaContent),
    /// A picture.
    Image(MediaContent),
    /// Anything else, as it came.
    Other(OtherContent),
    /// A resource with its contents.
    Resource(Box<EmbeddedResource>),
    /// A resource to be read when wanted; it need not be in the server's list.
    ResourceLink(Box<Resource>),
    /// Text.
    Text(TextContent),
    /// Sampling: what came of a tool call. Not before 2025-11-25.
    ToolResult(Box<ToolResult>),
    /// Sampling: a model wants a tool called. Not before 2025-11-25.
    ToolUse(Box<ToolUse>),
}

impl Content {
    /// A block of text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(TextContent::new(text))
    }

    /// A picture: its bytes in base64, and its type.
    #[must_use]
    pub fn image(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        Self::Image(MediaContent::new(data, mime_type))
    }

    /// Sound: its bytes in base64, and its type.
    #[must_use]
    pub fn audio(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        Self::Audio(MediaContent::new(data, mime_type))
    }

    /// A resource with its contents.
    #[must_use]
    pub fn resource(contents: ResourceContents) -> Self {
        Self::Resource(Box::new(EmbeddedResource::new(contents)))
    }

    /// A resource to be read when wanted.
    #[must_use]
    pub fn resource_link(resource: Resource) -> Self {
        Self::ResourceLink(Box::new(resource))
    }

    /// A model wants a tool called, under an id of its own.
    #[must_use]
    pub fn tool_use(id: impl Into<String>, name: impl Into<String>, input: impl Into<Raw>) -> Self {
        Self::ToolUse(Box::new(ToolUse::new(id, name, input)))
    }

    /// What came of the tool call with this id.
    #[must_use]
    pub fn tool_result(tool_use_id: impl Into<String>, content: Vec<Self>) -> Self {
        Self::ToolResult(Box::new(ToolResult::new(tool_use_id, content)))
    }

    /// The text, if it is a block of text.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(block) => Some(&block.text),
            _ => None,
        }
    }

    /// The kind as it is written on the wire; empty where a peer wrote none.
    #[must_use]
    pub fn kind(&self) -> &str {
        match self {
            Self::Audio(_) => "audio",
            Self::Image(_) => "image",
            Self::Other(other) => other.kind(),
            Self::Resource(_) => "resource",
            Self::ResourceLink(_) => "resource_link",
            Self::Text(_) => "text",
            Self::ToolResult(_) => "tool_result",
            Self::ToolUse(_) => "tool_use",
        }
    }
}

impl Serialize for Content {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Self::Other(other) = self {
            return other.raw().serialize(serializer);
        }
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", self.kind())?;
        match self {
            Self::Audio(block) | Self::Image(block) => block.write(&mut map)?,
            Self::Other(_) => {}
            Self::Resource(block) => block.write(&mut map)?,
            Self::ResourceLink(block) => block.write(&mut map)?,
            Self::Text(block) => block.write(&mut map)?,
            Self::ToolResult(block) => block.write(&mut map)?,
            Self::ToolUse(block) => block.write(&mut map)?,
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        read_whole(source)
    }
}
