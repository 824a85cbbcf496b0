//! Asking the client's model. Deprecated in 2026-07-28, still part of it.

use crate::object::object;
use crate::{Content, Members, Meta, OneOrMany, Raw, Role, TaskMetadata, Tool};

/// The params of `sampling/createMessage`.
///
/// ```
/// use snodo_types::{CreateMessageParams, SamplingMessage};
///
/// let params = CreateMessageParams::new(vec![SamplingMessage::user("Hello")], 100);
/// assert_eq!(params.messages[0].content[0].as_text(), Some("Hello"));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CreateMessageParams {
    /// The conversation so far.
    pub messages: Vec<SamplingMessage>,
    /// The most tokens the model may produce.
    pub max_tokens: u64,
    /// Which model the server would like.
    pub model_preferences: Option<ModelPreferences>,
    /// What to tell the model first; the client may change it or leave it out.
    pub system_prompt: Option<String>,
    /// From which servers to tell the model something; the client may ignore it.
    pub include_context: Option<IncludeContext>,
    /// How freely the model may choose its words.
    pub temperature: Option<f64>,
    /// Words at which the model stops.
    pub stop_sequences: Option<Vec<String>>,
    /// For the provider of the model: an object, as it came.
    pub metadata: Option<Raw>,
    /// What the model may call. Not before 2025-11-25, and only if declared.
    pub tools: Option<Vec<Tool>>,
    /// Whether the model has to call something. Not before 2025-11-25, and only if declared.
    pub tool_choice: Option<ToolChoice>,
    /// 2025-11-25: do it as a task.
    pub task: Option<TaskMetadata>,
    /// `_meta`, as it came; read by [`meta`](Self::meta).
    pub meta: Option<Raw>,
    /// Members without a name here.
    pub other: Members,
}

/// A message of a conversation.
///
/// ```
/// use snodo_types::{Content, Role, SamplingMessage};
///
/// let message = SamplingMessage::new(Role::User, vec![Content::text("a"), Content::text("b")]);
/// assert_eq!(message.content.len(), 2);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SamplingMessage {
    /// Who speaks.
    pub role: Role,
    /// What is said: one block, or since 2025-11-25 a list of blocks.
    pub content: OneOrMany<Content>,
    /// `_meta`, as it came; read by [`meta`](Self::meta).
    pub meta: Option<Raw>,
    /// Members without a name here.
    pub other: Members,
}

/// What the model said.
///
/// ```
/// use snodo_types::{Content, CreateMessageResult};
///
/// let said = CreateMessageResult::new("a-model", Content::text("Hello"))
///     .with_stop_reason("endTurn");
/// assert_eq!(said.content[0].as_text(), Some("Hello"));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CreateMessageResult {
    /// Who speaks: the model.
    pub role: Role,
    /// What is said: one block, or since 2025-11-25 a list of blocks.
    pub content: OneOrMany<Content>,
    /// Which model it was.
    pub model: String,
    /// Why it stopped: `endTurn`, `stopSequence`, `maxTokens`, `toolUse`, or any other word.
    pub stop_reason: Option<String>,
    /// `_meta`, as it came; read by [`meta`](Self::meta).
    pub meta: Option<Raw>,
    /// Members without a name here.
    pub other: Members,
}

/// Which model a server would like.
///
/// ```
/// use snodo_types::ModelPreferences;
///
/// let wishes: ModelPreferences =
///     serde_json::from_str(r#"{"hints":[{"name":"haiku"}],"speedPriority":0.9}"#)?;
/// assert_eq!(wishes.hints()[0].name.as_deref(), Some("haiku"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ModelPreferences {
    /// Names, or parts of them; the first that fits counts.
    pub hints: Option<Vec<ModelHint>>,
    /// How much the cost matters, from 0 to 1.
    pub cost_priority: Option<f64>,
    /// How much the speed matters, from 0 to 1.
    pub speed_priority: Option<f64>,
    /// How much the intelligence matters, from 0 to 1.
    pub intelligence_priority: Option<f64>,
    /// Members without a name here.
    pub other: Members,
}

