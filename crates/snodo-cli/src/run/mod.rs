//! From a server and a question to an answer.

mod bench;
mod call;
mod config;
mod connect;
mod inspect;
mod listen;
mod lists;

use std::time::{Duration, Instant};

use serde_json::json;
use snodo::dialect::{Era, dialect};
use snodo::types::{Members, Raw};
use snodo::{Client, Error};

pub(crate) use self::bench::Load;
pub(crate) use self::config::{Known, Shelf, Visit, list as list_servers};
pub(crate) use self::connect::{Connected, check, connect, http_of, is_url};
pub(crate) use self::inspect::Inspection;
pub(crate) use self::listen::Listening;
use crate::ask::Ask;
use crate::failure::Status;
use crate::print;
use crate::safe;
use crate::save;
use crate::settings::Settings;

/// What to write to the output, and the exit status.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) text: String,
    /// A line for people who may wonder, on the error stream.
    pub(crate) remark: Option<String>,
    pub(crate) status: Status,
}

impl Answer {
    pub(crate) fn new(text: String) -> Self {
        Self { text, remark: None, status: Status::Done }
    }

    /// Adds lines for people.
    fn add(&mut self, form: Form, lines: &str) {
        if form == Form::People {
            self.text.push_str(lines);
        }
    }
}

/// How an answer is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// One JSON document.
    Json,
    /// Text for people.
    People,
}

impl Form {
    /// An answer that is a document as the server sent it, or text made from it.
    fn answer(self, sent: &str, shown: impl FnOnce() -> String) -> Answer {
        Answer::new(match self {
            Self::Json => document(sent),
            Self::People => shown(),
        })
    }
}

/// Asks a connected server.
///
/// # Errors
///
/// What the request gives; see [`snodo::Request`].
pub(crate) async fn ask(client: &Client, ask: Ask, settings: &Settings) -> Result<Answer, Error> {
    let form = settings.form();
    match ask {
        Ask::Bench { tool, arguments, load } => {
            bench::bench(client, &tool, arguments, load, settings).await
        }
        Ask::Call { tool, arguments } => call::call(client, &tool, arguments, settings).await,
        Ask::Complete(params) => {
            let reply = client.complete(&params).await?;
            Ok(form.answer(reply.raw(), || print::completion(&reply)))
        }
        Ask::Doctor | Ask::Login(_) | Ask::Logout => Err(Error::usage("it stands alone")),
        Ask::Inspect => inspect::inspect(client, form).await,
        Ask::Listen(listening) => listen::listen(client, &listening, settings).await,
        Ask::Ping => ping(client, form).await,
        Ask::Prompt { name, arguments } => {
            let arguments: serde_json::Map<_, _> =
                arguments.into_iter().map(|(key, text)| (key, text.into())).collect();
            let reply = if arguments.is_empty() {
                client.get_prompt(name, ()).await?
            } else {
                client.get_prompt(name, arguments).await?
            };
            Ok(form.answer(reply.raw(), || print::prompt(&reply)))
        }
        Ask::Prompts => lists::prompts(client, settings).await,
        Ask::Read { uri } => {
            let reply = client.read_resource(uri).await?;
            let mut answer = form.answer(reply.raw(), || print::resource(&reply));
            if let Some(folder) = &settings.save {
                answer.add(form, &save::resource(&reply, folder)?);
            }
            Ok(answer)
        }
        Ask::Request { method, params } => {
            let reply = client.request(method, params).await?;
            Ok(form.answer(reply.raw(), || print::pretty(reply.raw())))
        }
        Ask::Resources => lists::resources(client, settings).await,
        Ask::Templates => lists::templates(client, settings).await,
        Ask::Tool(name) => lists::tool(client, &name, settings).await,
        Ask::Tools => lists::tools(client, settings).await,
    }
}

/// The request that a question is, where it needs no schema of the server.
///
/// # Errors
///
/// It is more than one request (usage).
pub(crate) fn dry(ask: &Ask, form: Form) -> Result<Option<Answer>, Error> {
    let (method, params) = match ask {
        Ask::Call { arguments, .. } if arguments.need_a_schema() => return Ok(None),
        Ask::Call { tool, arguments } => {
            ("tools/call", call::params(tool, &arguments.clone().typed(None)?))
        }
        Ask::Complete(params) => (
            "completion/complete",
            Raw::of(params).map_err(|error| Error::usage(error.to_string()))?,
        ),
        Ask::Prompt { name, arguments } => {
            let mut params = Members::new();
            params.insert("name", json!(name));
            let arguments: serde_json::Map<_, _> =
                arguments.iter().map(|(key, text)| (key.clone(), json!(text))).collect();
            params.insert("arguments", json!(arguments));
            ("prompts/get", Raw::from(&params))
        }
        Ask::Read { uri } => ("resources/read", Raw::from(json!({ "uri": uri }))),
        Ask::Request { method, params } => (method.as_str(), params.clone()),
        _ => {
            return Err(Error::usage(
                "--dry-run goes with call, complete, read, prompt and request",
            ));
        }
    };
    Ok(Some(show_request(method, &params, form)))
}

/// A request instead of its answer.
fn show_request(method: &str, params: &Raw, form: Form) -> Answer {
    let mut request = Members::new();
    request.insert("method", json!(method));
    request.insert("params", params.clone());
    let request = Raw::from(&request);
    form.answer(request.text(), || print::pretty(request.text()))
}

/// The stateless version has no `ping`; there the question what the server is does as well.
async fn ping(client: &Client, form: Form) -> Result<Answer, Error> {
    let asked = Instant::now();
    match dialect(client.protocol()).era() {
        Era::Initialize => drop(client.ping().await?),
        _ => drop(client.discover().await?),
    }
    let took = milliseconds(asked.elapsed());
    let version = client.protocol();
    Ok(Answer::new(match form {
        Form::Json => document(
            &json!({ "protocolVersion": version.as_str(), "milliseconds": took }).to_string(),
        ),
        Form::People => format!("the server answers after {took} ms (protocol {version})\n"),
    }))
}

/// With three decimals.
fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

/// A document for `--json`, with its newline.
pub(crate) fn document(text: &str) -> String {
    let mut document = safe::json(text).into_owned();
    document.push('\n');
    document
}
