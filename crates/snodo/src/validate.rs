//! Arguments and results of tools against the tools' schemas.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use snodo_schema::{Fault, Schema, Unusable};
use snodo_types::{
    Body, CallToolResult, Error, Message, Raw, ResultType, SchemaFault, SchemaSide, Tool,
};

use crate::checked::{Check, Checker, Checkers};
use crate::{Builder, Request};

/// What a client holds against the schemas of tools.
///
/// Where something does not fit, the call fails with [`Cause::Schema`](crate::types::Cause::Schema):
/// it names the tool, the place in the value and what was expected there, and keeps a result. A
/// result with `isError` is never checked, and neither is a task that stands for a result to come.
///
/// A tool that is called by name has to be known: the first such call lists the tools, within its
/// own time, and so does the next one after the server told that they changed. A tool that the
/// server does not list is not checked. Schemas are compiled once for each tool, and kept for the
/// 1,024 tools and 8 MiB of schemas that were used last.
///
/// The dialects and bounds are those of [`schema`](crate::schema); values and schemas beyond them,
/// and schemas that refer to other documents, cannot be checked. Unless
/// [`pass_unusable`](Self::pass_unusable) says otherwise, a call of such a tool fails too.
///
/// ```
/// use snodo::types::{CallToolResult, Cause};
/// use snodo::{Client, Validate, direct};
/// use serde_json::{Value, json};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), snodo::Error> {
/// let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } } });
/// let server = direct::Server::new("demo", "0.1.0").tool("double", schema, |args: Value, _| async move {
///     Ok(CallToolResult::from_text((args["n"].as_i64().unwrap_or(0) * 2).to_string()))
/// });
/// let client = Client::builder().validate(Validate::both()).direct(server).await?;
/// let error = client.call_tool("double", json!({ "n": "two" })).await.expect_err("no number");
/// let Some(Cause::Schema(fault)) = error.cause() else { panic!("{error}") };
/// assert_eq!((fault.pointer(), fault.reason()), (Some("/n"), "integer"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Validate {
    arguments: Held,
    results: Held,
    unusable: Pass,
}

/// Whether something is held against its schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Held {
    No,
    Yes,
}

/// What becomes of a value that cannot be checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pass {
    Fails,
    WithAWarning,
}

impl Validate {
    /// The arguments of a call against the tool's `inputSchema`, before it is sent.
    #[must_use]
    pub fn arguments() -> Self {
        Self { results: Held::No, ..Self::both() }
    }

    /// The structured content of a result against the tool's `outputSchema`. Where the tool has one,
    /// a result without structured content does not fit.
    #[must_use]
    pub fn results() -> Self {
        Self { arguments: Held::No, ..Self::both() }
    }

    /// Both.
    #[must_use]
    pub fn both() -> Self {
        Self { arguments: Held::Yes, results: Held::Yes, unusable: Pass::Fails }
    }

    /// Lets pass what cannot be checked: a schema of an unknown dialect, beyond the limits or with
    /// references to other documents checks nothing then, which is logged as a warning, once for
    /// each schema.
    #[must_use]
    pub fn pass_unusable(self) -> Self {
        Self { unusable: Pass::WithAWarning, ..self }
    }
}

impl Builder {
    /// Holds the arguments of tools, their results, or both against the tools' schemas; nothing is
    /// checked unless set. See [`Validate`].
    pub fn validate(mut self, what: Validate) -> Self {
        let make =
            move || -> Box<dyn Checker> { Box::new(Validator { what, known: Mutex::default() }) };
        self.options.checkers = Checkers(Some(Arc::new(make)));
        self
    }
}

impl<T> Request<T> {
    /// Leaves the arguments and the result of this call unchecked, although the client checks them.
    pub fn unchecked(self) -> Self {
        self.edit(|call| call.checks = None)
    }
}

/// The schemas of one server's tools.
struct Validator {
    what: Validate,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    tools: HashMap<String, Entry>,
    /// Of all schemas that are kept.
    bytes: usize,
    /// Counts the uses.
    now: u64,
}

