//! What does not fit the schema of a tool.

use std::fmt;

use crate::{Error, ErrorObject, Kind, Raw};

/// Arguments or a result that do not fit the schema of their tool, or that could not be held
/// against it.
///
/// ```
/// use snodo_types::{Cause, Error, SchemaFault, SchemaSide};
///
/// let error = Error::from(SchemaFault::mismatch("add", SchemaSide::Arguments, "/a", "integer"));
/// assert_eq!(error.to_string(), "the arguments of `add` do not fit its schema: at /a: expected integer (-32602)");
/// let Some(Cause::Schema(fault)) = error.cause() else { panic!() };
/// assert_eq!((fault.pointer(), fault.reason()), (Some("/a"), "integer"));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct SchemaFault {
    tool: String,
    side: SchemaSide,
    pointer: Option<String>,
    reason: String,
    result: Option<Raw>,
}

/// What is held against a schema.
///
/// ```
/// assert_eq!(snodo_types::SchemaSide::Arguments.to_string(), "arguments");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SchemaSide {
    /// What a tool is called with, against its `inputSchema`. The call was not made.
    Arguments,
    /// The structured content that it gave, against its `outputSchema`. The tool has run.
    Result,
}

impl SchemaFault {
    /// They do not fit: at a place, a JSON pointer, something else was expected.
    #[must_use]
    pub fn mismatch(
        tool: impl Into<String>,
        side: SchemaSide,
        pointer: impl Into<String>,
        expected: impl Into<String>,
    ) -> Self {
        let pointer = Some(pointer.into());
        Self { tool: tool.into(), side, pointer, reason: expected.into(), result: None }
    }

    /// Whether they fit cannot be found out, for this reason.
    #[must_use]
    pub fn unusable(tool: impl Into<String>, side: SchemaSide, reason: impl Into<String>) -> Self {
        Self { tool: tool.into(), side, pointer: None, reason: reason.into(), result: None }
    }

    /// Adds the result as the server sent it.
    #[must_use]
    pub fn with_result(mut self, result: Raw) -> Self {
        self.result = Some(result);
        self
    }

    /// The tool.
    #[must_use]
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// What did not fit.
    #[must_use]
    pub fn side(&self) -> SchemaSide {
        self.side
    }

    /// Where it does not fit, a JSON pointer (empty for the whole); `None` where that could not be
    /// found out.
    #[must_use]
    pub fn pointer(&self) -> Option<&str> {
        self.pointer.as_deref()
    }

    /// What was expected there; or why it could not be found out.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// Whether the schema could not be used, or not be held against so large a value.
    #[must_use]
    pub fn is_unusable(&self) -> bool {
        self.pointer.is_none()
    }

    /// The result, where it is what does not fit: the tool has run, and the caller may still want
    /// what it said.
    #[must_use]
    pub fn result(&self) -> Option<&Raw> {
        self.result.as_ref()
    }
}

impl fmt::Display for SchemaFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tool, side, reason, .. } = self;
        let verb = if *side == SchemaSide::Arguments { "do" } else { "does" };
        match self.pointer.as_deref() {
            None => write!(f, "the {side} of `{tool}` cannot be held against its schema: {reason}"),
            Some("") => {
                write!(f, "the {side} of `{tool}` {verb} not fit its schema: expected {reason}")
            }
            Some(pointer) => write!(
                f,
                "the {side} of `{tool}` {verb} not fit its schema: at {pointer}: expected {reason}"
            ),
        }
    }
}

impl fmt::Debug for SchemaFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SchemaFault")
            .field("tool", &self.tool)
            .field("side", &self.side)
            .field("pointer", &self.pointer)
            .field("reason", &self.reason)
            .finish_non_exhaustive()
    }
}

impl fmt::Display for SchemaSide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Arguments => "arguments",
            Self::Result => "result",
        })
    }
}

impl From<SchemaFault> for Error {
    /// Arguments are the caller's fault: -32602, protocol. A result is the server's: -32603,
    /// execution.
    fn from(fault: SchemaFault) -> Self {
        let (kind, code) = match fault.side {
            SchemaSide::Arguments => (Kind::Protocol, ErrorObject::INVALID_PARAMS),
            SchemaSide::Result => (Kind::Execution, ErrorObject::INTERNAL_ERROR),
        };
        Self::new(kind, code, fault.to_string()).with_cause(crate::Cause::Schema(Box::new(fault)))
    }
}

#[cfg(test)]
mod tests {
    use super::{SchemaFault, SchemaSide};
    use crate::{Error, Kind, Raw};

    #[test]
    fn a_result_that_does_not_fit_is_kept_and_not_shown() {
        let result = Raw::parse(r#"{"content":[],"structuredContent":"5ecret"}"#).expect("JSON");
        let fault = SchemaFault::mismatch("add", SchemaSide::Result, "", "integer");
        let error = Error::from(fault.with_result(result));
        assert_eq!((error.kind(), error.code()), (Kind::Execution, -32603));
        assert_eq!(
            error.message(),
            "the result of `add` does not fit its schema: expected integer"
        );
        assert!(!format!("{error:?} {error}").contains("5ecret"));
    }

    #[test]
    fn a_schema_that_cannot_be_used_is_told_apart() {
        let fault = SchemaFault::unusable("add", SchemaSide::Arguments, "no such dialect");
        assert!(fault.is_unusable() && fault.pointer().is_none());
        assert_eq!(
            fault.to_string(),
            "the arguments of `add` cannot be held against its schema: no such dialect"
        );
    }
}
