//! From the text of a schema to something that can be held against values.

use std::error::Error;
use std::fmt;
use std::thread;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, ValidationError};
use referencing::{Retrieve, Uri};
use serde_json::Value;

use crate::meter::Metered;
use crate::words::shortened;
use crate::{Schema, Unusable, survey};

/// Compiles on a thread of its own: what is nested takes stack, and how much of the caller's is left
/// nobody knows.
pub(crate) fn build(text: &str) -> Result<Schema, Unusable> {
    if text.len() > MAX_BYTES {
        return Err(Unusable::Limit("it is longer than 256 KiB"));
    }
    thread::scope(|scope| {
        let worker = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, || compile(text));
        let worker =
            worker.map_err(|error| Unusable::Unsupported(format!("no thread for it: {error}")))?;
        // A fault of the library below, which panics where it believes something impossible.
        worker.join().unwrap_or_else(|_| Err(Unusable::Unsupported("it broke the compiler".into())))
    })
}

fn compile(text: &str) -> Result<Schema, Unusable> {
    let schema: Value =
        serde_json::from_str(text).map_err(|error| Unusable::Invalid(error.to_string()))?;
    let survey = survey::survey(&schema, text.len())?;
    let patterns = PatternOptions::regex().size_limit(PATTERN_BYTES).dfa_size_limit(PATTERN_CACHE);
    let options = jsonschema::options_for::<Metered>()
        .with_retriever(Nowhere)
        .with_pattern_options(patterns)
        .should_validate_formats(false);
    let options = CONTENT_ENCODINGS
        .iter()
        .fold(options, |options, name| options.without_content_encoding_support(name))
        .without_content_media_type_support("application/json");
    let validator = options.build(&schema).map_err(|error| unusable(&error))?;
    Ok(Schema { validator, survey })
}

fn unusable(error: &ValidationError<'_>) -> Unusable {
    match error.kind() {
        ValidationErrorKind::Referencing(error) => unresolved(error),
        ValidationErrorKind::Format { format } if format == "regex" => {
            let text = "a pattern that is no regular expression, has look-around or \
                        back-references, or is too large";
            Unusable::Unsupported(text.to_owned())
        }
        _ => Unusable::Invalid(shortened(&error.to_string())),
    }
}

/// Why a reference could not be followed.
pub(crate) fn unresolved(error: &referencing::Error) -> Unusable {
    match error {
        referencing::Error::Unretrievable { uri, .. } => Unusable::External(shortened(uri)),
        referencing::Error::UnknownSpecification { specification } => {
            Unusable::Dialect(shortened(specification))
        }
        other => Unusable::Invalid(shortened(&other.to_string())),
    }
}

/// Fetches nothing (2026-07-28, basic, "`$ref` Resolution").
pub(crate) struct Nowhere;

impl Retrieve for Nowhere {
    fn retrieve(&self, _: &Uri<String>) -> Result<Value, Box<dyn Error + Send + Sync>> {
        Err(Box::new(NotFetched))
    }
}

#[derive(Debug)]
struct NotFetched;

impl fmt::Display for NotFetched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("nothing is fetched")
    }
}

impl Error for NotFetched {}

const MAX_BYTES: usize = 256 * 1024;

/// What a compilation at its bounds uses in a debug build, more than twice over. Pages that are never
/// touched cost nothing.
pub(crate) const STACK: usize = 16 * 1024 * 1024;

/// The most memory of one compiled pattern.
const PATTERN_BYTES: usize = 4 * 1024 * 1024;

/// The most memory that matching a pattern keeps for speed.
const PATTERN_CACHE: usize = 1024 * 1024;

/// The encodings that the library would check by itself.
const CONTENT_ENCODINGS: [&str; 1] = ["base64"];
