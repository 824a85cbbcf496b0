//! Prompts.

use crate::object::object;
use crate::{
    Content, Icon, InputResponses, Members, Meta, Raw, RequestState, ResultType, Role, lens,
};

/// A template for messages that a server offers.
///
/// ```
/// use snodo_types::{Prompt, PromptArgument};
///
/// let review = Prompt::new("review")
///     .with_description("Reviews code")
///     .with_argument(PromptArgument::required("code"));
/// assert_eq!(review.arguments()[0].name, "code");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Prompt {
    /// The name it is asked for by.
    pub name: String,
    /// The name for people.
    pub title: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// What it can be filled in with.
    pub arguments: Option<Vec<PromptArgument>>,
    /// Icons, as they came; read by [`icons`](Self::icons). Not before 2025-11-25.
    pub icons: Option<Raw>,
    /// `_meta`, as it came; read by [`meta`](Self::meta).
    pub meta: Option<Raw>,
    /// Members without a name here.
    pub other: Members,
}

/// Something a prompt can be filled in with; its value is a string.
///
/// ```
/// use snodo_types::PromptArgument;
/// assert!(PromptArgument::required("code").is_required());
/// assert!(!PromptArgument::optional("style").is_required());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PromptArgument {
    /// The name for programs.
    pub name: String,
    /// The name for people.
    pub title: Option<String>,
    /// What it is.
    pub description: Option<String>,
    /// Whether it has to be given; absent means no.
    pub required: Option<bool>,
    /// Members without a name here.
    pub other: Members,
}

/// The params of `prompts/get`.
///
/// ```
/// use snodo_types::GetPromptParams;
///
/// let params = GetPromptParams::new("review").with_argument("code", "x = 1");
/// assert_eq!(
///     serde_json::to_string(&params)?,
///     r#"{"name":"review","arguments":{"code":"x = 1"}}"#
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GetPromptParams {
    /// Which prompt.
    pub name: String,
    /// What it is filled in with: an object of strings.
    pub arguments: Option<Members>,
    /// 2026-07-28: what the server asked for in the round before.
    pub input_responses: Option<InputResponses>,
    /// 2026-07-28: what the server wants to see again.
    pub request_state: Option<RequestState>,
    /// `_meta`, as it came; read by [`meta`](Self::meta).
    pub meta: Option<Raw>,
    /// Members without a name here.
    pub other: Members,
}

/// A prompt, filled in.
///
/// ```
/// use snodo_types::{GetPromptResult, PromptMessage};
///
/// let result = GetPromptResult::new(vec![PromptMessage::user("Review x = 1")]);
/// assert_eq!(result.messages[0].content.as_text(), Some("Review x = 1"));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct GetPromptResult {
    /// What it is for.
    pub description: Option<String>,
    /// The messages, in order.
    pub messages: Vec<PromptMessage>,
    /// What kind of answer it is; absent means complete.
    pub result_type: Option<ResultType>,
    /// `_meta`, as it came; read by [`meta`](Self::meta).
    pub meta: Option<Raw>,
    /// Members without a name here.
    pub other: Members,
}

/// A message of a prompt.
///
/// ```
/// use snodo_types::{Content, PromptMessage, Role};
///
/// let message = PromptMessage::new(Role::Assistant, Content::audio("AAAA", "audio/wav"));
/// assert_eq!(message.content.kind(), "audio");
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PromptMessage {
    /// Who speaks.
    pub role: Role,
    /// What is said: one block.
    pub content: Content,
    /// Members without a name here.
    pub other: Members,
}

impl Prompt {
    /// A prompt without arguments.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            title: None,
            description: None,
            arguments: None,
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

