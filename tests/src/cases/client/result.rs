//! What a step came to, and what was expected of it.

use std::fmt;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::cases::class::{ExpectedError, Failure};

/// What a step came to.
#[derive(Clone, Debug)]
pub(crate) enum StepResult {
    /// Shared by steps that failed alike: ten thousand errors would count as memory of the client's.
    Failed(Arc<Failure>),
    Ok,
    /// Each of several.
    Several(Vec<Self>),
    /// The names in a list.
    Tools(Vec<String>),
}

/// What a step should come to.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Value")]
pub(crate) enum Expected {
    AnyOf(Vec<Self>),
    Each(Vec<Self>),
    Failed(ExpectedError),
    Ok,
    /// So many of several.
    OkTimes(usize),
    Tools(Vec<String>),
}

impl StepResult {
    /// The failures in it.
    pub(crate) fn failures(&self) -> Vec<&Failure> {
        match self {
            Self::Failed(failure) => vec![&**failure],
            Self::Several(results) => results.iter().flat_map(Self::failures).collect(),
            Self::Ok | Self::Tools(_) => Vec::new(),
        }
    }

    /// The same, sharing the failure of another step that failed in the same words.
    pub(crate) fn sharing(self, other: Option<&Self>) -> Self {
        match (&self, other) {
            (Self::Failed(mine), Some(Self::Failed(theirs)))
                if mine.to_string() == theirs.to_string() =>
            {
                Self::Failed(Arc::clone(theirs))
            }
            _ => self,
        }
    }

    /// What it comes to where several steps count as one.
    fn is_ok(&self) -> bool {
        self.failures().is_empty()
    }

    fn each(&self) -> &[Self] {
        match self {
            Self::Several(results) => results,
            one => std::slice::from_ref(one),
        }
    }
}

impl Expected {
    pub(crate) fn matches(&self, result: &StepResult) -> bool {
        match self {
            Self::AnyOf(choices) => choices.iter().any(|choice| choice.matches(result)),
            Self::Each(expected) => {
                let results = result.each();
                let all = |results: &[StepResult]| {
                    expected.len() == results.len()
                        && expected.iter().zip(results).all(|(e, r)| e.matches(r))
                };
                // Where a list was done several times, each time has to be as expected.
                all(results)
                    || (results.iter().all(|result| matches!(result, StepResult::Several(_)))
                        && results.iter().all(|result| all(result.each())))
            }
            Self::Failed(error) => {
                let failures = result.failures();
                let matching = failures.iter().filter(|failure| error.matches(failure)).count();
                match error.count {
                    Some(count) => matching == count && failures.len() == count,
                    None => matching == result.each().len(),
                }
            }
            Self::Ok => result.is_ok(),
            Self::OkTimes(times) => {
                result.each().iter().filter(|result| result.is_ok()).count() == *times
            }
            Self::Tools(names) => {
                matches!(result, StepResult::Tools(found) if found == names)
            }
        }
    }
}

impl TryFrom<Value> for Expected {
    type Error = String;

    fn try_from(value: Value) -> Result<Self, String> {
        let unknown = |value: &Value| format!("expectation {value}");
        match value {
            Value::String(word) if word == "ok" => Ok(Self::Ok),
            Value::Array(items) => {
                Ok(Self::Each(items.into_iter().map(Self::try_from).collect::<Result<_, _>>()?))
            }
            Value::Object(members) if members.contains_key("err") => {
                serde_json::from_value(Value::Object(members))
                    .map(Self::Failed)
                    .map_err(|error| format!("expectation: {error}"))
            }
            Value::Object(members) if members.len() == 1 => Self::single(members),
            other => Err(unknown(&other)),
        }
    }
}

impl Expected {
    fn single(members: Map<String, Value>) -> Result<Self, String> {
        let text = Value::Object(members.clone()).to_string();
        let bad = |error: serde_json::Error| format!("expectation {text}: {error}");
        let (name, value) = members.into_iter().next().ok_or("an empty expectation")?;
        match name.as_str() {
            "any_of" => serde_json::from_value(value).map(Self::AnyOf).map_err(bad),
            "ok" => serde_json::from_value(value).map(Self::OkTimes).map_err(bad),
            "tools" => serde_json::from_value(value).map(Self::Tools).map_err(bad),
            _ => Err(format!("expectation {text}")),
        }
    }
}

impl fmt::Display for StepResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(failure) => failure.fmt(f),
            Self::Ok => f.write_str("ok"),
            Self::Several(results) => {
                let good = results.iter().filter(|result| result.is_ok()).count();
                write!(f, "{good} of {} ok", results.len())?;
                match results.iter().find(|result| !result.is_ok()) {
                    Some(bad) => write!(f, ", another: {bad}"),
                    None => Ok(()),
                }
            }
            Self::Tools(names) => write!(f, "tools {names:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Expected, Failure, StepResult};

    fn expected(value: Value) -> Expected {
        Expected::try_from(value).expect("an expectation")
    }

    #[test]
    fn every_one_of_several_has_to_fail_unless_a_number_is_given() {
        let failed = || StepResult::Failed(Failure::Cancelled.into());
        let mixed = StepResult::Several(vec![failed(), StepResult::Ok, failed()]);
        assert!(!expected(json!({ "err": "cancelled" })).matches(&mixed));
        assert!(expected(json!({ "err": "cancelled", "count": 2 })).matches(&mixed));
        assert!(!expected(json!({ "err": "timeout", "count": 2 })).matches(&mixed));
        assert!(expected(json!({ "ok": 1 })).matches(&mixed));
        assert!(!expected(json!("ok")).matches(&mixed));
        let list = json!([{ "err": "any" }, "ok", { "err": "cancelled" }]);
        assert!(expected(list).matches(&mixed));
    }

    #[test]
    fn what_is_not_known_by_name_is_refused() {
        for unknown in [json!("fine"), json!({ "err": "any", "x": 1 }), json!({ "names": [] })] {
            assert!(Expected::try_from(unknown.clone()).is_err(), "{unknown}");
        }
    }
}
