//! Whole flows: an MCP server, an authorization server, a client between them.

use std::collections::BTreeSet;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use snodo::http::Errands;
use snodo_oauth::{Policy, internal};

use super::person::Simulated;
use super::start::{NAME, Start};
use crate::cases::baseline;
use crate::cases::client::{
    Baseline, ClientScript, Evidence, Expect, HttpStage, Stage, StepResult, Target,
};
use crate::cases::http::{Record, Rule, Scripted, Server, check};
use crate::cases::later::Need;
use crate::cases::marks::{Marks, expand};
use crate::cases::suite::on_runtime;

/// A file that tests a flow.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Flow {
    #[serde(default)]
    pub(super) start: Start,
    #[serde(rename = "do")]
    pub(super) steps: Vec<Value>,
    #[serde(default)]
    pub(super) rules: Vec<Value>,
    pub(super) expect: Map<String, Value>,
}

/// What is expected of a flow beyond what every scripted server may be asked.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Beyond {
    stored_refresh: Option<String>,
    authorize_scope: Option<Texts>,
    authorize_has: Vec<String>,
    never_requested: Vec<String>,
    reported: Option<Texts>,
    issuer: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum Texts {
    One(String),
    Several(Vec<String>),
}

/// What a flow left behind.
pub(super) struct Left {
    pub(super) results: Vec<StepResult>,
    pub(super) record: Record,
    pub(super) sent_to: Vec<String>,
    pub(super) kept: Option<internal::Kept>,
    faults: Vec<String>,
}

impl Flow {
    /// Runs it against a server of each era.
    pub(super) fn run(&self) -> Result<Vec<String>, Need> {
        let (beyond, expect) = self.expected()?;
        expect.needs()?;
        let mut faults = Vec::new();
        for baseline in Baseline::Any.each() {
            let left = self.left(*baseline)?;
            let found = left.check(&expect, &beyond);
            faults.extend(found.into_iter().map(|fault| format!("[{}] {fault}", baseline.name())));
        }
        Ok(faults)
    }

    /// Plays it, and gives what it left.
    pub(super) fn left(&self, baseline: Baseline) -> Result<Left, Need> {
        let script = json!({ "do": self.client_steps() });
        let script: ClientScript =
            serde_json::from_value(script).map_err(|error| Need::unknown(error.to_string()))?;
        script.needs()?;
        let tools = baseline::tools(script.tools());
        let rules = serde_json::from_value(self.all_rules());
        let rules: Vec<Rule> = rules.map_err(|error| Need::unknown(error.to_string()))?;
        let scripted = Scripted { baseline, server: Default::default(), rules, tools };
        let server = Server::start(scripted)
            .map_err(|error| Need::unknown(format!("the server does not start: {error}")))?;
        let url = format!("{}/mcp", server.origin());
        let target = Target::http(&script, baseline, &url, HttpStage::default())?;
        let mut left = Left {
            results: Vec::new(),
            record: Record::default(),
            sent_to: Vec::new(),
            kept: None,
            faults: Vec::new(),
        };
        let faults = on_runtime(BOUND, async {
            match self.play(&script, target, &server, &url).await {
                Ok(played) => {
                    left = played;
                    Vec::new()
                }
                Err(fault) => vec![fault],
            }
        });
        left.faults.extend(faults);
        Ok(left)
    }

    async fn play(
        &self,
        script: &ClientScript,
        target: Target,
        server: &Server,
        url: &str,
    ) -> Result<Left, String> {
        let text = |text: &str| expand(text, &Origins(server));
        let start = self.start.expanded(text);
        let store = start.store(url, &text("@ORIGIN:as@")).await?;
        let person = Simulated::new(self.sent_issuer().map(|issuer| text(&issuer)));
        let mut faults = Vec::new();
        if self.discovers() {
            faults.extend(self.discover(server, url).await);
        }
        let credentials = start.credentials(store.clone(), person.clone());
        let mut stage = Stage::new(target.with_credentials(credentials), script, || 0);
        let mut results = Vec::new();
        let connects = self.steps.iter().any(|step| step == "connect");
        let connected = match !connects && !script.steps.is_empty() {
            true => stage.connect().await,
            false => StepResult::Ok,
        };
        for step in &script.steps {
            // A failure to connect is that of the first step.
            results.push(match &connected {
                StepResult::Ok => stage.run(step).await,
                failed => failed.clone(),
            });
        }
        drop(stage);
        let kept = internal::kept(store, NAME, url).await.map_err(|error| error.to_string())?;
        let (record, sent_to) = (server.record(), person.sent_to());
        Ok(Left { results, record, sent_to, kept, faults })
    }

    /// The step `discover`: no client is needed for it.
    async fn discover(&self, server: &Server, url: &str) -> Option<String> {
        let wanted = self.expect.get("issuer").and_then(Value::as_str)?;
        let wanted = expand(wanted, &Origins(server));
        let policy = Policy::new().allow_loopback();
        match internal::issuer_of(url, None, &Errands::new(), &policy).await {
            Ok(found) if found == wanted => None,
            found => Some(format!("the issuer is {found:?}, expected {wanted}")),
        }
    }

    fn discovers(&self) -> bool {
        self.steps.iter().any(|step| step == "discover")
    }

    fn client_steps(&self) -> Vec<&Value> {
        self.steps.iter().filter(|step| **step != "discover").collect()
    }