    /// Sets what it is for.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Adds an argument.
    #[must_use]
    pub fn with_argument(mut self, argument: PromptArgument) -> Self {
        self.arguments.get_or_insert_default().push(argument);
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

    /// What it can be filled in with.
    #[must_use]
    pub fn arguments(&self) -> &[PromptArgument] {
        self.arguments.as_deref().unwrap_or_default()
    }

    /// The name to show: the title, or else the name.
    #[must_use]
    pub fn display_name(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
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

impl PromptArgument {
    /// An argument that may be left out.
    #[must_use]
    pub fn optional(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            title: None,
            description: None,
            required: None,
            other: Members::new(),
        }
    }

    /// An argument that has to be given.
    #[must_use]
    pub fn required(name: impl Into<String>) -> Self {
        Self { required: Some(true), ..Self::optional(name) }
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

    /// Whether it has to be given.
    #[must_use]
    pub fn is_required(&self) -> bool {
        self.required.unwrap_or(false)
    }
}

impl GetPromptParams {
    /// Asks for this prompt.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            arguments: None,
            input_responses: None,
            request_state: None,
            meta: None,
            other: Members::new(),
        }
    }

    /// Fills in an argument.
    #[must_use]
    pub fn with_argument(mut self, name: &str, value: &str) -> Self {
        self.arguments.get_or_insert_default().insert(name, Raw::string(value));
        self
    }

    /// The value of an argument; `None` also for one that is no string.
    #[must_use]
    pub fn argument(&self, name: &str) -> Option<String> {
        self.arguments.as_ref()?.get(name)?.decode().ok()
    }

    /// What is known of `_meta`.
    #[must_use]
    pub fn meta(&self) -> Meta<'_> {
        Meta::of(self.meta.as_ref())
    }
}

impl GetPromptResult {
    /// These messages.
    #[must_use]
    pub fn new(messages: Vec<PromptMessage>) -> Self {
        Self { description: None, messages, result_type: None, meta: None, other: Members::new() }
    }

    /// Sets what it is for.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// What is said in text, whoever says it, with a line break between the messages; empty if
    /// there is none.
    ///
    /// ```
    /// use snodo_types::{GetPromptResult, PromptMessage};
    ///
    /// let prompt = GetPromptResult::new(vec![PromptMessage::user("Review"), PromptMessage::user("this")]);
    /// assert_eq!(prompt.text(), "Review\nthis");
    /// ```
    #[must_use]
    pub fn text(&self) -> String {
        let texts = self.messages.iter().filter_map(|message| message.content.as_text());
        texts.collect::<Vec<_>>().join("\n")
    }

    /// What is known of `_meta`.
    #[must_use]
    pub fn meta(&self) -> Meta<'_> {
        Meta::of(self.meta.as_ref())
    }
}

impl PromptMessage {
    /// A message.
    #[must_use]
    pub fn new(role: Role, content: Content) -> Self {
        Self { role, content, other: Members::new() }
    }

    /// Text from the user.
    #[must_use]
    pub fn user(text: impl Into<String>) -> Self {
        Self::new(Role::User, Content::text(text))
    }

    /// Text from the model.
    #[must_use]
    pub fn assistant(text: impl Into<String>) -> Self {
        Self::new(Role::Assistant, Content::text(text))
    }
}

object! {
    impl Prompt {
        required name: "name",
        optional title: "title",
        optional description: "description",
        optional arguments: "arguments",
        optional icons: "icons",
        optional meta: "_meta";
        other
    }
}

object! {
    impl PromptArgument {
        required name: "name",
        optional title: "title",
        optional description: "description",
        optional required: "required";
        other
    }
}

object! {
    impl GetPromptParams {
        required name: "name",
        optional arguments: "arguments",
        optional input_responses: "inputResponses",
        optional request_state: "requestState",
        optional meta: "_meta";
        other
    }
}

object! {
    impl GetPromptResult {
        optional description: "description",
        required messages: "messages",
        optional result_type: "resultType",
        optional meta: "_meta";
        other
    }
}

object! {
    impl PromptMessage {
        required role: "role",
        required content: "content";
        other
    }
}
