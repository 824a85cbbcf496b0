//! Completing the value of an argument.

use crate::object::object;
use crate::{Members, Meta, Raw, ResultType};

/// The params of `completion/complete`.
///
/// ```
/// use snodo_types::{CompleteParams, CompletionReference};
///
/// let params = CompleteParams::new(CompletionReference::prompt("review"), "language", "py")
///     .with_context("framework", "flask");
/// assert_eq!(
///     serde_json::to_string(&params)?,
///     r#"{"ref":{"type":"ref/prompt","name":"review"},"#.to_owned()
///         + r#""argument":{"name":"language","value":"py"},"#
///         + r#""context":{"arguments":{"framework":"flask"}}}"#
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CompleteParams {
    /// Whose argument it is.
    pub reference: CompletionReference,
    /// The argument, and what there is of it.
    pub argument: CompletionArgument,
    /// The arguments that have their value already.
    pub context: Option<CompletionContext>,
    /// `_meta`, as it came; read by [`meta`](Self::meta).
    pub meta: Option<Raw>,
    /// Members without a name here.
    pub other: Members,
}

/// What an argument belongs to: a prompt, or a resource template.
///
/// ```
/// use snodo_types::CompletionReference;
///
/// let reference = CompletionReference::resource("users://{id}");
/// assert_eq!(reference.uri.as_deref(), Some("users://{id}"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CompletionReference {
    /// `ref/prompt` or `ref/resource`.
    pub kind: String,
    /// The name of the prompt.
    pub name: Option<String>,
    /// The prompt's name for people.
    pub title: Option<String>,
    /// The URI, or the template of URIs.
    pub uri: Option<String>,
    /// Members without a name here.
    pub other: Members,
}

/// The argument to be completed.
///
/// ```
/// use snodo_types::CompletionArgument;
/// assert_eq!(CompletionArgument::new("language", "py").value, "py");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CompletionArgument {
    /// Its name.
    pub name: String,
    /// What has been typed of its value.
    pub value: String,
    /// Members without a name here.
    pub other: Members,
}

/// What is known beside the argument to be completed.
///
/// ```
/// use snodo_types::CompletionContext;
///
/// let context: CompletionContext = serde_json::from_str(r#"{"arguments":{"owner":"ada"}}"#)?;
/// assert_eq!(context.argument("owner").as_deref(), Some("ada"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CompletionContext {
    /// The arguments that have their value already: an object of strings.
    pub arguments: Option<Members>,
    /// Members without a name here.
    pub other: Members,
}

/// What an argument may be completed to.
///
/// ```
/// use snodo_types::CompleteResult;
///
/// let result = CompleteResult::new(["python", "pytorch"]);
/// assert_eq!(result.completion.values.len(), 2);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CompleteResult {
    /// The values.
    pub completion: Completion,
    /// What kind of answer it is; absent means complete.
    pub result_type: Option<ResultType>,
    /// `_meta`, as it came; read by [`meta`](Self::meta).
    pub meta: Option<Raw>,
    /// Members without a name here.
    pub other: Members,
}

/// The values an argument may have.
///
/// ```
/// use snodo_types::Completion;
///
/// let completion: Completion = serde_json::from_str(r#"{"values":["a"],"hasMore":true}"#)?;
/// assert!(completion.has_more());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Completion {
    /// The values, the best first; servers send 100 at most.
    pub values: Vec<String>,
    /// How many there are in all, if the server says so.
    pub total: Option<u64>,
    /// Whether there are more than these; absent means no.
    pub has_more: Option<bool>,
    /// Members without a name here.
    pub other: Members,
}

impl CompleteParams {
    /// Asks what an argument may be, given what has been typed.
    #[must_use]
    pub fn new(
        reference: CompletionReference,
        argument: impl Into<String>,
        typed: impl Into<String>,
    ) -> Self {
        Self {
            reference,
            argument: CompletionArgument::new(argument, typed),
            context: None,
            meta: None,
            other: Members::new(),
        }
    }

