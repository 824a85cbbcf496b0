//! One answer of an authorization server, in a flow that is otherwise plain.

use std::collections::BTreeMap;
use std::time::SystemTime;

use serde::Deserialize;
use serde_json::{Value, json};

use super::flow::{Flow, Left};
use super::start::Start;
use crate::cases::client::Baseline;
use crate::cases::http::Request;
use crate::cases::later::Need;

/// What is answered.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Response {
    status: u16,
    headers: BTreeMap<String, String>,
    body: String,
}

/// An answer of the token endpoint.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Token {
    grant: Grant,
    #[serde(default)]
    start: Value,
    response: Response,
    expect: BTreeMap<String, Value>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum Grant {
    AuthorizationCode,
    RefreshToken,
}

/// An answer of the registration endpoint.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Register {
    response: Response,
    expect: BTreeMap<String, Value>,
}

/// Refusals that ask for more scope, one after the other.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Scope {
    granted: String,
    challenges: Vec<String>,
    expect: Scopes,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Scopes {
    requested: Vec<String>,
    max_stepups: usize,
}

impl Token {
    pub(super) fn run(&self) -> Result<Vec<String>, Need> {
        let mut start = self.start.clone();
        if self.grant == Grant::RefreshToken {
            start["token"] = json!("old");
        } else if start.is_null() {
            start = json!({});
        }
        let rules = vec![
            refused_unless_new(),
            json!({ "match": { "host": "as", "path": "/register" },
                "reply": { "status": 201, "json": { "client_id": "c" } } }),
            self.response.to("/token"),
        ];
        let left = played(start, rules)?;
        let mut faults = left.faults();
        faults
            .extend(self.expect.iter().filter_map(|(name, value)| check_token(&left, name, value)));
        Ok(faults)
    }
}

impl Register {
    pub(super) fn run(&self) -> Result<Vec<String>, Need> {
        let rules = vec![
            refused_unless_new(),
            self.response.to("/register"),
            json!({ "match": { "host": "as", "path": "/token" },
                "reply": { "json": { "access_token": "t", "token_type": "Bearer" } } }),
        ];
        let left = played(json!({}), rules)?;
        let mut faults = left.faults();
        let Some(asked) = last(&left, "as /token") else {
            faults.push("no token was asked for".to_owned());
            return Ok(faults);
        };
        let found = |name: &str| match name {
            "client_id" | "client_secret" => asked.form(name).map_or(Value::Null, Value::String),
            "auth_method" => json!(method(asked)),
            _ => json!("a member that nobody knows"),
        };
        let wrong = self.expect.iter().filter(|(name, wanted)| found(name) != **wanted);
        faults.extend(
            wrong.map(|(name, wanted)| format!("{name} is {}, expected {wanted}", found(name))),
        );
        Ok(faults)
    }
}

impl Scope {
    pub(super) fn run(&self) -> Result<Vec<String>, Need> {
        let left = self.stepped(&self.challenges)?;
        let mut faults = left.faults();
        if left.scopes() != self.expect.requested {
            let (asked, wanted) = (left.scopes(), &self.expect.requested);
            faults.push(format!("asked for {asked:?}, expected {wanted:?}"));
        }
        // A server that is never content.
        let most = self.expect.max_stepups;
        let more: Vec<_> = (0..most + 3).map(|at| format!("more{at}")).collect();
        let asked = self.stepped(&more)?.sent_to.len();
        if asked > most {
            faults.push(format!("{asked} logins, allowed {most}"));
        }
        Ok(faults)
    }

