//! What every result has in common.

use crate::object::object;
use crate::{Members, Meta, Raw, lens};

/// What kind of answer a result is, 2026-07-28.
///
/// ```
/// use snodo_types::{Raw, ResultType};
///
/// assert_eq!(ResultType::of(&Raw::parse("{}")?), ResultType::Complete);
/// let asks = Raw::parse(r#"{"resultType": "input_required"}"#)?;
/// assert_eq!(ResultType::of(&asks), ResultType::InputRequired);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ResultType {
    /// The answer itself.
    Complete,
    /// The server needs something first.
    InputRequired,
    /// Tasks extension: the work goes on, ask for it by its id.
    Task,
    /// A type that is not known here, as it came: an extension's, or a fault.
    Other(Box<str>),
}

impl ResultType {
    /// The type of a result, and nothing else of it. Absent means complete; what is no string is
    /// [`Other`](Self::Other) with its JSON text, cut at 64 characters.
    #[must_use]
    pub fn of(result: &Raw) -> Self {
        match lens::member(result.text(), &["resultType"]) {
            None => Self::Complete,
            Some(text) => serde_json::from_str(text).unwrap_or_else(|_| {
                Self::Other(text.chars().take(64).collect::<String>().into_boxed_str())
            }),
        }
    }
}

/// A result that says no more than that all went well.
///
/// ```
/// use snodo_types::EmptyResult;
///
/// assert_eq!(serde_json::to_string(&EmptyResult::new())?, "{}");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EmptyResult {
    /// What kind of answer it is; absent means complete.
    pub result_type: Option<ResultType>,
    /// `_meta`, as it came; read by [`meta`](Self::meta).
    pub meta: Option<Raw>,
    /// Members without a name here.
    pub other: Members,
}

impl EmptyResult {
    /// An empty object.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What is known of `_meta`.
    #[must_use]
    pub fn meta(&self) -> Meta<'_> {
        Meta::of(self.meta.as_ref())
    }
}

object! {
    words ResultType {
        Complete: "complete",
        InputRequired: "input_required",
        Task: "task",
    }
}

object! {
    impl EmptyResult {
        optional result_type: "resultType",
        optional meta: "_meta";
        other
    }
}
