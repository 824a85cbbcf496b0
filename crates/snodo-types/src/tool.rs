//! Tools.

use crate::object::object;
use crate::{Icon, Members, Meta, Raw, lens};

/// Something a server can do when asked.
///
/// Schemas stay text. Which of the members a version has is for the dialects to know; this type
/// reads and writes them all.
///
/// ```
/// use snodo_types::Tool;
///
/// let echo = Tool::new("echo", serde_json::json!({ "type": "object" })).with_title("Echo");
/// assert_eq!(echo.display_name(), "Echo");
/// assert!(!echo.annotations().is_read_only());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tool {
    /// The name it is called by. Servers should keep to 1–128 letters, digits, `_`, `-` and `.`;
    /// others are not refused.
    pub name: String,
    /// The name for people.
    pub title: Option<String>,
    /// What it does.
    pub description: Option<String>,
    /// The JSON Schema of its arguments.
    pub input_schema: Raw,
    /// The JSON Schema of its structured content.
    pub output_schema: Option<Raw>,
    /// Hints, as they came; read by [`annotations`](Self::annotations).
    pub annotations: Option<Raw>,
    /// 2025-11-25: how it may be called, as it came; read by [`execution`](Self::execution).
    pub execution: Option<Raw>,
    /// Icons, as they came; read by [`icons`](Self::icons). Not before 2025-11-25.
    pub icons: Option<Raw>,
    /// `_meta`, as it came; read by [`meta`](Self::meta).
    pub meta: Option<Raw>,
    /// Members without a name here.
    pub other: Members,
}

/// What a server says of a tool's behaviour. Not to be trusted, unless the server is.
///
/// ```
/// use snodo_types::ToolAnnotations;
///
/// let hints = ToolAnnotations::default();
/// assert!(hints.is_destructive() && hints.is_open_world());
/// assert!(!hints.is_read_only() && !hints.is_idempotent());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolAnnotations {
    /// The name for people; the tool's own `title` goes first.
    pub title: Option<String>,
    /// It changes nothing.
    pub read_only_hint: Option<bool>,
    /// It may destroy something, not only add.
    pub destructive_hint: Option<bool>,
    /// Calling it again with the same arguments changes nothing more.
    pub idempotent_hint: Option<bool>,
    /// It deals with things outside of a closed set.
    pub open_world_hint: Option<bool>,
    /// Members without a name here.
    pub other: Members,
}

/// How a tool may be called, 2025-11-25.
///
/// ```
/// use snodo_types::{TaskSupport, ToolExecution};
///
/// let execution: ToolExecution = serde_json::from_str(r#"{"taskSupport":"required"}"#)?;
/// assert_eq!(execution.task_support(), TaskSupport::Required);
/// assert_eq!(ToolExecution::default().task_support(), TaskSupport::Forbidden);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolExecution {
    /// Whether it may be called as a task.
    pub task_support: Option<TaskSupport>,
    /// Members without a name here.
    pub other: Members,
}

/// Whether a tool may be called as a task, 2025-11-25.
///
/// ```
/// use snodo_types::TaskSupport;
/// assert_eq!(TaskSupport::from("optional"), TaskSupport::Optional);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TaskSupport {
    /// Not as a task.
    Forbidden,
    /// Either way.
    Optional,
    /// Only as a task.
    Required,
    /// A word that the protocol does not know, as it came.
    Other(Box<str>),
}

impl Tool {
    /// A tool with the JSON Schema of its arguments, an object schema.
    #[must_use]
    pub fn new(name: impl Into<String>, input_schema: impl Into<Raw>) -> Self {
        Self {
            name: name.into(),
            title: None,
            description: None,
            input_schema: input_schema.into(),
            output_schema: None,
            annotations: None,
            execution: None,
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

    /// Sets what it does.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Sets the JSON Schema of its structured content.
    #[must_use]
    pub fn with_output_schema(mut self, schema: impl Into<Raw>) -> Self {
        self.output_schema = Some(schema.into());
        self
    }

    /// Sets the hints, as JSON: `{"readOnlyHint": true}`.
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

    /// The name to show: the title, or the one among the hints, or the name.
    #[must_use]
    pub fn display_name(&self) -> String {
        let title = self.title.clone().or_else(|| self.annotations().title);
        title.unwrap_or_else(|| self.name.clone())
    }

    /// The hints that can be read; what is absent or unreadable has its default.
    #[must_use]
    pub fn annotations(&self) -> ToolAnnotations {
        lens::hint(self.annotations.as_ref())
    }

    /// How it may be called.
    #[must_use]
    pub fn execution(&self) -> ToolExecution {
        lens::hint(self.execution.as_ref())
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

impl ToolAnnotations {
    /// It changes nothing; if nothing is said, it may.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.read_only_hint.unwrap_or(false)
    }

    /// It may destroy something; if nothing is said, it may.
    #[must_use]
    pub fn is_destructive(&self) -> bool {
        self.destructive_hint.unwrap_or(true)
    }

    /// Calling it again changes nothing more; if nothing is said, it may.
    #[must_use]
    pub fn is_idempotent(&self) -> bool {
        self.idempotent_hint.unwrap_or(false)
    }

    /// It deals with things outside of a closed set; if nothing is said, it does.
    #[must_use]
    pub fn is_open_world(&self) -> bool {
        self.open_world_hint.unwrap_or(true)
    }
}

impl ToolExecution {
    /// Whether it may be called as a task; if nothing is said, it may not.
    #[must_use]
    pub fn task_support(&self) -> TaskSupport {
        self.task_support.clone().unwrap_or(TaskSupport::Forbidden)
    }
}

object! {
    impl Tool {
        required name: "name",
        optional title: "title",
        optional description: "description",
        required input_schema: "inputSchema",
        optional output_schema: "outputSchema",
        optional annotations: "annotations",
        optional execution: "execution",
        optional icons: "icons",
        optional meta: "_meta";
        other
    }
}

object! {
    impl ToolAnnotations {
        optional title: "title",
        optional read_only_hint: "readOnlyHint",
        optional destructive_hint: "destructiveHint",
        optional idempotent_hint: "idempotentHint",
        optional open_world_hint: "openWorldHint";
        other
    }
}

object! {
    impl ToolExecution {
        optional task_support: "taskSupport";
        other
    }
}

object! {
    words TaskSupport {
        Forbidden: "forbidden",
        Optional: "optional",
        Required: "required",
    }
}

#[cfg(test)]
mod tests {
    use super::Tool;
    use crate::{Content, Resource};

    /// A list of a hundred thousand tools should cost about its text.
    #[test]
    fn the_nouns_that_come_in_numbers_are_small_beside_their_text() {
        assert!(size_of::<Tool>() <= 192, "{}", size_of::<Tool>());
        assert!(size_of::<Resource>() <= 208, "{}", size_of::<Resource>());
        assert!(size_of::<Content>() <= 112, "{}", size_of::<Content>());
    }
}
