//! What a server asks for before it answers, 2026-07-28.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{DeserializeOwned, Deserializer, Error as _, MapAccess};
use serde::{Deserialize, Serialize};

use crate::object::{Member, Read, Source, Unread, object, read_whole};
use crate::{Members, Meta, Raw, RequestState, ResultType};

/// What came of a request: its result, or what the server needs first.
///
/// Closed on purpose: whoever handles both arms has handled all there is.
///
/// ```
/// use snodo_types::{CallToolResult, Outcome};
///
/// let outcome = Outcome::Complete(CallToolResult::from_text("done"));
/// match outcome {
///     Outcome::Complete(result) => assert_eq!(result.text(), "done"),
///     Outcome::InputRequired(ask) => panic!("asked for {} inputs", ask.requests().count()),
/// }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "an answer is one or the other")]
pub enum Outcome<T> {
    /// The answer.
    Complete(T),
    /// The server needs something first.
    InputRequired(InputRequired),
}

/// A result that asks for input: gather it, and send the same request again with the answers and
/// the state.
///
/// ```
/// use snodo_types::InputRequired;
///
/// let ask: InputRequired = serde_json::from_str(
///     r#"{"resultType":"input_required","requestState":"s",
///         "inputRequests":{"q":{"method":"roots/list"}}}"#,
/// )?;
/// let (id, request) = ask.requests().next().expect("one request");
/// assert_eq!((id, request.method.as_str()), ("q", "roots/list"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct InputRequired {
    /// What is asked for, by ids of the server's choice.
    pub input_requests: Option<InputRequests>,
    /// What the server wants to see again with the retry.
    pub request_state: Option<RequestState>,
    /// What kind of answer it is: this one.
    pub result_type: Option<ResultType>,
    /// `_meta`, as it came; read by [`meta`](Self::meta).
    pub meta: Option<Raw>,
    /// Members without a name here.
    pub other: Members,
}

/// What a server asks for, by ids of its choice, in the order of their characters: `10` before
/// `2`.
///
/// ```
/// use snodo_types::{InputRequest, InputRequests};
///
/// let asks = InputRequests::new().with("q", InputRequest::new("roots/list"));
/// assert_eq!(asks.get("q").expect("there").method, "roots/list");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct InputRequests(BTreeMap<String, InputRequest>);

/// A request within a result: a method and its params, with no id of its own.
///
/// ```
/// use snodo_types::InputRequest;
///
/// let ask = InputRequest::new("elicitation/create")
///     .with_params(&serde_json::json!({ "message": "Your name?" }));
/// assert_eq!(ask.params::<serde_json::Value>()?["message"], "Your name?");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InputRequest {
    /// `elicitation/create`, `sampling/createMessage` or `roots/list`.
    pub method: String,
    /// The params, as they came; read by [`params`](Self::params).
    pub params: Option<Raw>,
    /// Members without a name here.
    pub other: Members,
}

/// The answers to [`InputRequests`], each under the id it was asked for by.
///
/// An answer is a bare result; there is no way to answer with an error.
///
/// ```
/// use snodo_types::{InputResponses, Roots};
///
/// let answers = InputResponses::new().with("q", &Roots::new().with("file:///work", "work"));
/// assert_eq!(
///     serde_json::to_string(&answers)?,
///     r#"{"q":{"roots":[{"uri":"file:///work","name":"work"}]}}"#
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct InputResponses(BTreeMap<String, Raw>);

impl<T> Outcome<T> {
    /// The result, if it is complete.
    #[must_use]
    pub fn complete(self) -> Option<T> {
        match self {
            Self::Complete(result) => Some(result),
            Self::InputRequired(_) => None,
        }
    }

    /// Turns the result into something else; what is asked for stays as it is.
    #[must_use]
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Outcome<U> {
        match self {
            Self::Complete(result) => Outcome::Complete(change(result)),
            Self::InputRequired(ask) => Outcome::InputRequired(ask),
        }
    }
}

impl InputRequired {
    /// Asks for these.
    #[must_use]
    pub fn new(requests: InputRequests) -> Self {
        Self {
            input_requests: Some(requests),
            request_state: None,
            result_type: Some(ResultType::InputRequired),
            meta: None,
            other: Members::new(),
        }
    }

    /// Sets what the server wants to see again.
    #[must_use]
    pub fn with_request_state(mut self, state: impl Into<RequestState>) -> Self {
        self.request_state = Some(state.into());
        self
    }

    /// What is asked for: ids and requests, in the order of the characters of the ids.
    pub fn requests(&self) -> impl Iterator<Item = (&str, &InputRequest)> {
        self.input_requests.iter().flat_map(InputRequests::iter)
    }

    /// Whether it asks for nothing and has no state either, which no such result may be.
    ///
    /// An empty set of requests counts as none (patterns/mrtr, "Server Requirements").
    #[must_use]
    pub fn is_void(&self) -> bool {
        self.request_state.is_none() && self.requests().next().is_none()
    }

