//! From a server and a question to an answer.

mod call;
mod connect;
mod inspect;
mod lists;

use std::time::{Duration, Instant};

use serde_json::json;
use snodo::dialect::{Era, dialect};
use snodo::{Client, Error};

pub(crate) use self::call::Watch;
pub(crate) use self::connect::{check, connect};
pub(crate) use self::inspect::Inspection;
use crate::ask::Ask;
use crate::failure::Status;
use crate::print;
use crate::safe;

/// What to write to the output, and the exit status.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) text: String,
    /// A line for people who may wonder, on the error stream.
    pub(crate) remark: Option<&'static str>,
    pub(crate) status: Status,
}

impl Answer {
    fn new(text: String) -> Self {
        Self { text, remark: None, status: Status::Done }
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
pub(crate) async fn ask(
    client: &Client,
    ask: Ask,
    form: Form,
    watch: Watch,
) -> Result<Answer, Error> {
    match ask {
        Ask::Call { tool, arguments } => call::call(client, &tool, arguments, form, watch).await,
        Ask::Inspect => inspect::inspect(client, form).await,
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
        Ask::Prompts => lists::prompts(client, form).await,
        Ask::Read { uri } => {
            let reply = client.read_resource(uri).await?;
            Ok(form.answer(reply.raw(), || print::resource(&reply)))
        }
        Ask::Request { method, params } => {
            let reply = client.request(method, params).await?;
            Ok(form.answer(reply.raw(), || print::pretty(reply.raw())))
        }
        Ask::Resources => lists::resources(client, form).await,
        Ask::Templates => lists::templates(client, form).await,
        Ask::Tools => lists::tools(client, form).await,
    }
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
fn document(text: &str) -> String {
    let mut document = safe::json(text).into_owned();
    document.push('\n');
    document
}
