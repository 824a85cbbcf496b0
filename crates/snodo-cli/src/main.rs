//! The terminal of snodo: inspect, call and debug MCP servers.

mod args;
mod arguments;
mod ask;
mod demo;
mod failure;
mod log;
mod output;
mod print;
mod run;
mod safe;
mod settings;
mod signals;
mod target;

use std::io::{self, IsTerminal};
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use snodo::{Client, Error};

use crate::args::Cli;
use crate::ask::Ask;
use crate::failure::{Failure, Status};
use crate::run::{Answer, Form, Watch};
use crate::settings::Settings;
use crate::signals::Signals;
use crate::target::Target;

fn main() -> ExitCode {
    let words: Vec<_> = std::env::args_os().collect();
    let form = if args::wants_json(&words) { Form::Json } else { Form::People };
    let status = match Cli::try_parse_from(words) {
        Ok(cli) => run(cli).unwrap_or_else(|failure| output::fail(&failure, form)),
        Err(error) => output::refuse(&error, form),
    };
    ExitCode::from(status.code())
}

fn run(cli: Cli) -> Result<Status, Failure> {
    let (target, ask, after) = Ask::read(cli.command)?;
    let settings = Settings::read(cli.options, after)?;
    run::check(&target, &settings)?;
    log::start(settings.verbosity);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(Failure::starting)?;
    let status = runtime.block_on(serve(&target, ask, &settings));
    // A name that is still being looked up would hold the program up.
    runtime.shutdown_timeout(SHUTDOWN);
    status
}

/// Connects, asks, writes the answer, and ends the connection, until a signal comes.
async fn serve(target: &Target, ask: Ask, settings: &Settings) -> Result<Status, Failure> {
    let form = settings.form();
    let mut signals = Signals::new().map_err(Failure::starting)?;
    let client = signals.or(run::connect(target, settings)).await?.map_err(Failure::connecting)?;
    let answered = signals.or(answer(&client, target, ask, settings)).await;
    let status = match answered {
        Ok(Ok(answer)) => output::answer(&answer, form),
        Ok(Err(error)) => output::fail(&error.into(), form),
        Err(interrupted) => output::fail(&interrupted.into(), form),
    };
    // A second signal ends the wait.
    match signals.or(client.close()).await {
        Err(interrupted) => Ok(Failure::from(interrupted).status()),
        Ok(()) => Ok(status),
    }
}

async fn answer(
    client: &Client,
    target: &Target,
    ask: Ask,
    settings: &Settings,
) -> Result<Answer, Error> {
    let form = settings.form();
    let watched = settings.verbosity > 0 || io::stderr().is_terminal();
    let watch = if watched { Watch::Progress } else { Watch::Nothing };
    let asked = run::ask(client, ask, form, watch);
    match target {
        // In process the library sets no timer.
        Target::Demo => match tokio::time::timeout(settings.timeout, asked).await {
            Ok(answered) => answered,
            Err(_) => Err(Error::timeout(settings.timeout)),
        },
        _ => asked.await,
    }
}

/// How long what still runs in the background may hold up the end.
const SHUTDOWN: Duration = Duration::from_millis(100);
