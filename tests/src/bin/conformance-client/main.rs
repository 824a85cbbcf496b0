//! The client that the official conformance suite starts: one process for each scenario.
//!
//! The server's URL is the last argument; scenario, version and context come in the environment.
//! What a scenario asks for is done by the library; this only says which calls to make. It ends by
//! itself after 25 s. Exit: 0 every step worked, 1 one did not, 2 an unknown scenario.

#![expect(clippy::print_stderr, reason = "the suite keeps what a client says there")]

mod credentials;
mod scenarios;

use std::process::ExitCode;
use std::time::Duration;

use serde_json::Value;
use snodo::types::UnknownVersion;
use snodo::{Error, ProtocolVersion};

/// What the suite told this process.
pub(crate) struct Task {
    pub(crate) scenario: String,
    pub(crate) version: ProtocolVersion,
    pub(crate) context: Value,
    pub(crate) url: String,
}

/// Why a scenario did not come to its end.
pub(crate) enum Failure {
    /// No such scenario is known.
    Unknown,
    /// A step failed.
    Step(String),
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let task = match Task::read() {
        Ok(task) => task,
        Err(why) => {
            eprintln!("conformance-client: {why}");
            return ExitCode::from(2);
        }
    };
    let ended = tokio::time::timeout(DEADLINE, scenarios::run(&task)).await;
    match ended {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(Failure::Unknown)) => {
            eprintln!("conformance-client: no scenario `{}` is known", task.scenario);
            ExitCode::from(2)
        }
        Ok(Err(Failure::Step(why))) => {
            eprintln!("conformance-client: {}: {why}", task.scenario);
            ExitCode::FAILURE
        }
        Err(_) => {
            eprintln!("conformance-client: {}: not done within {DEADLINE:?}", task.scenario);
            ExitCode::FAILURE
        }
    }
}

impl Task {
    fn read() -> Result<Self, String> {
        let variable = |name: &str| std::env::var(name).map_err(|error| format!("{name}: {error}"));
        let url = std::env::args().skip(1).last().ok_or("the last argument is the server's URL")?;
        let version = variable("MCP_CONFORMANCE_PROTOCOL_VERSION")?;
        let version = version.parse().map_err(|error: UnknownVersion| error.to_string())?;
        let context = match std::env::var("MCP_CONFORMANCE_CONTEXT") {
            Ok(text) => serde_json::from_str(&text).map_err(|error| format!("context: {error}"))?,
            Err(_) => Value::Null,
        };
        Ok(Self { scenario: variable("MCP_CONFORMANCE_SCENARIO")?, version, context, url })
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let cause = error.cause().map(|cause| format!("; {cause:?}")).unwrap_or_default();
        Self::Step(format!("{error}{cause}"))
    }
}

impl From<snodo_skills::Error> for Failure {
    fn from(error: snodo_skills::Error) -> Self {
        Self::Step(error.to_string())
    }
}

const DEADLINE: Duration = Duration::from_secs(25);