    /// What is known of `_meta`.
    #[must_use]
    pub fn meta(&self) -> Meta<'_> {
        Meta::of(self.meta.as_ref())
    }
}

impl fmt::Debug for InputRequired {
    /// Of what has no name here it shows the names: a state that is no text is among them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let others: Vec<_> = self.other.iter().map(|(name, _)| name).collect();
        f.debug_struct("InputRequired")
            .field("input_requests", &self.input_requests)
            .field("request_state", &self.request_state)
            .field("result_type", &self.result_type)
            .field("meta", &self.meta)
            .field("other", &others)
            .finish()
    }
}

impl fmt::Debug for InputResponses {
    /// Shows the ids; what users and models answered is private.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("InputResponses")?;
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl InputRequests {
    /// Asks for nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks for something, under an id.
    #[must_use]
    pub fn with(mut self, id: impl Into<String>, request: InputRequest) -> Self {
        self.0.insert(id.into(), request);
        self
    }

    /// What is asked for under an id.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&InputRequest> {
        self.0.get(id)
    }

    /// Ids and requests, in the order of the characters of the ids.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &InputRequest)> {
        self.0.iter().map(|(id, request)| (id.as_str(), request))
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl InputRequest {
    /// A request without params.
    #[must_use]
    pub fn new(method: impl Into<String>) -> Self {
        Self { method: method.into(), params: None, other: Members::new() }
    }

    /// Sets the params. What cannot be written as JSON is left out.
    #[must_use]
    pub fn with_params<T: Serialize>(mut self, params: &T) -> Self {
        self.params = Raw::of(params).ok();
        self
    }

    /// The params as a `T`; absent ones read as `{}`.
    ///
    /// # Errors
    ///
    /// They are no `T`.
    pub fn params<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        match &self.params {
            Some(params) => params.decode(),
            None => serde_json::from_str("{}"),
        }
    }
}

impl InputResponses {
    /// No answers.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Answers what was asked for under an id. What cannot be written as JSON is left out.
    #[must_use]
    pub fn with<T: Serialize>(mut self, id: impl Into<String>, answer: &T) -> Self {
        if let Ok(raw) = Raw::of(answer) {
            self.0.insert(id.into(), raw);
        }
        self
    }

    /// The answer under an id.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&Raw> {
        self.0.get(id)
    }

    /// Ids and answers, in the order of the characters of the ids.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Raw)> {
        self.0.iter().map(|(id, answer)| (id.as_str(), answer))
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Member for InputRequests {
    const EXPECTED: &'static str = "an object of requests";

    fn object<'de, A: MapAccess<'de>>(map: A) -> Result<Read<Self>, A::Error> {
        Ok(read_map(map)?.map(Self))
    }
}

impl Member for InputResponses {
    const EXPECTED: &'static str = "an object of results";

    fn object<'de, A: MapAccess<'de>>(map: A) -> Result<Read<Self>, A::Error> {
        Ok(read_map(map)?.map(Self))
    }
}

/// An object of which one value cannot be read is unread as a whole, with nothing lost.
fn read_map<'de, T: Member + Serialize, A: MapAccess<'de>>(
    mut map: A,
) -> Result<Read<BTreeMap<String, T>>, A::Error> {
    let mut values = BTreeMap::new();
    let mut unread: Option<(Members, String)> = None;
    while let Some(name) = map.name()? {
        if let Some((members, _)) = &mut unread {
            members.push(name, map.raw()?);
            continue;
        }
        let (raw, why) = match map.value::<T>()? {
            Read::Is(value) => {
                values.insert(name.into_owned(), value);
                continue;
            }
            Read::Null => (Raw::null(), "null".to_owned()),
            Read::Not(unread) => (unread.raw, unread.why),
        };
        let mut members = Members::new();
        for (name, value) in &values {
            members.push(name.as_str(), Raw::of(value).map_err(A::Error::custom)?);
        }
        let why = format!("{name:?}: {why}");
        members.push(name, raw);
        unread = Some((members, why));
    }
    Ok(match unread {
        None => Read::Is(values),
        Some((mut members, why)) => {
            members.settle();
            Read::Not(Box::new(Unread { raw: Raw::from(&members), why }))
        }
    })
}

impl<'de> Deserialize<'de> for InputRequests {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        read_whole(source)
    }
}

impl<'de> Deserialize<'de> for InputResponses {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        read_whole(source)
    }
}

object! {
    impl InputRequired {
        optional input_requests: "inputRequests",
        optional request_state: "requestState",
        optional result_type: "resultType",
        optional meta: "_meta";
        other
    }
}

object! {
    impl InputRequest {
        required method: "method",
        optional params: "params";
        other
    }
}
