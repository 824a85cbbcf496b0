//! Calling a tool, and what it says.

use serde::de::DeserializeOwned;

use crate::object::object;
use crate::{Content, InputResponses, Members, Meta, Raw, RequestState, ResultType, TaskMetadata};

/// The params of `tools/call`.
///
/// ```
/// use snodo_types::CallToolParams;
///
/// let params = CallToolParams::new("add").with_arguments(serde_json::json!({ "a": 1 }));
/// assert_eq!(serde_json::to_string(&params)?, r#"{"name":"add","arguments":{"a":1}}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallToolParams {
    /// Which tool.
    pub name: String,
    /// The arguments: an object.
    pub arguments: Option<Raw>,
    /// 2026-07-28: what the server asked for in the round before.
    pub input_responses: Option<InputResponses>,
    /// 2026-07-28: what the server wants to see again.
    pub request_state: Option<RequestState>,
    /// 2025-11-25: do it as a task.
    pub task: Option<TaskMetadata>,
    /// `_meta`, as it came; read by [`meta`](Self::meta).
    pub meta: Option<Raw>,
    /// Members without a name here.
    pub other: Members,
}

/// What a tool says.
///
/// ```
/// use snodo_types::CallToolResult;
///
/// let result: CallToolResult = serde_json::from_str(
///     r#"{"content":[{"type":"text","text":"3"}],"structuredContent":{"sum":3}}"#,
/// )?;
/// assert_eq!(result.text(), "3");
/// assert_eq!(result.structured::<serde_json::Value>()?["sum"], 3);
/// assert!(!result.is_error());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct CallToolResult {
    /// For the model, in order.
    pub content: Vec<Content>,
    /// For the program: an object, since 2026-07-28 any value, `null` included.
    pub structured_content: Option<Raw>,
    /// Whether the tool failed; absent means no.
    pub is_error: Option<bool>,
    /// What kind of answer it is; absent means complete.
    pub result_type: Option<ResultType>,
    /// `_meta`, as it came; read by [`meta`](Self::meta).
    pub meta: Option<Raw>,
    /// Members without a name here.
    pub other: Members,
}

/// Why [`CallToolResult::structured`] has nothing to give.
///
/// ```
/// use snodo_types::{CallToolResult, StructuredError};
///
/// let none = CallToolResult::from_text("only words").structured::<u8>();
/// assert!(matches!(none, Err(StructuredError::Absent)));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StructuredError {
    /// The tool sent no structured content.
    #[error("the result has no structured content")]
    Absent,
    /// It is not of this type.
    #[error("the structured content is not of the type asked for")]
    Mismatch(#[source] serde_json::Error),
}

impl CallToolParams {
    /// Calls this tool without arguments.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            arguments: None,
            input_responses: None,
            request_state: None,
            task: None,
            meta: None,
            other: Members::new(),
        }
    }

    /// Sets the arguments: an object.
    #[must_use]
    pub fn with_arguments(mut self, arguments: impl Into<Raw>) -> Self {
        self.arguments = Some(arguments.into());
        self
    }

    /// The arguments as a `T`; absent ones read as `{}`.
    ///
    /// # Errors
    ///
    /// They are no `T`.
    pub fn arguments<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        match &self.arguments {
            Some(arguments) => arguments.decode(),
            None => serde_json::from_str("{}"),
        }
    }

    /// What is known of `_meta`.
    #[must_use]
    pub fn meta(&self) -> Meta<'_> {
        Meta::of(self.meta.as_ref())
    }
}

impl CallToolResult {
    /// These blocks.
    #[must_use]
    pub fn new(content: Vec<Content>) -> Self {
        Self { content, ..Self::default() }
    }

    /// One block of text.
    #[must_use]
    pub fn from_text(text: impl Into<String>) -> Self {
        Self::new(vec![Content::text(text)])
    }

    /// The tool failed, and says so in one block of text: for the model, which may try again.
    #[must_use]
    pub fn error(text: impl Into<String>) -> Self {
        Self { is_error: Some(true), ..Self::from_text(text) }
    }

    /// Structured content, and its JSON as a block of text for those who read only that.
    #[must_use]
    pub fn from_structured(value: impl Into<Raw>) -> Self {
        let value = value.into();
        let content = vec![Content::text(value.text())];
        Self { content, structured_content: Some(value), ..Self::default() }
    }

    /// Adds a block.
    #[must_use]
    pub fn with(mut self, block: Content) -> Self {
        self.content.push(block);
        self
    }

    /// Sets the structured content.
    #[must_use]
    pub fn with_structured(mut self, value: impl Into<Raw>) -> Self {
        self.structured_content = Some(value.into());
        self
    }

    /// Sets `_meta`.
    #[must_use]
    pub fn with_meta(mut self, meta: impl Into<Raw>) -> Self {
        self.meta = Some(meta.into());
        self
    }

    /// The blocks of text, with a line break between them; empty if there are none.
    #[must_use]
    pub fn text(&self) -> String {
        self.texts().collect::<Vec<_>>().join("\n")
    }

    /// The blocks of text, in order.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.content.iter().filter_map(Content::as_text)
    }

    /// The structured content as a `T`. It is not checked against the tool's schema here.
    ///
    /// # Errors
    ///
    /// There is none, or it is no `T`.
    pub fn structured<T: DeserializeOwned>(&self) -> Result<T, StructuredError> {
        let raw = self.structured_content.as_ref().ok_or(StructuredError::Absent)?;
        raw.decode().map_err(StructuredError::Mismatch)
    }

    /// The structured content as a `T`; where there is none, the only block of text read as JSON:
    /// servers from before there was structured content write it there.
    ///
    /// ```
    /// use snodo_types::CallToolResult;
    ///
    /// let old = CallToolResult::from_text(r#"{"sum":3}"#);
    /// assert_eq!(old.structured_or_text::<serde_json::Value>()?["sum"], 3);
    /// # Ok::<(), snodo_types::StructuredError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// There is neither, or it is no `T`.
    pub fn structured_or_text<T: DeserializeOwned>(&self) -> Result<T, StructuredError> {
        if self.structured_content.is_some() {
            return self.structured();
        }
        let mut texts = self.texts();
        let (Some(text), None) = (texts.next(), texts.next()) else {
            return Err(StructuredError::Absent);
        };
        serde_json::from_str(text).map_err(StructuredError::Mismatch)
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

object! {
    impl CallToolParams {
        required name: "name",
        optional arguments: "arguments",
        optional input_responses: "inputResponses",
        optional request_state: "requestState",
        optional task: "task",
        optional meta: "_meta";
        other
    }
}

object! {
    impl CallToolResult {
        default content: "content",
        any structured_content: "structuredContent",
        optional is_error: "isError",
        optional result_type: "resultType",
        optional meta: "_meta";
        other
    }
}
