//! Holding a value against a compiled schema, with the steps counted.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use jsonschema::Validator;
use serde_json::Value;

use crate::build::STACK;
use crate::meter::{Meter, Metered, Node};
use crate::survey::Survey;
use crate::{Fault, Mismatch, words};

pub(crate) fn check(
    validator: &Validator<Metered>,
    survey: Survey,
    text: &str,
) -> Result<(), Fault> {
    let value: Value =
        serde_json::from_str(text).map_err(|error| Fault::Unreadable(error.to_string()))?;
    if depth(&value) * survey.levels <= INLINE_LEVELS {
        return judge(validator, survey, &value);
    }
    thread::scope(|scope| {
        let work = || judge(validator, survey, &value);
        match thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work) {
            Ok(worker) => worker.join().unwrap_or(Err(Fault::TooCostly)),
            Err(_) => Err(Fault::TooCostly),
        }
    })
}

/// Whether it fits is asked first, which is cheap and stops at the first fault; only then where it
/// does not, which gathers a report of every alternative.
fn judge(validator: &Validator<Metered>, survey: Survey, value: &Value) -> Result<(), Fault> {
    let meter = Meter::new(survey, MAX_STEPS);
    let fits = guarded(|| validator.is_valid(Node::new(value, &meter)))?;
    if meter.is_spent() {
        return Err(Fault::TooCostly);
    }
    if fits {
        return Ok(());
    }
    let meter = Meter::new(survey, MAX_REPORT_STEPS);
    let report = guarded(|| {
        let error = validator.validate(Node::new(value, &meter)).err();
        error.map(|error| Mismatch {
            pointer: words::pointer(error.instance_path().as_str()),
            expected: words::expected(&error),
        })
    })?;
    let report = report.filter(|_| !meter.is_spent());
    Err(Fault::Mismatch(report.unwrap_or_else(|| Mismatch {
        pointer: String::new(),
        expected: "something that fits the schema".to_owned(),
    })))
}

/// A panic is a fault of the library below, and no verdict.
fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, Fault> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| Fault::TooCostly)
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or_default(),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or_default(),
        _ => 1,
    }
}

/// How deep schema and value may lead into each other on the stack of the caller.
const INLINE_LEVELS: usize = 512;

const MAX_STEPS: u64 = 10_000_000;

/// A report is larger than a verdict: each alternative that failed has a part of its own.
const MAX_REPORT_STEPS: u64 = 200_000;
