//! The lines of a file of `jsonrpc/`.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::cases::class::ExpectedError;
use crate::cases::later::Need;

/// The members of the first line that no other format has.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Header {
    pub(crate) pending: Vec<PendingCall>,
    /// The connection survives.
    pub(crate) alive: bool,
}

/// A request in flight.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct PendingCall {
    pub(crate) id: Value,
    pub(crate) method: String,
    pub(crate) progress_token: Option<Value>,
    #[serde(default)]
    pub(crate) cancelled: bool,
}

/// One line behind the first: what the server says, and all that has to follow.
#[derive(Debug)]
pub(crate) struct Exchange {
    pub(crate) said: String,
    pub(crate) effects: Vec<Effect>,
}

/// What can be seen of a client.
#[derive(Clone, Debug)]
pub(crate) enum Effect {
    AnyOf(Vec<Self>),
    /// A handler runs, and sees the properties of the schema in this order.
    Call {
        method: String,
        order: Option<Vec<String>>,
    },
    /// The handler that runs is stopped.
    CancelHandler,
    /// The caller is told of an error with this code, which belongs to no request.
    Fault(i64),
    /// Nothing but a log line.
    Ignored,
    /// A notification that the version knows: told to the caller.
    Notify(String),
    /// An unknown notification: told to somebody, or dropped.
    NotifyOther,
    Progress(Value),
    Reject {
        id: Value,
        error: ExpectedError,
    },
    Resolve {
        id: Value,
        eq: Option<Value>,
        raw_contains: Vec<String>,
    },
    Send(Value),
    SendLacks(String),
    SendNothing,
    SendRawContains(String),
    /// This came on the subscription.
    Subscription {
        id: Value,
        news: News,
    },
}

/// What comes on a subscription.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum News {
    Acknowledged,
    Ended,
    /// A notification of this method.
    Event(String),
}

/// Reads a line behind the first.
pub(crate) fn exchange(line: &str) -> Result<Exchange, Need> {
    let line: Line =
        serde_json::from_str(line).map_err(|error| Need::unknown(error.to_string()))?;
    let said = match (line.recv, line.recv_gen) {
        (Some(said), None) => said,
        (None, Some(generated)) => generated.text(),
        _ => return Err(Need::unknown("a line without what the server says")),
    };
    let effects = line.expect.into_iter().map(effect).collect::<Result<_, _>>()?;
    Ok(Exchange { said, effects })
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    recv: Option<String>,
    recv_gen: Option<Nested>,
    expect: Vec<Map<String, Value>>,
}

/// A text that is nested too deep to be written down.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Nested {
    prefix: String,
    open: String,
    depth: usize,
    close: String,
    suffix: String,
}

impl Nested {
    fn text(&self) -> String {
        let Self { prefix, open, depth, close, suffix } = self;
        format!("{prefix}{}{}{suffix}", open.repeat(*depth), close.repeat(*depth))
    }
}

/// Reads an effect, by the member that names it.
fn effect(mut members: Map<String, Value>) -> Result<Effect, Need> {
    let shown = Value::Object(members.clone()).to_string();
    let unknown = || Need::unknown(format!("effect {shown}"));
    let name = NAMES.iter().find(|name| members.contains_key(**name)).ok_or_else(unknown)?;
    let value = members.remove(*name).unwrap_or_default();
    let text = |value: &Value| value.as_str().map(str::to_owned).ok_or_else(unknown);
    let effect = match *name {
        "any_of" => {
            let choices: Vec<Map<String, Value>> =
                serde_json::from_value(value).map_err(|_| unknown())?;
            Effect::AnyOf(choices.into_iter().map(effect).collect::<Result<_, _>>()?)
        }
        "call" => {
            let order = members.remove("property_order").map(serde_json::from_value);
            let order = order.transpose().map_err(|_| unknown())?;
            Effect::Call { method: text(&value)?, order }
        }
        "cancel_handler" => Effect::CancelHandler,
        "event" if value == "error" => {
            let code = members.remove("code").and_then(|code| code.as_i64());
            Effect::Fault(code.ok_or_else(unknown)?)
        }
        "event" => return Err(unknown()),
        "ignored" => Effect::Ignored,
        "notify" => Effect::Notify(text(&value)?),
        "notify_other" => Effect::NotifyOther,
        "progress" => Effect::Progress(value),
        "reject" => {
            let class = members.remove("class").ok_or_else(unknown)?;
            let code = members.remove("code").and_then(|code| code.as_i64());
            Effect::Reject { id: value, error: ExpectedError::new(&text(&class)?, code) }
        }
        "resolve" => {
            let raw_contains = members.remove("raw_contains").unwrap_or(Value::Array(Vec::new()));
            let raw_contains = serde_json::from_value(raw_contains).map_err(|_| unknown())?;
            Effect::Resolve { id: value, eq: members.remove("eq"), raw_contains }
        }
        "send" => Effect::Send(value),
        "send_lacks" => Effect::SendLacks(text(&value)?),
        "send_nothing" => Effect::SendNothing,
        "send_raw_contains" => Effect::SendRawContains(text(&value)?),
        _ => {
            let (acknowledged, ended) = (members.remove("acknowledged"), members.remove("ended"));
            let is_true = |value: Option<Value>| value == Some(Value::Bool(true));
            let news = match members.remove("event") {
                Some(event) => News::Event(text(&event)?),
                None if is_true(acknowledged) => News::Acknowledged,
                None if is_true(ended) => News::Ended,
                None => return Err(unknown()),
            };
            Effect::Subscription { id: value, news }
        }
    };
    if members.is_empty() { Ok(effect) } else { Err(unknown()) }
}

/// A subscription has an `event` too, and goes first.
const NAMES: &[&str] = &[
    "subscription",
    "any_of",
    "call",
    "cancel_handler",
    "event",
    "ignored",
    "notify",
    "notify_other",
    "progress",
    "reject",
    "resolve",
    "send",
    "send_lacks",
    "send_nothing",
    "send_raw_contains",
];
