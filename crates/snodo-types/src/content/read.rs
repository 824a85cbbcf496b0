//! Reading a block whose kind may come late.

use std::borrow::Cow;

use serde::de::{Error as _, IntoDeserializer, MapAccess};

use super::blocks::{
    EmbeddedResource, MediaContent, OtherContent, TextContent, ToolResult, ToolUse,
};
use crate::object::{Member, Object, Read, Source};
use crate::{Content, Members, Raw, Resource};

impl Member for Content {
    const EXPECTED: &'static str = "a content block";

    /// Once the kind is known, the rest of the text is read straight into it. Members that come
    /// before their kind wait, the long strings as strings, to be moved and not copied: many
    /// servers write members in alphabetical order.
    fn object<'de, A: MapAccess<'de>>(mut map: A) -> Result<Read<Self>, A::Error> {
        let mut early: Vec<(Cow<'de, str>, Early)> = Vec::new();
        while let Some(name) = map.name()? {
            match &*name {
                "type" => {
                    let kind = kind(&mut map)?;
                    return if early.is_empty() {
                        read_kind(kind, 0, map)
                    } else {
                        let before = early.len();
                        read_kind(kind, before, Late { early: early.into_iter(), value: None, map })
                    };
                }
                "text" | "data" => {
                    let value = match map.value()? {
                        Read::Is(text) => Early::Text(text),
                        Read::Null => Early::Raw(Raw::null()),
                        Read::Not(unread) => Early::Raw(unread.raw),
                    };
                    early.push((name, value));
                }
                _ => early.push((name, Early::Raw(map.raw()?))),
            }
        }
        let mut members = Members::new();
        for (name, value) in early {
            members.push(name, value.into_raw()?);
        }
        Ok(Read::Is(finish("", members)))
    }

    /// Whatever stands in a list of blocks, the other blocks are not lost by it.
    fn stray(raw: &Raw) -> Option<Self> {
        Some(Self::Other(OtherContent::new("", raw.clone())))
    }
}

/// The kinds that are known.
#[derive(Clone, Copy)]
enum Kind {
    Audio,
    Image,
    Resource,
    ResourceLink,
    Text,
    ToolResult,
    ToolUse,
}

impl Member for Kind {
    const EXPECTED: &'static str = "a known kind";

    fn text(text: &str) -> Option<Self> {
        Some(match text {
            "audio" => Self::Audio,
            "image" => Self::Image,
            "resource" => Self::Resource,
            "resource_link" => Self::ResourceLink,
            "text" => Self::Text,
            "tool_result" => Self::ToolResult,
            "tool_use" => Self::ToolUse,
            _ => return None,
        })
    }
}

fn kind<'de, S: Source<'de>>(source: &mut S) -> Result<Result<Kind, Raw>, S::Error> {
    Ok(match source.value()? {
        Read::Is(kind) => Ok(kind),
        Read::Null => Err(Raw::null()),
        Read::Not(unread) => Err(unread.raw),
    })
}

fn read_kind<'de, S: Source<'de>>(
    kind: Result<Kind, Raw>,
    before: usize,
    source: S,
) -> Result<Read<Content>, S::Error> {
    Ok(Read::Is(match kind {
        Ok(Kind::Audio) => block(MediaContent::members(source)?, "audio", Content::Audio),
        Ok(Kind::Image) => block(MediaContent::members(source)?, "image", Content::Image),
        Ok(Kind::Resource) => block(EmbeddedResource::members(source)?, "resource", |block| {
            Content::Resource(Box::new(block))
        }),
        Ok(Kind::ResourceLink) => block(Resource::members(source)?, "resource_link", |block| {
            Content::ResourceLink(Box::new(block))
        }),
        Ok(Kind::Text) => block(TextContent::members(source)?, "text", Content::Text),
        Ok(Kind::ToolResult) => block(ToolResult::members(source)?, "tool_result", |block| {
            Content::ToolResult(Box::new(block))
        }),
        Ok(Kind::ToolUse) => {
            block(ToolUse::members(source)?, "tool_use", |block| Content::ToolUse(Box::new(block)))
        }
        Err(kind) => other(kind, before, source)?,
    }))
}

/// A block of a known kind; one that lacks what its kind needs keeps what it came with.
fn block<T: Object>(read: Read<T>, kind: &str, wrap: impl FnOnce(T) -> Content) -> Content {
    let rest: Members = match read {
        Read::Is(block) if block.other().get("type").is_none() => return wrap(block),
        Read::Is(block) => {
            let written = Raw::of(&wrap(block)).and_then(|raw| raw.decode());
            return read_again(&written.unwrap_or_default());
        }
        Read::Null => Members::new(),
        Read::Not(unread) => unread.raw.decode().unwrap_or_default(),
    };
    let mut members = Members::new();
    members.push("type", Raw::string(kind));
    for (name, value) in rest.iter() {
        members.push(name, value.clone());
    }
    finish(kind, members)
}

fn other<'de, S: Source<'de>>(
    kind: Raw,
    before: usize,
    mut source: S,
) -> Result<Content, S::Error> {
    let mut members = Members::new();
    let word: String = kind.decode().unwrap_or_default();
    let mut kind = Some(kind);
    loop {
        if members.len() == before
            && let Some(kind) = kind.take()
        {
            members.push("type", kind);
        }
        match source.name()? {
            Some(name) => members.push(name, source.raw()?),
            None => return Ok(finish(&word, members)),
        }
    }
}

fn finish(kind: &str, mut members: Members) -> Content {
    members.settle();
    match members.get("type").map(Raw::decode::<String>) {
        Some(Ok(last)) if last != kind => read_again(&members),
        _ => Content::Other(OtherContent::new(kind, Raw::from(&members))),
    }
}

/// A block whose kind was told twice: of members with one name, the last counts. Here every name
/// is there once, so that this happens once.
fn read_again(members: &Members) -> Content {
    let raw = Raw::from(members);
    raw.decode().unwrap_or_else(|_| Content::Other(OtherContent::new("", raw)))
}

/// A member that came before its kind.
enum Early {
    Raw(Raw),
    Text(String),
}

impl Early {
    fn into_raw<E: serde::de::Error>(self) -> Result<Raw, E> {
        match self {
            Self::Raw(raw) => Ok(raw),
            Self::Text(text) => Raw::of(&text).map_err(E::custom),
        }
    }
}

/// The early members, and then those that are still to be read.
struct Late<'de, A> {
    early: std::vec::IntoIter<(Cow<'de, str>, Early)>,
    value: Option<Early>,
    map: A,
}

impl<'de, A: MapAccess<'de>> Source<'de> for Late<'de, A> {
    type Error = A::Error;

    fn name(&mut self) -> Result<Option<Cow<'de, str>>, A::Error> {
        match self.early.next() {
            Some((name, value)) => {
                self.value = Some(value);
                Ok(Some(name))
            }
            None => self.map.name(),
        }
    }

    fn value<T: Member>(&mut self) -> Result<Read<T>, A::Error> {
        match self.value.take() {
            Some(Early::Text(text)) => T::read(text.into_deserializer()),
            Some(Early::Raw(raw)) => T::read(&mut serde_json::Deserializer::from_str(raw.text()))
                .map_err(A::Error::custom),
            None => self.map.value(),
        }
    }

    fn raw(&mut self) -> Result<Raw, A::Error> {
        match self.value.take() {
            Some(value) => value.into_raw(),
            None => self.map.raw(),
        }
    }
}