/// A name of a model, or a part of one.
///
/// ```
/// use snodo_types::ModelHint;
///
/// let hint: ModelHint = serde_json::from_str(r#"{"name":"sonnet"}"#)?;
/// assert_eq!(hint.name.as_deref(), Some("sonnet"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModelHint {
    /// The name, or a part of it.
    pub name: Option<String>,
    /// Members without a name here.
    pub other: Members,
}

/// From which servers to tell the model something. All but `None` are deprecated.
///
/// ```
/// use snodo_types::IncludeContext;
/// assert_eq!(IncludeContext::from("none"), IncludeContext::None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum IncludeContext {
    /// From every server.
    AllServers,
    /// From none.
    None,
    /// From the one that asks.
    ThisServer,
    /// A word that the protocol does not know, as it came.
    Other(Box<str>),
}

/// Whether the model has to call a tool.
///
/// ```
/// use snodo_types::{ToolChoice, ToolChoiceMode};
///
/// let choice: ToolChoice = serde_json::from_str(r#"{"mode":"required"}"#)?;
/// assert_eq!(choice.mode(), ToolChoiceMode::Required);
/// assert_eq!(ToolChoice::default().mode(), ToolChoiceMode::Auto);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolChoice {
    /// How; absent means as the model likes.
    pub mode: Option<ToolChoiceMode>,
    /// Members without a name here.
    pub other: Members,
}

/// Whether the model has to call a tool.
///
/// ```
/// use snodo_types::ToolChoiceMode;
/// assert_eq!(ToolChoiceMode::from("none"), ToolChoiceMode::None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ToolChoiceMode {
    /// As the model likes.
    Auto,
    /// It may not.
    None,
    /// It has to.
    Required,
    /// A word that the protocol does not know, as it came.
    Other(Box<str>),
}

impl CreateMessageParams {
    /// Asks the model to go on, with so many tokens at most.
    #[must_use]
    pub fn new(messages: Vec<SamplingMessage>, max_tokens: u64) -> Self {
        Self {
            messages,
            max_tokens,
            model_preferences: None,
            system_prompt: None,
            include_context: None,
            temperature: None,
            stop_sequences: None,
            metadata: None,
            tools: None,
            tool_choice: None,
            task: None,
            meta: None,
            other: Members::new(),
        }
    }

    /// Sets what to tell the model first.
    #[must_use]
    pub fn with_system_prompt(mut self, prompt: impl Into<String>) -> Self {
        self.system_prompt = Some(prompt.into());
        self
    }

    /// Whether it needs a client that samples with tools.
    #[must_use]
    pub fn needs_tools(&self) -> bool {
        // One that cannot be read stands among the others.
        let unread = |name| self.other.get(name).is_some_and(|value| !value.is_null());
        self.tools.is_some()
            || self.tool_choice.is_some()
            || unread("tools")
            || unread("toolChoice")
    }

    /// What is known of `_meta`.
    #[must_use]
    pub fn meta(&self) -> Meta<'_> {
        Meta::of(self.meta.as_ref())
    }
}

impl SamplingMessage {
    /// A message: a block, or a list of blocks.
    #[must_use]
    pub fn new(role: Role, content: impl Into<OneOrMany<Content>>) -> Self {
        Self { role, content: content.into(), meta: None, other: Members::new() }
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

    /// What is known of `_meta`.
    #[must_use]
    pub fn meta(&self) -> Meta<'_> {
        Meta::of(self.meta.as_ref())
    }
}

impl CreateMessageResult {
    /// This model said this: a block, or a list of blocks.
    #[must_use]
    pub fn new(model: impl Into<String>, content: impl Into<OneOrMany<Content>>) -> Self {
        Self {
            role: Role::Assistant,
            content: content.into(),
            model: model.into(),
            stop_reason: None,
            meta: None,
            other: Members::new(),
        }
    }

    /// Says why it stopped.
    #[must_use]
    pub fn with_stop_reason(mut self, reason: impl Into<String>) -> Self {
        self.stop_reason = Some(reason.into());
        self
    }

