//! Texts that are handed back as they came, and never shown.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::object::{Member, read_whole};

/// What a server wants to see again with the retry of a request, byte for byte. 2026-07-28.
///
/// It is the server's own business, and may be a secret: `Debug` shows its length only.
///
/// ```
/// use snodo_types::RequestState;
///
/// let state = RequestState::from("c2VjcmV0");
/// assert_eq!(state.as_str(), "c2VjcmV0");
/// assert_eq!(format!("{state:?}"), "RequestState(8 bytes)");
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct RequestState(Box<str>);

/// What a task is asked after by.
///
/// Whoever knows it may be able to read the task: `Debug` shows its length only.
///
/// ```
/// use snodo_types::TaskId;
///
/// let id = TaskId::from("786512e2");
/// assert_eq!((id.as_str(), format!("{id:?}").as_str()), ("786512e2", "TaskId(8 bytes)"));
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct TaskId(Box<str>);

impl RequestState {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TaskId {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for RequestState {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl From<&str> for TaskId {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl fmt::Debug for RequestState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RequestState({} bytes)", self.0.len())
    }
}

impl fmt::Debug for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TaskId({} bytes)", self.0.len())
    }
}

impl Member for RequestState {
    const EXPECTED: &'static str = "a string";

    fn text(text: &str) -> Option<Self> {
        Some(Self(text.into()))
    }
}

impl Member for TaskId {
    const EXPECTED: &'static str = "a string";

    fn text(text: &str) -> Option<Self> {
        Some(Self(text.into()))
    }
}

impl Serialize for RequestState {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl Serialize for TaskId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for RequestState {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        read_whole(source)
    }
}

impl<'de> Deserialize<'de> for TaskId {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        read_whole(source)
    }
}
