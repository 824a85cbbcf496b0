//! JSON Schemas that strangers wrote, held against values that strangers sent.
//!
//! A [`Schema`] is compiled once and checked often. Whatever the two texts are, both steps end: they
//! fetch nothing, and each of their bounds is held before the work is done.
//!
//! ```
//! use snodo_schema::{Fault, Schema};
//!
//! let schema = Schema::parse(r#"{ "properties": { "n": { "type": "integer" } } }"#)?;
//! assert!(schema.check(r#"{ "n": 1 }"#).is_ok());
//! let Err(Fault::Mismatch(wrong)) = schema.check(r#"{ "n": "one" }"#) else { panic!() };
//! assert_eq!((wrong.pointer(), wrong.expected()), ("/n", "integer"));
//! # Ok::<(), snodo_schema::Unusable>(())
//! ```
//!
//! # Dialects
//!
//! 2020-12, where a schema names none, 2019-09, draft-07, draft-06 and draft-04, each by the
//! `$schema` of its specification. Any other name is [`Unusable::Dialect`]. `format`,
//! `contentEncoding` and `contentMediaType` are annotations in all of them and check nothing.
//!
//! References lead to places of the same document. Nothing is ever fetched, from a network or from a
//! file: a schema that refers to another document is [`Unusable::External`].
//!
//! # Bounds
//!
//! | What | Bound | How it is held |
//! |---|---|---|
//! | Size of a schema | 256 KiB | by the length of its text, before it is read |
//! | Depth of a schema | 64 | counted before it is compiled |
//! | Schemas that apply to one and the same value, references followed each time | 2,048, 64 deep | counted before it is compiled; one that applies itself to its own value is refused |
//! | Resources of their own (`$id`) in a schema | few: their number's factorial times the size is 4 MiB at most | counted; every order in which they can refer to each other is compiled |
//! | Patterns | 131,072 states in all, by an estimate from above, and 4 MiB each | before they are compiled; the engine is one without backtracking, so that look-around and back-references are refused |
//! | Stack while compiling | 16 MiB, of a thread made for it | the depths above bound what is used |
//! | Depth of a value | 128 | by the reader |
//! | Stack while checking | 16 MiB, of a thread made for it where the depths of schema and value make more than 512 | as above |
//! | Time of a check | 10,000,000 steps, about half a second on a machine of today | each look at the value takes steps, and each character that a pattern may read; when they are used up the value shows itself as `null` everywhere, and the check ends |
//!
//! Steps and not a clock: a value that is judged on one machine is judged on all.

mod build;
mod meter;
mod patterns;
mod survey;
mod tally;
#[cfg(test)]
mod tests;
mod words;

use std::fmt;

use jsonschema::Validator;

use crate::meter::Metered;
use crate::survey::Survey;

/// A schema that can be held against values.
///
/// It is compiled, and may be shared between threads.
///
/// ```
/// let schema = snodo_schema::Schema::parse(r#"{ "type": "array", "maxItems": 2 }"#)?;
/// assert!(schema.check("[1, 2]").is_ok());
/// assert!(schema.check("[1, 2, 3]").is_err());
/// # Ok::<(), snodo_schema::Unusable>(())
/// ```
pub struct Schema {
    validator: Validator<Metered>,
    survey: Survey,
}

/// Why a schema cannot be used.
///
/// ```
/// use snodo_schema::{Schema, Unusable};
///
/// let refused = Schema::parse(r#"{ "$ref": "https://schemas.example/n.json" }"#);
/// assert!(matches!(refused, Err(Unusable::External(_))));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unusable {
    /// It names a dialect that is not known here.
    #[error("the dialect {0} is not supported")]
    Dialect(String),
    /// It refers to another document, which is never fetched.
    #[error("it refers to {0}, and nothing is fetched")]
    External(String),
    /// It is no schema of its dialect.
    #[error("it is no schema: {0}")]
    Invalid(String),
    /// It is larger, deeper or more involved than is allowed.
    #[error("it is beyond the limits: {0}")]
    Limit(&'static str),
    /// It is valid, and cannot be checked here.
    #[error("it cannot be checked here: {0}")]
    Unsupported(String),
}

/// Why a value was not found to fit.
///
/// ```
/// use snodo_schema::{Fault, Schema};
///
/// let schema = Schema::parse(r#"{ "required": ["n"] }"#)?;
/// let fault = schema.check("{}").expect_err("there is no n");
/// assert_eq!(fault.to_string(), "expected a property `n`");
/// # Ok::<(), snodo_schema::Unusable>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// It does not fit.
    #[error("{0}")]
    Mismatch(Mismatch),
    /// Whether it fits would take more steps to find out than are allowed.
    #[error("it takes too many steps to check")]
    TooCostly,
    /// It is no JSON, or nested too deep.
    #[error("it cannot be read: {0}")]
    Unreadable(String),
}

/// Where a value does not fit, and what was expected there: no part of the value itself but the names
/// on the way to the place.
///
/// ```
/// use snodo_schema::{Fault, Schema};
///
/// let schema = Schema::parse(r#"{ "items": { "enum": ["a", "b"] } }"#)?;
/// let Err(Fault::Mismatch(wrong)) = schema.check(r#"["a", "secret"]"#) else { panic!() };
/// assert_eq!((wrong.pointer(), wrong.expected()), ("/1", r#"one of ["a","b"]"#));
/// # Ok::<(), snodo_schema::Unusable>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    pointer: String,
    expected: String,
}

impl Schema {
    /// Takes the text of a schema.
    ///
    /// # Errors
    ///
    /// It is no schema, of a dialect that is not known, beyond the limits, or refers to another
    /// document.
    pub fn parse(text: &str) -> Result<Self, Unusable> {
        build::build(text)
    }

    /// Holds a JSON text against it.
    ///
    /// # Errors
    ///
    /// The value does not fit, or that cannot be found out within the limits.
    pub fn check(&self, text: &str) -> Result<(), Fault> {
        tally::check(&self.validator, self.survey, text)
    }
}

impl Mismatch {
    /// The JSON pointer to the place, shortened in the middle to about 200 characters; empty where
    /// it is the whole value, or where the place is not known.
    #[must_use]
    pub fn pointer(&self) -> &str {
        &self.pointer
    }

    /// What the schema wants there, in about 200 characters at most.
    #[must_use]
    pub fn expected(&self) -> &str {
        &self.expected
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Schema").finish_non_exhaustive()
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pointer, expected } = self;
        if pointer.is_empty() {
            write!(f, "expected {expected}")
        } else {
            write!(f, "at {pointer}: expected {expected}")
        }
    }
}