    /// Tells an argument that has its value already.
    #[must_use]
    pub fn with_context(mut self, argument: &str, value: &str) -> Self {
        let context = self.context.get_or_insert_default();
        context.arguments.get_or_insert_default().insert(argument, Raw::string(value));
        self
    }

    /// What is wrong with it, if anything: the reference is of neither kind or says nothing of what
    /// its kind points at, or the argument has no name (completion, "Security").
    ///
    /// ```
    /// use snodo_types::{CompleteParams, CompletionReference};
    ///
    /// let unnamed = CompleteParams::new(CompletionReference::prompt("review"), "", "py");
    /// assert_eq!(unnamed.fault(), Some("the argument to be completed has no name"));
    /// ```
    #[must_use]
    pub fn fault(&self) -> Option<&'static str> {
        let reference = &self.reference;
        let empty = |text: &Option<String>| text.as_deref().unwrap_or_default().is_empty();
        match reference.kind.as_str() {
            "ref/prompt" if empty(&reference.name) => Some("a reference to a prompt has its name"),
            "ref/resource" if empty(&reference.uri) => {
                Some("a reference to a resource has its URI")
            }
            "ref/prompt" | "ref/resource" if self.argument.name.is_empty() => {
                Some("the argument to be completed has no name")
            }
            "ref/prompt" | "ref/resource" => None,
            _ => Some("a reference is to a prompt or to a resource"),
        }
    }

    /// What is known of `_meta`.
    #[must_use]
    pub fn meta(&self) -> Meta<'_> {
        Meta::of(self.meta.as_ref())
    }
}

impl CompletionReference {
    /// A prompt's argument.
    #[must_use]
    pub fn prompt(name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..Self::empty("ref/prompt") }
    }

    /// A resource template's argument.
    #[must_use]
    pub fn resource(uri: impl Into<String>) -> Self {
        Self { uri: Some(uri.into()), ..Self::empty("ref/resource") }
    }

    fn empty(kind: &str) -> Self {
        Self { kind: kind.to_owned(), name: None, title: None, uri: None, other: Members::new() }
    }
}

impl CompletionArgument {
    /// An argument and what has been typed of it.
    #[must_use]
    pub fn new(name: impl Into<String>, typed: impl Into<String>) -> Self {
        Self { name: name.into(), value: typed.into(), other: Members::new() }
    }
}

impl CompletionContext {
    /// The value of an argument; `None` also for one that is no string.
    #[must_use]
    pub fn argument(&self, name: &str) -> Option<String> {
        self.arguments.as_ref()?.get(name)?.decode().ok()
    }
}

impl CompleteResult {
    /// These values, and no more.
    #[must_use]
    pub fn new<I: Into<String>>(values: impl IntoIterator<Item = I>) -> Self {
        let values = values.into_iter().map(Into::into).collect();
        Self {
            completion: Completion { values, ..Completion::default() },
            result_type: None,
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

impl Completion {
    /// Whether there are more values than these.
    #[must_use]
    pub fn has_more(&self) -> bool {
        self.has_more.unwrap_or(false)
    }
}

object! {
    impl CompleteParams {
        required reference: "ref",
        required argument: "argument",
        optional context: "context",
        optional meta: "_meta";
        other
    }
}

object! {
    impl CompletionReference {
        required kind: "type",
        optional name: "name",
        optional title: "title",
        optional uri: "uri";
        other
    }
}

object! {
    impl CompletionArgument {
        required name: "name",
        required value: "value";
        other
    }
}

object! {
    impl CompletionContext {
        optional arguments: "arguments";
        other
    }
}

object! {
    impl CompleteResult {
        required completion: "completion",
        optional result_type: "resultType",
        optional meta: "_meta";
        other
    }
}

object! {
    impl Completion {
        required values: "values",
        optional total: "total",
        optional has_more: "hasMore";
        other
    }
}