struct Entry {
    tool: Arc<Schemas>,
    used: u64,
    fresh: Freshness,
}

/// Whether the server's list is still the one that the entry is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Freshness {
    Listed,
    Stale,
}

/// The two schemas of a tool.
struct Schemas {
    what: Validate,
    tool: String,
    input: Option<Lazy>,
    output: Option<Lazy>,
}

/// A schema that is compiled when it is first needed.
struct Lazy {
    text: Raw,
    compiled: OnceLock<Result<Schema, Unusable>>,
}

impl Validator {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Checker for Validator {
    fn learn(&self, tool: &Tool) -> Arc<dyn Check> {
        self.known().learn(Schemas::of(tool, self.what))
    }

    fn find(&self, name: &str) -> Option<Arc<dyn Check>> {
        let tool = self.known().find(name)?;
        Some(tool)
    }

    fn miss(&self, name: &str) {
        let tool = Schemas { what: self.what, tool: name.to_owned(), input: None, output: None };
        self.known().learn(tool);
    }

    fn forget(&self) {
        for entry in self.known().tools.values_mut() {
            entry.fresh = Freshness::Stale;
        }
    }
}

impl Known {
    /// Keeps what was compiled where the schemas are the same as before.
    fn learn(&mut self, tool: Schemas) -> Arc<Schemas> {
        self.now += 1;
        let (used, fresh) = (self.now, Freshness::Listed);
        if let Some(entry) = self.tools.get_mut(&tool.tool)
            && entry.tool.is_like(&tool)
        {
            (entry.used, entry.fresh) = (used, fresh);
            return Arc::clone(&entry.tool);
        }
        let (name, bytes) = (tool.tool.clone(), tool.bytes());
        let tool = Arc::new(tool);
        self.remove(&name);
        self.bytes += bytes;
        self.tools.insert(name, Entry { tool: Arc::clone(&tool), used, fresh });
        while self.tools.len() > MAX_TOOLS || (self.bytes > MAX_BYTES && self.tools.len() > 1) {
            let oldest = self.tools.iter().min_by_key(|(_, entry)| entry.used);
            let Some(name) = oldest.map(|(name, _)| name.clone()) else { break };
            self.remove(&name);
        }
        tool
    }

    fn find(&mut self, name: &str) -> Option<Arc<Schemas>> {
        self.now += 1;
        let entry = self.tools.get_mut(name)?;
        entry.used = self.now;
        (entry.fresh == Freshness::Listed).then(|| Arc::clone(&entry.tool))
    }

    fn remove(&mut self, name: &str) {
        if let Some(entry) = self.tools.remove(name) {
            self.bytes = self.bytes.saturating_sub(entry.tool.bytes());
        }
    }
}

impl Schemas {
    fn of(tool: &Tool, what: Validate) -> Self {
        let lazy = |text: &Raw| Lazy { text: text.clone(), compiled: OnceLock::new() };
        Self {
            what,
            tool: tool.name.clone(),
            input: (what.arguments == Held::Yes).then(|| lazy(&tool.input_schema)),
            output: (what.results == Held::Yes)
                .then_some(tool.output_schema.as_ref())
                .flatten()
                .map(lazy),
        }
    }

    fn is_like(&self, other: &Self) -> bool {
        fn text(lazy: Option<&Lazy>) -> Option<&str> {
            lazy.map(|lazy| lazy.text.text())
        }
        text(self.input.as_ref()) == text(other.input.as_ref())
            && text(self.output.as_ref()) == text(other.output.as_ref())
    }

    fn bytes(&self) -> usize {
        let schemas = self.input.iter().chain(&self.output);
        self.tool.len() + schemas.map(|lazy| lazy.text.text().len()).sum::<usize>()
    }