    /// A call to a server that refuses one token after the other.
    fn stepped(&self, challenges: &[String]) -> Result<Left, Need> {
        let register = json!({ "match": { "host": "as", "path": "/register" },
            "reply": { "status": 201, "json": { "client_id": "c" } } });
        let mut rules = vec![register];
        let mut token = "first".to_owned();
        for (at, scope) in challenges.iter().enumerate() {
            let challenge = format!("Bearer error=\"insufficient_scope\", scope=\"{scope}\"");
            rules.push(json!({
                "match": { "host": "rs", "has_header": { "authorization": format!("Bearer {token}") } },
                "reply": { "status": 403, "headers": { "www-authenticate": challenge } },
            }));
            let last = at + 1 == challenges.len();
            token = if last { "new".to_owned() } else { format!("t{at}") };
            rules.push(json!({
                "match": { "host": "as", "path": "/token" }, "times": 1,
                "reply": { "json": { "access_token": token, "token_type": "Bearer" } },
            }));
        }
        played(json!({ "token": "first", "scope": self.granted }), rules)
    }
}

impl Response {
    fn to(&self, path: &str) -> Value {
        json!({
            "match": { "host": "as", "path": path },
            "reply": { "status": self.status, "headers": self.headers, "body": self.body },
        })
    }
}

/// The MCP server takes every token but the one that is old.
fn refused_unless_new() -> Value {
    json!({
        "match": { "http": "POST", "host": "rs", "has_header": { "authorization": "!=Bearer old" } },
        "reply": { "session_next": true },
    })
}

fn played(start: Value, mut rules: Vec<Value>) -> Result<Left, Need> {
    rules.push(json!({
        "match": { "http": "POST", "host": "rs", "rpc": "tools/call", "lacks_header": ["authorization=Bearer new"] },
        "reply": { "status": 401, "headers": { "www-authenticate": "Bearer" } },
    }));
    let start: Start =
        serde_json::from_value(start).map_err(|error| Need::unknown(error.to_string()))?;
    let (steps, expect) = (vec![json!({ "call": "echo" })], Default::default());
    Flow { start, steps, rules, expect }.left(Baseline::Legacy)
}

fn check_token(left: &Left, name: &str, wanted: &Value) -> Option<String> {
    if name == "any_of" {
        let choices = wanted.as_array().map(Vec::as_slice).unwrap_or_default();
        let fits = choices.iter().filter_map(Value::as_object).any(|choice| {
            choice.iter().all(|(name, value)| check_token(left, name, value).is_none())
        });
        return (!fits).then(|| format!("none of {wanted}"));
    }
    let kept = left.kept.as_ref();
    let text = |text: Option<&str>| text.map_or(Value::Null, |text| json!(text));
    let found = match name {
        "access" => text(kept.map(|kept| &*kept.access)),
        "refresh" => text(kept.and_then(|kept| kept.refresh.as_deref())),
        "scope" => text(kept.map(|kept| &*kept.scope)),
        "expires" => kept.and_then(|kept| kept.ends).map_or(Value::Null, |ends| json!(ends)),
        "expires_in" => {
            let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
            let ends = kept.and_then(|kept| kept.ends)?;
            // The seconds that the case took are not its business.
            let left = ends.saturating_sub(now.as_secs());
            let wanted = wanted.as_u64().unwrap_or_default();
            if left <= wanted && left + 30 >= wanted { json!(wanted) } else { json!(left) }
        }
        "authorization_header" => text(
            last(left, "rs tools/call")
                .and_then(|request| request.header("authorization"))
                .as_deref(),
        ),
        "request_accept" => {
            text(last(left, "as /token").and_then(|request| request.header("accept")).as_deref())
        }
        "err" => text(
            left.results
                .iter()
                .any(|result| !result.failures().is_empty())
                .then_some("content_type"),
        ),
        _ => json!("a member that nobody knows"),
    };
    (found != *wanted).then(|| format!("{name} is {found}, expected {wanted}"))
}

fn last<'a>(left: &'a Left, what: &'a str) -> Option<&'a Request> {
    left.record.all(what).last().map(|seen| &seen.request)
}

/// How a client showed itself.
fn method(request: &Request) -> &'static str {
    match (request.header("authorization"), request.form("client_secret")) {
        (Some(_), _) => "client_secret_basic",
        (None, Some(_)) => "client_secret_post",
        (None, None) if request.form("client_assertion").is_some() => "private_key_jwt",
        (None, None) => "none",
    }
}
