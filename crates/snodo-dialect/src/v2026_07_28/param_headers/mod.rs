//! Arguments of a tool that travel as headers too (2026-07-28, Streamable HTTP, "Custom Headers
//! from Tool Parameters").

mod walk;

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use serde::Deserialize;
use serde::de::{Deserializer as _, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use snodo_types::{Error, Raw};

use crate::encode_header;

/// Which arguments of one tool travel as headers too, and under which names.
///
/// Made once from the tool's input schema; a clone is a count.
///
/// ```
/// use snodo_dialect::dialect;
/// use snodo_types::{ProtocolVersion, Raw};
///
/// let schema = Raw::parse(
///     r#"{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}"#,
/// )?;
/// let newest = dialect(ProtocolVersion::V2026_07_28);
/// let plan = newest.param_headers(&schema).expect("it has such headers").expect("a valid schema");
/// let headers = plan.headers(r#"{"region":"us-west1"}"#)?;
/// assert_eq!(headers, [("Mcp-Param-Region".to_owned(), "us-west1".to_owned())]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParamHeaders(Arc<[ParamHeader]>);

/// One argument that travels as a header too.
#[derive(Debug, PartialEq, Eq)]
struct ParamHeader {
    /// The names that lead to the argument, from the outside in; at least one.
    path: Vec<String>,
    /// The header, with its prefix.
    name: String,
    kind: Kind,
}

/// What the value has to be, unless it is `null`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Boolean,
    Integer,
    String,
}

impl ParamHeaders {
    /// Finds the annotations of an input schema. A schema that is no object has none.
    ///
    /// At most 256 annotations are allowed, and a schema that has any may be 64 values deep.
    ///
    /// # Errors
    ///
    /// Why the schema is invalid, for a log: an annotation that names no header, is not on a
    /// property of type string, integer or boolean, stands where `properties` alone do not lead,
    /// repeats another one whatever its case; or one of the bounds.
    pub fn of(schema: &Raw) -> Result<Self, String> {
        walk::find(schema.text()).map(|found| Self(found.into()))
    }

    /// Whether no argument travels as a header.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Reads names and values of the headers from the text of a call's arguments. Values are
    /// encoded. What is absent or `null` has no header; of a repeated argument the last counts.
    ///
    /// # Errors
    ///
    /// An argument is not of the type that its annotation needs, or an integer beyond ±(2^53−1)
    /// (-32602): the server would refuse the call.
    pub fn headers(&self, arguments: &str) -> Result<Vec<(String, String)>, Error> {
        let mut values = vec![None; self.0.len()];
        let all: Vec<usize> = (0..self.0.len()).collect();
        self.look(&all, 0, arguments, &mut values)?;
        let found = self.0.iter().zip(values).filter_map(|(header, value)| Some((header, value?)));
        found
            .filter(|(_, value)| *value != "null")
            .map(|(header, value)| header.pair(value))
            .collect()
    }

    /// Finds the values of these headers in an object that lies `depth` names deep. Each object is
    /// read once for all the headers in it.
    fn look<'a>(
        &self,
        headers: &[usize],
        depth: usize,
        text: &'a str,
        values: &mut [Option<&'a str>],
    ) -> Result<(), Error> {
        if headers.is_empty() || !text.starts_with('{') {
            return Ok(());
        }
        let step = |at: usize| self.0[at].path[depth].as_str();
        let mut wanted = Wanted(headers.iter().map(|at| (step(*at), None)).collect());
        serde_json::Deserializer::from_str(text)
            .deserialize_map(&mut wanted)
            .map_err(|error| Error::usage(format!("the arguments cannot be read: {error}")))?;
        for (name, value) in wanted.0 {
            let Some(value) = value else { continue };
            let below = headers.iter().copied().filter(|at| step(*at) == name);
            let (here, deeper): (Vec<_>, Vec<_>) =
                below.partition(|at| self.0[*at].path.len() == depth + 1);
            for at in here {
                values[at] = Some(value);
            }
            self.look(&deeper, depth + 1, value, values)?;
        }
        Ok(())
    }
}

impl ParamHeader {
    fn pair(&self, value: &str) -> Result<(String, String), Error> {
        let written = self.kind.write(value).ok_or_else(|| {
            Error::usage(format!(
                "argument {:?} travels as the header {} and has to be {}",
                self.path.join("."),
                self.name,
                self.kind
            ))
        })?;
        Ok((self.name.clone(), encode_header(&written).into_owned()))
    }
}

impl Kind {
    /// The value as a header has it; `None` where it is of another kind.
    fn write(self, value: &str) -> Option<Cow<'_, str>> {
        match self {
            Self::Boolean => matches!(value, "true" | "false").then_some(Cow::Borrowed(value)),
            Self::Integer => integer(value).map(|number| Cow::Owned(number.to_string())),
            Self::String => serde_json::from_str(value).ok().map(Cow::Owned),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Boolean => "a boolean",
            Self::Integer => "an integer within ±(2^53−1)",
            Self::String => "a string",
        })
    }
}

/// An integer that every peer reads as the same number, however it is written (`42.0`, `4.2e1`).
fn integer(value: &str) -> Option<i64> {
    let number = match value.parse::<i64>() {
        Ok(number) => number,
        Err(_) => {
            let number = value.parse::<f64>().ok()?;
            let whole = number.fract() == 0.0 && number.abs() <= LARGEST as f64;
            whole.then_some(number as i64)?
        }
    };
    (number.unsigned_abs() <= LARGEST).then_some(number)
}

/// The values of some members, the last of each name.
struct Wanted<'n, 'a>(HashMap<&'n str, Option<&'a str>>);

impl<'a> Visitor<'a> for &mut Wanted<'_, 'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(Key(name)) = map.next_key()? {
            match self.0.get_mut(&*name) {
                Some(place) => *place = Some(map.next_value::<&RawValue>()?.get()),
                None => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

/// A member's name, borrowed where the text has it as it is.
#[derive(Deserialize)]
#[serde(transparent)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

/// The largest integer that stands exactly in a double (2^53 − 1).
const LARGEST: u64 = (1 << 53) - 1;

#[cfg(test)]
mod tests;