    /// The rules, and behind them the documents that all servers publish.
    fn all_rules(&self) -> Value {
        let mut rules = self.rules.clone();
        let text = json!([self.rules, self.expect]).to_string();
        let issuer = self.start.issuer.clone().unwrap_or_default();
        let named = format!("{text}{issuer}@ORIGIN:as@");
        let hosts = named.split("@ORIGIN:").skip(1).filter_map(|rest| rest.split('@').next());
        for host in hosts.collect::<BTreeSet<_>>() {
            rules.push(match host {
                "rs" => continue,
                host => published(
                    host,
                    "/.well-known/oauth-authorization-server",
                    json!({
                        "issuer": format!("@ORIGIN:{host}@"),
                        "authorization_endpoint": format!("@ORIGIN:{host}@/authorize"),
                        "token_endpoint": format!("@ORIGIN:{host}@/token"),
                        "registration_endpoint": format!("@ORIGIN:{host}@/register"),
                        "response_types_supported": ["code"],
                        "code_challenge_methods_supported": ["S256"],
                    }),
                ),
            });
        }
        rules.push(published(
            "rs",
            "/.well-known/oauth-protected-resource/mcp",
            json!({
                "resource": "@ORIGIN:rs@/mcp",
                "authorization_servers": ["@ORIGIN:as@"],
            }),
        ));
        Value::Array(rules)
    }

    /// The issuer that the server adds to its answers, if it says that it does.
    fn sent_issuer(&self) -> Option<String> {
        let documents = self.rules.iter().filter_map(|rule| rule.pointer("/reply/json"));
        let mut says = documents
            .filter(|document| document["authorization_response_iss_parameter_supported"] == true);
        says.find_map(|document| document["issuer"].as_str().map(str::to_owned))
    }

    fn expected(&self) -> Result<(Beyond, Expect), Need> {
        let unknown = |error: serde_json::Error| Need::unknown(error.to_string());
        let is_beyond = |name: &str| {
            matches!(
                name,
                "stored_refresh"
                    | "authorize_scope"
                    | "authorize_has"
                    | "never_requested"
                    | "reported"
                    | "issuer"
            )
        };
        let (beyond, rest): (Map<_, _>, Map<_, _>) =
            self.expect.clone().into_iter().partition(|(name, _)| is_beyond(name));
        Ok((
            serde_json::from_value(Value::Object(beyond)).map_err(unknown)?,
            serde_json::from_value(Value::Object(rest)).map_err(unknown)?,
        ))
    }
}

impl Left {
    fn check(&self, expect: &Expect, beyond: &Beyond) -> Vec<String> {
        let mut faults = self.faults.clone();
        faults.extend(check(expect, &self.record));
        let (received, heard) = (self.record.messages(), Default::default());
        let (negotiated, elapsed) = (None, Duration::ZERO);
        let evidence = Evidence {
            results: &self.results,
            elapsed,
            negotiated,
            heard: &heard,
            received: &received,
        };
        faults.extend(expect.check(&evidence));
        let refresh = self.kept.as_ref().and_then(|kept| kept.refresh.as_deref());
        if let Some(wanted) = &beyond.stored_refresh
            && refresh != Some(wanted)
        {
            faults.push(format!("the stored refresh token is {refresh:?}, expected {wanted:?}"));
        }
        for has in &beyond.authorize_has {
            if !self.sent_to.iter().any(|url| url.contains(has)) {
                faults.push(format!("nobody was sent to a page with {has:?}: {:?}", self.sent_to));
            }
        }
        if let Some(wanted) = &beyond.authorize_scope {
            let scopes = self.scopes();
            let fits = match wanted {
                Texts::One(scope) => scopes.last() == Some(scope),
                Texts::Several(wanted) => scopes == *wanted,
            };
            if !fits {
                faults.push(format!("asked for {scopes:?}, expected {wanted:?}"));
            }
        }
        for what in &beyond.never_requested {
            if self.record.all(what).next().is_some() {
                faults.push(format!("{what} was requested"));
            }
        }
        let told = format!("{:?}", self.results);
        let reported = match &beyond.reported {
            None => Vec::new(),
            Some(Texts::One(text)) => vec![text.clone()],
            Some(Texts::Several(texts)) => texts.clone(),
        };
        for text in reported.iter().filter(|text| !told.contains(*text)) {
            faults.push(format!("{text:?} is not reported: {told}"));
        }
        faults
    }

    /// The scopes of each page that somebody was sent to; none is an empty text.
    pub(super) fn scopes(&self) -> Vec<String> {
        let scope = |url: &String| {
            let query = url.split_once('?').map(|(_, query)| query).unwrap_or_default();
            let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
            let found = pairs.find(|(name, _)| *name == "scope");
            found.map(|(_, value)| value.replace('+', " ").replace("%3A", ":")).unwrap_or_default()
        };
        self.sent_to.iter().map(scope).collect()
    }

    /// What is wrong before anything was looked at.
    pub(super) fn faults(&self) -> Vec<String> {
        self.faults.clone()
    }
}

/// A document that is there for everybody.
fn published(host: &str, path: &str, document: Value) -> Value {
    json!({ "match": { "http": "GET", "host": host, "path": path }, "reply": { "json": document } })
}

/// The base URLs of a server.
struct Origins<'a>(&'a Server);

impl Marks for Origins<'_> {
    fn value(&self, mark: &str) -> Option<Value> {
        let host = mark.strip_prefix("ORIGIN:")?;
        self.0.origin_of(host).map(Value::String)
    }
}

/// No flow takes longer.
const BOUND: Duration = Duration::from_secs(60);