    /// What is known of `_meta`.
    #[must_use]
    pub fn meta(&self) -> Meta<'_> {
        Meta::of(self.meta.as_ref())
    }
}

impl ModelPreferences {
    /// Names, or parts of them; the first that fits counts.
    #[must_use]
    pub fn hints(&self) -> &[ModelHint] {
        self.hints.as_deref().unwrap_or_default()
    }

    /// The model that the hints choose among these, which stand in the client's own order of
    /// preference: hints are tried in their order, and each names any model whose name holds it
    /// (sampling, "Model Preferences"). `None` where no hint fits; then the priorities count.
    ///
    /// ```
    /// use snodo_types::ModelPreferences;
    ///
    /// let wishes: ModelPreferences =
    ///     serde_json::from_str(r#"{"hints":[{"name":"opus"},{"name":"sonnet"}]}"#)?;
    /// assert_eq!(wishes.choose(["small-haiku", "big-sonnet"]), Some("big-sonnet"));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[must_use]
    pub fn choose<'m>(&self, models: impl IntoIterator<Item = &'m str>) -> Option<&'m str> {
        let models: Vec<_> = models.into_iter().collect();
        let names = self.hints().iter().filter_map(|hint| hint.name.as_deref());
        names.filter_map(|name| models.iter().find(|model| model.contains(name))).next().copied()
    }
}

impl ToolChoice {
    /// How it is; absent means as the model likes.
    #[must_use]
    pub fn mode(&self) -> ToolChoiceMode {
        self.mode.clone().unwrap_or(ToolChoiceMode::Auto)
    }
}

object! {
    impl CreateMessageParams {
        required messages: "messages",
        required max_tokens: "maxTokens",
        optional model_preferences: "modelPreferences",
        optional system_prompt: "systemPrompt",
        optional include_context: "includeContext",
        optional temperature: "temperature",
        optional stop_sequences: "stopSequences",
        optional metadata: "metadata",
        optional tools: "tools",
        optional tool_choice: "toolChoice",
        optional task: "task",
        optional meta: "_meta";
        other
    }
}

object! {
    impl SamplingMessage {
        required role: "role",
        required content: "content",
        optional meta: "_meta";
        other
    }
}

object! {
    impl CreateMessageResult {
        required role: "role",
        required content: "content",
        required model: "model",
        optional stop_reason: "stopReason",
        optional meta: "_meta";
        other
    }
}

object! {
    impl ModelPreferences {
        optional hints: "hints",
        optional cost_priority: "costPriority",
        optional speed_priority: "speedPriority",
        optional intelligence_priority: "intelligencePriority";
        other
    }
}

object! {
    impl ModelHint {
        optional name: "name";
        other
    }
}

object! {
    words IncludeContext {
        AllServers: "allServers",
        None: "none",
        ThisServer: "thisServer",
    }
}

object! {
    impl ToolChoice {
        optional mode: "mode";
        other
    }
}

object! {
    words ToolChoiceMode {
        Auto: "auto",
        None: "none",
        Required: "required",
    }
}

#[cfg(test)]
mod tests {
    use super::ModelPreferences;

    // SAM-07
    #[test]
    fn the_first_hint_that_fits_any_model_chooses_and_a_part_of_a_name_is_enough() {
        let models = ["vendor-small-2", "vendor-large-2", "vendor-large-1"];
        let table = [
            (r#"[{"name":"vendor-large-1"}]"#, Some("vendor-large-1")),
            (r#"[{"name":"large"},{"name":"small"}]"#, Some("vendor-large-2")),
            (r#"[{"name":"huge"},{},{"name":"small"},{"name":"large"}]"#, Some("vendor-small-2")),
            (r#"[{"name":"huge"}]"#, None),
            ("[]", None),
        ];
        for (hints, chosen) in table {
            // A priority decides only where no hint does.
            let text = format!(r#"{{"hints":{hints},"costPriority":1,"speedPriority":1}}"#);
            let wishes: ModelPreferences = serde_json::from_str(&text).expect("preferences");
            assert_eq!(wishes.choose(models), chosen, "{hints}");
        }
        assert_eq!(ModelPreferences::default().choose(models), None);
    }
}
