//! Asking the user.

mod form;

use serde::de::DeserializeOwned;

pub use self::form::{Choice, EnumItems, FieldKind, FormField, FormSchema, PrimitiveSchema};
use crate::object::object;
use crate::{Members, Meta, Raw, TaskMetadata};

/// The params of `elicitation/create`: a form to fill in, or a URL to open.
///
/// ```
/// use snodo_types::{ElicitMode, ElicitParams};
///
/// let form: ElicitParams = serde_json::from_str(
///     r#"{"message":"Who?","requestedSchema":{"type":"object",
///         "properties":{"name":{"type":"string"}},"required":["name"]}}"#,
/// )?;
/// assert_eq!(form.mode(), ElicitMode::Form);
/// let schema = form.form()?;
/// assert_eq!(schema.fields().next().expect("one field").name, "name");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ElicitParams {
    /// Form or URL; absent means form.
    pub mode: Option<ElicitMode>,
    /// What to say to the user.
    pub message: String,
    /// Form: the schema of the answer, as it came; read by [`form`](Self::form).
    pub requested_schema: Option<Raw>,
    /// URL: what the user is asked to open. Never fetched, never opened without consent.
    pub url: Option<String>,
    /// URL, 2025-11-25: what its completion will be told by.
    pub elicitation_id: Option<String>,
    /// 2025-11-25: do it as a task.
    pub task: Option<TaskMetadata>,
    /// `_meta`, as it came; read by [`meta`](Self::meta).
    pub meta: Option<Raw>,
    /// Members without a name here.
    pub other: Members,
}

/// How the user is asked.
///
/// ```
/// use snodo_types::ElicitMode;
/// assert_eq!(ElicitMode::from("url"), ElicitMode::Url);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ElicitMode {
    /// By a form within the client.
    Form,
    /// By a page outside of it.
    Url,
    /// A mode that the protocol does not know, as it came.
    Other(Box<str>),
}

/// What the user said.
///
/// ```
/// use snodo_types::ElicitResult;
///
/// let yes = ElicitResult::accept(serde_json::json!({ "name": "Ada" }));
/// assert_eq!(
///     serde_json::to_string(&yes)?,
///     r#"{"action":"accept","content":{"name":"Ada"}}"#
/// );
/// assert_eq!(serde_json::to_string(&ElicitResult::decline())?, r#"{"action":"decline"}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ElicitResult {
    /// Whether the user agreed.
    pub action: ElicitAction,
    /// The form, filled in: an object of strings, numbers, booleans and lists of strings. Only
    /// with an accepted form.
    pub content: Option<Raw>,
    /// `_meta`, as it came; read by [`meta`](Self::meta). Not in 2026-07-28.
    pub meta: Option<Raw>,
    /// Members without a name here.
    pub other: Members,
}

/// Whether the user agreed.
///
/// ```
/// use snodo_types::ElicitAction;
/// assert_eq!(ElicitAction::from("cancel"), ElicitAction::Cancel);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ElicitAction {
    /// Yes. For a URL: yes to opening it, no more.
    Accept,
    /// No answer was given.
    Cancel,
    /// No.
    Decline,
    /// A word that the protocol does not know, as it came.
    Other(Box<str>),
}

/// What happened at a URL has ended: the params of `notifications/elicitation/complete`,
/// 2025-11-25.
///
/// ```
/// use snodo_types::ElicitationComplete;
///
/// let done: ElicitationComplete = serde_json::from_str(r#"{"elicitationId":"e1"}"#)?;
/// assert_eq!(done.elicitation_id, "e1");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ElicitationComplete {
    /// Which one.
    pub elicitation_id: String,
    /// `_meta`, as it came; read by [`meta`](Self::meta).
    pub meta: Option<Raw>,
    /// Members without a name here.
    pub other: Members,
}

impl ElicitParams {
    /// A form with this schema.
    #[must_use]
    pub fn with_form(message: impl Into<String>, schema: impl Into<Raw>) -> Self {
        Self { requested_schema: Some(schema.into()), ..Self::empty(message, ElicitMode::Form) }
    }

    /// A URL to open.
    #[must_use]
    pub fn with_url(message: impl Into<String>, url: impl Into<String>) -> Self {
        Self { url: Some(url.into()), ..Self::empty(message, ElicitMode::Url) }
    }

    fn empty(message: impl Into<String>, mode: ElicitMode) -> Self {
        Self {
            mode: Some(mode),
            message: message.into(),
            requested_schema: None,
            url: None,
            elicitation_id: None,
            task: None,
            meta: None,
            other: Members::new(),
        }
    }

    /// Form or URL.
    #[must_use]
    pub fn mode(&self) -> ElicitMode {
        self.mode.clone().unwrap_or(ElicitMode::Form)
    }

    /// The schema of the form; one that is absent has no fields.
    ///
    /// # Errors
    ///
    /// It is no object schema with properties.
    pub fn form(&self) -> Result<FormSchema, serde_json::Error> {
        match &self.requested_schema {
            Some(schema) => schema.decode(),
            None => Ok(FormSchema::default()),
        }
    }

    /// What is known of `_meta`.
    #[must_use]
    pub fn meta(&self) -> Meta<'_> {
        Meta::of(self.meta.as_ref())
    }
}

impl ElicitResult {
    /// Yes, and the form filled in: an object.
    #[must_use]
    pub fn accept(content: impl Into<Raw>) -> Self {
        Self { content: Some(content.into()), ..Self::of(ElicitAction::Accept) }
    }

    /// Yes to opening a URL.
    #[must_use]
    pub fn consent() -> Self {
        Self::of(ElicitAction::Accept)
    }

    /// No.
    #[must_use]
    pub fn decline() -> Self {
        Self::of(ElicitAction::Decline)
    }

    /// No answer was given.
    #[must_use]
    pub fn cancel() -> Self {
        Self::of(ElicitAction::Cancel)
    }

    fn of(action: ElicitAction) -> Self {
        Self { action, content: None, meta: None, other: Members::new() }
    }

    /// The form as a `T`; an absent one reads as `{}`.
    ///
    /// # Errors
    ///
    /// It is no `T`.
    pub fn content<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        match &self.content {
            Some(content) => content.decode(),
            None => serde_json::from_str("{}"),
        }
    }

    /// What is known of `_meta`.
    #[must_use]
    pub fn meta(&self) -> Meta<'_> {
        Meta::of(self.meta.as_ref())
    }
}

impl ElicitationComplete {
    /// What is known of `_meta`.
    #[must_use]
    pub fn meta(&self) -> Meta<'_> {
        Meta::of(self.meta.as_ref())
    }
}

object! {
    impl ElicitParams {
        optional mode: "mode",
        required message: "message",
        optional requested_schema: "requestedSchema",
        optional url: "url",
        optional elicitation_id: "elicitationId",
        optional task: "task",
        optional meta: "_meta";
        other
    }
}

object! {
    words ElicitMode {
        Form: "form",
        Url: "url",
    }
}

object! {
    impl ElicitResult {
        required action: "action",
        optional content: "content",
        optional meta: "_meta";
        other
    }
}

object! {
    words ElicitAction {
        Accept: "accept",
        Cancel: "cancel",
        Decline: "decline",
    }
}

object! {
    impl ElicitationComplete {
        required elicitation_id: "elicitationId",
        optional meta: "_meta";
        other
    }
}