    /// Holds a value against one of the two.
    fn hold(&self, lazy: &Lazy, side: SchemaSide, text: &str) -> Result<(), SchemaFault> {
        let unusable = |reason: &dyn ToString| {
            let fault = SchemaFault::unusable(&self.tool, side, reason.to_string());
            if self.what.unusable == Pass::Fails { Err(fault) } else { Ok(()) }
        };
        let compiled = lazy.compiled.get_or_init(|| {
            let compiled = Schema::parse(lazy.text.text());
            if let Err(reason) = &compiled {
                tracing::warn!(tool = self.tool, %side, %reason, "a schema cannot be used");
            }
            compiled
        });
        let schema = match compiled {
            Ok(schema) => schema,
            Err(reason) => return unusable(reason),
        };
        match schema.check(text) {
            Ok(()) => Ok(()),
            Err(Fault::Mismatch(wrong)) => {
                Err(SchemaFault::mismatch(&self.tool, side, wrong.pointer(), wrong.expected()))
            }
            Err(other) => unusable(&other),
        }
    }
}

impl Check for Schemas {
    fn arguments(&self, text: &str) -> Result<(), Error> {
        let Some(lazy) = &self.input else { return Ok(()) };
        Ok(self.hold(lazy, SchemaSide::Arguments, text)?)
    }

    /// 2026-07-28, tools, "Output Schema". A failure is told in words, whatever the schema says.
    fn result(&self, message: &Message) -> Result<(), Error> {
        let (Some(lazy), Body::Result { result, .. }) = (&self.output, message.body()) else {
            return Ok(());
        };
        // What is no result of a tool is refused by whoever reads it.
        let Ok(read) = serde_json::from_str::<CallToolResult>(result) else { return Ok(()) };
        let complete = read.result_type.as_ref().is_none_or(|kind| *kind == ResultType::Complete);
        let is_task = read.structured_content.is_none() && read.other.get("task").is_some();
        if read.is_error() || !complete || is_task {
            return Ok(());
        }
        let held = match &read.structured_content {
            Some(content) => self.hold(lazy, SchemaSide::Result, content.text()),
            None => Err(SchemaFault::mismatch(
                &self.tool,
                SchemaSide::Result,
                "",
                "structured content, since the tool has an output schema",
            )),
        };
        held.map_err(|fault| {
            Error::from(match Raw::parse(result) {
                Ok(result) => fault.with_result(result),
                Err(_) => fault,
            })
        })
    }
}

/// The most tools whose schemas are kept, and the most text of schemas; what was not used for
/// longest goes.
const MAX_TOOLS: usize = 1024;
const MAX_BYTES: usize = 8 * 1024 * 1024;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool(name: &str, text: &str) -> Schemas {
        let tool = Tool::new(name, json!({ "description": text }));
        Schemas::of(&tool, Validate::both())
    }

    #[test]
    fn what_was_compiled_is_kept_while_the_schema_is_the_same() {
        let validator = Validator { what: Validate::both(), known: Mutex::default() };
        let first = validator.known().learn(tool("a", "x"));
        first.arguments("{}").expect("anything fits");
        validator.forget();
        assert!(validator.find("a").is_none(), "the list may have changed");
        let again = validator.known().learn(tool("a", "x"));
        assert!(Arc::ptr_eq(&first, &again) && validator.find("a").is_some());
        let other = validator.known().learn(tool("a", "y"));
        assert!(!Arc::ptr_eq(&first, &other));
        assert_eq!(validator.known().bytes, other.bytes());
    }

    #[test]
    fn of_too_many_tools_those_used_last_are_kept() {
        let mut known = Known::default();
        for at in 0..MAX_TOOLS + 10 {
            known.learn(tool(&at.to_string(), "x"));
            assert!(known.find("0").is_some());
        }
        assert_eq!(known.tools.len(), MAX_TOOLS);
        assert!(known.find("1").is_none() && known.find("10").is_none());
        assert!(known.find(&(MAX_TOOLS + 9).to_string()).is_some());
        let half = "x".repeat(MAX_BYTES / 2);
        for name in ["0", "1", "2", "3"] {
            known.learn(tool(name, &half));
            assert!(known.bytes <= MAX_BYTES);
        }
        known.learn(tool("huge", &"x".repeat(2 * MAX_BYTES)));
        assert_eq!(known.tools.len(), 1);
    }
}
